//! Where a message waits: stages sum to what was clocked, a cause lands in its own stage, and nothing of a trace is left.

mod datagrams;
mod kernel;
mod privileges;
mod rings;
mod samples;
mod streams;

use crate::user::nobody::{self, program};
use crate::user::ranks::is_of;
use linerate_sys::thread;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

fn command(folder: &Path, target: &str) -> Command {
    let mut command = Command::new(program());
    command.args(["trace", target]).current_dir(folder);
    command.env("LINERATE_STATE", folder.join("state")).env("LINERATE_CONFIG", "");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A trace, as a program is told it.
#[track_caller]
fn traced(target: &str, options: &[&str]) -> Value {
    let folder = TempDir::new().unwrap();
    let output = command(folder.path(), target).args(options).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key}: {value}"))
}

/// Of each stage of one way of waiting one of its numbers: `b in run-queue`.
fn stages(of: &Value, key: &str) -> BTreeMap<String, f64> {
    let word = |stage: &Value, key: &str| stage[key].as_str().unwrap_or("-").to_owned();
    let named = |stage: &Value| {
        (
            format!("{} {} {}", word(stage, "host"), word(stage, "way"), word(stage, "stage")),
            number(stage, key),
        )
    };
    of["stages"].as_array().unwrap().iter().map(named).collect()
}

/// What holds of every trace.
#[track_caller]
fn is_whole(trace: &Value, level: u64) {
    for host in trace["hosts"].as_array().unwrap() {
        assert_eq!(host["level"], level, "{trace}");
    }
    for of in trace["waits"].as_array().unwrap() {
        let (sum, clocked) = (number(of, "sum_ns"), number(&of["clocked"], "middle_ns"));
        assert!((sum / clocked - 1.0).abs() <= 0.01, "{sum} of {clocked}");
        assert!(
            number(of, "whole") >= 0.99 * number(of, "exchanges"),
            "{}: {}",
            of["missing"],
            of["disordered"]
        );
        assert_eq!((&of["lost_events"], &of["tax"]["n"]), (&Value::from(0), &Value::from(6)));
        assert!(of["tax"]["low"].is_f64() && number(of, "sum_ns") > 0.0);
        assert!(stages(of, "middle_ns").values().all(|ns| *ns >= 0.0));
    }
}

const SHORT: [&str; 4] = ["--exchanges", "150", "--blocks", "6"];

#[test]
fn any_user_sees_where_a_message_waits() {
    let trace = traced("lab", &[&SHORT[..], &["--level", "0"]].concat());
    is_whole(&trace, 0);
    let waits: Vec<&str> =
        trace["waits"].as_array().unwrap().iter().filter_map(|of| of["wait"].as_str()).collect();
    assert_eq!(waits, ["sleeping", "polling"]);
    let names: Vec<String> = stages(&trace["waits"][0], "share").into_keys().collect();
    let expected = [
        "- - wire",
        "a in receive",
        "a in run-queue",
        "a out queue",
        "a out send-call",
        "b - application",
        "b in receive",
        "b in run-queue",
        "b out queue",
        "b out send-call",
    ];
    assert_eq!(names, expected);
}

#[test]
fn an_ordinary_user_is_told_why_he_sees_no_more() {
    let name = "trace::part_asks_for_more";
    let text = nobody::runs_them_too(&["--exact", "--ignored", "--nocapture", name], &[]);
    assert!(!nobody::is_root() || text.contains("test result: ok. 1 passed"), "{text}");
}

#[test]
#[ignore = "a part, started by the tests"]
fn part_asks_for_more() {
    let trace = traced("lab", &SHORT);
    is_whole(&trace, 0);
    for host in trace["hosts"].as_array().unwrap() {
        let refused = &host["refused"][0];
        assert_eq!(refused["observer"], "programs at tracepoints");
        assert!(host["refused"][1].is_null(), "rings ask for root: {host}");
        assert!(refused["why"].as_str().is_some_and(|why| why.contains("bpf(BPF_PROG_LOAD)")), "{refused}");
        assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("root")), "{refused}");
    }
}

