//! Recordings of earlier versions are read and give the numbers that they gave then.
//!
//! `earlier/NAME.jsonl.gz` was written, and `earlier/NAME.json` reported of it, by commit 4227805; `earlier/history` is the
//! state of one who ran a plan thirteen times by it. Their plans are a ladder, libraries, a plan file with a figure and a load,
//! several hosts, arms of `ab`, a made-up machine; and what `import` made of a file of iperf3. `earlier/plans` has a plan of
//! each view, each behind its hash.

use flate2::read::GzDecoder;
use linerate::plan::{Plan, View};
use linerate::record::read;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Keys of the report that have another name since, as `then` and `now`: the changelog lists them with the schema's version.
const RENAMED: [(&str, &str); 0] = [];

/// Words that are told otherwise since, by the recording and their place: of conclusions is told how many are decided.
const REWORDED: [(&str, &str); 1] = [("suite", "/sentence")];

/// Warnings that are not told any more, by the recording and the list: ends that share a CPU of their one machine are not
/// foreign to each other.
const GONE: (&str, &str, [&str; 2]) = ("hot-spot", "/suites/0/warnings", ["foreign-cpu", "preempted"]);

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "earlier"].iter().collect()
}

/// The recordings: each one's name, and what stands in it.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let of = |name: std::ffi::OsString| Some(name.to_str()?.strip_suffix(".jsonl.gz")?.to_owned());
    let bytes = |name: String| {
        let packed = std::fs::read(folder().join(format!("{name}.jsonl.gz"))).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    names.filter_map(of).map(bytes).collect()
}

fn output(state: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    let output = command.env("LINERATE_STATE", state).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every value of a document that has no parts, by the way to it.
fn leaves(value: &Value, at: &str, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(parts) => {
            parts.iter().for_each(|(key, part)| leaves(part, &format!("{at}/{key}"), found))
        }
        Value::Array(parts) => {
            parts.iter().enumerate().for_each(|(index, part)| leaves(part, &format!("{at}/{index}"), found));
        }
        // What is not there may be left out.
        Value::Null => {}
        leaf => _ = found.insert(at.to_owned(), leaf.clone()),
    }
}

fn all_leaves(document: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    leaves(document, "", &mut found);
    found
}

fn now(way: &str) -> String {
    let name = |part| RENAMED.iter().find(|(then, _)| *then == part).map_or(part, |(_, now)| *now);
    way.split('/').map(name).collect::<Vec<_>>().join("/")
}

/// Compared number by number, and word by word: nothing is lost, and nothing is another number.
#[test]
fn a_recording_gives_the_numbers_that_it_gave() {
    let state = tempfile::tempdir().unwrap();
    assert!(recordings().len() >= 7);
    for (name, bytes) in recordings() {
        let mut then: Value =
            serde_json::from_slice(&std::fs::read(folder().join(format!("{name}.json"))).unwrap()).unwrap();
        let (of, list, codes) = GONE;
        if let Some(list) = then.pointer_mut(list).filter(|_| name == of) {
            let warnings = list.as_array_mut().unwrap();
            let before = warnings.len();
            warnings.retain(|one| !codes.iter().any(|code| one["code"] == *code));
            assert_eq!(warnings.len() + codes.len(), before);
        }
        let recording = state.path().join(format!("{name}.jsonl"));
        std::fs::write(&recording, bytes).unwrap();
        let report = output(state.path(), &["report", "--format", "json", recording.to_str().unwrap()]);
        let report: Value = serde_json::from_str(&report).unwrap();
        let (then, report) = (all_leaves(&then), all_leaves(&report));
        assert!(then.values().filter(|value| value.is_number()).count() >= 4, "{name}");
        for (way, value) in then.into_iter().filter(|(way, _)| !REWORDED.contains(&(&name, way))) {
            assert_eq!(report.get(&now(&way)), Some(&value), "{name}: {way}");
        }
    }
}

/// Calibrations and the history are found by it.
#[test]
fn a_plan_has_the_hash_that_it_had() {
    let mut plans = 0;
    for (name, bytes) in recordings() {
        let (recording, bad) = read(&bytes[..]).unwrap();
        assert!(bad.is_empty(), "{name}: {bad:?}");
        if let Some(header) = recording.header {
            assert_eq!(header.plan.hash(), header.plan_hash, "{name}");
            plans += 1;
        }
    }
    assert!(plans >= 6);
}

#[test]
fn a_plan_of_each_view_is_written_as_it_was() {
    let lines = std::fs::read_to_string(folder().join("plans")).unwrap();
    let is_of = |wanted: fn(&View) -> bool| {
        let mut plans = lines.lines().map(|line| serde_json::from_str::<Plan>(&line[17..]).unwrap());
        plans.any(|plan| wanted(&plan.view))
    };
    assert!(is_of(|view| matches!(view, View::Ladder(_))));
    assert!(is_of(|view| matches!(view, View::Suites(_))));
    assert!(is_of(|view| matches!(view, View::Comparison { .. })));
    for line in lines.lines() {
        let (hash, written) = line.split_once(' ').unwrap();
        let plan: Plan = serde_json::from_str(written).unwrap();
        assert_eq!((plan.hash().as_str(), serde_json::to_string(&plan).unwrap().as_str()), (hash, written));
    }
}

/// The next run of a plan knows of those that were before.
#[test]
fn an_earlier_history_is_of_the_same_plan() {
    let state = tempfile::tempdir().unwrap();
    std::fs::copy(folder().join("history"), state.path().join("history.jsonl")).unwrap();
    let out = state.path().join("out");
    let plan = ["run", "simulated:run=5%", "--profile", "quick", "--only", "network.tcp", "--seed", "14"];
    let told = output(state.path(), &[&plan[..], &["--no-page", "--output", out.to_str().unwrap()]].concat());
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("13 earlier runs of this plan"), "{told}");
}

#[test]
fn a_page_is_called_by_what_it_shows() {
    let state = tempfile::TempDir::new().unwrap();
    for (name, bytes) in recordings() {
        let path = state.path().join(format!("{name}.jsonl"));
        std::fs::write(&path, bytes).unwrap();
        let page = output(state.path(), &["report", path.to_str().unwrap(), "--format", "html", "-o", "-"]);
        let told = ["The comparison</h2>", "The ladder</h2>"].map(|section| page.contains(section));
        let expected = match name.as_str() {
            "ab" => [true, false],
            "suite" | "hot-spot" | "iperf3-tcp" => [false, false],
            _ => [false, true],
        };
        assert_eq!(told, expected, "{name}");
    }
}
