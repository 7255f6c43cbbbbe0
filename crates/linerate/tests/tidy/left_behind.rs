//! `tests/limited` stands around every program of tests, so it is tested itself.

use crate::root;
use std::process::Command;
use std::time::{Duration, Instant};

/// The exit code of a shell line under the limit, and what was said.
fn limited(seconds: &str, line: &str) -> (Option<i32>, String) {
    let mut command = Command::new(root().join("tests/limited"));
    let output = command
        .args(["sh", "-c", line])
        .envs([("LINERATE_TEST_LIMIT", seconds), ("LINERATE_TEST_GRACE", "4")])
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_ends_by_itself_keeps_its_exit_code() {
    assert_eq!(limited("60", "exit 0"), (Some(0), String::new()));
    assert_eq!(limited("60", "exit 7"), (Some(7), String::new()));
}

#[test]
fn a_process_that_is_about_to_end_is_waited_for() {
    assert_eq!(limited("60", "setsid sleep 1 >/dev/null & exit 0"), (Some(0), String::new()));
}

#[test]
fn what_hangs_is_ended_with_all_that_it_started() {
    let begun = Instant::now();
    let (code, said) = limited("1", "setsid sleep 1000.25 >/dev/null & sleep 1000");
    assert_eq!(code, Some(124));
    assert!(said.contains("sh did not end within 1 s") && said.contains("behind: sleep 1000.25"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}
