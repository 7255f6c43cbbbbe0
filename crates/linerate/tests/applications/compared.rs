//! Settings that are compared on an application by its own metric, on the lab.

use crate::user::runs::PROGRAM;
use serde_json::Value;
use std::process::{Command, Output};

fn ab(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let fixed = ["--blocks", "6", "--no-extend", "--seed", "1", "--quiet", "--format", "json"];
    let mut command = Command::new(PROGRAM);
    command.env("LINERATE_STATE", folder.path().join("state")).arg("ab").args(arguments).args(fixed);
    command.arg("--output").arg(folder.path()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// However busy the machine is, a node that answers 20 ms late cannot be missed; a control may be, and then it is said.
#[test]
fn a_node_that_answers_late_is_found_by_rounds() {
    let output = ab(&["lab:hosts=3", "--application", "monitor", "--set", "monitor.delay=20ms"]);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let arms = &report["arms"];
    let is_found = output.status.code() == Some(10);
    let is_doubted = output.status.code() == Some(11) && !arms["doubts"].as_array().unwrap().is_empty();
    assert!(is_found || is_doubted, "{report:#}");
    let named = ["application", "metric", "rung"].map(|key| arms[key].as_str().unwrap());
    assert_eq!(named, ["monitor", "round-time", "network.tcp"]);
    let [base, late] =
        [&arms["base"], &arms["candidates"][0]["value"]].map(|one| one["median"].as_f64().unwrap());
    assert!(late >= 20e6 && late > base, "20 ms a round: {base}, {late}");
    assert!(arms["slowed"]["change"]["estimate"].as_f64().is_some(), "{report:#}");
}

#[test]
fn what_an_application_has_not_is_said_with_what_to_try() {
    let set = ["--set", "monitor.delay=1ms"];
    for (arguments, part) in [
        (&["lab", "--application", "pipelin", set[0], set[1]][..], "microscope"),
        (&["lab", "--application", "microscope", set[0], set[1]], "does nothing to microscope"),
        (&["lab", "--application", "monitor", set[0], "shim.spin=1us"], "does nothing to monitor"),
        (&["lab", "--application", "monitor", set[0], set[1], "--base", "tiled.access=row"], "does nothing"),
        (&["lab", "--application", "monitor", set[0], set[1], "--metric", "latency"], "round-time"),
        (&["lab", "--metric", "round-time", set[0], "tcp.mss=536"], "--application monitor"),
        (&["lab", "--application", "monitor", set[0], "monitor.transport=unix"], "between hosts"),
        (
            &["lab", "--application", "monitor", set[0], "monitor.transport=tls"],
            "network.tls carries no monitor",
        ),
        (&["lab", "--application", "monitor", set[0], set[1], "--rung", "network.udp"], "carries no monitor"),
        (
            &["lab", "--application", "microscope", set[0], "pipeline.units=ahead", "--size", "8MiB"],
            "buffers",
        ),
        (&["lab:hosts=1", "--application", "monitor", set[0], set[1]], "hosts"),
    ] {
        let output = ab(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{arguments:?}: {}", said(&output));
    }
}