#[test]
fn tracepoints_cut_finer_and_sum_too() {
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: tracepoints_cut_finer_and_sum_too: {why}");
    }
    let trace = traced("lab", &SHORT);
    is_whole(&trace, 1);
    let [sleeping, polling] = [0, 1].map(|at| stages(&trace["waits"][at], "middle_ns"));
    for stage in ["a out queue", "b in softirq", "b in wake-up", "b in run-queue", "a in return", "- - wire"]
    {
        assert!(sleeping.contains_key(stage), "{stage}: {sleeping:?}");
    }
    assert!(!polling.contains_key("b in wake-up"), "who does not sleep is not woken: {polling:?}");
    assert!(polling.contains_key("b in ip-in"), "{polling:?}");
}

#[test]
fn a_delay_on_the_wire_is_in_the_wire() {
    let options = ["--wait", "sleep", "--level", "0", "--exchanges", "25", "--blocks", "6"];
    let [one, three] = ["lab:delay=1ms", "lab:delay=3ms"].map(|target| traced(target, &options));
    is_whole(&three, 0);
    // There and back.
    const MORE: f64 = 4e6;
    let [one, three] = [one, three].map(|trace| stages(&trace["waits"][0], "middle_ns"));
    for (stage, before) in &one {
        let more = three[stage] - before;
        let expected = if stage.ends_with("wire") { MORE } else { 0.0 };
        assert!((more - expected).abs() < 0.1 * MORE, "{stage}: {more} ns");
    }
}

/// How much longer each stage takes with a cause than without.
fn longer(usual: &Value, caused: &Value) -> BTreeMap<String, f64> {
    let [usual, caused] = [usual, caused].map(|trace| stages(&trace["waits"][0], "middle_ns"));
    usual.into_iter().map(|(stage, ns)| (stage.clone(), caused[&stage] - ns)).collect()
}

/// A cause is in these stages, at least so long in each, and in no other one. What else runs on this machine may keep a CPU busy.
#[track_caller]
fn lands_in(longer: &BTreeMap<String, f64>, own: &[&str], least_ns: f64) {
    for stage in own {
        assert!(longer[*stage] > least_ns, "{stage}: {longer:?}");
    }
    let of_cause: f64 = own.iter().map(|stage| longer[*stage]).sum();
    for (stage, ns) in longer.iter().filter(|(stage, _)| !stage.ends_with("run-queue")) {
        assert!(own.contains(&stage.as_str()) || *ns < 0.1 * of_cause, "{stage}: {longer:?}");
    }
}

/// At level 0, asleep, so many exchanges: a target, and what else is said.
fn few(target: &str, exchanges: &str, options: &[&str]) -> Value {
    let few = ["--wait", "sleep", "--level", "0", "--blocks", "2", "--exchanges", exchanges];
    traced(target, &[&few[..], options].concat())
}

#[test]
fn a_token_bucket_is_in_the_queue() {
    let [usual, full] = ["lab:wire=tbf,rate=10Gb/s", "lab:wire=tbf,rate=2Mb/s"];
    // What the bucket holds at first goes at once: the first block.
    let options = ["--bytes", "1400"];
    let longer = longer(&few(usual, "120", &options), &few(full, "120", &options));
    // Both hosts have one; which of them holds more is told by what was in it at first.
    lands_in(&longer, &["a out queue", "b out queue"], -1e4);
    assert!(longer["a out queue"] + longer["b out queue"] > 4e6, "{longer:?}");
}

#[test]
fn a_slow_reader_is_in_the_application() {
    let options = ["--bytes", "1000"];
    let slow = [&options[..], &["--fault", "slow-reader=2Mb/s"]].concat();
    lands_in(&longer(&few("lab", "25", &options), &few("lab", "25", &slow)), &["b - application"], 3.9e6);
}

