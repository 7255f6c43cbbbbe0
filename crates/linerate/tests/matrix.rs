//! Many hosts of a lab: who is slow is named, and nobody else; a host that fails is a line.

mod hangs;
mod many;

use crate::ladder::ssh::Fixture;
use crate::user::runs::{PROGRAM, recording, report};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Eight hosts at 20 Mb/s each.
const EIGHT: &str = "lab:hosts=8,rate=20Mb/s,wire=tbf";

fn matrix(folder: &Path, arguments: &[&str]) -> Output {
    matrix_of(folder, arguments).output().unwrap()
}

fn matrix_of(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["matrix", "--quiet", "--no-page", "--seed", "7", "--output"]).arg(folder).args(arguments);
    command.env("LINERATE_STATE", folder.join("state")).stdin(Stdio::null());
    command
}

/// What one of them loses costs little rate or none: it shows in what is sent again.
#[test]
fn a_pair_that_loses_packets_is_named() {
    let (code, matrix) = measured(&["lab:hosts=6,rate=20Mb/s,b-e.loss=2%", "--full", "--trial", "200ms"]);
    let is_it = |one: &&Value| one["kind"] == "link" && one["hosts"] == serde_json::json!(["b", "e"]);
    let one = matrix["named"].as_array().unwrap().iter().find(is_it);
    let one = one.unwrap_or_else(|| panic!("{code} {:#} {:#}", matrix["named"], matrix["suspected"]));
    let more = &one["sent_again"];
    assert!((0.005..0.06).contains(&more["median"].as_f64().unwrap()) && more["low"].is_f64(), "{one:#}");
    assert_eq!(one["ratio"].is_null(), one["metric"] == "retransmit-share", "{one:#}");
    assert_eq!((code, &one["confirmed"]), (10, &"alone".into()));
}

