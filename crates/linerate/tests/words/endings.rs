//! Pipes that break, terminals that are gone, colours, and what `--quiet` leaves.

use super::support::{Desk, PROGRAM, text};
use std::fs::OpenOptions;
use std::process::Stdio;

const PRINTING: &[&[&str]] = &[
    &["--help"],
    &["list"],
    &["explain"],
    &["config", "--example"],
    &["completions", "bash"],
    &["man"],
    &["run", "simulated", "--profile", "quick", "--only", "memory.copy", "--seed", "1"],
];

#[test]
fn a_reader_that_went_away_is_no_error() {
    let desk = Desk::new();
    for arguments in PRINTING {
        let mut command = desk.command(PROGRAM);
        command.args(*arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let is_quiet = said.is_empty() || said.starts_with("what was measured is in ");
        assert!(output.status.success() && is_quiet, "{arguments:?}: {:?} {said}", output.status);
    }
}

#[test]
fn an_output_without_room_is_told() {
    let desk = Desk::new();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = desk.command(PROGRAM).arg("list").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("linerate: write standard output: No space left")
    );
}

#[test]
fn a_full_standard_error_keeps_the_exit_code() {
    let desk = Desk::new();
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (arguments, code) in [(&["run", "lob"][..], 2), (&["report", "nosuch.jsonl"], 5)] {
        let output = desk.command(PROGRAM).args(arguments).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn what_is_no_terminal_gets_no_colours() {
    let desk = Desk::new();
    for arguments in PRINTING.iter().chain([&["run", "lob"][..]].iter()) {
        let output = desk.linerate(arguments);
        let printed = [output.stdout, output.stderr].concat();
        assert!(!printed.contains(&0x1b), "{arguments:?}");
    }
}

/// All that a terminal shows of a command.
fn on_terminal(desk: &Desk, line: &str, no_color: &str) -> String {
    let mut command = desk.command("script");
    command.env("TERM", "xterm-256color").env("NO_COLOR", no_color).stdin(Stdio::null());
    text(&command.args(["-qec", &format!("{PROGRAM} {line}"), "/dev/null"]).output().unwrap())
}

#[test]
fn a_terminal_gets_colours_where_wanted() {
    let desk = Desk::new();
    let measured =
        desk.linerate(&["run", "simulated", "--profile", "quick", "--only", "memory.copy", "--seed", "1"]);
    let recording = text(&measured).lines().last().unwrap().to_owned();
    for line in ["--help".to_owned(), "run --help".into(), format!("report {recording}")] {
        assert!(on_terminal(&desk, &line, "").contains("\u{1b}["), "{line}");
        assert!(!on_terminal(&desk, &line, "1").contains("\u{1b}["), "{line}");
    }
}

#[test]
fn quiet_leaves_only_what_was_asked_for() {
    let desk = Desk::new();
    let line = "run simulated --profile quick --only memory.copy --seed 1";
    assert!(on_terminal(&desk, line, "1").contains("planned "));
    let quiet = on_terminal(&desk, &format!("{line} --quiet"), "1");
    assert!(!quiet.contains("planned ") && !quiet.contains("measuring"), "{quiet}");
    assert!(quiet.contains("memory.copy") && !quiet.contains('\u{1b}'), "{quiet}");
    let wrong = on_terminal(&desk, "run simulated --quiet --output /proc/nowhere", "1");
    assert!(wrong.contains("linerate: mkdir") && wrong.contains("hint: "), "{wrong}");
}
