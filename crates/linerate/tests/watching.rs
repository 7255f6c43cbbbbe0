//! What programs and people see of a run while it goes on: events as lines, nothing, a live view.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// `linerate ARGUMENTS` with a folder of its own for recordings and state.
fn linerate(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("LINERATE_STATE", folder.join("state")).args(arguments).current_dir(folder);
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    linerate(folder, arguments).output().unwrap()
}

const RUN: [&str; 8] =
    ["run", "simulated", "--profile", "quick", "--only", "network.tcp,in-host.tcp", "--seed", "7"];

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

/// The recordings of a folder, in the order of their names.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder.join("linerate")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    files.sort();
    files
}

/// The variants of a published schema by the `event` that they are for, with the keys that each requires.
fn required(name: &str) -> Vec<(String, Vec<String>)> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", name].iter().collect();
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let keys = |schema: &Value| -> Vec<String> {
        let required = schema["required"].as_array().into_iter().flatten();
        required.map(|key| key.as_str().unwrap().to_owned()).collect()
    };
    let variant = |variant: &Value| {
        let event = variant["properties"]["event"]["const"].as_str().unwrap().to_owned();
        let shared = variant["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
        let shared = shared.map_or(Vec::new(), |name| keys(&schema["$defs"][name]));
        (event, [keys(variant), shared].concat())
    };
    schema["oneOf"].as_array().unwrap().iter().map(variant).collect()
}

#[test]
fn lines_for_programs_end_with_the_report() {
    let folder = TempDir::new().unwrap();
    let run = output(folder.path(), &[&RUN[..], &["--json"]].concat());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8_lossy(&run.stderr), "");
    let lines = lines(&run);
    let events = parsed(&lines);
    let recorded = required("recording.schema.json");
    let known = [recorded.clone(), required("events.schema.json")].concat();
    for event in &events {
        let (_, keys) = known.iter().find(|(name, _)| event["event"] == **name).expect("a published event");
        for key in keys {
            assert!(event.get(key).is_some(), "{key} is missing in {event}");
        }
    }
    let path = events.last().unwrap()["recording"].as_str().unwrap();
    let file = std::fs::read_to_string(folder.path().join(path)).unwrap();
    let of_recording = |event: &Value| recorded.iter().any(|(name, _)| event["event"] == **name);
    let shown = lines.iter().zip(&events).filter(|(_, event)| of_recording(event));
    let shown: String = shown.map(|(line, _)| format!("{line}\n")).collect();
    assert!(shown == file, "the lines of the recording are not those of the file");
    let report = output(folder.path(), &["report", path, "--format", "json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(events.last().unwrap()["event"], "report");
    assert_eq!(events.last().unwrap()["report"], report);
}

#[test]
fn progress_never_goes_back() {
    let folder = TempDir::new().unwrap();
    let events = parsed(&lines(&output(folder.path(), &[&RUN[..], &["--json"]].concat())));
    let kinds = kinds(&events);
    let at = |kind: &str| kinds.iter().position(|found| *found == kind).unwrap();
    assert!(at("header") < at("planned") && at("planned") < at("progress") && at("progress") < at("trial"));
    assert_eq!(kinds.iter().filter(|kind| **kind == "planned").count(), 1);
    let of = |kind: &str| events.iter().filter(|event| event["event"] == *kind).collect::<Vec<_>>();
    let numbers = |events: &[&Value]| events.iter().map(|event| event["step"].clone()).collect::<Vec<_>>();
    assert_eq!(numbers(&of("progress")), numbers(&of("step")));
    let done: Vec<f64> = of("progress").iter().map(|event| event["done_share"].as_f64().unwrap()).collect();
    assert!(done.iter().all(|share| (0.0..=1.0).contains(share)), "{done:?}");
    assert!(done.first() < done.last(), "{done:?}");
}

#[test]
fn ab_and_calibrate_have_their_own_last_line() {
    let folder = TempDir::new().unwrap();
    let ab = ["ab", "simulated", "--set", "shim.slowdown=20", "--blocks", "6", "--no-extend", "--json"];
    let ab = output(folder.path(), &[&ab[..], &["--seed", "1"]].concat());
    assert_eq!(ab.status.code(), Some(10), "{}", String::from_utf8_lossy(&ab.stderr));
    let events = parsed(&lines(&ab));
    assert_eq!(events.last().unwrap()["report"]["arms"]["verdict"], "different");
    let calibrate = ["calibrate", "simulated", "--runs", "3", "--only", "network.tcp", "--json"];
    let calibrate = output(folder.path(), &calibrate);
    let events = parsed(&lines(&calibrate));
    assert_eq!(kinds(&events).iter().filter(|kind| **kind == "end").count(), 3);
    let last = events.last().unwrap();
    assert_eq!(last["event"], "calibrated");
    let kept = std::fs::read_to_string(last["path"].as_str().unwrap()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap()["runs"], last["calibration"]["runs"]);
}

#[test]
fn an_error_is_the_last_line_and_on_stderr() {
    let folder = TempDir::new().unwrap();
    let wrong = ["run", "simulated", "--only", "network", "--skip", "network", "--json"];
    let run = output(folder.path(), &wrong);
    assert_eq!(run.status.code(), Some(2));
    let events = parsed(&lines(&run));
    assert_eq!((&events[0]["event"], &events[0]["exit_code"]), (&"error".into(), &2.into()));
    for key in ["message", "hint"] {
        let said = events[0][key].as_str().unwrap();
        assert!(String::from_utf8_lossy(&run.stderr).contains(said), "{said}");
    }
}

#[test]
fn a_gone_reader_ends_the_run_in_good_order() {
    let folder = TempDir::new().unwrap();
    let arguments = ["run", "simulated", "--profile", "thorough", "--json"];
    let mut run =
        linerate(folder.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(run.stdout.take().unwrap());
    let mut line = String::new();
    // Those of pass 0 find out how to measure.
    while !(line.contains("\"event\":\"trial\"") && line.contains("\"pass\":1,")) {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the run ended before a trial that counts");
    }
    drop(reader);
    assert_eq!(run.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    run.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let [file] = recordings(folder.path()).try_into().unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(said.starts_with("what was measured is in ") && said.trim_end().ends_with(name), "{said}");
    let text = std::fs::read_to_string(file).unwrap();
    let events = parsed(&text.lines().map(str::to_owned).collect::<Vec<_>>());
    let end = events.last().unwrap();
    assert_eq!((&end["event"], &end["reason"]), (&"end".into(), &"interrupted".into()));
}

#[test]
fn quiet_prints_the_report_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let ab = ["ab", "simulated", "--set", "shim.slowdown=20", "--blocks", "6", "--no-extend"];
    let calibrate = ["calibrate", "simulated", "--runs", "3", "--only", "network.tcp"];
    for command in [&RUN[..], &ab, &calibrate] {
        let run = output(folder.path(), &[command, &["--quiet"]].concat());
        assert_eq!(String::from_utf8_lossy(&run.stderr), "", "{command:?}");
        assert!(!run.stdout.is_empty(), "{command:?}");
    }
}

#[test]
fn a_run_is_watched_in_one_way() {
    let folder = TempDir::new().unwrap();
    for pair in [["--json", "--quiet"], ["--live", "--quiet"], ["--live", "--json"]] {
        let run = output(folder.path(), &[&RUN[..], &pair].concat());
        assert_eq!(run.status.code(), Some(2), "{pair:?}");
        assert!(String::from_utf8_lossy(&run.stderr).contains("exclude each other"), "{pair:?}");
    }
}

/// A command on a terminal of 80 columns and 24 lines, which `script` of util-linux makes.
fn on_terminal(folder: &Path, arguments: &[&str]) -> Option<Command> {
    if Command::new("script").arg("--version").stdout(Stdio::null()).status().is_err() {
        return None;
    }
    let program = env!("CARGO_BIN_EXE_linerate");
    let line = format!("stty rows 24 cols 80; {program} {}; echo code $?; stty -a", arguments.join(" "));
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]).current_dir(folder);
    command.env("LINERATE_STATE", folder.join("state")).env("TERM", "xterm").env("SHELL", "/bin/sh");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    Some(command)
}

