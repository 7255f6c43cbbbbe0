//! What a stream costs both hosts: the figures that every trace has, and each injected cause in its own.

use super::{beside_four_that_spin, command, number, traced};
use serde_json::Value;
use tempfile::TempDir;

const SHORT: [&str; 5] = ["--stream", "--time", "3s", "--blocks", "6"];

/// A traced stream, as a program is told it.
#[track_caller]
fn stream(target: &str, options: &[&str]) -> Value {
    traced(target, &[&SHORT[..], options].concat())
}

/// A figure of the sender (0) or of the receiver (1); none where the host has it not.
fn figure(trace: &Value, end: usize, name: &str) -> Option<f64> {
    let figures = trace["ends"][end]["figures"].as_array().unwrap();
    let found = figures.iter().find(|figure| figure["name"] == name)?;
    Some(number(&found["of_blocks"], "median"))
}

#[track_caller]
fn has(trace: &Value, end: usize, name: &str) -> f64 {
    figure(trace, end, name).unwrap_or_else(|| panic!("{end} {name}: {}", trace["ends"][end]["figures"]))
}

/// What holds of every traced stream.
#[track_caller]
fn is_told(trace: &Value) {
    assert!(number(&trace["throughput_bps"], "median") > 0.0 && trace["tax"]["n"] == 6, "{}", trace["tax"]);
    assert!(trace["tax"]["low"].is_f64() && trace["untraced_bps"]["high"].is_f64());
    for end in [0, 1] {
        let all = ["thread.cpu", "thread.run-queue", "thread.asleep"].map(|name| has(trace, end, name));
        assert!(all.iter().all(|share| (0.0..=1.1).contains(share)), "{end}: {all:?}");
        // Medians of blocks need not sum, but nearly do.
        assert!((all.iter().sum::<f64>() - 1.0).abs() < 0.3, "{end}: {all:?}");
    }
    let lines = trace["lines"]["lines"].as_array().unwrap();
    let end = number(&trace["lines"], "end_ns");
    for metric in ["thread.busy", "queue.backlog-bytes", "tcp.received-bps", "tcp.peer-window-bytes"] {
        let of_metric: Vec<&Value> = lines.iter().filter(|line| line["metric"] == metric).collect();
        assert_eq!(of_metric.len(), 2, "{metric}");
        for times in of_metric.iter().map(|line| line["at_ns"].as_array().unwrap()) {
            assert!(times.len() > 6 && times.iter().all(|at| at.as_f64().unwrap() <= end), "{metric}");
        }
    }
}

#[test]
fn any_user_sees_a_stream_at_both_hosts() {
    let trace = stream("lab", &["--level", "0"]);
    is_told(&trace);
    assert!(trace["hosts"].as_array().unwrap().iter().all(|host| host["level"] == 0));
    assert_eq!((figure(&trace, 0, "packet.out-bytes"), figure(&trace, 1, "socket.held")), (None, None));
    assert!(has(&trace, 0, "call.bytes") > 100_000.0 && has(&trace, 1, "call.bytes") > 1000.0);
    assert!(has(&trace, 0, "thread.ns-per-byte") > 0.0 && has(&trace, 1, "interface.packets-in") > 0.0);
    assert!(trace["notes"].to_string().contains("who holds the socket"), "{}", trace["notes"]);
}

#[test]
fn tracepoints_tell_packets_and_who_holds_the_socket() {
    const NAME: &str = "tracepoints_tell_packets_and_who_holds_the_socket";
    if let Err(why) = linerate_sys::probe::tracing() {
        return println!("SKIP: {NAME}: {why}");
    }
    let trace = stream("lab:mtu=1500", &[]);
    is_told(&trace);
    // Cut by the device, merged by none: as they go out they come in.
    let [out, came] = [has(&trace, 0, "packet.out-bytes"), has(&trace, 1, "packet.in-bytes")];
    assert!(out > 1448.0 && came >= 1448.0, "{out} and {came}");
    let packets = |end: usize, key: &str| -> f64 {
        trace["ends"][end]["sizes"].as_array().unwrap().iter().map(|class| number(class, key)).sum()
    };
    assert!(packets(0, "out_packets") > 100.0 && packets(1, "in_packets") > 100.0);
    assert_eq!((packets(0, "in_packets"), packets(1, "out_packets")), (0.0, 0.0), "data goes one way");
    // One that calls without a pause finds acknowledgements waiting behind its calls.
    let held = [0, 1].map(|end| has(&trace, end, "socket.held"));
    assert!(held[0] > 0.0 && held.iter().all(|share| *share <= 1.0), "{held:?}");
    let softirqs = ["softirq.in-thread", "softirq.beside", "softirq.elsewhere"];
    assert!(softirqs.map(|name| has(&trace, 0, name)).iter().sum::<f64>() > 0.01, "{}", trace["ends"][0]);
}

