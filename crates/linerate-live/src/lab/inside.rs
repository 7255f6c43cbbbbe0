//! Processes that are in a lab's namespaces, or are told otherwise as its own.

use crate::{Error, Result};
use linerate_sys::process::{Process, Signal};
use std::fs;
use std::time::{Duration, Instant};

/// The links under `/proc/PID/ns` that tell where a process is.
const LINKS: [&str; 4] = ["net", "uts", "mnt", "user"];

/// How long those inside may take to end once they were asked to.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often those are ended who are there by then: a process may start others while it ends.
const ROUNDS: usize = 4;

/// The longest command that is shown.
const LONGEST_COMMAND: usize = 80;

/// A process inside.
#[derive(Debug)]
pub struct Inside {
    /// Its command and arguments.
    pub command: String,
    process: Process,
}

impl Inside {
    /// Its number.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// The process with this number, if it is one of those.
    fn find(pid: u32, is_one: &dyn Fn(u32) -> bool) -> Option<Inside> {
        if !is_one(pid) {
            return None;
        }
        let process = Process::open(pid).ok().flatten()?;
        let command = command_of(pid);
        // Once more: what has the number now may be another process than the one that was seen.
        let holds = is_one(pid) && !process.has_ended().ok()?;
        holds.then_some(Inside { command, process })
    }
}

/// Who is in one of these namespaces, apart from the calling process.
pub(super) fn inside(is_ours: &dyn Fn(&str) -> bool) -> Vec<Inside> {
    find_all(&|pid| is_inside(pid, is_ours))
}

/// Ends who is in one of these namespaces, politely first, and says who is left.
pub(super) fn end_inside(is_ours: &dyn Fn(&str) -> bool) -> Vec<Inside> {
    end(&|pid| is_inside(pid, is_ours))
}

fn is_inside(pid: u32, is_ours: &dyn Fn(&str) -> bool) -> bool {
    LINKS.iter().any(|link| id_of(&format!("/proc/{pid}/ns/{link}")).is_ok_and(|id| is_ours(&id)))
}

/// The kernel's name for what a link under `/proc` leads to.
pub(super) fn id_of(link: &str) -> Result<String> {
    let target = fs::read_link(link).map_err(|e| Error::io("readlink", link, e))?;
    Ok(target.to_string_lossy().into_owned())
}

/// Every process for which this holds, apart from the calling one.
pub(super) fn find_all(is_one: &dyn Fn(u32) -> bool) -> Vec<Inside> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let others = pids.filter(|pid| *pid != std::process::id());
    let mut found: Vec<Inside> = others.filter_map(|pid| Inside::find(pid, is_one)).collect();
    found.sort_by_key(Inside::pid);
    found
}

/// Ends every process for which this holds, politely first, and says who is left.
pub(super) fn end(is_one: &dyn Fn(u32) -> bool) -> Vec<Inside> {
    for round in 0..ROUNDS {
        let found = find_all(is_one);
        if found.is_empty() {
            break;
        }
        let signal = if round == 0 { Signal::Terminate } else { Signal::Kill };
        // One that may not be ended is left, and the others are not.
        found.iter().for_each(|inside| _ = inside.process.signal(signal));
        let deadline = Instant::now() + PATIENCE;
        for inside in &found {
            let _ = inside.process.wait(deadline.saturating_duration_since(Instant::now()));
        }
    }
    find_all(is_one)
}

fn command_of(pid: u32) -> String {
    let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', " ").trim().to_owned();
    let command = Some(text(read("cmdline"))).filter(|command| !command.is_empty());
    command.unwrap_or_else(|| text(read("comm"))).chars().take(LONGEST_COMMAND).collect()
}
