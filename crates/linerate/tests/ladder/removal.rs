//! Whatever is killed, nothing stays: no process, no namespace; and what was measured can be read.

use crate::user::runs::{
    await_condition, code, command, namespaces, processes, recording, report, signal, warnings,
};
use rustix::process::Signal;
use std::path::Path;
use std::process::Child;
use tempfile::TempDir;

const ARGUMENTS: [&str; 7] =
    ["lab", "--profile", "quick", "--budget", "6s", "--only", "in-host.tcp,network.tcp"];

/// A run that has measured something that counts.
fn in_mid_run(folder: &Path) -> Child {
    in_pass(1, folder)
}

/// A run with a trial of a pass; those of pass 0 find out how to measure.
fn in_pass(number: u32, folder: &Path) -> Child {
    let child = command(folder, &ARGUMENTS).spawn().unwrap();
    let pass = format!(r#""pass":{number},"#);
    await_condition("the first trial of a pass", || {
        let files = std::fs::read_dir(folder).unwrap().count();
        // A session of the pass is on record before its first trial is.
        let counts = |line: &str| line.contains(r#""event":"trial""#) && line.contains(&pass);
        files == 1 && std::fs::read_to_string(recording(folder)).unwrap().lines().any(counts)
    });
    child
}

/// Kills one of the processes and gives the program's exit code.
fn kill_in_mid_run(role: &str) -> (TempDir, Option<i32>) {
    let before = namespaces();
    let folder = TempDir::new().unwrap();
    let mut child = in_mid_run(folder.path());
    let found = processes().into_iter().find(|(_, subcommand)| subcommand == role);
    signal(found.unwrap_or_else(|| panic!("no process is a {role}")).0, Signal::KILL);
    let code = code(&mut child);
    await_condition("every process's end", || processes().is_empty());
    await_condition("every namespace's end", || namespaces() == before);
    (folder, code)
}

#[test]
fn a_killed_controller_leaves_its_recording() {
    let (folder, code) = kill_in_mid_run("run");
    assert_eq!(code, None);
    let report = report(&recording(folder.path()));
    assert!(!report["ladder"].as_array().unwrap().is_empty());
}

/// It is started anew: what was under way has failed once, and everything is measured.
#[test]
fn a_run_goes_on_without_a_killed_process() {
    for role in ["agent", "worker"] {
        let (folder, code) = kill_in_mid_run(role);
        let report = report(&recording(folder.path()));
        assert_eq!(code, Some(0), "{role}");
        assert!(warnings(&report).contains(&"failed-once".to_owned()), "{role}");
        let text = std::fs::read_to_string(recording(folder.path())).unwrap();
        let failed = text.lines().find(|line| line.contains(r#""kind":"failed""#)).unwrap();
        assert!(failed.contains("ended with signal: 9"), "{role}: {failed}");
        for rung in ["in-host.tcp", "network.tcp"] {
            let of_rung = report["ladder"].as_array().unwrap().iter().filter(|row| row["id"] == rung);
            assert!(of_rung.count() > 0, "{role}: {rung}");
        }
    }
}

#[test]
fn a_run_that_measured_nothing_yet_says_how_to_go_on() {
    let folder = TempDir::new().unwrap();
    let mut child = in_pass(0, folder.path());
    signal(child.id(), Signal::INT);
    assert_eq!(code(&mut child), Some(130));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut text).unwrap();
    let hint = format!("linerate resume {}", recording(folder.path()).display());
    assert!(text.contains(&hint), "{text}");
}

#[test]
fn an_interrupted_run_reports_what_was_measured() {
    let before = namespaces();
    let folder = TempDir::new().unwrap();
    let mut child = in_mid_run(folder.path());
    signal(child.id(), Signal::INT);
    assert_eq!(code(&mut child), Some(130));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
    assert!(text.contains("network.tcp"), "{text}");
    let report = report(&recording(folder.path()));
    assert!(warnings(&report).contains(&"interrupted".to_owned()));
    await_condition("every process's end", || processes().is_empty());
    await_condition("every namespace's end", || namespaces() == before);
}
