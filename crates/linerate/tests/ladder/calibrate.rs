//! A calibration of the lab: every figure is there, the next run uses it, and `doctor` knows of it.

use crate::user::runs::{PROGRAM, Run, command};
use linerate::vocabulary::CALIBRATED;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn linerate(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM).env("LINERATE_STATE", folder.join("state")).args(arguments).output().unwrap()
}

#[test]
fn the_next_run_uses_the_labs_calibration() {
    let (folder, calibrated) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let only = ["--only", "in-host.shared-memory"];
    let runs = ["calibrate", "lab", "--runs", "3", "--format", "json", "--quiet", "--output"];
    let recordings = calibrated.path().to_str().unwrap();
    let output = linerate(folder.path(), &[&runs[..], &[recordings], &only].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stored: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hosts = stored["figures"].as_array().unwrap();
    assert_eq!(hosts.iter().map(|host| &host["host"]).collect::<Vec<_>>(), ["a", "b"]);
    for host in hosts {
        for known in CALIBRATED {
            let value = &host["figures"][known.name]["value"];
            let is_measured = value.as_f64().is_some_and(|value| value > 0.0);
            let why_not = ["", ".p99"].map(|end| known.name.trim_end_matches(end).to_owned());
            let is_left_out = why_not.iter().any(|name| host["left_out"][name].is_string());
            assert!(is_measured || is_left_out, "{} in {host}", known.name);
        }
        let ceilings = host["ceilings"].as_array().unwrap();
        let engines = ceilings.iter().filter(|ceiling| !ceiling["transport"].is_null()).count();
        assert!(engines >= 2 && ceilings.len() == engines + 2, "{ceilings:?}");
        let rates = ceilings.iter().map(|ceiling| ceiling["messages_per_s"]["value"].as_f64().unwrap());
        assert!(rates.into_iter().all(|rate| rate > 0.0), "{ceilings:?}");
    }

    let output = command(folder.path(), &[&["lab", "--budget", "3s"], &only[..]].concat()).output().unwrap();
    let run = Run { folder, output };
    let between = &run.report()["ladder"][0]["between_run"];
    for figure in ["throughput", "sleeping"] {
        assert_eq!((&between[figure]["runs"], &between[figure]["source"]), (&3.into(), &"calibrate".into()));
    }

    let doctor = linerate(run.folder.path(), &["doctor"]);
    let said = String::from_utf8_lossy(&doctor.stdout);
    let line =
        said.lines().find(|line| line.contains("calibration: lab")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.starts_with("ok") && line.contains("old"), "{line}");
}
