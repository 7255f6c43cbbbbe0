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

/// Of a way that lets only the smallest packets pass: a connection is opened and carries nothing; of datagrams not even the
/// two ends find each other.
const BROKEN: &str = r#"
name = "mine"
[[case]]
id = "round-trips"
rung = "network.tcp"
pattern = "ping-pong"
wait = "sleeping"
sizes = ["4KiB"]
roles = "multi-pair"
[[case]]
id = "datagrams"
rung = "network.udp"
sizes = ["1KiB"]
roles = "multi-pair"
[[figure]]
id = "round-trips"
title = "Round trips beside each other"
cases = ["round-trips"]
x = "size"
y = "half-round-trip"
[[figure]]
id = "datagrams"
title = "Datagrams beside each other"
cases = ["datagrams"]
x = "size"
y = "throughput"
"#;

/// A run between four hosts, whose links carry 100 Mb/s each way: the suite, and the lines on record.
fn measured(text: &str, arguments: &[&str]) -> (Value, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, text).unwrap();
    let fixed = ["lab:hosts=4,rate=100Mb/s", "--profile", "quick", "--passes", "1", "--plan"];
    let run = run(&[&fixed[..], &[plan.to_str().unwrap()], arguments].concat());
    let text = std::fs::read_to_string(recording(run.folder.path())).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let report = if arguments.is_empty() { run.report() } else { run.report_with_failures() };
    (report["suites"][0].clone(), lines)
}

/// The name of each series of a figure, and its only value.
fn values(suite: &Value, figure: usize) -> Vec<(&str, f64)> {
    let series = suite["figures"][figure]["series"].as_array().unwrap();
    let value = |one: &Value| one["points"][0]["value"]["median"].as_f64().unwrap();
    series.iter().map(|one| (one["name"].as_str().unwrap(), value(one))).collect()
}

fn of_event<'l>(lines: &'l [Value], event: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

#[test]
fn disjoint_pairs_are_measured_in_one_step() {
    let (suite, lines) = measured(MULTI_PAIR, &[]);
    let values = values(&suite, 0);
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
fn a_broken_pair_leaves_the_other_measured() {
    let (suite, lines) = measured(BROKEN, &["--fault", "c-d:mtu-black-hole=100"]);
    let (round_trips, datagrams) = (values(&suite, 0), values(&suite, 1));
    assert!(
        matches!(round_trips[..], [(_, ns)] if ns > 80e3),
        "4 KiB take longer on the wire: {round_trips:?}"
    );
    assert!(matches!(datagrams[..], [(_, bps)] if (5e6..100e6).contains(&bps)), "{datagrams:?}");
    let failed = of_event(&lines, "unavailable");
    assert_eq!(failed.len(), 4, "each is tried twice: {failed:?}");
    assert!(failed.iter().all(|failed| failed["between"] == serde_json::json!(["c", "d"])), "{failed:?}");
    let of_rung =
        |rung: &str| failed.iter().find(|failed| failed["rung"] == rung).unwrap()["why"].as_str().unwrap();
    // One fails in its trial, and one before its session stands.
    let (tcp, udp) = (of_rung("network.tcp"), of_rung("network.udp"));
    assert!(tcp.contains("moved no byte within the time limit"), "{tcp}");
    assert!(udp.contains("UDP port") && udp.contains("gave no answer"), "{udp}");
    let left_out = suite["left_out"].as_array().unwrap();
    // Of the last try, which had a port of its own.
    let is_told = |what: &str, part: &str| {
        let why = |not: &Value| not["why"].as_str().unwrap().contains(part);
        left_out.iter().any(|not| not["what"] == what && why(not))
    };
    assert!(is_told("mine.round-trips, network.tcp ping-pong sleeping c>d", "moved no byte"), "{left_out:?}");
    assert!(is_told("network.udp c>d", "gave no answer"), "{left_out:?}");
    // Both connections were under way in the first step; the broken one is tried once more, and then left out.
    let steps = of_event(&lines, "step");
    let both = steps.iter().filter(|step| step["case"]["from"] == "a+c").count();
    let alone = steps.iter().filter(|step| step["case"]["from"] == "a").count();
    assert_eq!((both, alone), (2, steps.len() - 2));
}
