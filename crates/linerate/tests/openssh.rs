//! A byte stream through the real ssh and sshd of this host: every byte is there, and what goes wrong is told in time and
//! leaves neither a process nor a key behind.

use crate::user::disturbed::{disturbed, long};
use crate::user::kept::{find, nothing_is_left};
use crate::user::nobody::runs_them_too;
use crate::user::ranks::{SHORT, crossed, every_byte_came, is_all, program, recorded, sessions, words};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Runs a rung, and gives what is on record.
fn carries_every_byte(rung: &str, cipher: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let mut command = program(folder.path());
    command.args(["--only", rung, "--set", &format!("ssh.cipher={cipher}")]).args(SHORT);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    for (about, granted) in sessions(&lines) {
        assert!(about.starts_with("through OpenSSH_"), "{about}");
        assert_eq!(*granted["ssh.cipher"], cipher, "what both programs say that they agreed on");
    }
    every_byte_came(&lines, &[("ping-pong", "polling"), ("ping-pong", "sleeping"), ("stream", "sleeping")]);
    nothing_is_left(folder.path());
    lines
}

#[test]
fn within_a_host_every_byte_comes() {
    carries_every_byte("in-host.ssh", "aes-128-ctr");
}

#[test]
fn between_hosts_every_byte_crosses() {
    let lines = carries_every_byte("network.ssh", "aes-256-gcm");
    for (step, came, moved) in crossed(&lines) {
        assert!(is_all(&moved, came), "{moved:?} of {came}: {step}");
    }
}

#[test]
fn an_ordinary_user_can_do_it_too() {
    runs_them_too(&["--exact", "openssh::between_hosts_every_byte_crosses"], &[]);
}

#[test]
fn a_client_that_is_killed_is_on_record() {
    let folder = TempDir::new().unwrap();
    let run = long(folder.path(), "network.ssh", "sleeping").stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let measures = || {
        let files = std::fs::read_dir(folder.path().join("o")).into_iter().flatten().flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.any(|text| text.lines().any(|line| line.contains("\"trial\"") && line.contains("\"pass\":1,")))
    };
    let client = loop {
        if let (true, Some(client)) = (measures(), find(folder.path(), "ssh -F none")) {
            break client;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "no ssh plays");
        std::thread::sleep(Duration::from_millis(20));
    };
    let why = disturbed(run, folder.path(), client, "-KILL", 40);
    assert!(why.contains("closed its connection"), "{why}");
    nothing_is_left(folder.path());
}
