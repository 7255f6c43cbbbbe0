//! Known faults must be found where they are, and lies must move no number.

use crate::user::runs::{entry, run, warnings};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const LADDER: [&str; 9] = [
    "lab",
    "--profile",
    "quick",
    "--passes",
    "2",
    "--sizes",
    "1KiB,64KiB",
    "--only",
    "in-host.tcp,network.tcp",
];

fn measure(settings: &[&str]) -> Value {
    let set = settings.iter().flat_map(|setting| ["--set", setting]);
    let arguments: Vec<_> = LADDER.into_iter().chain(set).collect();
    run(&arguments).report()
}

fn estimate(entry: &Value, pointer: &str) -> (f64, f64, f64) {
    let value = |name| entry.pointer(&format!("{pointer}/{name}")).and_then(Value::as_f64);
    let median = value("median").unwrap_or_else(|| panic!("{pointer} in {entry:#}"));
    (median, value("low").unwrap_or(median), value("high").unwrap_or(median))
}

#[test]
fn a_shim_is_told_of_its_rung() {
    let clean = measure(&[]);
    is_attributed(&clean);
    moves_no_rate(&clean);
}

/// A shim costs its own rung and no other.
fn is_attributed(clean: &Value) {
    let faulty = measure(&["network.tcp:shim.spin=50us", "network.tcp:shim.copies=1"]);
    let network = |report| entry(report, "network.tcp", Some("a>b"), 1).clone();
    let in_host = |report| entry(report, "in-host.tcp", None, 1).clone();
    let (before, ..) = estimate(&network(clean), "/cost/constant_ns");
    let (after, low, high) = estimate(&network(&faulty), "/cost/constant_ns");
    // 50 us a message stands far above what these machines drift between two runs.
    let width = (high - low).max(10_000.0);
    assert!((after - before - 50_000.0).abs() < width, "{before} ns without, {after} ns with the shim");
    let (before, ..) = estimate(&in_host(clean), "/half_round_trip_ns/polling");
    let (after, ..) = estimate(&in_host(&faulty), "/half_round_trip_ns/polling");
    assert!(after < before + 25_000.0, "in-host.tcp went from {before} to {after} ns");
    assert!(warnings(&faulty).contains(&"shim".to_owned()));
}

/// A sender that lies about its bytes moves no rate.
fn moves_no_rate(honest: &Value) {
    let lying = measure(&["network.tcp:shim.overclaim=100"]);
    let rate = |report| estimate(entry(report, "network.tcp", Some("a>b"), 1), "/throughput_bps").0;
    // A believed lie would be a factor of 100; the machine's own noise is far below 10.
    assert!(rate(&lying) < 10.0 * rate(honest), "{} and {}", rate(honest), rate(&lying));
    assert!(warnings(&lying).contains(&"byte-mismatch".to_owned()), "{:?}", warnings(&lying));
    assert!(!warnings(honest).contains(&"byte-mismatch".to_owned()));
}

#[test]
fn a_process_that_takes_the_cpu_is_flagged() {
    let stop = Arc::new(AtomicBool::new(false));
    let hog = {
        let stop = stop.clone();
        std::thread::spawn(move || while !stop.load(Ordering::Relaxed) {})
    };
    let arguments =
        ["lab", "--profile", "quick", "--only", "network.tcp", "--sizes", "64KiB", "--budget", "5s"];
    let report = run(&arguments).report();
    stop.store(true, Ordering::Relaxed);
    hog.join().unwrap();
    assert!(warnings(&report).contains(&"foreign-cpu".to_owned()), "{:?}", warnings(&report));
}
