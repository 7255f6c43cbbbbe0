//! Every parser of bytes that a peer, a file or a user wrote, fed with damaged ones for a bounded time.
//!
//! `FUZZ_SECONDS` (default 2) a target. The seed is printed, and `FUZZ_SEED` repeats it. No panic, no hang and
//! no memory without bound: whatever comes is read or refused.

mod ends;
mod mutator;

use linerate::plan::{Setting, Suite, Target};
use linerate::record;
use linerate::transport::{Offer, Spec};
use linerate::vocabulary::SUITES;
use mutator::fuzz;
use std::io::Cursor;
use std::process::Command;
use std::sync::Arc;

/// Memory that all targets together may take at most, in KiB: far more than any of them needs.
const MOST_KIB: u64 = 2 << 20;

/// The most memory that this process has had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn stays_small(target: &str) {
    assert!(peak_kib() < MOST_KIB, "{target}: {} KiB", peak_kib());
}

#[test]
fn a_damaged_recording_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_linerate"));
    run.args([
        "run",
        "simulated",
        "--profile",
        "quick",
        "--passes",
        "1",
        "--only",
        "in-host.tcp",
        "--no-page",
    ]);
    assert!(run.arg("--output").arg(folder.path()).output().unwrap().status.success());
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let mut whole = std::fs::read(file).unwrap();
    assert!(record::read(Cursor::new(&whole)).unwrap().1.is_empty());
    whole.truncate(32 << 10);
    fuzz("recording", &[&whole, b"\n\n{}\n"], |bytes| {
        let _ = record::read(Cursor::new(bytes));
    });
    stays_small("recording");
}

#[test]
fn a_damaged_offer_or_spec_is_refused() {
    let offers: [&[u8]; 4] = [
        br#"{"socket":{"address":{"internet":"127.0.0.1:4000"},"secret":"00","certificate":"00"}}"#,
        br#"{"socket":{"address":{"abstract":"linerate-0"},"secret":""}}"#,
        br#"{"mapping":{"process":1,"descriptor":3}}"#,
        br#"{"transport":"tls","flows":1,"passive":true,"address":"::1","settings":[],"patience_ms":1}"#,
    ];
    fuzz("offer", &offers, |bytes| {
        let _ = serde_json::from_slice::<Offer>(bytes);
        let _ = serde_json::from_slice::<Spec>(bytes);
    });
    stays_small("offer");
}

#[test]
fn damaged_requests_are_answered_or_hung_up_on() {
    let lines: [&[u8]; 3] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":null}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"offer\",\"params\":{\"worker\":0,\"session\":\"s\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":18446744073709551615,\"method\":\"\",\"params\":[[[[]]]]}\n\n",
    ];
    fuzz("control", &lines, |bytes| {
        let refuse = |_: &str, _| Err(linerate::Error::usage("no", ""));
        let _ = linerate::control::serve(Cursor::new(bytes.to_vec()), std::io::sink(), refuse);
    });
    stays_small("control");
}

#[test]
fn damaged_arguments_are_refused_with_words() {
    let texts: [&[u8]; 7] = [
        b"network.tls:tls.cipher=aes-128-gcm",
        b"socket.send-buffer=256KiB",
        b"cpu.placement=0,2/1,3",
        b"lab:rate=1Gb/s,delay=10ms,loss=0.1%,a-b.loss=1%",
        b"ssh://user@node7:2222,ssh://node8",
        b"simulated:delay=1ms",
        b"lab:metro,hosts=4",
    ];
    fuzz("arguments", &texts, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Err(error) = text.parse::<Setting>() {
            assert!(!error.to_string().is_empty());
        }
        let _ = text.parse::<Target>();
    });
    stays_small("arguments");
}

#[test]
fn a_damaged_lab_file_is_refused() {
    let file = "[hosts]\nnames = [\"a\", \"b\"]\n\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Gb/s\"\ndelay = \"1ms\"\n";
    fuzz("lab file", &[file.as_bytes(), b"a = [[1, {b = 2}]]\n"], |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let open = Arc::new(text);
        let _ = Target::read("lab:net.toml", &|_: &str| Ok((*open).clone()));
    });
    stays_small("lab file");
}

#[test]
fn a_damaged_plan_file_is_refused_with_words() {
    let shipped: Vec<&[u8]> = SUITES.iter().map(|suite| suite.plan.as_bytes()).collect();
    fuzz("plan file", &shipped, |bytes| {
        if let Err(error) = Suite::read(&String::from_utf8_lossy(bytes)) {
            assert!(!error.what.is_empty());
        }
    });
    stays_small("plan file");
}
