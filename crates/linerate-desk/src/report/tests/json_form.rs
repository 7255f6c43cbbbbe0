//! The JSON form: its keys are stable, and what is written is read again.

use super::*;

/// The keys of the stable form, and which of them may be null.
#[test]
fn the_json_form_is_stable() {
    let value: Value = serde_json::from_str(&json(&made_up())).unwrap();
    assert_eq!(value["schema"], "linerate.report/1");
    for key in ["version", "seed", "plan_hash", "profile", "utc", "confidence", "target"] {
        assert!(!value["run"][key].is_null(), "{key}");
    }
    let entry = |direction: &str, flows: u32| {
        let ladder = value["ladder"].as_array().unwrap();
        let found = ladder.iter().find(|e| e["direction"] == direction && e["flows"] == flows);
        found.unwrap_or_else(|| panic!("no {direction} x {flows}")).clone()
    };
    let network = entry("a>b", 1);
    assert_eq!(network["id"], "network.tcp");
    assert_eq!(network["below"], "in-host.tcp");
    assert_eq!(network["host"], Value::Null);
    assert_eq!(network["message_bytes"], 1 << 20);
    assert_eq!(network["latency_bytes"], 64);
    assert_eq!(network["placement"], serde_json::json!([0, 1]));
    let estimates = [
        "/throughput_bps",
        "/half_round_trip_ns/polling",
        "/half_round_trip_ns/sleeping",
        "/kept_of_below",
        "/cost/constant_ns",
        "/cost/ns_per_byte",
    ];
    for pointer in estimates {
        for part in ["median", "low", "high", "n"] {
            assert!(network.pointer(pointer).unwrap()[part].is_number(), "{pointer}/{part}");
        }
    }
    for pointer in ["/cpu_ns_per_byte/sender", "/cpu_ns_per_byte/receiver", "/retransmits", "/bound/bps"] {
        assert!(network.pointer(pointer).unwrap().is_number(), "{pointer}");
    }
    let waterfall = &value["waterfalls"][0];
    assert!(waterfall["wait"] == "polling" && waterfall["message_bytes"] == 64, "{waterfall}");
    assert_eq!(waterfall["gaps"].as_array().unwrap().len(), 3);
    assert_eq!(entry("a<>b", 1)["kept_of_below"], Value::Null);
    assert_eq!(value["ladder"][0]["host"], "a");
    let warning = &value["warnings"][0];
    assert!(["code", "text", "evidence"].iter().all(|key| !warning[key].is_null()), "{warning}");
}

#[test]
fn the_json_form_names_bounds() {
    let value: Value = serde_json::from_str(&json(&made_up())).unwrap();
    let ladder = value["ladder"].as_array().unwrap();
    let network = ladder.iter().find(|e| e["direction"] == "a>b" && e["flows"] == 1).unwrap();
    assert_eq!(network["bound"]["name"], "sender-cpu");
    assert_eq!(network["next_bound"]["name"], "receiver-cpu");
    assert!(network["bound"]["low"].is_number() && network["bound"]["high"].is_number());
    assert_eq!(network["unavailable"], Value::Null);
    assert!(network["stage_bps"].is_number() && network["cost"]["worth_opening"].is_boolean());
    for pointer in ["/cpu_model/sender/ns_per_byte", "/cpu_model/receiver/message_ns"] {
        assert!(network.pointer(pointer).unwrap().is_number(), "{pointer}");
    }
}

#[test]
fn the_json_form_describes_curves() {
    let value: Value = serde_json::from_str(&json(&made_up())).unwrap();
    let curve =
        value["curves"].as_array().unwrap().iter().find(|curve| curve["pattern"] == "ping-pong").unwrap();
    assert_eq!(curve["points"].as_array().unwrap().len(), 24);
    assert!(
        ["from_bytes", "to_bytes", "alpha_ns", "ns_per_byte"]
            .iter()
            .all(|key| curve["segments"][0][key].is_number())
    );
    assert_eq!(curve["breaks"], serde_json::json!([]));
    let summary = ["alpha_ns", "ns_per_byte", "r_infinity_bps", "n_half_bytes", "peak_bps", "tail_bps"];
    assert!(summary.iter().all(|key| curve["summary"][key].is_number()), "{}", curve["summary"]);
    for key in ["forms", "slower", "splits", "unaligned"] {
        assert!(curve[key].is_array(), "{key}");
    }
}

#[test]
fn the_json_form_comes_back() {
    let recording = made_up();
    let report = Report::from_recording(&recording);
    let back: Report = serde_json::from_str(&json(&recording)).unwrap();
    // Numbers may differ in their last bit; they are not written again.
    assert_eq!(
        (&back.run, &back.sentence, &back.warnings),
        (&report.run, &report.sentence, &report.warnings)
    );
    let (ours, theirs) = (&report.ladder[3], &back.ladder[3]);
    assert_eq!(
        (&ours.id, &ours.placement, ours.retransmits),
        (&theirs.id, &theirs.placement, theirs.retransmits)
    );
    let median = |entry: &LadderEntry| entry.throughput_bps.unwrap().median;
    assert!((median(ours) / median(theirs) - 1.0).abs() < 1e-12);
}