/// The view takes a page of its own, and gives it back.
const TAKES: &str = "\u{1b}[?1049h";
const GIVES_BACK: &str = "\u{1b}[?1049l";

#[test]
fn the_live_view_gives_the_terminal_back() {
    let folder = TempDir::new().unwrap();
    let Some(mut command) = on_terminal(folder.path(), &[&RUN[..], &["--live"]].concat()) else {
        println!("SKIP: watching::the_live_view_gives_the_terminal_back: no script");
        return;
    };
    let run = command.spawn().unwrap().wait_with_output().unwrap();
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    let (_, taken) = shown.split_once(TAKES).expect(&shown);
    let (view, after) = taken.split_once(GIVES_BACK).expect(&shown);
    assert!(view.contains("medians so far") && view.contains("network.tcp"), "{view}");
    assert!(after.contains("half round trip") && after.contains("code 0"), "{after}");
    assert!(after.contains(" icanon") && after.contains(" echo "), "the terminal is not as it was: {after}");
    assert_eq!(recordings(folder.path()).len(), 1);
}

#[test]
fn q_ends_a_live_run_in_good_order() {
    let folder = TempDir::new().unwrap();
    let arguments = ["run", "simulated", "--profile", "thorough", "--live"];
    let Some(mut command) = on_terminal(folder.path(), &arguments) else {
        println!("SKIP: watching::q_ends_a_live_run_in_good_order: no script");
        return;
    };
    let mut run = command.spawn().unwrap();
    let mut shown = Vec::new();
    let mut output = run.stdout.take().unwrap();
    let mut byte = [0];
    // A run that has measured nothing leaves no recording.
    let has_measured = || {
        let of_run = std::fs::read_dir(folder.path().join("linerate")).into_iter().flatten().flatten();
        let text = |file: std::fs::DirEntry| std::fs::read_to_string(file.path()).unwrap_or_default();
        of_run.map(text).any(|text| text.contains("\"event\":\"trial\""))
    };
    while !shown.len().is_multiple_of(64) || !has_measured() {
        assert_eq!(output.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&shown));
        shown.push(byte[0]);
    }
    run.stdin.as_mut().unwrap().write_all(b"q").unwrap();
    output.read_to_end(&mut shown).unwrap();
    run.wait().unwrap();
    assert!(String::from_utf8_lossy(&shown).contains("code 130"), "{}", String::from_utf8_lossy(&shown));
    let [file] = recordings(folder.path()).try_into().unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.lines().last().unwrap().contains("\"reason\":\"interrupted\""), "{text}");
}

#[test]
fn a_live_view_needs_a_terminal() {
    let folder = TempDir::new().unwrap();
    let run = output(folder.path(), &[&RUN[..], &["--live"]].concat());
    assert_eq!(run.status.code(), Some(2));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("terminal") && said.contains("hint: ") && said.contains("--json"), "{said}");
    assert!(!folder.path().join("linerate").exists());
}
