//! One-sided messages by the real OpenSHMEM of this host: its puts and gets carry every byte, across the link where they
//! are to, and what goes wrong is told in time and leaves nothing behind.

use crate::user::disturbed::{disturbed, in_the_middle, long};
use crate::user::ranks::{
    SHORT, crossed, every_byte_came, is_all, nobody_is_left, program, recorded, sessions, words,
};
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
fn carries_every_byte(rung: &str, operation: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let mut command = on_rung(folder.path(), rung, &SHORT);
    let output = command.arg("--set").arg(format!("shmem.operation={operation}")).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    for (about, granted) in sessions(&lines) {
        assert!(about.starts_with("OpenSHMEM 1.") && about.contains("started by"), "{about}");
        assert_eq!(*granted["shmem.operation"], operation);
    }
    every_byte_came(&lines, &[("ping-pong", "polling"), ("stream", "polling")]);
    nobody_is_left(folder.path());
    lines
}

#[test]
fn puts_and_gets_carry_every_byte_within_a_host() {
    for operation in ["put", "get"] {
        carries_every_byte("in-host.shmem", operation);
    }
}

#[test]
fn between_two_hosts_every_byte_crosses() {
    for operation in ["put", "get"] {
        for (step, came, moved) in crossed(&carries_every_byte("network.shmem", operation)) {
            assert!(is_all(&moved, came), "{operation}: {moved:?} of {came}: {step}");
        }
    }
}

#[test]
fn a_library_past_the_network_is_refused() {
    let folder = TempDir::new().unwrap();
    let past = ["--set", "shmem.environment=UCX_TLS=posix,sysv,self UCX_NET_DEVICES=all"];
    let output = on_rung(folder.path(), "network.shmem", &[&SHORT[..], &past].concat()).output().unwrap();
    let text = words(&output);
    assert!(!output.status.success() && text.contains("it took another way than the network"), "{text}");
    nobody_is_left(folder.path());
}

/// Elements meet each time, however the kernel lays the process out: the library takes all writable memory below the end
/// of the program's data for static data, and has room for 32 pieces of it.
#[test]
fn the_program_exports_where_its_data_ends() {
    let output = Command::new("nm").args(["-D", env!("CARGO_BIN_EXE_linerate")]).output().unwrap();
    let names = String::from_utf8_lossy(&output.stdout);
    assert!(names.lines().any(|line| line.ends_with(" _end")), "{}", words(&output));
}

/// OpenSHMEM in a folder of its own, with a launcher of this script.
fn with_launcher(script: &str) -> (Output, Duration) {
    let folder = TempDir::new().unwrap();
    let [lib, bin] = ["lib", "bin"].map(|name| folder.path().join(name));
    std::fs::create_dir(&lib).unwrap();
    std::fs::create_dir(&bin).unwrap();
    let cache = Command::new("/sbin/ldconfig").arg("-p").output().unwrap();
    let cache = String::from_utf8(cache.stdout).unwrap();
    let real =
        |line: &str| Some(line.trim().strip_prefix("liboshmem.so.40 ")?.split("=> ").nth(1)?.to_owned());
    let real = cache.lines().find_map(real).expect("OpenSHMEM is installed");
    std::fs::copy(real, lib.join("liboshmem.so.40")).unwrap();
    let launcher: PathBuf = bin.join("oshrun");
    std::fs::write(&launcher, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = on_rung(folder.path(), "in-host.shmem", &SHORT);
    command.env("LD_LIBRARY_PATH", lib);
    let begun = Instant::now();
    let output = command.output().unwrap();
    nobody_is_left(folder.path());
    (output, begun.elapsed())
}

#[test]
fn a_launcher_that_fails_is_told_in_time() {
    let (output, took) = with_launcher("echo 'there are no slots here' >&2; exit 3");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("there are no slots here"), "{text}");
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
#[ignore = "waits long for what mpi waits for in the same way: ./test --long"]
fn a_launcher_that_hangs_is_told_in_time() {
    let (output, took) = with_launcher("exec sleep 1000");
    let text = words(&output);
    assert!(!output.status.success() && text.contains("the ranks were not there after 15 s"), "{text}");
    assert!(took < Duration::from_secs(40), "{took:?}");
}

/// A run in its middle, and an element of it that plays.
fn begun(folder: &Path, rung: &str) -> (Child, u32) {
    in_the_middle(&mut long(folder, rung, "polling"), folder, "element")
}

/// An element of this rung that gets a signal is on record, and nothing is left.
fn is_told(rung: &str, signal: &str) {
    let folder = TempDir::new().unwrap();
    let (run, element) = begun(folder.path(), rung);
    disturbed(run, folder.path(), element, signal, 60);
    nobody_is_left(folder.path());
}

#[test]
fn a_killed_element_is_on_record() {
    ["in-host.shmem", "network.shmem"].iter().for_each(|rung| is_told(rung, "-KILL"));
}

#[test]
#[ignore = "waits long for what mpi waits for in the same way: ./test --long"]
fn a_hung_element_is_on_record() {
    is_told("in-host.shmem", "-STOP");
}

#[test]
fn a_run_that_is_killed_leaves_no_element_behind() {
    let folder = TempDir::new().unwrap();
    let (mut run, _) = begun(folder.path(), "network.shmem");
    run.kill().unwrap();
    run.wait().unwrap();
    nobody_is_left(folder.path());
}
