//! `tests/summary` counts what the tests did, so it is tested itself.

use super::root;
use std::fs;
use std::process::Command;

/// A case of the runner's report.
fn case(binary: &str, name: &str, inside: &str) -> String {
    format!(r#"<testcase name="{name}" classname="{binary}" time="1.5">{inside}</testcase>"#)
}

/// What is said of such cases, and whether all is as it must be; `lab::knows` may be skipped.
fn summary(cases: &[String]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let [junit, expected] = ["junit.xml", "expected-skips"].map(|name| folder.path().join(name));
    let cases = cases.concat();
    fs::write(&junit, format!("<testsuites><testsuite name=\"x\">{cases}</testsuite></testsuites>")).unwrap();
    fs::write(&expected, "# A comment.\nlab::knows: it has no such thing\n").unwrap();
    let mut command = Command::new("python3");
    command.arg(root().join("tests/summary")).args([&junit, &expected]).args(["build=30", "tests=40"]);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.success(), said + &String::from_utf8(output.stderr).unwrap())
}

fn last(said: &str) -> &str {
    said.lines().last().unwrap_or_default()
}

const WELL: &str = "<system-out>running 1 test</system-out>";

/// A first failure before a test passed.
fn at_second_try(kind: &str) -> String {
    format!(r#"<flakyFailure timestamp="x" time="1" message="m" type="{kind}"/>{WELL}"#)
}

/// What the runner calls an assertion that did not hold.
const ASSERTION: &str = "test failure with exit code 101";

#[test]
fn passes_are_counted_and_times_told() {
    let (is_well, said) = summary(&[
        case("linerate-desk", "analysis::works", WELL),
        case("linerate::integration", "lab::x", WELL),
    ]);
    assert!(is_well && last(&said) == "2 passed, 0 failed, 0 skipped", "{said}");
    for line in ["30.0 s  build", "1.5 s  unit tests of linerate-desk", "1.5 s  lab", "1.5 s  lab::x"] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn a_tests_note_is_told_once() {
    let noted = "<system-out>running 1 test\nNOTE: a.rs is long\n</system-out>";
    let (is_well, said) = summary(&[
        case("linerate::integration", "tidy::a", noted),
        case("linerate::integration", "tidy::b", noted),
    ]);
    assert!(is_well && said.matches("note: a.rs is long\n").count() == 1, "{said}");
}

#[test]
fn failures_are_named_and_endless_ones_slow() {
    let failed = format!(r#"<failure message="m" type="{ASSERTION}"/>"#);
    let slow = r#"<failure message="m" type="test timeout"/>"#;
    let (is_well, said) =
        summary(&[case("linerate-desk", "a::b", &failed), case("linerate::integration", "lab::x", slow)]);
    assert!(!is_well && last(&said) == "0 passed, 2 failed, 0 skipped", "{said}");
    assert!(said.contains("failed: linerate_desk::a::b failed\n"), "{said}");
    assert!(said.contains("failed: lab::x is too slow"), "{said}");
}

#[test]
fn a_skip_fails_unless_it_is_expected() {
    let skip = |name: &str| format!("<system-out>running 1 test\nSKIP: {name}: no iperf3: none</system-out>");
    let (is_well, said) = summary(&[case("linerate::integration", "lab::knows", &skip("knows"))]);
    assert!(is_well && last(&said) == "0 passed, 0 failed, 1 skipped", "{said}");
    assert!(said.contains("skipped, as expected: lab::knows: no iperf3: none"), "{said}");
    let (is_well, said) = summary(&[case("linerate::integration", "lab::other", &skip("other"))]);
    assert!(!is_well && said.contains("failed: unexpected skip of lab::other"), "{said}");
}

#[test]
fn only_a_few_assertions_get_a_second_try() {
    let of = |kind: &str, many: usize| {
        let cases: Vec<String> = (0..many)
            .map(|n| case("linerate::integration", &format!("lab::{n}"), &at_second_try(kind)))
            .collect();
        summary(&cases)
    };
    let (is_well, said) = of(ASSERTION, 3);
    assert!(is_well && said.contains("failed once and passed then: lab::2"), "{said}");
    assert!(!of(ASSERTION, 4).0);
    assert!(!of("test abort", 1).0 && !of("test timeout", 1).0);
}

#[test]
fn a_report_without_tests_is_no_success() {
    let (is_well, said) = summary(&[]);
    assert!(!is_well && said.contains("no test ran"), "{said}");
}
