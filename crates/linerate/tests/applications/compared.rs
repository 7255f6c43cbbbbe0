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

/// On a link that binds, a unit of work takes what the link takes, and hosts that share CPUs scatter it little: the controls are
/// right, and a buffer that is less than the path holds is found.
#[test]
#[ignore = "long: half a minute, on a lab"]
fn long_a_pipeline_on_a_link_that_binds_is_decided() {
    let lab = "lab:rate=200Mb/s,delay=1ms";
    let output = ab(&[lab, "--application", "microscope", "--set", "socket.send-buffer=16KiB"]);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert_eq!(output.status.code(), Some(10), "{report:#}");
    let arms = &report["arms"];
    let change = |arm: &Value| arm["change"]["estimate"].as_f64().unwrap();
    let (small, slowed) = (change(&arms["candidates"][0]), change(&arms["slowed"]));
    assert!((0.6..1.2).contains(&small), "{small}: {report:#}");
    assert!((0.08..0.12).contains(&slowed), "{slowed}: {report:#}");
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
