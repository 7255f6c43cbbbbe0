//! Agents that are stopped in mid-run: of many hosts they get new ones and all is measured, of two the run ends.

use super::matrix_of;
use crate::user::runs::{PROGRAM, agents, await_lines, code, processes, recording, report, signal};
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn lines(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(recording(folder)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The hosts are known and nothing is measured yet: what is under way sizes the first round. Two are stopped at once.
#[test]
fn hosts_that_hang_before_the_first_round_are_measured() {
    let folder = TempDir::new().unwrap();
    let mut command = matrix_of(folder.path(), &["lab:hosts=6,rate=20Mb/s,wire=tbf", "--trial", "100ms"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    await_lines(folder.path(), "host", 6);
    let stopped = [agents()[1], agents()[4]];
    stopped.into_iter().for_each(|agent| signal(agent, Signal::STOP));
    assert_eq!(code(&mut run), Some(0), "nobody is named");
    let lines = lines(folder.path());
    let fallen: Vec<&Value> = lines.iter().filter(|line| line["process"] == true).collect();
    let tells =
        |line: &&Value| line["why"].as_str().is_some_and(|why| why.contains("does not answer any more"));
    assert!(!fallen.is_empty() && fallen.iter().all(tells), "{fallen:#?}");
    let probes = |line: &&Value| line["event"] == "trial" && line["why"] == "probe";
    let after = fallen[0]["after_steps"].as_u64();
    let beside = lines.iter().filter(probes).filter(|line| line["step"].as_u64() == after);
    assert!(beside.count() > 0, "the other pairs of the same step are measured: {fallen:#?}");
    let matrix = report(&recording(folder.path()))["matrix"].clone();
    assert_eq!(matrix["cells"].as_array().unwrap().len(), 30, "{matrix:#}");
    assert!(matrix["hosts"].as_array().unwrap().iter().all(|host| host["failed"].is_null()), "{matrix:#}");
    assert!(processes().iter().all(|(pid, _)| !stopped.contains(pid)), "they are gone");
}

#[test]
fn of_two_hosts_one_that_hangs_ends_the_run() {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["run", "lab", "--quiet", "--no-page", "--profile", "quick", "--only", "network.tcp"]);
    command.arg("--output").arg(folder.path()).env("LINERATE_STATE", folder.path().join("state"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let run = command.spawn().unwrap();
    await_lines(folder.path(), "trial", 1);
    signal(agents()[1], Signal::STOP);
    let output = run.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{text}");
    for part in ["(lab): does not answer any more, for 1", "see whether it is stopped"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(lines(folder.path()).last().unwrap()["event"], "end", "the recording is whole");
    assert!(agents().is_empty(), "nothing is left");
}