#[test]
fn a_small_send_buffer_is_in_the_send_call() {
    let options = ["--bytes", "64KiB"];
    let small = [&options[..], &["--set", "socket.send-buffer=4KiB"]].concat();
    let longer = longer(&few("lab:delay=1ms", "25", &options), &few("lab:delay=1ms", "25", &small));
    // A round trip more at least.
    lands_in(&longer, &["a out send-call", "b out send-call"], 1.5e6);
}

#[test]
fn a_message_held_by_nagle_is_in_the_send_call() {
    let options = ["--writes", "2"];
    let held = [&options[..], &["--set", "tcp.no-delay=off"]].concat();
    let slow = few("lab:mtu=1500", "20", &held);
    // A report says what it is of, in the words of who asked.
    assert_eq!((&slow["target"], &slow["writes"]), (&"lab:mtu=1500".into(), &2.into()));
    assert!(slow["knobs"].as_array().unwrap().contains(&"tcp.no-delay=off".into()), "{}", slow["knobs"]);
    let longer = longer(&few("lab", "20", &options), &slow);
    // The least that Linux delays an acknowledgement (TCP_DELACK_MIN, include/net/tcp.h).
    lands_in(&longer, &["a out send-call"], 35e6);
}

#[test]
fn a_long_packet_filter_is_where_ip_comes_in() {
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: a_long_packet_filter_is_where_ip_comes_in: {why}");
    }
    let rules = ["--set", "filter.rules=10000"];
    let options = ["--wait", "sleep", "--exchanges", "100", "--blocks", "2"];
    let usual = traced("lab", &options);
    let long = traced("lab", &[&options[..], &rules].concat());
    lands_in(&longer(&usual, &long), &["b in ip-in"], 20e3);
}

#[test]
fn a_thread_with_other_numbers_is_not_looked_for_in_vain() {
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: a_thread_with_other_numbers_is_not_looked_for_in_vain: {why}");
    }
    let folder = TempDir::new().unwrap();
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc"]).arg(program()).args(["trace", "lab", "--json"]);
    command.args(["--wait", "sleep"]).args(SHORT).current_dir(folder.path());
    command.env("LINERATE_STATE", folder.path().join("state")).env("LINERATE_CONFIG", "");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_whole(&trace, 1);
    for host in trace["hosts"].as_array().unwrap() {
        assert_eq!(host["missing"], serde_json::json!(["waking", "woken", "running"]));
    }
    assert!(trace["notes"].to_string().contains("PID namespace"), "{}", trace["notes"]);
}

/// What comes of this while four threads want the CPU that the receiver has.
fn beside_four_that_spin<T>(run: impl FnOnce() -> T) -> T {
    let last = *thread::allowed_cpus().unwrap().last().unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                thread::pin(&[last]).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let came = run();
        stop.store(true, Ordering::Relaxed);
        came
    })
}

#[test]
fn a_busy_cpu_is_in_the_run_queue() {
    let trace = beside_four_that_spin(|| {
        traced("lab", &["--wait", "sleep", "--level", "0", "--exchanges", "300", "--blocks", "6"])
    });
    is_whole(&trace, 0);
    let [slowest, middle] = ["slowest_ns", "middle_ns"].map(|key| stages(&trace["waits"][0], key));
    let more = |stage: &str| slowest[stage] - middle[stage];
    let waited = more("b in run-queue");
    assert!(waited > 1e6, "{slowest:?}");
    // What else runs on this machine may keep the other host's CPU busy too, and that is the same stage there.
    for stage in slowest.keys().filter(|stage| !stage.ends_with("run-queue")) {
        assert!(more(stage) < 0.1 * waited, "{stage}: {slowest:?}");
    }
}

#[test]
fn what_is_asked_in_vain_is_told_once() {
    let folder = TempDir::new().unwrap();
    let cases: [(&[&str], &str); 8] = [
        (&["--time", "3s"], "--time is of --stream"),
        (&["--set", "shim.copies=3"], "shim.copies=3 does nothing"),
        (&["--set", "tcp.send-engine=sendfile"], "does nothing to the connection"),
        (&["--writes", "2", "--bytes", "1"], "cannot go in 2 calls"),
        (&["--bytes", "1MiB"], "at most 64KiB"),
        (&["--exchanges", "5"], "20"),
        (&["--level", "3"], "--level"),
        (&["--page", "/nowhere/page.html", "--exchanges", "20", "--blocks", "1"], "/nowhere/page.html"),
    ];
    for (options, said) in cases {
        let output = command(folder.path(), "lab").args(options).arg("-q").output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(said) && text.contains("linerate: "), "{text}");
    }
    let output = command(folder.path(), "simulated").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a made-up machine has no kernel");
}

