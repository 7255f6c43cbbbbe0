//! Signals that end a run: what was measured is reported, however many of them come at once.

use crate::user::runs::{await_condition, code, command, recording};
use std::io::Read;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// Ends a run that has measured something by these signals, the pause between each; its code and what it said.
fn ended_by(signals: &[&str], pause: Duration) -> (Option<i32>, String, TempDir) {
    let folder = TempDir::new().unwrap();
    let arguments = ["lab", "--only", "in-host.tcp", "--passes", "400", "--no-page"];
    let mut run = command(folder.path(), &arguments).spawn().unwrap();
    await_condition("a trial", || {
        let files = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains("\"pass\":1,"))
    });
    for name in signals {
        signal(name, run.id());
        std::thread::sleep(pause);
    }
    let code = code(&mut run);
    let mut said = String::new();
    run.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    run.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (code, said, folder)
}

#[test]
fn signals_at_once_are_one() {
    for signals in [["-TERM", "-TERM", "-INT"], ["-INT", "-HUP", "-TERM"]] {
        let (code, said, folder) = ended_by(&signals, Duration::from_millis(30));
        assert_eq!(code, Some(130), "{signals:?}: {said}");
        assert!(said.contains("in-host.tcp"), "a report of what there is: {said}");
        let text = std::fs::read_to_string(recording(folder.path())).unwrap();
        assert!(text.contains("\"interrupted\""), "{signals:?}");
    }
}
