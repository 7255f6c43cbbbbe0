//! What a case asks of a lab's links is set for it, read back, and gone for the next one.

use crate::user::nobody;
use crate::user::runs::{recording, run};
use serde_json::Value;
use std::collections::BTreeSet;

const PLAN: &str = r#"
name = "mine"
[[case]]
id = "mtu"
rung = "network.tcp"
sizes = "64KiB"
trial = "100ms"
[case.vary]
"link.mtu" = ["1500", "9000"]
[[case]]
id = "offload"
rung = "network.tcp"
sizes = "64KiB"
trial = "100ms"
[case.vary]
"link.offload" = ["on", "off"]
[[case]]
id = "held"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = "64"
trial = "200ms"
[case.vary]
"link.coalesce" = ["0ns", "1ms"]
[[case]]
id = "plain"
rung = "network.tcp"
sizes = "64KiB"
trial = "100ms"
[[case]]
id = "segments"
rung = "network.tcp"
sizes = "64KiB"
trial = "100ms"
[case.vary]
"tcp.mss" = ["8948"]
[[figure]]
id = "held"
title = "held"
cases = ["held"]
x = "settings"
y = "half-round-trip"
[[figure]]
id = "mtu"
title = "mtu"
cases = ["mtu"]
x = "settings"
y = "throughput"
"#;

fn text<'v>(line: &'v Value, key: &str) -> &'v str {
    line[key].as_str().unwrap_or_default()
}

/// What each arm's sessions between hosts granted of a knob: `arm value`.
fn granted(lines: &[Value], knob: &str) -> BTreeSet<String> {
    let sessions = lines.iter().filter(|line| text(line, "event") == "session");
    let of_session = |session: &Value| {
        let arm = session["arm"].as_u64().unwrap_or(0);
        let all = session["granted"].as_array().cloned().unwrap_or_default();
        let of_knob = all.into_iter().filter(|one| text(one, "knob") == knob);
        of_knob.map(|one| format!("{arm} {}", text(&one, "granted"))).collect::<Vec<_>>()
    };
    sessions.flat_map(of_session).collect()
}

/// What the wire counted in the steps of an arm.
fn counted(lines: &[Value], arm: u64, key: &str) -> u64 {
    let steps = lines.iter().filter(|line| text(line, "event") == "step" && line["pass"] == 1);
    let of_arm = steps.filter(|step| step["case"]["arm"].as_u64().unwrap_or(0) == arm);
    of_arm.filter_map(|step| step["wire"][key].as_u64()).sum()
}

#[test]
fn links_are_set_for_a_case_and_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, PLAN).unwrap();
    let plan = plan.to_str().unwrap();
    let run = run(&["lab:wire=user", "--plan", plan, "--profile", "quick", "--passes", "1"]);
    let report = run.report();
    let recorded = std::fs::read_to_string(recording(run.folder.path())).unwrap();
    let lines: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let set = |all: &[&str]| all.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    // Arms are numbered as the plan has them; 0 is the case that sets nothing, between the others by chance.
    assert_eq!(granted(&lines, "link.mtu"), set(&["1 1500", "2 9000"]));
    assert_eq!(granted(&lines, "link.offload"), set(&["3 on", "4 off"]));
    let segments = granted(&lines, "tcp.mss");
    assert_eq!(segments, set(&["0 1448", "1 1448", "2 8948", "3 1448", "4 1448", "5 1448", "6 1448"]));
    let carried = |arm: u64| ["frames", "packets"].map(|key| counted(&lines, arm, key));
    let [frames, packets] = carried(4);
    assert!(frames > 100 && frames == packets, "{frames} frames are {packets} packets");
    let [frames, packets] = carried(3);
    assert!(2 * frames < packets, "{frames} frames are {packets} packets");
    // Each way is held for 1 ms, never less; how much more is of the machine: `truth` has the difference.
    let held = report["suites"][0]["figures"][0]["series"][0]["points"].as_array().unwrap().clone();
    let medians: Vec<f64> = held.iter().map(|point| point["value"]["median"].as_f64().unwrap()).collect();
    assert!(medians.len() == 2 && medians[1] >= 1e6, "{held:?}");
    assert!(
        counted(&lines, 5, "interrupts") == 0 && counted(&lines, 6, "interrupts") > 10,
        "the wire's own account"
    );
    // A name that nothing has is none.
    let left_out = report["suites"][0]["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(text(&left_out[0], "why").contains("tcp.mss=8948: the MTU of wire0"), "{left_out:?}");
}

const ADAPTERS: &str = r#"
name = "mine"
[[case]]
id = "adapters"
rung = "network.tcp"
sizes = "64KiB"
roles = "fan-in"
clients = [4]
trial = "400ms"
[case.vary]
"link.adapters" = ["1", "2", "5"]
[[figure]]
id = "adapters"
title = "adapters"
cases = ["adapters"]
x = "settings"
y = "throughput"
"#;

/// What one link carries is known; two carry twice as much.
#[test]
fn each_adapter_has_a_link_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, ADAPTERS).unwrap();
    let plan = plan.to_str().unwrap();
    // A bucket is where a host sends: of three hosts two do.
    for (target, senders) in [("lab:rate=100Mb/s,wire=tbf", 1.0), ("lab:hosts=3,rate=100Mb/s,wire=tbf", 2.0)]
    {
        let run = run(&[target, "--plan", plan, "--profile", "quick", "--passes", "2"]);
        let report = run.report();
        let recorded = std::fs::read_to_string(recording(run.folder.path())).unwrap();
        let lines: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // Of three hosts each sender has two connections, one by each adapter.
        assert_eq!(granted(&lines, "link.adapters"), ["1 1", "2 2"].map(String::from).into(), "{target}");
        let points = report["suites"][0]["figures"][0]["series"][0]["points"].as_array().unwrap().clone();
        let carried: Vec<f64> = points.iter().map(|it| it["value"]["median"].as_f64().unwrap()).collect();
        let is_of = |number: f64, truth: f64| (0.8 * truth..1.1 * truth).contains(&number);
        assert!(
            is_of(carried[0], senders * 100e6) && is_of(carried[1], senders * 200e6),
            "{target}: {carried:?}"
        );
        let left_out = report["suites"][0]["left_out"].as_array().unwrap();
        assert_eq!(left_out.len(), 1, "{left_out:?}");
        // Those of a pair of hosts count: of three each sender has half of the four.
        let why = format!("link.adapters=5: {} connections by 5 adapters", 4.0 / senders);
        assert_eq!(text(&left_out[0], "why"), why, "{left_out:?}");
    }
}

/// Their hosts are in a user namespace, whose root they are.
#[test]
fn an_ordinary_users_links_are_set_too() {
    nobody::runs_them_too(
        &["links_are_set_for_a_case_and_set_back", "each_adapter_has_a_link_of_its_own"],
        &[],
    );
}
