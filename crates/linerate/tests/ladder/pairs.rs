//! Several pairs of hosts at once.

use crate::user::runs::{recording, run};
use serde_json::Value;

const MULTI_PAIR: &str = r#"
name = "mine"
[[case]]
id = "streams"
rung = "network.tcp"
pattern = "stream"
sizes = ["64KiB"]
roles = "multi-pair"
[[figure]]
id = "pairs"
title = "Streams beside each other"
cases = ["streams"]
x = "size"
y = "throughput"
"#;

/// A run between four hosts, whose links carry 100 Mb/s each way: its figure's series, and the lines on record.
fn measured(arguments: &[&str]) -> (Value, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, MULTI_PAIR).unwrap();
    let fixed = ["lab:hosts=4,rate=100Mb/s", "--profile", "quick", "--passes", "1", "--plan"];
    let run = run(&[&fixed[..], &[plan.to_str().unwrap()], arguments].concat());
    let text = std::fs::read_to_string(recording(run.folder.path())).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (run.report()["suites"][0].clone(), lines)
}

/// The name of each series, and its only value.
fn values(suite: &Value) -> Vec<(&str, f64)> {
    let series = suite["figures"][0]["series"].as_array().unwrap();
    let value = |one: &Value| one["points"][0]["value"]["median"].as_f64().unwrap();
    series.iter().map(|one| (one["name"].as_str().unwrap(), value(one))).collect()
}

fn of_event<'l>(lines: &'l [Value], event: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

#[test]
fn disjoint_pairs_are_measured_in_one_step_and_have_a_number_each() {
    let (suite, lines) = measured(&[]);
    let values = values(&suite);
    assert_eq!(values.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["from a", "from c"]);
    // Each has a link of its own; other tests have the CPUs as well.
    assert!(values.iter().all(|(_, bps)| (5e6..100e6).contains(bps)), "{values:?}");
    let trials: Vec<&Value> =
        of_event(&lines, "trial").into_iter().filter(|trial| trial["pass"] == 1).collect();
    let [one, other] = trials[..] else { panic!("{trials:?}") };
    assert_eq!(one["step"], other["step"]);
    let span = |trial: &Value| {
        let roles = trial["roles"].as_array().unwrap();
        let flow = &roles.iter().find(|role| role["does"] == "receives").unwrap()["flows"][0];
        let (start, duration) = (flow["start_ns"].as_u64().unwrap(), flow["duration_ns"].as_u64().unwrap());
        (start, start + duration)
    };
    // The hosts of a lab have one clock.
    let (one, other) = (span(one), span(other));
    let at_once = one.1.min(other.1).saturating_sub(one.0.max(other.0));
    assert!(2 * at_once > one.1 - one.0, "{one:?} and {other:?}");
}

#[test]
fn a_pair_whose_way_is_broken_says_why_and_the_other_has_its_number() {
    // What opens a connection is shorter than that.
    let (suite, lines) = measured(&["--fault", "c-d:mtu-black-hole=100"]);
    let values = values(&suite);
    assert!(matches!(values[..], [(_, bps)] if (5e6..100e6).contains(&bps)), "{values:?}");
    let failed = of_event(&lines, "unavailable");
    let [failed] = failed[..] else { panic!("{failed:?}") };
    assert_eq!(failed["between"], serde_json::json!(["c", "d"]));
    let why = failed["why"].as_str().unwrap();
    for word in ["moved no byte within the time limit", "network.tcp stream c>d"] {
        assert!(why.contains(word), "{why}");
    }
    let left_out = suite["left_out"].as_array().unwrap();
    assert!(left_out.iter().any(|not| not["why"] == failed["why"]), "{left_out:?}");
    // Both were under way in the first step, and later ones leave the broken one out.
    let steps: Vec<_> =
        of_event(&lines, "step").into_iter().map(|step| step["case"]["from"].as_str()).collect();
    assert_eq!(steps, [Some("a+c"), Some("a"), Some("a")]);
}
