//! A kill: at which moment, and of whom.

use super::marked::Marked;
use super::world::World;
use linerate_sys::process::Signal;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

/// Who was killed.
#[derive(Debug, Clone)]
pub struct Victim {
    pub pid: u32,
    pub role: String,
    pub at: Instant,
}

/// Kills it, if it goes on, and waits until it has ended.
pub fn kill(marked: Marked) -> Option<Victim> {
    if marked.process.has_ended().unwrap() {
        return None;
    }
    marked.process.signal(Signal::Kill).unwrap();
    let at = Instant::now();
    assert!(marked.process.wait(Duration::from_secs(10)).unwrap(), "{marked:?} does not end");
    Some(Victim { pid: marked.pid, role: marked.role, at })
}

/// One of these.
pub fn any(chance: &mut ChaCha8Rng, mut all: Vec<Marked>) -> Option<Marked> {
    if all.is_empty() { None } else { Some(all.swap_remove(chance.random_range(..all.len()))) }
}

/// Waits until the process `root` has had this many descendants, or has ended, or `is_over`. This is the only way to
/// meet one that lives for a few milliseconds.
pub fn await_descendants(root: u32, many: usize, is_over: impl Fn() -> bool) {
    let mut seen = BTreeSet::new();
    while seen.len() < many && goes_on(root) && !is_over() {
        let mut found = vec![root];
        while let Some(pid) = found.pop() {
            let children = children(pid);
            seen.extend(children.iter().copied());
            found.extend(children);
        }
    }
}

/// Whether it is there and no zombie.
fn goes_on(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// What any command that starts something undoes, and the one that is only for that.
pub fn start_anew(chance: &mut ChaCha8Rng, world: &World) -> String {
    match chance.random_range(0..3) {
        0 => world.done(&["doctor"]),
        1 => world.done(&["lab", "down", "--stale", "--format", "json"]),
        _ => world.done(&["lab", "up", "--detach", "--name", "next"]) + &world.done(&["lab", "down", "next"]),
    }
}
