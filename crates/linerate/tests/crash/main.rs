//! Whatever is killed, at whatever moment: nothing is left but what was recorded, and who survives says who died.
//!
//! `LINERATE_KILLS=100 cargo test --test crash` kills a hundred times; `LINERATE_KILLS_SEED` repeats the kills of
//! another time, as far as the machine does.
#![allow(clippy::print_stdout)]

mod kept;
mod kill;
mod marked;
mod run;
mod world;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use world::PROGRAM;

/// How many processes are killed.
const KILLS: &str = "LINERATE_KILLS";
const SEED: &str = "LINERATE_KILLS_SEED";

/// Kills of a usual test run.
const USUAL: usize = 20;

/// The user that Debian and others call `nobody`.
const NOBODY: u32 = 65534;

fn number<N: std::str::FromStr>(variable: &str) -> Option<N> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn a_kill_at_any_moment_leaves_nothing_and_is_told() {
    let seed = number(SEED).unwrap_or_else(rand::random::<u64>);
    let kills = number(KILLS).unwrap_or(USUAL);
    println!("{kills} kills, {SEED}={seed}");
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let mut killed: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..kills {
        // A run is the usual thing, a lab that is kept the other.
        let scene = if chance.random_ratio(4, 5) { run::scene } else { kept::scene };
        let role = scene(&mut chance, number);
        *killed.entry(role).or_default() += 1;
    }
    println!("killed: {killed:?}");
}

/// Runs the test above again, with half as many kills.
#[test]
fn an_ordinary_user_leaves_nothing_either() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        // Then the other test shows it.
        return;
    }
    let bench = tempfile::tempdir().unwrap();
    fs::set_permissions(bench.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let [test, program] = ["test", "linerate"].map(|name| bench.path().join(name));
    for (from, to) in [(std::env::current_exe().unwrap(), &test), (world::program(), &program)] {
        // Not by this process: a child that another test forks meanwhile would have the file open for writing.
        assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
        fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let kills = number(KILLS).unwrap_or(USUAL / 2);
    let mut command = Command::new(&test);
    command.args(["a_kill_at_any_moment", "--show-output"]).env(PROGRAM, &program);
    command.uid(NOBODY).gid(NOBODY).current_dir("/").env(KILLS, kills.to_string());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success() && text.contains(" 1 passed; 0 failed; "), "{text}");
}
