//! Whatever is killed, no fault outlives its lab.

use crate::support::{PROGRAM, await_condition, code, command, namespaces, processes};
use linerate::lab::fault::hog;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::{Command, Output};
use tempfile::TempDir;

fn hogs() -> Vec<u32> {
    let all = processes().into_iter();
    all.filter(|(_, subcommand)| subcommand == hog::SUBCOMMAND).map(|(pid, _)| pid).collect()
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_killed_run_takes_its_faults_with_it() {
    let before = namespaces();
    let folder = TempDir::new().unwrap();
    let faults = ["--fault", "cpu-hog=0/10%", "--fault", "loss=1%", "--fault", "firewall-rules=10"];
    let arguments = [&["lab", "--only", "network.tcp"][..], &faults].concat();
    let mut run = command(folder.path(), &arguments).spawn().unwrap();
    await_condition("the hog", || hogs().len() == 1);
    run.kill().unwrap();
    assert_eq!(code(&mut run), None);
    await_condition("every process's end", || processes().is_empty());
    await_condition("every namespace's end", || namespaces() == before);
}

/// `linerate lab` with a register of its own.
fn lab(runtime: &TempDir, arguments: &[&str]) -> Output {
    Command::new(PROGRAM).env("XDG_RUNTIME_DIR", runtime.path()).arg("lab").args(arguments).output().unwrap()
}

#[test]
fn a_lab_that_is_kept_shows_its_faults_and_takes_them_with_it() {
    let before = namespaces();
    for is_killed in [false, true] {
        let runtime = TempDir::new().unwrap();
        let faults = ["--fault", "cpu-hog=1/10%", "--fault", "b:sack-off", "--fault", "a-b:delay=3ms"];
        let output = lab(&runtime, &[&["up", "--detach"][..], &faults].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for part in ["cpu-hog=1/10%", "b:sack-off", "tcp_sack = 0", "a-b:delay=3ms"] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        assert_eq!(hogs().len(), 1);
        let list: Value =
            serde_json::from_slice(&lab(&runtime, &["list", "--format", "json"]).stdout).unwrap();
        assert_eq!(list[0]["faults"].as_array().unwrap().len(), 3, "{list}");
        match is_killed {
            true => kill(list[0]["pid"].as_u64().unwrap() as u32),
            false => assert!(lab(&runtime, &["down"]).status.success()),
        }
        await_condition("every process's end", || processes().is_empty());
        await_condition("every namespace's end", || namespaces() == before);
    }
}

#[test]
fn a_fault_of_a_run_is_no_fault_of_a_lab_that_is_kept() {
    let runtime = TempDir::new().unwrap();
    let output = lab(&runtime, &["up", "--detach", "--fault", "slow-reader"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("linerate run lab --fault slow-reader"));
}
