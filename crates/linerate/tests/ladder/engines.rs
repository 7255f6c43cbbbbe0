//! The best engine of a host, between two virtual ones: chosen by looks, granted as it is named, and told beside the plain calls.

use crate::user::runs::{entry, recording, run};
use linerate::vocabulary::STREAM_ENGINES;
use serde_json::Value;

#[test]
fn the_best_engine_of_a_lab_is_chosen_and_told() {
    let rungs = ["--only", "network.tcp,network.tcp-best", "--sizes", "1MiB", "--passes", "6"];
    let run = run(&[&["lab", "--profile", "quick"], &rungs[..]].concat());
    let report = run.report();
    let best = entry(&report, "network.tcp-best", Some("a>b"), 1);
    let name = best["chosen_engine"].as_str().unwrap();
    let engine = STREAM_ENGINES.iter().find(|engine| engine.name == name).unwrap();
    assert_eq!(best["title"], format!("network.tcp, best engine: {name}"));
    assert!(best["kept_of_below"]["low"].as_f64() > Some(0.0), "{best}");
    let sentence = report["sentence"].as_str().unwrap();
    assert!(sentence.contains(&format!("by its best engine here, {name}, it carries")), "{sentence}");
    // What the passes ran by is what is named, at each end that has it.
    let text = std::fs::read_to_string(recording(run.folder.path())).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let steps = events.iter().filter(|event| event["case"]["rung"] == "network.tcp-best");
    let arms: Vec<&Value> =
        steps.filter(|step| step["pass"].as_u64() > Some(0)).map(|it| &it["case"]["arm"]).collect();
    let arm = STREAM_ENGINES.iter().position(|one| one == engine).unwrap() + 1;
    // Its passes, and a visit more where one stood apart or was too wide.
    let of_stream = |event: &&Value| {
        let is_it = event["event"] == "trial" && event["case"]["rung"] == "network.tcp-best";
        is_it && event["case"]["pattern"] == "stream" && event["pass"].as_u64() > Some(0)
    };
    let visits = events.iter().filter(of_stream).filter(|event| event["case"]["from"] == "a").count() as u64;
    assert!(visits >= 6 && best["throughput_bps"]["n"].as_u64() == Some(visits), "{visits}: {best}");
    assert!(!arms.is_empty() && arms.iter().all(|one| **one == arm), "{arms:?}");
    let sessions = events.iter().filter(|event| event["rung"] == "network.tcp-best" && event["arm"] == arm);
    let granted: Vec<String> = sessions
        .filter_map(|session| session["granted"].as_array())
        .flatten()
        .map(|one| format!("{}={}", one["knob"].as_str().unwrap(), one["granted"].as_str().unwrap()))
        .collect();
    for set in engine.settings.iter().filter(|set| set.starts_with("tcp.")) {
        assert!(granted.iter().any(|one| one == set), "{set}: {granted:?}");
    }
}