#[test]
fn text_and_page_tell_the_same() {
    let folder = TempDir::new().unwrap();
    let options = ["--wait", "poll", "--exchanges", "50", "--blocks", "1", "--page", "page.html", "-q"];
    let output = command(folder.path(), "lab").args(options).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in ["wire", "application", "slowest 1 %", "polling"] {
        assert!(text.contains(part) && page.contains(part), "{part}: {text}");
    }
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("http://"));
}

/// A server of its own and its client, which ask and answer until they are ended: a program that knows nothing of a trace.
const ECHO: &str = "
import os, socket
listener = socket.create_server(('127.0.0.1', 0))
if os.fork() == 0:
    client = socket.create_connection(listener.getsockname())
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answer = b'x'
    while answer:
        client.send(b'x' * 50)
        answer = client.recv(100)
    os._exit(0)
one, _ = listener.accept()
one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print(listener.getsockname()[1], flush=True)
while True:
    one.send(one.recv(100))
";

#[test]
fn a_running_program_is_traced_from_outside() {
    const NAME: &str = "a_running_program_is_traced_from_outside";
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: {NAME}: {why}");
    }
    let Ok(mut echo) = Command::new("python3").args(["-c", ECHO]).stdout(Stdio::piped()).spawn() else {
        return println!("SKIP: {NAME}: python3 is not installed");
    };
    let mut port = String::new();
    BufReader::new(echo.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let folder = TempDir::new().unwrap();
    let asked = |options: &[&str]| {
        let mut command = Command::new(program());
        command.args(["trace", "-q", "--time", "1s"]).args(options).current_dir(folder.path());
        command.env("LINERATE_STATE", folder.path().join("state")).env("LINERATE_CONFIG", "");
        command.output().unwrap()
    };
    let pid = echo.id().to_string();
    let outputs = [asked(&["--port", port.trim(), "--json"]), asked(&["--pid", &pid, "--page", "pid.html"])];
    echo.kill().unwrap();
    echo.wait().unwrap();
    for output in &outputs {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let told: Value = serde_json::from_slice(&outputs[0].stdout).unwrap();
    assert_eq!(
        (&told["process"], &told["name"]),
        (&echo.id().into(), &format!("port {}", port.trim()).into())
    );
    let of = &told["analysis"];
    assert!(number(of, "cycles") > 200.0 && number(of, "whole") >= 0.95 * number(of, "cycles"), "{of}");
    let (sum, between) = (number(of, "sum_ns"), number(&of["between_arrivals"], "middle_ns"));
    assert!((sum / between - 1.0).abs() < 0.02, "{sum} of {between}");
    let stages = stages(of, "middle_ns");
    for stage in ["- in ip-in", "- - application", "- out queue", "- - beyond"] {
        assert!(stages[stage] > 0.0, "{stage}: {stages:?}");
    }
    let text = String::from_utf8_lossy(&outputs[1].stdout).into_owned();
    let page = std::fs::read_to_string(folder.path().join("pid.html")).unwrap();
    for part in ["(python3)", "tax", "beyond"] {
        assert!(text.contains(part) && page.contains(part), "{part}: {text}");
    }
    assert!(page.contains("<rect") && !page.contains("<script"));
    for (options, said) in
        [(&["--port", "1"][..], "no TCP connection"), (&["--pid", &pid], "no process"), (&[], "needs TARGET")]
    {
        let output = asked(options);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(said), "{text}");
    }
    let output = asked(&["--pid", &pid, "--bytes", "1KiB"]);
    assert_eq!(output.status.code(), Some(2), "what is of targets is refused");
}
