//! `linerate resume`: a run that was cut goes on at the step at which it was.

use crate::user::runs::{PROGRAM, recording, report, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const LADDER: &[&str] =
    &["simulated:noise=0.05", "--only", "network.tcp,network.udp", "--profile", "quick", "--passes", "4"];

/// The first part of a recording, which ends within a line.
fn cut(file: &Path, share: f64) -> PathBuf {
    let text = std::fs::read_to_string(file).unwrap();
    let at = (text.len() as f64 * share) as usize;
    let copy = file.with_file_name("cut.jsonl");
    std::fs::write(&copy, &text.as_bytes()[..at]).unwrap();
    copy
}

fn resume(file: &Path) -> (TempDir, Output) {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["resume", "--quiet", "--no-page"]).arg(file).arg("--output").arg(folder.path());
    command.env("LINERATE_STATE", folder.path().join("state"));
    let output = command.output().unwrap();
    (folder, output)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(file: &Path, event: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["event"] == event).collect()
}

#[test]
fn a_run_that_was_cut_goes_on_at_its_step() {
    let whole = run(LADDER);
    assert!(whole.output.status.success(), "{}", said(&whole.output));
    let file = recording(whole.folder.path());
    let planned = lines(&file, "step");
    // In the discarded pass, in the middle of one, and near the end.
    for share in [0.1, 0.45, 0.9] {
        let cut = cut(&file, share);
        let before = lines(&cut, "step");
        let (folder, output) = resume(&cut);
        assert!(output.status.success(), "{share}: {}", said(&output));
        let resumed = recording(folder.path());
        let after = lines(&resumed, "step");
        assert_eq!(after[..before.len()], before[..], "what was measured is as it was");
        let added = lines(&resumed, "addition");
        assert_eq!((added.len(), &added[0]["after_steps"]), (1, &before.len().into()));
        // Each case once a pass, as without the cut.
        let visits = |steps: &[Value]| {
            let mut found: BTreeMap<String, usize> = BTreeMap::new();
            let in_passes = steps.iter().filter(|step| step["why"] == "pass");
            in_passes.for_each(|step| {
                *found.entry(format!("{} {}", step["pass"], step["case"])).or_default() += 1
            });
            found
        };
        assert_eq!(visits(&after), visits(&planned));
        let all = |report: &Value| {
            let ladder = report["ladder"].as_array().unwrap().clone();
            ladder.iter().map(|entry| entry["throughput_bps"]["n"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(all(&report(&resumed)), all(&report(&file)));
    }
}

#[test]
fn a_comparison_that_was_cut_comes_to_a_verdict() {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args([
        "ab",
        "simulated:noise=1%",
        "--set",
        "shim.slowdown=20",
        "--blocks",
        "8",
        "--seed",
        "5",
        "--quiet",
    ]);
    let output = command.arg("--output").arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(10), "{}", said(&output));
    let file = recording(folder.path());
    let (again, output) = resume(&cut(&file, 0.5));
    assert_eq!(output.status.code(), Some(10), "{}", said(&output));
    assert_eq!(lines(&recording(again.path()), "step").len(), lines(&file, "step").len());
}

#[test]
fn what_there_is_no_going_on_with_is_said() {
    let whole = run(&["simulated", "--only", "network.tcp", "--profile", "quick", "--passes", "1"]);
    let file = recording(whole.folder.path());
    let refused = |file: &Path, why: &str| {
        let (folder, output) = resume(file);
        assert_eq!(output.status.code(), Some(2), "{why}: {}", said(&output));
        assert!(said(&output).contains(why), "{why}: {}", said(&output));
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is left of it");
    };
    refused(&file, "it is whole: nothing is left to measure");
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = |name: &str, text: &str| {
        let path = whole.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let head: Vec<&str> = text.lines().take(3).collect();
    refused(&edited("head", &(head.join("\n") + "\n")), "nothing was measured yet");
    let half: String = text.chars().take(text.len() * 6 / 10).collect();
    let seed = half.split(r#""seed":"#).nth(1).unwrap().split([',', '}']).next().unwrap().to_owned();
    let other = half.replacen(&format!(r#""seed":{seed}"#), r#""seed":77"#, 1);
    refused(&edited("seed", &other), "would have measured something else at its step");
    let elsewhere = half.replace(r#""machine":"simulated""#, r#""machine":"another""#);
    refused(&edited("machine", &elsewhere), "host a: it is another machine");
}
