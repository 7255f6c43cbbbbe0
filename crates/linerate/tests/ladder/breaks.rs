//! A relay that holds messages from some size on: the size must be found to the byte, and called right.

use crate::user::runs::run;
use rand::RngExt;
use serde_json::Value;

/// What the relay holds a message for; the ends' own time is some ten microseconds.
const DELAY_NS: f64 = 3e6;

/// The breaks of sleeping ping-pongs between the hosts that pairs confirmed.
fn confirmed(report: &Value) -> Vec<&Value> {
    let curves = report["curves"].as_array().unwrap().iter();
    let of_relay = curves.filter(|curve| {
        curve["id"] == "network.tcp" && curve["pattern"] == "ping-pong" && curve["wait"] == "sleeping"
    });
    let breaks = of_relay.flat_map(|curve| curve["breaks"].as_array().unwrap());
    breaks.filter(|found| found["confirmed"]["holds"] == true).collect()
}

#[test]
fn a_relays_threshold_is_found_to_the_byte() {
    let threshold = 2f64.powf(rand::rng().random_range(1.0..22.0)) as u64 + 1;
    let delay = "network.tcp:relay.delay=3ms";
    let at = format!("network.tcp:relay.threshold={threshold}");
    let rungs = "memory.copy,network.tcp";
    let report = run(&["lab", "--budget", "25s", "--only", rungs, "--set", delay, "--set", &at]).report();
    let found = confirmed(&report);
    let step = found.iter().find(|found| found["at_bytes"] == threshold);
    let step = step.unwrap_or_else(|| panic!("{threshold} B: {found:#?}"));
    assert_eq!((&step["from_bytes"], &step["class"]), (&(threshold - 1).into(), &"protocol-switch".into()));
    let jump = step["jump_ns"]["median"].as_f64().unwrap();
    assert!((0.9..1.5).contains(&(jump / DELAY_NS)), "{threshold} B: {jump} ns");
    // What memory does at the same time is no protocol's.
    let memory = report["curves"].as_array().unwrap().iter().filter(|curve| curve["id"] == "memory.copy");
    for found in memory.flat_map(|curve| curve["breaks"].as_array().unwrap()) {
        assert!(["cache", "unexplained"].contains(&found["class"].as_str().unwrap()), "{found:#}");
    }
}
