//! Message passing by the real TCGMSG, which `adapters/tcgmsg` has made loadable: every byte is there, across the link where
//! it is to be, and what goes wrong is told in time and leaves nothing behind.

use crate::user::disturbed::{disturbed, in_the_middle, long};
use crate::user::ranks::{
    SHORT, crossed, every_byte_came, is_all, nobody_is_left, program, recorded, sessions, words,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Where the adapter is: beside what cargo builds.
fn adapter() -> PathBuf {
    let adapter = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("tcgmsg");
    assert!(adapter.join("libtcgmsg.so").exists(), "adapters/tcgmsg/build {} makes it", adapter.display());
    adapter
}

fn on_rung(folder: &Path, rung: &str, how: &[&str]) -> Command {
    let mut command = program(folder);
    command.args(["--only", rung]).args(how).env("LD_LIBRARY_PATH", adapter());
    command
}

/// Runs a rung, and gives what is on record.
fn carries_every_byte(rung: &str) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let output = on_rung(folder.path(), rung, &SHORT).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    let lines = recorded(folder.path());
    for (about, _) in sessions(&lines) {
        assert!(about.starts_with("TCGMSG over MPICH Version: ") && about.contains("started by"), "{about}");
    }
    every_byte_came(&lines, &[("ping-pong", "polling"), ("stream", "polling")]);
    nobody_is_left(folder.path());
    lines
}

#[test]
fn every_byte_comes_within_a_host() {
    carries_every_byte("in-host.tcgmsg");
}

#[test]
fn between_two_hosts_every_byte_crosses() {
    for (step, came, moved) in crossed(&carries_every_byte("network.tcgmsg")) {
        assert!(is_all(&moved, came), "{moved:?} of {came}: {step}");
    }
}

#[test]
fn variables_reach_the_mpi_below_it() {
    let folder = TempDir::new().unwrap();
    let past = ["--set", "tcgmsg.environment=UCX_TLS=posix,sysv,self UCX_NET_DEVICES=all"];
    let output = on_rung(folder.path(), "network.tcgmsg", &[&SHORT[..], &past].concat()).output().unwrap();
    let text = words(&output);
    assert!(!output.status.success() && text.contains("it took another way than the network"), "{text}");
    nobody_is_left(folder.path());
}

#[test]
fn a_killed_node_is_on_record() {
    let folder = TempDir::new().unwrap();
    let mut command = long(folder.path(), "in-host.tcgmsg", "polling");
    let (run, node) = in_the_middle(command.env("LD_LIBRARY_PATH", adapter()), folder.path(), "node");
    disturbed(run, folder.path(), node, "-KILL", 40);
    nobody_is_left(folder.path());
}
