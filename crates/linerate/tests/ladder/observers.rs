//! What watches the hosts sees what went on.

use crate::user::runs::{recording, run};
use serde_json::Value;

#[test]
fn a_token_bucket_tells_what_it_passed_on() {
    let target = "lab:rate=100Mb/s,wire=tbf";
    let what = ["--only", "network.tcp", "--sizes", "64KiB", "--profile", "quick", "--passes", "1"];
    let run = run(&[&[target][..], &what].concat());
    assert!(run.output.status.success(), "{}", String::from_utf8_lossy(&run.output.stderr));
    let text = std::fs::read_to_string(recording(run.folder.path())).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_stream =
        |line: &Value| line["event"] == "step" && line["pass"] == 1 && line["case"]["pattern"] == "stream";
    let streams: Vec<Value> = lines.filter(is_stream).collect();
    assert!(!streams.is_empty());
    for step in streams {
        let sender =
            step["hosts"].as_array().unwrap().iter().find(|host| host["host"] == step["case"]["from"]);
        let sender = sender.unwrap();
        let counter = |name: &str| sender["counters"][&format!("queue.wire0.tbf.{name}")].as_f64();
        let sent =
            sender["interfaces"].as_array().unwrap().iter().find(|one| one["name"] == "wire0").unwrap();
        let sent = sent["tx_bytes"].as_f64().unwrap();
        // The bucket counts the headers of the segments that a super-packet becomes, the interface may not.
        let passed = counter("bytes").unwrap_or(0.0);
        assert!(sent > 1e6 && (0.98 * sent..1.1 * sent).contains(&passed), "{passed} of {sent}: {sender}");
        assert!(counter("packets").is_some_and(|packets| packets > sent / 65536.0), "{sender}");
        assert!(
            counter("overlimits").is_some_and(|times| times > 0.0),
            "it holds what comes too soon: {sender}"
        );
    }
}
