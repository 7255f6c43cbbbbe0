//! Message passing by the real PVM of this host: its daemons carry every byte, or a connection of the tasks does, and
//! what goes wrong is told in time and leaves neither a process nor a folder behind.

use crate::user::disturbed::{disturbed, in_the_middle, long};
use crate::user::kept::{find, nothing_is_left};
use crate::user::ranks::{SHORT, crossed, every_byte_came, is_all, program, recorded, sessions, words};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn on_rung(folder: &Path, rung: &str, how: &[&str]) -> Command {
    let mut command = program(folder);
    command.args(["--only", rung]).args(how);
    command
}

/// Runs a rung, and gives what is on record.
fn carries_every_byte(rung: &str, route: &str, encoding: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let mut command = on_rung(folder.path(), rung, &SHORT);
    command
        .arg("--set")
        .arg(format!("pvm.route={route}"))
        .arg("--set")
        .arg(format!("pvm.encoding={encoding}"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    let way = if route == "direct" { "by a connection of the tasks" } else { "through the daemons" };
    for (about, granted) in sessions(&lines) {
        assert!(about.starts_with("PVM 3.") && about.ends_with(way), "{about}");
        // What there is, and not what was asked.
        assert_eq!(*granted["pvm.route"], route);
        assert!(granted["pvm.encoding"].is_null(), "no call tells how a message was packed");
    }
    every_byte_came(&lines, &[("ping-pong", "polling"), ("ping-pong", "sleeping"), ("stream", "sleeping")]);
    nothing_is_left(folder.path());
    lines
}

#[test]
fn each_route_and_encoding_carries_every_byte() {
    for (route, encoding) in
        [("default", "default"), ("default", "in-place"), ("direct", "raw"), ("direct", "in-place")]
    {
        carries_every_byte("in-host.pvm", route, encoding);
    }
}

#[test]
fn between_two_hosts_every_byte_crosses() {
    for (route, encoding) in [("default", "default"), ("direct", "in-place")] {
        let lines = carries_every_byte("network.pvm", route, encoding);
        for (step, came, moved) in crossed(&lines) {
            // A send is over when the daemon has the message: the host that sends last is read before it has left. The
            // other one has all of it.
            assert!(is_all(&moved, came), "{route}: {moved:?} of {came}: {step}");
        }
    }
}

/// PVM in a folder of its own, with a daemon of this script.
fn with_daemon(folder: &Path, script: &str) -> PathBuf {
    let [lib, bin] = ["lib", "bin"].map(|name| folder.join(name));
    std::fs::create_dir(&lib).unwrap();
    std::fs::create_dir(&bin).unwrap();
    let cache = Command::new("/sbin/ldconfig").arg("-p").output().unwrap();
    let cache = String::from_utf8(cache.stdout).unwrap();
    let real = cache.lines().find_map(|line| line.trim().strip_prefix("libpvm3.so.3 ")?.split("=> ").nth(1));
    std::fs::copy(real.expect("PVM is installed"), lib.join("libpvm3.so.3")).unwrap();
    let daemon = bin.join("pvmd");
    std::fs::write(&daemon, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&daemon, std::fs::Permissions::from_mode(0o755)).unwrap();
    lib
}

fn run_with_daemon(rungs: &str, script: &str) -> (Output, Duration, Vec<Value>) {
    let folder = TempDir::new().unwrap();
    let lib = with_daemon(folder.path(), script);
    let mut command = on_rung(folder.path(), rungs, &SHORT);
    // Beside the system's own it is the first.
    command.env("LD_LIBRARY_PATH", lib);
    let begun = Instant::now();
    let output = command.output().unwrap();
    let took = begun.elapsed();
    nothing_is_left(folder.path());
    (output, took, recorded(folder.path()))
}

#[test]
fn a_broken_daemon_is_told_in_time() {
    let (output, took, lines) =
        run_with_daemon("in-host.pvm,in-host.unix", "echo 'no room for a daemon' >&2; exit 3");
    assert!(output.status.success(), "{}", words(&output));
    assert!(took < Duration::from_secs(60), "{took:?}");
    let not = lines.iter().find(|line| line["event"] == "unavailable" && line["rung"] == "in-host.pvm");
    let not = not.expect("its failure is on record");
    let why = not["why"].as_str().unwrap();
    assert!(why.contains("exit status: 3") && why.contains("no room for a daemon"), "{not}");
    assert!(not["hint"].as_str().unwrap().contains("pvmd"), "{not}");
    let measured = |line: &Value| line["event"] == "trial" && line["case"]["rung"] == "in-host.unix";
    assert!(lines.iter().any(measured), "the other rung is measured");

    let (output, took, _) = run_with_daemon("in-host.pvm", "exec sleep 1000");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("was not ready after 10 s"), "{text}");
    assert!(took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn a_root_folder_that_is_not_there_is_no_matter() {
    let folder = TempDir::new().unwrap();
    let mut command = on_rung(folder.path(), "network.pvm", &SHORT);
    let output = command.env("PVM_ROOT", "/no/such/folder").output().unwrap();
    // Debian's needs none, and its daemon is found on the path.
    assert!(output.status.success(), "{}", words(&output));
    nothing_is_left(folder.path());
}

/// A run in its middle, and a task of it that plays.
fn begun(folder: &Path, rung: &str) -> (Child, u32) {
    in_the_middle(&mut long(folder, rung, "sleeping"), folder, "task")
}

#[test]
fn a_killed_or_hung_task_is_on_record() {
    for signal in ["-KILL", "-STOP"] {
        let folder = TempDir::new().unwrap();
        let (run, task) = begun(folder.path(), "in-host.pvm");
        disturbed(run, folder.path(), task, signal, 60);
        nothing_is_left(folder.path());
    }
}

#[test]
fn a_killed_daemon_is_on_record() {
    for (rung, daemon) in [("in-host.pvm", "pvmd -n"), ("network.pvm", "pvmd -n"), ("network.pvm", "pvmd -s")]
    {
        let folder = TempDir::new().unwrap();
        let (run, _) = begun(folder.path(), rung);
        let victim = find(folder.path(), daemon).expect(daemon);
        let why = disturbed(run, folder.path(), victim, "-KILL", 60);
        assert!(why.contains("daemon"), "{why}");
        nothing_is_left(folder.path());
    }
}

#[test]
fn a_run_that_is_killed_leaves_no_daemon_behind() {
    let folder = TempDir::new().unwrap();
    let (mut run, _) = begun(folder.path(), "network.pvm");
    run.kill().unwrap();
    run.wait().unwrap();
    nothing_is_left(folder.path());
}