#[test]
fn a_slow_reader_closes_the_receivers_window() {
    let slow = stream("lab", &["--level", "0", "--fault", "slow-reader=400Mb/s"]);
    is_told(&slow);
    assert!(has(&slow, 0, "tcp.receive-window-limited") > 0.5, "{slow}");
    let [asleep, waits] = ["thread.asleep", "thread.run-queue"].map(|name| has(&slow, 1, name));
    assert!(asleep > 0.5 && asleep > 2.0 * waits, "the program takes its time: {asleep} {waits}");
    assert_eq!(has(&slow, 0, "queue.backlog"), 0.0, "nothing waits below TCP");
    let rate = number(&slow["throughput_bps"], "median");
    assert!(rate > 150e6 && rate < 420e6, "{rate}");
}

#[test]
fn a_reader_below_1_mb_a_second_is_as_slow_as_it_is_told() {
    let options =
        ["--stream", "--level", "0", "--time", "1s", "--blocks", "1", "--fault", "slow-reader=700kb/s"];
    let rate = number(&traced("lab", &options)["throughput_bps"], "median");
    assert!(rate > 550e3 && rate < 715e3, "{rate}");
}

#[test]
fn a_token_bucket_shows_in_the_queue() {
    let trace = stream("lab:wire=tbf,rate=100Mb/s", &["--level", "0"]);
    is_told(&trace);
    assert!(has(&trace, 0, "queue.backlog") > 10e3 && has(&trace, 0, "thread.asleep") > 0.5, "{trace}");
    assert!(has(&trace, 0, "tcp.receive-window-limited") < 0.3, "the window is open: {trace}");
    let rate = number(&trace["throughput_bps"], "median");
    assert!((rate / 100e6 - 1.0).abs() < 0.2, "{rate}");
}

#[test]
fn a_busy_cpu_keeps_the_receiver_in_the_run_queue() {
    let quiet = stream("lab", &["--level", "0"]);
    let trace = beside_four_that_spin(|| stream("lab", &["--level", "0"]));
    is_told(&trace);
    // One of five that want the CPU; when the sender waits too, both sleep.
    let [waits, has_it] = ["thread.run-queue", "thread.cpu"].map(|name| has(&trace, 1, name));
    assert!(waits > 0.3 && waits > 2.5 * has_it, "{waits} {has_it}");
    // It is what came with them, whatever else keeps this machine busy, and what the stream loses by.
    let before = ["thread.run-queue", "thread.cpu"].map(|name| has(&quiet, 1, name));
    assert!(waits > before[0] + 0.1 && has_it < before[1], "{waits} {has_it} and {before:?}");
    let rates = [&quiet, &trace].map(|trace| number(&trace["throughput_bps"], "median"));
    assert!(rates[1] < 0.8 * rates[0], "{rates:?}");
    assert_eq!(has(&trace, 0, "queue.backlog"), 0.0);
}

#[test]
fn a_streams_text_and_page_tell_the_same() {
    let folder = TempDir::new().unwrap();
    let run = |options: &[&str]| {
        command(folder.path(), "lab").args(["--stream", "-q"]).args(options).output().unwrap()
    };
    let output = run(&["--time", "400ms", "--blocks", "2", "--page", "page.html"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in ["a sends", "b receives", "thread.cpu", "tcp.peer-window", "tax"] {
        assert!(text.contains(part) && page.contains(part), "{part}: {text}");
    }
    assert!(page.contains("<path") && !page.contains("<script") && !page.contains("http://"));
    for refused in [["--bytes", "1KiB"], ["--wait", "poll"], ["--pid", "1"], ["--set", "shim.copies=3"]] {
        assert_eq!(run(&refused).status.code(), Some(2), "{refused:?}");
    }
}
