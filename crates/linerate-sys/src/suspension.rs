//! Standing still with all that this process started, and going on: a terminal signals one group, and others have groups of
//! their own (`SIGTSTP`, `SIGSTOP` and `SIGCONT` in signal(7)).

use crate::orphans::parent;
use crate::process::{Process, Signal};
use rustix::process::{getpid, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// How often is looked for descendants: one may start another one meanwhile.
const LOOKS: usize = 2;

static RESUMED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// What a handler of `SIGCONT` sets.
pub fn flag() -> Arc<AtomicBool> {
    RESUMED.clone()
}

/// Whether this process stood still and went on since it was last asked.
pub fn was_resumed() -> bool {
    RESUMED.swap(false, Ordering::SeqCst)
}

/// Stands still, with all descendants, until it is told to go on.
pub fn suspend() {
    (0..LOOKS).for_each(|_| signal_descendants(Signal::Stop));
    // What cannot be stopped cannot be told of either.
    let _ = kill_process(getpid(), rustix::process::Signal::STOP);
}

/// All descendants go on.
pub fn resume() {
    signal_descendants(Signal::Continue);
}

fn signal_descendants(signal: Signal) {
    for number in descendants(std::process::id()) {
        // One that has ended, or that is another's now, hears nothing.
        let _ = Process::open(number).map(|process| process.map(|process| process.signal(signal)));
    }
}

/// Children, theirs, and so on.
pub(crate) fn descendants(process: u32) -> BTreeSet<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, parent) in numbers.filter_map(|number| Some((number, parent(number)?))) {
        children.entry(parent).or_default().push(number);
    }
    let (mut found, mut open) = (BTreeSet::new(), vec![process]);
    while let Some(next) = open.pop() {
        let new = children.get(&next).into_iter().flatten().filter(|child| found.insert(**child));
        open.extend(new.copied());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    fn state(process: u32) -> char {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().chars().next().unwrap()
    }

    #[test]
    fn descendants_stand_still_and_go_on() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 600 & echo $!; wait"]).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (child, grandchild) = (shell.id(), line.trim().parse::<u32>().unwrap());
        assert!(descendants(std::process::id()).is_superset(&[child, grandchild].into()));
        let own = |signal: Signal| {
            for number in [child, grandchild] {
                Process::open(number).unwrap().unwrap().signal(signal).unwrap();
            }
        };
        own(Signal::Stop);
        while [child, grandchild].map(state) != ['T'; 2] {
            std::thread::yield_now();
        }
        own(Signal::Continue);
        while [child, grandchild].map(state).contains(&'T') {
            std::thread::yield_now();
        }
        own(Signal::Kill);
        shell.wait().unwrap();
    }
}