/// The exit code, and the report's matrix.
fn measured(arguments: &[&str]) -> (i32, Value) {
    let folder = TempDir::new().unwrap();
    let output = matrix(folder.path(), arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().unwrap();
    assert!([0, 10, 11].contains(&code), "{code}: {told}");
    (code, report(&recording(folder.path()))["matrix"].clone())
}

/// `sender c`.
fn named(matrix: &Value) -> Vec<String> {
    let hosts = |one: &Value| {
        let hosts = one["hosts"].as_array().unwrap().iter().map(|host| host.as_str().unwrap());
        hosts.collect::<Vec<_>>().join(">")
    };
    let all = matrix["named"].as_array().unwrap().iter();
    let by = |one: &Value| match one["metric"].as_str().unwrap() {
        "throughput" => String::new(),
        metric => format!(" by {metric}"),
    };
    all.map(|one| format!("{} {}{}", one["kind"].as_str().unwrap(), hosts(one), by(one))).collect()
}

#[test]
fn a_host_that_sends_at_60_percent_is_named() {
    let (code, matrix) = measured(&[&format!("{EIGHT},c-.rate=12Mb/s"), "--trial", "300ms"]);
    assert_eq!((code, named(&matrix)), (10, vec!["sender c".to_owned()]), "{matrix:#}");
    let one = &matrix["named"][0];
    let ratio = one["ratio"]["median"].as_f64().unwrap();
    assert!((0.52..0.68).contains(&ratio) && one["confirmed"] == "alone", "{one:#}");
    assert_eq!((matrix["rounds"].as_u64(), matrix["cells"].as_array().unwrap().len()), (Some(7), 56));
    let sends = matrix["hosts"][2]["sends"].as_f64().unwrap();
    assert!((0.5..0.7).contains(&sends), "{:#}", matrix["hosts"]);
}

#[test]
fn of_eight_healthy_hosts_nobody_is_named() {
    let (code, matrix) = measured(&[EIGHT, "--trial", "200ms", "--partners", "4"]);
    assert!([0, 11].contains(&code) && named(&matrix).is_empty(), "{code} {matrix:#}");
    assert_eq!(matrix["cells"].as_array().unwrap().len(), 32);
}

#[test]
fn round_trips_and_the_inventory_are_told() {
    let folder = TempDir::new().unwrap();
    let output = matrix(folder.path(), &["lab:hosts=5", "--trial", "50ms", "--format", "text"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("% of that") && text.contains("from a") && text.contains("to e"), "{text}");
    let matrix = report(&recording(folder.path()))["matrix"].clone();
    let trips = matrix["cells"].as_array().unwrap().iter().filter(|cell| cell["round_trip_ns"].is_f64());
    assert_eq!(trips.count(), 20, "{matrix:#}");
    assert_eq!(matrix["inventory"], Value::Array(Vec::new()));
    let file = recording(folder.path());
    let csv = Command::new(PROGRAM).args(["report", "--format", "csv"]).arg(&file).output().unwrap();
    let csv = String::from_utf8(csv.stdout).unwrap();
    assert!(
        csv.starts_with(
            "from,to,from_name,to_name,throughput_bps,of_usual,round_trip_ns,directions,sent_again\n"
        ),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 21);
}

#[test]
fn a_host_that_is_not_reached_is_a_line() {
    let fixture = Fixture::new(3);
    let nobody = fixture.target(1).replace(":2222", ":1");
    let target = [fixture.target(0), fixture.target(1), nobody, fixture.target(2)].join(",");
    let mut command = fixture.lab.hosts()[0].command(PROGRAM);
    let out = fixture.folder.path().join("out");
    command.args([
        "matrix",
        &target,
        "--trial",
        "50ms",
        "--quiet",
        "--no-page",
        "--ssh",
        &fixture.ssh,
        "--output",
    ]);
    let output = command.arg(&out).env("LINERATE_STATE", out.join("state")).output().unwrap();
    assert_eq!(output.status.code(), Some(11), "{}", String::from_utf8_lossy(&output.stderr));
    let matrix = report(&recording(&out))["matrix"].clone();
    let failed: Vec<bool> =
        matrix["hosts"].as_array().unwrap().iter().map(|host| host["failed"].is_string()).collect();
    assert_eq!(failed, [false, false, true, false], "{matrix:#}");
    let why = matrix["hosts"][2]["failed"].as_str().unwrap();
    assert!(why.contains("host c is not reached"), "{why}");
    assert_eq!(matrix["cells"].as_array().unwrap().len(), 6, "{matrix:#}");
}

#[test]
fn two_hosts_cannot_be_told_apart() {
    let (code, matrix) = measured(&["lab:hosts=2", "--trial", "50ms"]);
    assert_eq!((code, named(&matrix)), (11, Vec::new()));
    let takes = matrix["doubt"]["takes"].as_str().unwrap();
    assert!(takes.contains("5 hosts at least"), "{takes}");
}

#[test]
fn what_is_no_target_of_many_hosts_is_one_error() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("hosts");
    std::fs::write(&file, "node1\nnode1\n").unwrap();
    let of_file = format!("@{}", file.display());
    for (target, part) in [
        ("ssh://node[5-1]", "a range is empty"),
        ("ssh://a,b,a", "a is named twice"),
        ("ssh://node[1-9999999]", "more than 64 hosts"),
        (&of_file, "node1 is named twice"),
        ("simulated", "a made-up machine has two"),
    ] {
        let output = matrix(folder.path(), &[target]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && told.contains(part) && told.contains("hint:"),
            "{target}: {told}"
        );
    }
}

/// Each host's bucket holds back what it sends, and nothing of what it receives.
#[test]
fn both_directions_at_once_have_a_rate_each() {
    let (code, matrix) =
        measured(&["lab:hosts=4,rate=20Mb/s,wire=tbf,b-.rate=10Mb/s", "--bidirectional", "--full"]);
    let cells = matrix["cells"].as_array().unwrap();
    let rate = |from: &str, to: &str| {
        let cell = cells.iter().find(|cell| cell["from"] == from && cell["to"] == to).unwrap();
        assert_eq!(cell["bidirectional"], true, "{cell}");
        cell["throughput_bps"].as_f64().unwrap() / 1e6
    };
    assert_eq!((code, cells.len(), matrix["rounds"].as_u64()), (11, 12, Some(3)), "{matrix:#}");
    for (from, to, least, most) in
        [("a", "b", 14.0, 21.0), ("b", "a", 8.0, 10.0), ("c", "d", 14.0, 20.0), ("d", "c", 14.0, 20.0)]
    {
        assert!((least..most).contains(&rate(from, to)), "{from} to {to}: {:#}", matrix["cells"]);
    }
}

/// Three hosts of nine share what makes them slow, and nobody said that they belong together.
#[test]
fn a_rack_that_nobody_named_is_found_on_a_lab() {
    let slow = "lab:hosts=9,rate=20Mb/s,wire=tbf,a-.rate=12Mb/s,b-.rate=12Mb/s,c-.rate=12Mb/s";
    let (code, matrix) = measured(&[slow, "--trial", "200ms"]);
    assert_eq!((code, named(&matrix)), (10, vec!["group a>b>c".to_owned()]), "{:#}", matrix["named"]);
    assert_eq!(
        (&matrix["named"][0]["found"], &matrix["found_groups"][0]["name"]),
        (&true.into(), &"found-1".into())
    );
}
