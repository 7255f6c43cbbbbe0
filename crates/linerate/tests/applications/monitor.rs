//! A monitor on the lab: rounds, a slow node, the real agents.

use super::{lanes, planned, points};
use std::path::Path;

const ROUNDS: &str = r#"
name = "mine"
[[case]]
id = "nodes"
rung = "network.tcp"
pattern = "monitor"
sizes = ["10KiB"]
roles = "fan-out"
trial = "100ms"
[[figure]]
id = "round"
title = "A round"
cases = ["nodes"]
x = "connections"
y = "round-time"
[[figure]]
id = "answer"
title = "An answer"
cases = ["nodes"]
x = "connections"
y = "transaction-time.p50"
also = ["connect-time.p50"]
[[figure]]
id = "missed"
title = "Polls that were missed"
cases = ["nodes"]
x = "connections"
y = "polls-missed"
"#;

fn value(report: &serde_json::Value, figure: &str) -> f64 {
    points(report, figure).first().unwrap_or_else(|| panic!("{figure} is empty")).2
}

/// A third of the nodes answers after 60 ms: its polls are missed at their deadline, and the others' answers are as quick
/// as ever.
#[test]
fn a_slow_node_delays_nobody_beyond_the_deadline() {
    let slow = ["--set", "monitor.delay=60ms", "--set", "monitor.deadline=20ms"];
    let report = planned("lab:hosts=4", ROUNDS, &slow).report();
    assert!((value(&report, "missed") - 1.0 / 3.0).abs() < 1e-9, "{}", value(&report, "missed"));
    let waits = lanes(&report, "nodes", "waits-for-answer");
    assert_eq!(waits.len(), 3, "{waits:?}");
    assert!(waits[0].1.contains("node b") && waits[0].2 > 0.8, "it is waited for to the end: {waits:?}");
    let round = value(&report, "round");
    assert!(
        (20e6..60e6).contains(&round),
        "a round ends at its deadline, before the slow node answers: {round}"
    );
    let answer = value(&report, "answer");
    assert!(answer < round, "who is not slow is not waited for so long: {answer}, {round}");
}

#[test]
fn a_monitor_asks_by_other_transports() {
    for transport in ["mptcp", "tcp"] {
        let report =
            planned("lab:hosts=3", ROUNDS, &["--set", &format!("monitor.transport={transport}")]).report();
        assert!(value(&report, "round") > 0.0 && value(&report, "missed") == 0.0, "{transport}");
        let times = points(&report, "answer");
        let of = |name: &str| times.iter().find(|(series, ..)| series.starts_with(name)).unwrap().2;
        assert!(of("connect-time") < of("transaction-time"), "{times:?}");
    }
}

#[test]
fn the_real_agents_are_asked_for_their_state() {
    for (agent, program) in
        [("gmond", "/usr/sbin/gmond"), ("node-exporter", "/usr/bin/prometheus-node-exporter")]
    {
        if !Path::new(program).exists() {
            println!("SKIP: the_real_agents_are_asked_for_their_state: no {program} here");
            continue;
        }
        let report = planned("lab:hosts=3", ROUNDS, &["--set", &format!("monitor.agent={agent}")]).report();
        assert!(value(&report, "round") > 0.0, "{agent}");
    }
}
