//! Hosts whose agents stand still in mid-run: they get new ones, and all is measured.

use super::matrix_of;
use crate::user::runs::{await_condition, code, processes, recording, report};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;
use tempfile::TempDir;

/// The hosts are known and nothing is measured yet: what is under way sizes the first round.
#[test]
fn a_host_that_hangs_before_the_first_round_is_measured() {
    let folder = TempDir::new().unwrap();
    let mut command = matrix_of(folder.path(), &["lab:hosts=4,rate=20Mb/s,wire=tbf", "--trial", "100ms"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let hosts = |text: String| text.matches(r#""event":"host""#).count();
    await_condition("the hosts", || {
        let files = std::fs::read_dir(folder.path()).unwrap().flatten();
        let is_recording =
            |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
        let mut paths = files.map(|file| file.path()).filter(is_recording);
        paths.any(|path| std::fs::read_to_string(path).is_ok_and(|text| hosts(text) == 4))
    });
    let agent = processes().into_iter().find(|(_, role)| role == "agent").expect("an agent").0;
    kill_process(Pid::from_raw(agent.cast_signed()).unwrap(), Signal::STOP).unwrap();
    assert_eq!(code(&mut run), Some(11), "four hosts are too few to name one");
    let text = std::fs::read_to_string(recording(folder.path())).unwrap();
    assert!(
        text.contains("does not answer any more") && text.contains(r#""process":true"#),
        "the gap is told"
    );
    let matrix = report(&recording(folder.path()))["matrix"].clone();
    assert_eq!(matrix["cells"].as_array().unwrap().len(), 12, "{matrix:#}");
    assert!(matrix["hosts"].as_array().unwrap().iter().all(|host| host["failed"].is_null()), "{matrix:#}");
    assert!(!processes().iter().any(|(pid, _)| *pid == agent), "it is gone");
}
