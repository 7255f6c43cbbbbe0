//! `tests/left-behind` looks for what tests left running, so it is tested itself.

use super::root;
use std::process::{Command, Stdio};

/// What is said of a run's processes, after a grace of so many seconds.
fn left_behind(mark: &str, grace: &str) -> (bool, String) {
    let output = Command::new(root().join("tests/left-behind")).args([mark, grace]).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

/// A shell line, as a test of that run starts it.
fn started(mark: &str, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("LINERATE_TEST_RUN", mark).env("NEXTEST_TEST_NAME", "a::test");
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
}

#[test]
fn a_process_that_is_about_to_end_is_waited_for() {
    let mark = format!("about-to-end-{}", std::process::id());
    started(&mark, "setsid sleep 1 >/dev/null &");
    assert_eq!(left_behind(&mark, "10"), (true, String::new()));
}

#[test]
fn a_process_that_stays_is_named_and_ended() {
    let mark = format!("stays-{}", std::process::id());
    started(&mark, "setsid sleep 1000.25 >/dev/null &");
    let (is_well, said) = left_behind(&mark, "0");
    assert!(!is_well && said.starts_with("a::test left process "), "{said}");
    assert!(said.trim_end().ends_with("behind: sleep 1000.25"), "{said}");
    assert_eq!(left_behind(&mark, "10"), (true, String::new()));
}

#[test]
fn a_process_of_another_run_is_left_alone() {
    let mark = format!("another-{}", std::process::id());
    started(&mark, "setsid sleep 1 >/dev/null &");
    assert_eq!(left_behind("none", "0"), (true, String::new()));
}
