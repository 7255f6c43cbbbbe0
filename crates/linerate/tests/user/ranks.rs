//! Runs of libraries whose ranks are processes: what they record, and that nothing of them is left.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// One pass over a few sizes: the smallest, two that the table states, one above what libraries send at once.
pub const SHORT: [&str; 6] = ["--profile", "quick", "--passes", "1", "--sizes", "1,100KiB"];

/// A run in a lab, which leaves its recording and its state in this folder.
pub fn program(folder: &Path) -> Command {
    // As an ordinary user by a copy that it can read.
    let copy = std::env::var_os("LINERATE_TEST_PROGRAM");
    let mut command = Command::new(copy.unwrap_or(env!("CARGO_BIN_EXE_linerate").into()));
    command.args(["run", "lab", "--no-page", "--output"]).arg(folder.join("o"));
    command
        .env("LINERATE_STATE", folder.join("state"))
        .env("LINERATE_CONFIG", "")
        .env("LD_LIBRARY_PATH", "")
        .stdin(Stdio::null());
    command
}

/// The same by a plan file of this text.
pub fn planned(folder: &Path, text: &str) -> Command {
    let plan = folder.join("plan.toml");
    std::fs::write(&plan, text).unwrap();
    let mut command = program(folder);
    command.arg("--plan").arg(plan).args(["--profile", "quick"]);
    command
}

/// A text with these marks replaced.
pub fn filled(text: &str, marks: &[(&str, &str)]) -> String {
    marks.iter().fold(text.to_owned(), |text, (mark, value)| text.replace(mark, value))
}

/// The lines of its recording.
pub fn recorded(folder: &Path) -> Vec<Value> {
    let file = std::fs::read_dir(folder.join("o")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What it complained of.
pub fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The processes below one, with their arguments.
fn below(ancestor: u32) -> BTreeMap<u32, String> {
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        if let Some(parent) =
            after.split_ascii_whitespace().nth(1).and_then(|parent| parent.parse::<u32>().ok())
        {
            parents.insert(pid, parent);
        }
    }
    let is_below = |mut pid: u32| {
        while let Some(parent) = parents.get(&pid).filter(|parent| **parent != 0) {
            if *parent == ancestor {
                return true;
            }
            pid = *parent;
        }
        false
    };
    let arguments = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    };
    parents.keys().filter(|pid| is_below(**pid)).map(|pid| (*pid, arguments(*pid))).collect()
}

/// Nobody has the run's own folder in its environment any more: not the ranks, nor the daemons of launchers.
pub fn nobody_is_left(folder: &Path) {
    // What keeps a CPU awake has idle priority: also to die it needs a moment of a CPU that others want.
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let line = |path: PathBuf| std::fs::read_to_string(path.join("cmdline")).unwrap_or_default();
        let left: Vec<String> = all.filter(|path| is_of(path, folder)).map(line).collect();
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "{left:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether a process belongs to the run of this folder.
pub fn is_of(process: &Path, folder: &Path) -> bool {
    has_variable(process, &format!("LINERATE_STATE={}", folder.join("state").display()))
}

/// Whether a process was started with this variable.
pub fn has_variable(process: &Path, variable: &str) -> bool {
    let environment = std::fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
}

/// A rank of a run that has measured something, in the middle of a block.
pub fn playing(run: u32, folder: &Path, role: &str) -> Option<u32> {
    let files = std::fs::read_dir(folder.join("o")).into_iter().flatten().flatten();
    let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    let is_measured = |line: &str| line.contains("\"trial\"") && line.contains("\"pass\":1,");
    if !texts.any(|text| text.lines().any(is_measured)) {
        return None;
    }
    // Only a rank that plays has a thread that is bound to one CPU.
    let plays = |pid: &u32| {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let mut statuses =
            threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
        let is_bound = |status: String| {
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            list.is_some_and(|list| list.trim().parse::<u32>().is_ok())
        };
        statuses.any(is_bound)
    };
    let ranks = below(run)
        .into_iter()
        .filter(|(_, line)| line.contains(&format!("linerate {role} ")))
        .map(|(pid, _)| pid);
    ranks.filter(plays).max()
}

/// Each session whose library says what it is: that, and what was granted of each knob.
pub fn sessions(lines: &[Value]) -> Vec<(&str, BTreeMap<&str, &Value>)> {
    let all: Vec<_> = lines.iter().filter(|line| line["event"] == "session").filter_map(told).collect();
    assert!(!all.is_empty());
    all
}

fn told(session: &Value) -> Option<(&str, BTreeMap<&str, &Value>)> {
    let granted = session["granted"].as_array()?.iter();
    let granted = granted.filter_map(|one| Some((one["knob"].as_str()?, &one["granted"]))).collect();
    Some((session["endpoints"][0].as_str()?, granted))
}

/// Every trial of the first pass is of one of these patterns and ways to wait, each has some, and each end of each has
/// every byte.
pub fn every_byte_came(lines: &[Value], ways: &[(&str, &str)]) {
    let trials = lines.iter().filter(|line| line["event"] == "trial" && line["pass"] == 1);
    let mut met = BTreeSet::new();
    for trial in trials {
        let case = |name: &str| trial["case"][name].as_str().unwrap();
        met.insert((case("pattern"), case("wait")));
        let number = |name: &str| trial["block"][name].as_u64().unwrap();
        let all = number("message_bytes") * number("messages") * number("slices");
        let roles = trial["roles"].as_array().unwrap();
        assert_eq!(roles.len(), 2);
        assert!(roles.iter().all(|role| role["flows"][0]["bytes"] == all), "{trial}");
    }
    assert_eq!(met, ways.iter().copied().collect());
}

/// Whether all that came was moved by the interfaces of a host: one's counters may be read while its last packet has not been
/// counted.
pub fn is_all(moved: &[u64], came: u64) -> bool {
    moved.iter().max() > Some(&came)
}

/// Each step of the first pass, with the bytes that its ends received and those that each host's interfaces moved.
pub fn crossed(lines: &[Value]) -> Vec<(&Value, u64, Vec<u64>)> {
    let number = |value: &Value| value.as_u64().unwrap();
    let of_host = |host: &Value| {
        let interfaces = host["interfaces"].as_array().unwrap().iter();
        let interfaces = interfaces.filter(|interface| interface["name"] != "lo");
        interfaces.map(|one| number(&one["rx_bytes"]) + number(&one["tx_bytes"])).sum()
    };
    let of_step = |step: &'_ Value| {
        let trials = lines.iter().filter(|line| line["event"] == "trial" && line["step"] == step["step"]);
        let roles = trials.flat_map(|trial| trial["roles"].as_array().unwrap());
        let receives = roles.filter(|role| role["does"] != "sends");
        let came = receives.map(|role| number(&role["flows"][0]["bytes"])).sum();
        (came, step["hosts"].as_array().unwrap().iter().map(of_host).collect())
    };
    let steps = lines.iter().filter(|line| line["event"] == "step" && line["pass"] == 1);
    let all: Vec<(&Value, u64, Vec<u64>)> = steps
        .map(|step| {
            let (came, moved) = of_step(step);
            (step, came, moved)
        })
        .collect();
    assert!(!all.is_empty());
    all
}
