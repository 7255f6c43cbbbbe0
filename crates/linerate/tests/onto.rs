//! `run --onto`: a later run adds to an earlier one, whose file stays as it was.

use crate::user::runs::{Run, command, recording, report};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

const SUITE: &[&str] = &["simulated:noise=0.05", "--suite", "sockets", "--profile", "quick"];

/// A run of these arguments, and the file that it wrote.
fn first(arguments: &[&str]) -> (Run, PathBuf) {
    let run = crate::user::runs::run(arguments);
    let file = recording(run.folder.path());
    (run, file)
}

/// A run onto a file, and its folder.
fn onto(file: &Path, arguments: &[&str]) -> (TempDir, Output) {
    let folder = TempDir::new().unwrap();
    let output = command(folder.path(), arguments).arg("--onto").arg(file).output().unwrap();
    (folder, output)
}

/// How many passes the points of a suite's figures have, the least: what stands apart is visited again.
fn passes(report: &Value) -> u64 {
    let of = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let figures = of(report, "suites").into_iter().flat_map(|suite| of(&suite, "figures"));
    let points = figures.flat_map(|figure| of(&figure, "series")).flat_map(|series| of(&series, "points"));
    points.map(|point| point["value"]["n"].as_u64().unwrap()).min().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A copy without its last lines, and with half of the one before.
fn cut(file: &Path, share: f64) -> PathBuf {
    let text = std::fs::read_to_string(file).unwrap();
    let at = (text.len() as f64 * share) as usize;
    let copy = file.with_file_name("cut.jsonl");
    std::fs::write(&copy, &text.as_bytes()[..at]).unwrap();
    copy
}

#[test]
fn a_whole_run_of_a_suite_gets_passes() {
    let (_run, file) = first(&[SUITE, &["--passes", "3"]].concat());
    let before = std::fs::read(&file).unwrap();
    let (folder, output) = onto(&file, &[SUITE, &["--passes", "4"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read(&file).unwrap(), before, "the earlier file is as it was");
    let longer = recording(folder.path());
    assert_eq!((passes(&report(&file)), passes(&report(&longer))), (3, 7));
    // What comes after is not the same again.
    let text = std::fs::read_to_string(&longer).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let added: Vec<&Value> = lines.iter().filter(|line| line["event"] == "addition").collect();
    assert_eq!((added.len(), &added[0]["passes"]), (1, &4.into()));
    let (again, output) = onto(&longer, &[SUITE, &["--passes", "1"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(passes(&report(&recording(again.path()))), 8);
}

#[test]
fn a_run_that_was_cut_goes_on() {
    let (run, file) = first(&[SUITE, &["--passes", "4"]].concat());
    assert!(run.output.status.success());
    let cut = cut(&file, 0.7);
    let (folder, output) = onto(&cut, SUITE);
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("was cut within pass"), "{}", said(&output));
    assert_eq!(passes(&report(&recording(folder.path()))), 4);
    let (folder, output) = onto(&self::cut(&file, 0.1), SUITE);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("not one of its passes is whole"), "{}", said(&output));
    let left = std::fs::read_dir(folder.path()).unwrap().flatten();
    assert!(left.into_iter().all(|entry| entry.path().extension().is_none_or(|end| end != "jsonl")));
}

/// A copy of a recording with words of its lines replaced.
fn edited(file: &Path, edit: impl Fn(&str) -> String) -> PathBuf {
    let copy = file.with_file_name("edited.jsonl");
    std::fs::write(&copy, edit(&std::fs::read_to_string(file).unwrap())).unwrap();
    copy
}

#[test]
fn what_does_not_fit_is_refused_with_why() {
    let (_run, file) = first(&[SUITE, &["--passes", "1"]].concat());
    let refused = |file: &Path, arguments: &[&str], why: &str| {
        let (_, output) = onto(file, arguments);
        assert_eq!(output.status.code(), Some(2), "{why}: {}", said(&output));
        assert!(said(&output).contains(why), "{}", said(&output));
    };
    refused(&file, &["simulated", "--suite", "sockets", "--profile", "quick"], "its target is");
    refused(&file, &["simulated:noise=0.05", "--suite", "sockets"], "its profile is quick, and not standard");
    refused(
        &file,
        &["simulated:noise=0.05", "--suite", "grid", "--profile", "quick"],
        "it measures something else",
    );
    refused(&file, &[SUITE, &["--set", "tcp.no-delay=off"]].concat(), "its settings differ");
    let version = format!(r#""version":"{}""#, env!("CARGO_PKG_VERSION"));
    let old = edited(&file, |text| text.replacen(&version, r#""version":"0.0.9""#, 1));
    refused(&old, SUITE, "linerate 0.0.9 made it");
    let elsewhere = edited(&file, |text| text.replace(r#""machine":"simulated""#, r#""machine":"another""#));
    refused(&elsewhere, SUITE, "host a: it is another machine");
    let shuffled = edited(&file, |text| {
        let seed = text.split(r#""seed":"#).nth(1).unwrap().split([',', '}']).next().unwrap();
        text.replacen(&format!(r#""seed":{seed}"#), r#""seed":77"#, 1)
    });
    refused(&shuffled, SUITE, "this program would have measured something else at its step");
    let (_, output) = onto(&file, &[SUITE, &["--seed", "1"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn a_run_in_the_lab_gets_a_pass() {
    let arguments = ["lab", "--only", "network.tcp", "--sizes", "64", "--profile", "quick", "--passes", "1"];
    let (_run, file) = first(&arguments);
    let (folder, output) = onto(&file, &arguments);
    assert!(output.status.success(), "{}", said(&output));
    let longer = report(&recording(folder.path()));
    let ladder = longer["ladder"].as_array().unwrap();
    let of = |entry: &Value| entry["throughput_bps"]["n"].as_u64();
    assert!(ladder.iter().filter_map(of).all(|n| n == 2) && !ladder.is_empty(), "{ladder:#?}");
}
