//! The processes of one scene: every one that was started in it carries its mark, whoever its parent is by now.

use linerate_sys::process::Process;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The environment variable with a scene's mark.
pub const MARK: &str = "LINERATE_TEST_SCENE";

/// How long what must happen may take; only what is broken takes so long.
pub const LIMIT: Duration = Duration::from_secs(10);

/// A process of a scene.
#[derive(Debug)]
pub struct Marked {
    pub pid: u32,
    /// Its subcommand, or the program's name where it is not linerate.
    pub role: String,
    pub process: Process,
}

/// Every process that goes on and carries this mark.
pub fn marked(mark: &str) -> Vec<Marked> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| find(pid, mark)).collect()
}

fn find(pid: u32, mark: &str) -> Option<Marked> {
    if !carries(pid, mark) {
        return None;
    }
    let process = Process::open(pid).ok()??;
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<String> =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let name = |word: &String| Path::new(word).file_name().map(|name| name.to_string_lossy().into_owned());
    let first = words.first().and_then(name).unwrap_or_default();
    let role = if first == "linerate" { words.get(1).cloned()? } else { first };
    // Once more, now that its number cannot be another's.
    (carries(pid, mark) && !process.has_ended().ok()?).then_some(Marked { pid, role, process })
}

fn carries(pid: u32, mark: &str) -> bool {
    variable(pid, MARK).is_some_and(|value| value == mark)
}

/// What a process has in its environment under this name.
fn variable(pid: u32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut entries = environment.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    entries.find_map(|entry| Some(entry.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

/// The variable by which the runner names the test that a process is of.
const TEST: &str = "NEXTEST_ATTEMPT_ID";

/// Whether a process is of another test, which runs at the same time.
fn is_of_another_test(pid: u32) -> bool {
    let ours = std::env::var(TEST).ok();
    ours.is_some() && variable(pid, TEST).is_some_and(|theirs| Some(theirs) != ours)
}

/// The namespaces that a process is in or has open, as the kernel calls them.
pub fn namespaces(pid: u32) -> BTreeSet<PathBuf> {
    let links = ["ns", "fd"].map(|folder| fs::read_dir(format!("/proc/{pid}/{folder}")));
    let links = links.into_iter().flatten().flatten().flatten();
    let targets = links.filter_map(|link| fs::read_link(link.path()).ok());
    let kinds = ["net:[", "uts:[", "user:["];
    targets.filter(|target| kinds.iter().any(|kind| target.to_string_lossy().starts_with(kind))).collect()
}

/// Those of them that any process is in or has open, or that are mounted somewhere. The kernel gives the number of one that is
/// gone to the next that is made, which may be of a test beside this one: its processes are not asked.
pub fn still_there(namespaces: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let held = pids.filter(|pid| !is_of_another_test(*pid)).flat_map(self::namespaces);
    let held: BTreeSet<PathBuf> = held.collect();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let is_mounted = |name: &PathBuf| mounts.contains(&*name.to_string_lossy());
    namespaces.iter().filter(|name| held.contains(*name) || is_mounted(name)).cloned().collect()
}

/// Waits until this is empty.
pub fn await_none<T: std::fmt::Debug>(what: &str, mut left: impl FnMut() -> Vec<T>) {
    let deadline = Instant::now() + LIMIT;
    loop {
        let left = left();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: {left:#?}");
        std::thread::yield_now();
    }
}
