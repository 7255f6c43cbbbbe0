//! Applications on the lab: a cluster's monitor, pipelines of filters, files in stripes and in tiles, whole files, by plan files of their own.

mod compared;
mod files;
mod gluster;
mod monitor;
mod moved;
mod pipeline;
mod ranking;
mod striped;

use crate::user::runs::{PROGRAM, Run, run};
use serde_json::Value;
use std::process::Command;

/// Runs a plan file in one pass.
fn planned(target: &str, plan: &str, more: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, plan).unwrap();
    let arguments = [target, "--plan", path.to_str().unwrap(), "--profile", "quick", "--passes", "1"];
    run(&[&arguments, more].concat())
}

/// What the program says of a plan that it does not carry out, and how it ends.
fn refused(target: &str, plan: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, plan).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["run", target, "--plan"]).arg(&path).arg("--output").arg(folder.path());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The medians of a figure: the series, the level along x, the number.
fn points(report: &Value, figure: &str) -> Vec<(String, String, f64)> {
    let figures = list(report, "suites").iter().flat_map(|suite| list(suite, "figures"));
    let one =
        figures.into_iter().find(|one| one["id"] == figure).unwrap_or_else(|| panic!("no figure {figure}"));
    let mut all = Vec::new();
    for series in list(one, "series") {
        for point in list(series, "points") {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            all.push((text(&series["name"]), text(&point["at"]), point["value"]["median"].as_f64().unwrap()));
        }
    }
    all
}

/// The lanes of all time lines of a case: host, name, and the share of the time in which it did so.
fn lanes(report: &Value, case: &str, doing: &str) -> Vec<(String, String, f64)> {
    let lines = list(report, "suites").iter().flat_map(|suite| list(suite, "time_lines"));
    let mut lanes = Vec::new();
    for line in lines.filter(|line| line["id"] == format!("mine.{case}")) {
        for lane in list(line, "lanes") {
            let share = lane["spent_ns"][doing].as_f64().unwrap_or(0.0) / line["span_ns"].as_f64().unwrap();
            let text = |key: &str| lane[key].as_str().unwrap().to_owned();
            lanes.push((text("host"), text("name"), share));
        }
    }
    lanes
}
