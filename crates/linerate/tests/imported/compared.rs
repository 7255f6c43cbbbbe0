//! Results of other tools in reports and comparisons.

use super::folder;
use std::path::Path;
use std::process::{Command, Output};

fn linerate(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("LINERATE_STATE", folder.join("state")).env("LINERATE_CONFIG", "");
    command.args(arguments).current_dir(folder).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// So many files whose rates are this many times those of a real one, each a little different.
fn side(desk: &Path, name: &str, files: usize, times: f64) {
    let real: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder().join("iperf3-tcp.json")).unwrap()).unwrap();
    for number in 0..files {
        let mut run = real.clone();
        for sum in ["sum_sent", "sum_received"] {
            let rate = run["end"][sum]["bits_per_second"].as_f64().unwrap();
            run["end"][sum]["bits_per_second"] = (rate * times * (1.0 + 0.001 * number as f64)).into();
        }
        std::fs::write(desk.join(format!("{name}-{number}.json")), run.to_string()).unwrap();
        let file = format!("{name}-{number}.json");
        let output = linerate(desk, &["import", &file, "--output", name]);
        assert!(output.status.success(), "{}", text(&output));
    }
}

#[test]
fn six_files_a_side_tell_a_difference() {
    let desk = tempfile::tempdir().unwrap();
    side(desk.path(), "before", 6, 1.0);
    side(desk.path(), "after", 6, 1.2);
    let output = linerate(desk.path(), &["compare", "before", "after"]);
    assert_eq!(output.status.code(), Some(10), "{}", text(&output));
    assert!(text(&output).contains("iperf3 TCP") && text(&output).contains("faster"), "{}", text(&output));
    std::fs::remove_file(desk.path().join("after/iperf3-after-0.jsonl")).unwrap();
    let output = linerate(desk.path(), &["compare", "before", "after"]);
    assert_eq!(output.status.code(), Some(11), "{}", text(&output));
    assert!(text(&output).contains("Cannot tell") && !text(&output).contains("faster"), "{}", text(&output));
}

#[test]
fn numbers_of_two_tools_are_not_compared() {
    let desk = tempfile::tempdir().unwrap();
    for (name, side) in [("iperf3-tcp.json", "a"), ("qperf-tcp.txt", "b")] {
        let file = folder().join(name);
        assert!(
            linerate(desk.path(), &["import", file.to_str().unwrap(), "--output", side]).status.success()
        );
    }
    let output = linerate(desk.path(), &["compare", "a", "b"]);
    assert_eq!(output.status.code(), Some(11), "{}", text(&output));
    assert!(text(&output).contains("Nothing was measured on both sides alike"), "{}", text(&output));
}

#[test]
fn a_report_says_who_measured_what() {
    let desk = tempfile::tempdir().unwrap();
    for (name, parts) in [
        (
            "iperf3-tcp.json",
            &["What iperf3 ", "linerate measured none of it", "each a mean", "receives", "Gb/s"][..],
        ),
        (
            "netpipe-loopback.out",
            &["least", "half round trip", "at a time that its file does not say", "-s (one way)"],
        ),
        ("sockperf-ping-pong.txt", &["p99.9", "mean of ", "half of a round trip"]),
    ] {
        let file = folder().join(name);
        let output = linerate(desk.path(), &["import", file.to_str().unwrap(), "--output", "old"]);
        let path = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let report = text(&linerate(desk.path(), &["report", &path]));
        let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
        parts.iter().for_each(|part| assert!(words.contains(part), "{part}: {report}"));
    }
}

#[test]
fn one_page_shows_a_run_beside_another_tool() {
    let desk = tempfile::tempdir().unwrap();
    let run = linerate(
        desk.path(),
        &["run", "simulated", "--profile", "quick", "--only", "network.tcp", "--seed", "1", "--no-page"],
    );
    let run = text(&run).lines().last().unwrap().to_owned();
    let file = folder().join("iperf3-tcp.json");
    let output = linerate(desk.path(), &["import", file.to_str().unwrap()]);
    let imported = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let output =
        linerate(desk.path(), &["report", &run, &imported, "--format", "html", "--output", "both.html"]);
    assert!(output.status.success(), "{}", text(&output));
    let page = std::fs::read_to_string(desk.path().join("both.html")).unwrap();
    for part in ["id=\"ladder-section\"", "id=\"imported\"", "What other tools measured", "iperf3-tcp.json"] {
        assert!(page.contains(part), "{part}");
    }
}
