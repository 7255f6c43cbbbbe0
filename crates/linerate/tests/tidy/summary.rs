//! `tests/count.awk` counts what the tests did, so it is tested itself.

use crate::root;
use std::io::Write;
use std::process::{Command, Stdio};

/// Two binaries that end, one that crashes; one test that says why it skipped, two that are ignored, one part.
const LOG: &str = "\
   Compiling linerate v0.1.0
     Running unittests src/lib.rs (target/debug/deps/linerate-00ff00ff00ff00ff)

running 5 tests
test unit::tests::sizes ... ok
test lab::tests::vanish ... ok
test run::tests::slow ... ignored
test run::tests::slower ... ignored, an hour
test lab::tests::receives ... ignored, a part, started by tests

successes:

---- lab::tests::vanish stdout ----
SKIP: vanish: no user namespaces: EPERM

successes:
    lab::tests::vanish
    unit::tests::sizes

test result: ok. 2 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/command.rs (/somewhere/deps/command-1234567890abcdef)

running 2 tests
test help ... FAILED
test list ... ok

failures:

---- help stdout ----
SKIP: help: said before it failed

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p linerate --test command`
     Running tests/ladder.rs (target/debug/deps/ladder-1234567890abcdef)

running 1 test
error: test failed, to rerun pass `-p linerate --test ladder`
   Doc-tests linerate

running 1 test
test crates/linerate/src/unit.rs - unit (line 9) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.09s
";

fn count(log: &str) -> Vec<String> {
    let script = root().join("tests/count.awk");
    let mut awk = Command::new("awk");
    let mut awk = awk
        .arg("-f")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("awk is installed");
    awk.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    let output = awk.wait_with_output().unwrap();
    let mut lines: Vec<_> = String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect();
    lines.sort();
    lines
}

#[test]
fn passed_failed_and_skipped_are_told_apart() {
    let expected = [
        "broke help",
        "failed 2",
        "passed 3",
        "skip linerate::lab::tests::vanish\tno user namespaces: EPERM",
        "skip linerate::run::tests::slow\tignored",
        "skip linerate::run::tests::slower\tan hour",
    ];
    assert_eq!(count(LOG), expected);
}

#[test]
fn an_empty_log_counts_nothing() {
    assert_eq!(count(""), ["failed 0", "passed 0"]);
}
