//! `linerate ab` and `linerate compare` as a user meets them: verdicts, exit codes, forms.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn linerate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn ab(folder: &Path, arguments: &[&str]) -> Output {
    let folder = folder.to_str().unwrap();
    linerate(&[&["ab"], arguments, &["--seed", "1", "--quiet", "--output", folder]].concat())
}

#[test]
fn each_verdict_has_its_exit_code_and_its_words() {
    let folder = TempDir::new().unwrap();
    let quiet = "simulated:noise=0.5%,between=0.2%";
    let loud = "simulated:noise=20%,between=10%";
    let cases: [(&[&str], i32, &str); 4] = [
        (&[quiet, "--set", "tcp.no-delay=off"], 0, "are the same within 1 %"),
        (&[quiet, "--set", "shim.slowdown=5"], 10, "shim.slowdown=5 is slower than the base"),
        (&[loud, "--set", "tcp.no-delay=off"], 11, "Cannot tell whether tcp.no-delay=off"),
        (&[quiet, "--base", "shim.spin=20us", "--set", "shim.spin=0us"], 10, "confirmed in fresh blocks"),
    ];
    for (arguments, code, part) in cases {
        let output = ab(folder.path(), arguments);
        let printed = text(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.replace('\n', " ").contains(part), "{arguments:?}: {printed}");
    }
}

