//! Whatever is killed, no fault outlives its lab.

use super::disks::may_serve;
use crate::user::runs::{PROGRAM, await_condition, code, command, namespaces, processes};
use linerate::lab::fault::{hog, rival};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn hogs() -> Vec<u32> {
    playing(hog::SUBCOMMAND)
}

pub(super) fn playing(role: &str) -> Vec<u32> {
    let all = processes().into_iter();
    all.filter(|(_, subcommand)| subcommand == role).map(|(pid, _)| pid).collect()
}

pub(super) fn kill(pid: u32) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn a_killed_run_takes_its_faults_with_it() {
    let before = namespaces();
    let folder = TempDir::new().unwrap();
    let faults = ["cpu-hog=0/10%", "loss=1%", "firewall-rules=10", "competing-flow"];
    let faults: Vec<&str> = faults.into_iter().flat_map(|fault| ["--fault", fault]).collect();
    let arguments = [&["lab", "--only", "network.tcp"][..], &faults].concat();
    let mut run = command(folder.path(), &arguments).spawn().unwrap();
    await_condition("the hog", || hogs().len() == 1);
    await_condition("the flow's ends", || playing(rival::SUBCOMMAND).len() == 2);
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
fn a_kept_labs_faults_show_and_go_with_it() {
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

/// Whether any process sees a slow disk.
fn is_a_disk_seen() -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut mounts = entries.filter_map(|entry| fs::read_to_string(entry.path().join("mountinfo")).ok());
    mounts.any(|mounts| mounts.contains("fuse.linerate"))
}

#[test]
fn a_disk_ends_with_its_lab() {
    if !may_serve() {
        return println!("SKIP: a_disk_ends_with_its_lab: /dev/fuse may not be opened here");
    }
    let before = namespaces();
    for killed in [None, Some("lab"), Some("lab-disk")] {
        let runtime = TempDir::new().unwrap();
        let output = lab(&runtime, &["up", "--detach", "--fault", "b:slow-disk=50Mb/s"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        let folder = words[words.iter().position(|word| *word == "fuse.linerate,").unwrap() - 1];
        let folder = folder.strip_suffix(':').unwrap();
        let mut writes = Command::new(PROGRAM);
        writes.env("XDG_RUNTIME_DIR", runtime.path()).args(["lab", "exec", "b", "--", "sh", "-c"]);
        // It would take ten seconds.
        writes.arg(format!("cd {folder} && pwd && exec dd if=/dev/zero of=file bs=1M count=64"));
        let mut writes = writes.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(writes.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said.trim_end(), folder);
        match killed {
            Some(role) => {
                let (pid, _) = processes().into_iter().find(|(_, subcommand)| subcommand == role).unwrap();
                kill(pid);
            }
            None => assert!(lab(&runtime, &["down"]).status.success()),
        }
        assert!(!writes.wait().unwrap().success(), "{killed:?}");
        await_condition("every process's end", || processes().is_empty());
        await_condition("every namespace's end", || namespaces() == before);
        await_condition("the disk's end", || !is_a_disk_seen());
    }
}

#[test]
fn a_runs_fault_is_none_of_a_kept_labs() {
    let runtime = TempDir::new().unwrap();
    let output = lab(&runtime, &["up", "--detach", "--fault", "slow-reader"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("linerate run lab --fault slow-reader"));
}
