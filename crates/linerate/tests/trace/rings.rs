//! Without BTF root is traced by rings of tracepoints: the same stages, and nothing is left of them.

use super::privileges::Echo;
use super::{SHORT, command, is_whole, stages, traced};
use crate::user::nobody;
use crate::user::ranks::is_of;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Why there are none.
fn may_not() -> Option<String> {
    linerate_sys::tracer::Rings::open(&[]).err().map(|error| error.to_string())
}

/// What level 2 has of a ping-pong: of those that say who is woken, the kernel may tell few.
#[track_caller]
fn is_cut_finely(trace: &Value) {
    let [sleeping, polling] = [0, 1].map(|at| stages(&trace["waits"][at], "middle_ns"));
    for stage in ["a out queue", "b in softirq", "b in ip-in", "b in protocol-in", "a in softirq", "- - wire"]
    {
        assert!(sleeping.contains_key(stage) && polling.contains_key(stage), "{stage}: {sleeping:?}");
    }
    assert!(!polling.contains_key("b in wake-up"), "who does not sleep is not woken: {polling:?}");
    // Both hosts' packets are on this machine's rings, and each has its own.
    let [one, other] = ["a out queue", "b out queue"].map(|stage| polling[stage]);
    assert!(one > 0.0 && other > 0.0 && one < 20.0 * other && other < 20.0 * one, "{one} {other}");
}

#[test]
fn rings_cut_as_finely_and_sum_too() {
    if let Some(why) = may_not() {
        return println!("SKIP: rings_cut_as_finely_and_sum_too: {why}");
    }
    let trace = traced("lab", &[&SHORT[..], &["--level", "2"]].concat());
    is_whole(&trace, 2);
    is_cut_finely(&trace);
    assert!(trace["notes"].to_string().contains("rings of perf_event_open"), "{}", trace["notes"]);
}

#[test]
fn a_kernel_without_btf_is_traced_by_rings() {
    const NAME: &str = "a_kernel_without_btf_is_traced_by_rings";
    if let Some(why) = may_not() {
        return println!("SKIP: {NAME}: {why}");
    }
    assert!(nobody::is_root(), "nobody else has rings");
    let folder = TempDir::new().unwrap();
    let hidden = "mount --bind /dev/null /sys/kernel/btf/vmlinux && exec \"$@\"";
    let own = command(folder.path(), "lab");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", hidden, "sh"]).arg(own.get_program()).args(own.get_args());
    command.args(SHORT).args(["--wait", "sleep", "--json"]).current_dir(folder.path());
    command.env("LINERATE_STATE", folder.path().join("state")).env("LINERATE_CONFIG", "");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_whole(&trace, 2);
    for host in trace["hosts"].as_array().unwrap() {
        let refused = &host["refused"][0];
        assert!(
            refused["why"].as_str().is_some_and(|why| why.contains("/sys/kernel/btf/vmlinux")),
            "{refused}"
        );
    }
}

/// The messages of one program are cut into the same stages by both levels.
#[test]
fn a_program_is_traced_by_rings_as_by_programs() {
    const NAME: &str = "a_program_is_traced_by_rings_as_by_programs";
    if let Some(why) = may_not().or_else(|| linerate_sys::probe::tracing().err().map(|why| why.to_string())) {
        return println!("SKIP: {NAME}: {why}");
    }
    let Some(echo) = Echo::start() else { return println!("SKIP: {NAME}: python3 is not installed") };
    let folder = TempDir::new().unwrap();
    let stages = |level: &str| {
        let mut command = Command::new(nobody::program());
        command.args(["trace", "-q", "--json", "--time", "1s", "--port", echo.port(), "--level", level]);
        command.env("LINERATE_STATE", folder.path().join("state")).env("LINERATE_CONFIG", "");
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((told["level"].to_string().as_str(), &told["process"]), (level, &echo.process().into()));
        let of = &told["analysis"];
        let [cycles, whole] = ["cycles", "whole"].map(|name| of[name].as_f64().unwrap());
        assert!(cycles > 200.0 && whole >= 0.95 * cycles, "{of}");
        of["stages"].as_array().unwrap().iter().map(|stage| stage["stage"].to_string()).collect::<Vec<_>>()
    };
    let [by_programs, by_rings] = ["1", "2"].map(stages);
    assert_eq!(by_programs, by_rings);
}

#[test]
fn what_rings_cannot_tell_is_told() {
    if let Some(why) = may_not() {
        return println!("SKIP: what_rings_cannot_tell_is_told: {why}");
    }
    let few = ["--level", "2", "--wait", "sleep", "--exchanges", "20", "--blocks", "1"];
    for (options, said) in
        [(&["--datagrams"][..], "names the ports"), (&["--bytes", "8B"], "not told from acknowledgements")]
    {
        let trace = traced("lab", &[&few[..], options].concat());
        for host in trace["hosts"].as_array().unwrap() {
            assert_eq!(host["level"], 0, "{host}");
            assert!(host["refused"][0]["why"].as_str().is_some_and(|why| why.contains(said)), "{host}");
        }
    }
    let folder = TempDir::new().unwrap();
    let output = command(folder.path(), "lab")
        .args(["--stream", "--level", "2"])
        .stdout(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && text.contains("counted at level 1"), "{text}");
}

/// The processes that have events of perf_event_open(2), of those that `of` names.
fn holders(of: impl Fn(&Path) -> bool) -> BTreeSet<PathBuf> {
    let all = std::fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
    let holds = |process: &PathBuf| {
        let descriptors = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let events = descriptors.filter_map(|one| std::fs::read_link(one.path()).ok());
        events.filter(|link| link.to_string_lossy().contains("[perf_event]")).count() >= 8
    };
    all.filter(|process| of(process)).filter(holds).collect()
}

/// Rings and events are held by descriptors: they go with the agents, which go with who started them.
#[test]
fn killed_it_leaves_no_ring() {
    if let Some(why) = may_not() {
        return println!("SKIP: killed_it_leaves_no_ring: {why}");
    }
    let folder = TempDir::new().unwrap();
    let options = ["--level", "2", "--blocks", "200", "--exchanges", "1000", "-q"];
    let mut child = command(folder.path(), "lab").args(options).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(25);
    let wait = || {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    };
    let held = loop {
        let held = holders(|process| is_of(process, folder.path()));
        if held.len() >= 2 {
            break held;
        }
        wait();
    };
    child.kill().unwrap();
    child.wait().unwrap();
    while holders(|_| true).iter().any(|process| held.contains(process)) {
        wait();
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains("tracefs /tmp"), "what is mounted for a process is in no folder: {mounts}");
}