#[test]
fn the_recording_of_an_ab_is_reported_as_one() {
    let folder = TempDir::new().unwrap();
    let output = ab(folder.path(), &["simulated", "--set", "shim.slowdown=5,20", "--blocks", "8"]);
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(10), "{printed}");
    let recording = recordings(folder.path()).remove(0);
    let again = linerate(&["report", recording.to_str().unwrap()]);
    assert!(printed.starts_with(&text(&again)), "{printed}");
    let json = linerate(&["report", "--format", "json", recording.to_str().unwrap()]);
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    let candidates = report["arms"]["candidates"].as_array().unwrap();
    let names: Vec<_> = candidates.iter().map(|candidate| candidate["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["shim.slowdown=5", "shim.slowdown=20"]);
    assert_eq!(report["arms"]["slowed"]["holds"], true);
}

#[test]
fn a_diagnosis_has_a_grade_for_each_cause() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let diagnose = |target: &str, more: &[&str]| {
        let arguments = ["diagnose", target, "--seed", "1", "--quiet", "--output", out, "--format", "json"];
        linerate(&[&arguments, more].concat())
    };
    let report = |output: &Output| -> Value { serde_json::from_slice(&output.stdout).unwrap() };
    let quiet = |cause: &str| format!("simulated:noise=0.5%,between=0.2%,cause={cause}");
    let output = diagnose(&quiet("none"), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let healthy = report(&output);
    assert!(healthy["sentence"].as_str().unwrap().contains("healthy as far as was tried"), "{healthy}");
    assert!(healthy["sentence"].as_str().unwrap().contains("slowed by 10 % was seen as -"), "{healthy}");
    // The made-up sender binds, and its receiver has time to spare.
    let sensitive = "most sensitive to the time of the sending thread: shim.sender-work=20 changes it by -1";
    assert!(healthy["sentence"].as_str().unwrap().contains(sensitive), "{healthy}");
    let recording = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let told = text(&linerate(&["report", recording.to_str().unwrap()]));
    assert!(told.contains("the time of the receiving thread") && told.contains("not sensitive"), "{told}");
    let verdicts = healthy["verdicts"].as_array().unwrap();
    let tried = linerate::vocabulary::CAUSES.iter().filter(|cause| !cause.undoes).count();
    // Ciphers and libraries are on other rungs.
    assert_eq!(verdicts.len(), tried - 4);
    let is_quiet = |one: &Value| ["ruled-out", "not-tested"].contains(&one["grade"].as_str().unwrap());
    assert!(verdicts.iter().all(is_quiet), "{verdicts:?}");
    let output = diagnose(&quiet("small-send-buffer/3"), &["--profile", "quick", "--against", "30Gb/s"]);
    assert_eq!(output.status.code(), Some(10), "{}", text(&output));
    let first = report(&output)["verdicts"][0].clone();
    assert!(first["cause"] == "small-send-buffer" && first["grade"] == "proved", "{first}");
    assert!(first["gain"]["low"].as_f64() > Some(1.9) && first["explained"].as_f64().is_some(), "{first}");
    let output = diagnose(&quiet("none"), &["--against", "below", "--profile", "quick"]);
    // The made-up network carries less than its hosts do, by nothing that could be changed.
    assert_eq!(output.status.code(), Some(11), "{}", text(&output));
    assert!(text(&output).contains("in-host.tcp carries "), "{}", text(&output));
    // What is missing of what is expected, and by nothing explained, is no health.
    let output = diagnose(&quiet("none"), &["--against", "400Gb/s", "--profile", "quick"]);
    let sentence = report(&output)["sentence"].as_str().unwrap().to_owned();
    assert!(output.status.code() == Some(11) && sentence.contains("of what is expected"), "{sentence}");
    let output = diagnose("simulated:noise=20%,between=10%", &[]);
    assert_eq!(output.status.code(), Some(11), "{}", text(&output));
    let output = diagnose("simulated", &["--against", "much"]);
    assert!(output.status.code() == Some(2) && text(&output).contains("neither a rate"), "{}", text(&output));
}

/// What a diagnosis of this path names first, where it proves a fault.
#[track_caller]
fn first_proved(target: &[&str]) -> Value {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let arguments = ["--profile", "quick", "--quiet", "--output", out, "--format", "json"];
    let output = linerate(&[&["diagnose"], target, &arguments].concat());
    assert_eq!(output.status.code(), Some(10), "{}", text(&output));
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["verdicts"][0].take()
}

/// The path's fault is put in by hand: a program that pins its send buffer.
#[test]
#[ignore = "takes some minutes: ./test --long"]
fn a_pinned_send_buffer_is_proved_on_a_lab() {
    let first = first_proved(&["lab:delay=5ms", "--base", "socket.send-buffer=64KiB"]);
    let causes = ["small-send-buffer", "small-buffers"];
    assert!(causes.iter().any(|cause| first["cause"] == *cause), "{first}");
    assert!(first["grade"] == "proved" && first["gain"]["low"].as_f64() > Some(1.0), "{first}");
}

/// Two writes and a read: what the kernel does with them is proved by its own switch.
#[test]
#[ignore = "takes minutes: ./test --long"]
fn a_delayed_acknowledgement_is_proved_on_a_lab() {
    let first = first_proved(&["lab", "--fault", "write-write-read"]);
    let found = [&first["cause"], &first["grade"], &first["experiment"]];
    assert_eq!(found, ["nagle-delayed-ack", "proved", "tcp.no-delay=on"], "{first}");
}

/// What is added costs where it binds: a full link leaves both ends time, and a sender that works is short of it.
#[test]
#[ignore = "takes minutes: ./test --long"]
fn what_a_lab_s_rate_is_sensitive_to_is_told() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().to_str().unwrap();
    let changes = |target: &[&str]| -> BTreeMap<String, (String, f64)> {
        let arguments = ["--profile", "quick", "--quiet", "--output", out, "--format", "json"];
        let output = linerate(&[&["diagnose"], target, &arguments].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let all = report["arms"]["sensitivities"].as_array().cloned().unwrap_or_default();
        let of = |one: &Value| one["hindrance"].as_str().unwrap().to_owned();
        // What no time was left for has no change.
        let told = |one: &Value| {
            let change = one["change"]["estimate"].as_f64()?;
            Some((of(one), (one["verdict"].as_str().unwrap().to_owned(), change)))
        };
        all.iter().filter_map(told).collect()
    };
    let full = changes(&["lab:rate=200Mb/s"]);
    for hindrance in ["sender-work", "receiver-work"] {
        assert_eq!(full[hindrance].0, "same", "{full:?}");
    }
    let working = changes(&["lab", "--base", "shim.spin=2ms"]);
    let (verdict, change) = &working["sender-work"];
    assert!(verdict == "different" && (-0.19..-0.14).contains(change), "{working:?}");
    assert_eq!(working["receiver-work"].0, "same", "{working:?}");
}

/// What a lab's own fault does, and what is named for it.
#[test]
#[ignore = "waits for what does not come: ./test --long"]
fn a_black_hole_is_proved_on_a_lab() {
    let first = first_proved(&["lab:wire=user", "--fault", "mtu-black-hole=1000"]);
    let found = [&first["cause"], &first["grade"], &first["experiment"]];
    assert_eq!(found, ["mtu-black-hole", "proved", "tcp.mss=536"], "{first}");
}

#[test]
fn what_is_wrong_is_said_with_what_to_try() {
    let cases: [(&[&str], &str); 8] = [
        (&["ab", "simulated"], "--set"),
        (&["ab", "simulated", "--set", "tcp.no-delay=off", "--blocks", "5"], "5"),
        (&["ab", "simulated", "--set", "tcp.no-dealy=off"], "tcp.no-delay"),
        (&["ab", "simulated", "--set", "tcp.no-delay=off,off"], "twice"),
        (&["ab", "simulated", "--set", "in-host.tcp:tcp.no-delay=off"], "does nothing on network.tcp"),
        (&["ab", "simulated", "--set", "tcp.no-delay=off", "--rung", "memory.copy"], "two ends"),
        (&["ab", "simulated", "--set", "tcp.no-delay=off", "--margin", "0.1%"], "1%"),
        (&["ab", "simulated", "--set", "tcp.mss=536", "--base", "shim.slowdown=3"], "positive control"),
    ];
    for (arguments, part) in cases {
        let output = linerate(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(part), "{arguments:?}: {}", text(&output));
    }
    let help = text(&linerate(&["ab", "--help"]));
    assert!(help.matches("\n  linerate ab ").count() >= 4 && help.contains("11  cannot tell"), "{help}");
}

/// The recordings in a folder.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// So many quick runs on a made-up machine, in a folder of their own.
fn runs(count: u32, seeds: u32, more: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for seed in seeds..seeds + count {
        let (seed, output) = (seed.to_string(), folder.path().to_str().unwrap());
        let target = "simulated:noise=1%,between=0%,run=0.2%";
        let fixed = ["run", target, "--profile", "quick", "--only", "network", "--quiet", "--no-page"];
        let output = linerate(&[&fixed[..], &["--seed", &seed, "--output", output], more].concat());
        assert!(output.status.success(), "{}", text(&output));
    }
    folder
}

#[test]
fn enough_runs_are_told_apart() {
    let (base, same, slower) =
        (runs(6, 10, &[]), runs(6, 20, &[]), runs(6, 30, &["--set", "shim.slowdown=5"]));
    let path = |folder: &TempDir| folder.path().to_str().unwrap().to_owned();
    let (base_path, same_path, slower_path) = (path(&base), path(&same), path(&slower));
    let one = recordings(base.path()).remove(0).display().to_string();
    let mut five: Vec<_> = recordings(slower.path()).iter().map(|file| file.display().to_string()).collect();
    five.truncate(5);
    let five = five.join(",");
    let cases: [(&str, &str, i32, &str); 4] = [
        (&base_path, &same_path, 0, "A and B are the same within 3 %"),
        (&base_path, &slower_path, 10, "settings   none in A; shim.slowdown=5 in B"),
        (&one, &slower_path, 11, "`linerate ab`"),
        (&base_path, &five, 11, "at least 6 runs a side, and there are 6 and 5"),
    ];
    for (a, b, code, part) in cases {
        let output = linerate(&["compare", a, b, "--margin", "3%"]);
        assert_eq!(output.status.code(), Some(code), "{a} {b}: {}", text(&output));
        assert!(text(&output).replace('\n', " ").contains(part), "{a} {b}: {}", text(&output));
    }
    let json = linerate(&["compare", &base_path, &slower_path, "--format", "json"]);
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    let change = report["numbers"][0]["change"].as_f64().unwrap();
    assert!(report["verdict"] == "different" && change.abs() > 0.03 && change.abs() < 0.07, "{change}");
    // As --onto and resume make it.
    let copies = TempDir::new().unwrap();
    std::fs::copy(&one, copies.path().join("copy.jsonl")).unwrap();
    std::fs::copy(&one, copies.path().join("again.jsonl")).unwrap();
    let copied = linerate(&["compare", &path(&copies), &slower_path]);
    assert!(text(&copied).contains("2 recordings are of 1 run"), "{}", text(&copied));
    let copied = linerate(&["compare", &path(&copies), &base_path]);
    assert!(copied.status.code() == Some(2) && text(&copied).contains("are of one run"), "{}", text(&copied));
    let both = linerate(&["compare", &base_path, &one]);
    assert!(both.status.code() == Some(2) && text(&both).contains("both sides"), "{}", text(&both));
}

#[test]
fn a_lab_tells_what_it_can_of_a_real_setting() {
    let folder = TempDir::new().unwrap();
    let output =
        ab(folder.path(), &["lab", "--set", "tcp.congestion-control=reno", "--blocks", "6", "--no-extend"]);
    assert!([0, 10, 11].contains(&output.status.code().unwrap()), "{}", text(&output));
    let recording = std::fs::read_to_string(recordings(folder.path()).remove(0)).unwrap();
    let granted = r#"{"knob":"tcp.congestion-control","asked":"reno","granted":"reno"}"#;
    assert!(recording.contains(granted));
}

/// However busy the machine is, half a millisecond a message cannot be missed; a control may be, and
/// then it is said.
#[test]
fn a_lab_finds_a_large_fault() {
    let folder = TempDir::new().unwrap();
    let arguments = ["--set", "shim.spin=500us", "--metric", "latency", "--blocks", "6", "--format", "json"];
    let output = ab(folder.path(), &[&["lab"], &arguments[..]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let arms = &report["arms"];
    let is_found = output.status.code() == Some(10);
    let is_doubted = output.status.code() == Some(11) && !arms["doubts"].as_array().unwrap().is_empty();
    assert!(is_found || is_doubted, "{report:#}");
    assert!(arms["candidates"][0]["change"]["estimate"].as_f64().unwrap() > 1.0, "{report:#}");
}
