//! Knobs of sockets: what was asked for is granted, and moves what is measured.

use crate::user::runs::{entry, recording, run, warnings};
use serde_json::Value;

/// The values that a knob was granted, by rung, over all sessions of a run.
fn granted<'v>(events: &'v [Value], rung: &str, knob: &str) -> Vec<&'v str> {
    let sessions = events.iter().filter(|event| event["rung"] == rung);
    let all = sessions.filter_map(|event| event["granted"].as_array()).flatten();
    all.filter(|one| one["knob"] == knob).map(|one| one["granted"].as_str().unwrap()).collect()
}

#[test]
fn what_no_host_has_ends_a_run_before_it_begins() {
    for (rung, set, why, hint) in [
        ("network.tcp", "tcp.congestion-control=none-such", "no such congestion control", "reno"),
        ("network.tcp", "socket.interface=none-such", "no such interface", "wire0"),
        ("network.tcp", "socket.send-buffer=1GiB", "grants at most", "net.core.wmem_max"),
        ("network.tcp", "cpu.placement=0/1000", "may not use CPU 1000", "it has 0"),
        ("network.mpi", "mpi.implementation=mvapich", "it has no mvapich", "openmpi"),
        ("network.mpi", "mpi.path=/none-such", "no MPI at /none-such", "openmpi"),
    ] {
        let run = run(&["lab", "--only", rung, "--set", set]);
        let said = String::from_utf8_lossy(&run.output.stderr);
        assert_eq!(run.output.status.code(), Some(2), "{set}: {said}");
        assert!(said.contains(why) && said.contains(hint), "{set}: {said}");
        let left = std::fs::read_dir(run.folder.path()).unwrap().count();
        assert_eq!(left, 0, "{set}: a run of nothing leaves no recording");
    }
}

#[test]
fn packets_have_the_pace_mark_and_port_asked() {
    let set =
        ["--set", "tcp.pacing-rate=123.456Mb/s", "--set", "socket.dscp=46", "--set", "tcp.source-port=40000"];
    let rungs = [
        "lab",
        "--profile",
        "quick",
        "--passes",
        "1",
        "--sizes",
        "1MiB",
        "--only",
        "network.tcp,network.udp",
    ];
    let run = run(&[&rungs[..], &set].concat());
    let report = run.report();
    for (flows, rate) in [(1, 123.456e6), (4, 4.0 * 123.456e6)] {
        let bps =
            entry(&report, "network.tcp", Some("a>b"), flows)["throughput_bps"]["median"].as_f64().unwrap();
        assert!((0.95..1.02).contains(&(bps / rate)), "{flows} flows: {bps}");
    }
    assert!(!warnings(&report).contains(&"knob-not-granted".to_owned()), "{:?}", warnings(&report));
    let text = std::fs::read_to_string(recording(run.folder.path())).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (rung, knob, value) in [
        ("network.tcp", "socket.dscp", "46"),
        ("network.udp", "socket.dscp", "46"),
        ("network.tcp", "tcp.source-port", "40000"),
        ("network.tcp", "tcp.pacing-rate", "123456000b/s"),
    ] {
        let granted = granted(&events, rung, knob);
        assert!(!granted.is_empty() && granted.iter().all(|got| *got == value), "{rung} {knob}: {granted:?}");
    }
    // The flows of a session come from one port each.
    assert!(text.contains(":40003"), "four flows");
}
