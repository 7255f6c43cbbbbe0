//! A step in a figure of a plan: told by the label of its series, in the text and as JSON.

use serde_json::Value;
use std::process::Command;
use tempfile::TempDir;

const PLAN: &str = "name = \"mine\"\n[[case]]\nid = \"x\"\nlabel = \"my library\"\nrung = \"network.tcp\"\n\
                    pattern = \"ping-pong\"\nwait = \"sleeping\"\nsizes = \"ladder\"\n[[figure]]\nid = \"f\"\n\
                    title = \"t\"\ncases = [\"x\"]\nx = \"size\"\ny = \"half-round-trip\"\n";

#[test]
fn a_step_is_told_by_the_label_of_its_series() {
    let folder = TempDir::new().unwrap();
    let plan = folder.path().join("mine.toml");
    std::fs::write(&plan, PLAN).unwrap();
    let linerate = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_linerate")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let out = folder.path().join("out");
    let (plan, out) = (plan.to_str().unwrap(), out.to_str().unwrap());
    let how = ["--budget", "60s", "--seed", "1", "--quiet", "--no-page", "--plan", plan, "--output", out];
    let text = linerate(&[&["run", "simulated:step=5000/3ms"], &how[..]].concat());
    let told = text.lines().find(|line| line.contains("my library (f): +")).unwrap_or_default();
    assert!(told.contains("from 5000 B on") && text.contains("confirmed"), "{text}");
    let recording = std::fs::read_dir(out).unwrap().next().unwrap().unwrap().path();
    let report = linerate(&["report", recording.to_str().unwrap(), "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let breaks = report["suites"][0]["figures"][0]["series"][0]["breaks"].as_array().unwrap().clone();
    assert!(breaks.iter().any(|one| one["at_bytes"] == 5000 && one["confirmed"].is_object()), "{breaks:?}");
}
