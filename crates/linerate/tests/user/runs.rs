//! Starting the program and reading what it says.

use super::ranks::has_variable;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_linerate");

/// Far more than anything here takes; only a hang meets it.
pub const LIMIT: Duration = Duration::from_secs(120);

/// A run, its folder, and what it printed.
pub struct Run {
    pub folder: TempDir,
    pub output: Output,
}

/// `linerate run ARGUMENTS`, with its recording in a folder of its own.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("run").args(arguments).args(["--quiet", "--output"]).arg(folder);
    command.env("LINERATE_STATE", folder.join("state"));
    // Made by the tests' setup, beside what cargo builds.
    command.env("LD_LIBRARY_PATH", Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tcgmsg"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end.
pub fn run(arguments: &[&str]) -> Run {
    let folder = TempDir::new().unwrap();
    let output = command(folder.path(), arguments).output().unwrap();
    Run { folder, output }
}

impl Run {
    /// The report as JSON, by `linerate report`.
    pub fn report(&self) -> Value {
        self.report_ended(0)
    }

    /// The same of a run in which something failed that could have been measured.
    pub fn report_with_failures(&self) -> Value {
        self.report_ended(12)
    }

    fn report_ended(&self, code: i32) -> Value {
        let text = String::from_utf8_lossy(&self.output.stderr);
        assert_eq!(self.output.status.code(), Some(code), "{text}");
        report(&recording(self.folder.path()))
    }
}

/// The only recording in a folder.
pub fn recording(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let recordings: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    assert_eq!(recordings.len(), 1, "{recordings:?}");
    recordings[0].clone()
}

/// `linerate report --format json`.
pub fn report(recording: &Path) -> Value {
    let output = Command::new(PROGRAM).args(["report", "--format", "json"]).arg(recording).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The ladder's entry of a rung; `direction` is null for in-host rungs.
pub fn entry<'r>(report: &'r Value, id: &str, direction: Option<&str>, flows: u64) -> &'r Value {
    let ladder = report["ladder"].as_array().unwrap();
    let wanted = |entry: &&Value| {
        entry["id"] == id && entry["direction"].as_str() == direction && entry["flows"] == flows
    };
    ladder.iter().find(wanted).unwrap_or_else(|| panic!("no {id} {direction:?} x {flows} in {ladder:#?}"))
}

/// The codes of an entry's and of the run's warnings.
pub fn warnings(report: &Value) -> Vec<String> {
    let of = |value: &Value| {
        let list = value["warnings"].as_array().cloned().unwrap_or_default();
        list.iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ladder = report["ladder"].as_array().unwrap();
    of(report).into_iter().chain(ladder.iter().flat_map(of)).collect()
}

/// Why each host of a matrix failed; none where it did not.
pub fn failed_hosts(matrix: &Value) -> Vec<Option<&str>> {
    matrix["hosts"].as_array().unwrap().iter().map(|host| host["failed"].as_str()).collect()
}

/// Waits until `condition` holds.
pub fn await_condition(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::yield_now();
    }
}

/// Waits until the recording in a folder, which need not be there yet, has so many lines of a kind.
pub fn await_lines(folder: &Path, kind: &str, count: usize) {
    let mark = format!(r#""event":"{kind}""#);
    await_condition(kind, || {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut recordings = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
        recordings
            .any(|path| std::fs::read_to_string(path).is_ok_and(|text| text.matches(&mark).count() >= count))
    });
}

/// Sends a signal to a process.
pub fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Every process that this test has started, also one that has lost its parent: the runner of the tests tells each by a
/// variable what it is, and whatever it starts inherits that. Without the runner it is every process.
fn own() -> impl Iterator<Item = u32> {
    let mark = std::env::var("NEXTEST_TEST_NAME").ok().map(|name| format!("NEXTEST_TEST_NAME={name}"));
    let is_own = move |pid: &u32| {
        mark.as_ref().is_none_or(|mark| has_variable(Path::new(&format!("/proc/{pid}")), mark))
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).filter(is_own)
}

/// Processes of the program under test that this test has started, with their subcommand.
pub fn processes() -> Vec<(u32, String)> {
    let program = std::fs::canonicalize(PROGRAM).unwrap();
    own()
        .filter(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program))
        .filter_map(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let words: Vec<_> = line.split(|byte| *byte == 0).collect();
            Some((pid, String::from_utf8_lossy(words.get(1)?).into_owned()))
        })
        .collect()
}

/// The agents among them, those that were started first before the others.
pub fn agents() -> Vec<u32> {
    processes().into_iter().filter(|(_, role)| role == "agent").map(|(pid, _)| pid).collect()
}

/// Every network namespace that a process of this test is in.
pub fn namespaces() -> std::collections::BTreeSet<PathBuf> {
    own().filter_map(|pid| std::fs::read_link(format!("/proc/{pid}/ns/net")).ok()).collect()
}

/// Waits for a child and gives its exit code; none when a signal ended it.
pub fn code(child: &mut Child) -> Option<i32> {
    let mut status = None;
    await_condition("a child's end", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.and_then(|status| status.code())
}
