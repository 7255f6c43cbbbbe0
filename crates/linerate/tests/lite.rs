//! The message layer of our own, measured by the whole program: every byte is there at each role, and it says what it has.

use serde_json::Value;
use std::process::{Command, Stdio};
use tempfile::TempDir;

#[test]
fn both_rungs_carry_every_byte_in_both_waits() {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(["run", "lab", "--only", "in-host.lite,network.lite", "--no-page"]);
    command.args([
        "--profile",
        "quick",
        "--passes",
        "1",
        "--sizes",
        "1,100KiB",
        "--set",
        "socket.send-buffer=256KiB",
        "--output",
    ]);
    command.arg(folder.path().join("o")).env("LINERATE_STATE", folder.path().join("state"));
    let output = command.env("LINERATE_CONFIG", "").stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = std::fs::read_dir(folder.path().join("o")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let trials: Vec<&Value> =
        lines.iter().filter(|line| line["event"] == "trial" && line["pass"] == 1).collect();
    for rung in ["in-host.lite", "network.lite"] {
        for (pattern, wait) in [("ping-pong", "polling"), ("ping-pong", "sleeping"), ("stream", "sleeping")] {
            let is_of = |trial: &&&Value| {
                let case = &trial["case"];
                case["rung"] == rung && case["pattern"] == pattern && case["wait"] == wait
            };
            let mut sizes = 0;
            for trial in trials.iter().filter(is_of) {
                let number = |name: &str| trial["block"][name].as_u64().unwrap();
                let all = number("message_bytes") * number("messages") * number("slices");
                let roles = trial["roles"].as_array().unwrap();
                assert_eq!(roles.len(), 2);
                assert!(roles.iter().all(|role| role["flows"][0]["bytes"] == all), "{trial}");
                sizes += 1;
            }
            assert!(sizes > 2, "{rung}: {sizes} sizes of {pattern} {wait}");
        }
    }
    let knobs = |knob: &str| {
        let sessions = lines.iter().filter(|line| line["event"] == "session");
        let granted = sessions.flat_map(|line| line["granted"].as_array().cloned().unwrap_or_default());
        granted.filter(|one| one["knob"] == knob).map(|one| one["granted"].clone()).collect::<Vec<_>>()
    };
    let progress = knobs("lite.progress");
    assert!(!progress.is_empty() && progress.iter().all(|one| one == "thread"), "{progress:?}");
    let buffers = knobs("socket.send-buffer");
    assert!(buffers.len() >= progress.len() && buffers.iter().all(|one| one == "524288"), "{buffers:?}");
}
