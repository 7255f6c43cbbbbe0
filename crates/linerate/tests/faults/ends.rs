//! Faults of hosts, of CPUs and of the ends move the measurement as their models say.

use super::measured::{RoundTrips, measure, measure_round_trips, one_step, small, within};
use crate::user::runs::{entry, run, warnings};
use linerate::plan::{Block, HostId, Step};
use linerate::statistic::median;
use linerate::vocabulary::{LADDER_BYTES, Pattern};

/// Bits of `tcpi_options`, as linux/uapi/tcp.h has them.
const TIMESTAMPS: u64 = 1;
const SACK: u64 = 2;
const SCALING: u64 = 4;

/// Both ways together: the lab's delay is one way.
const ROUND_TRIP_S: f64 = 0.002;
const FAR: &str = "lab:delay=1ms";

#[test]
fn a_buffer_bounds_the_rate_by_the_round_trip() {
    let bound = |kib: f64| kib * 1024.0 * 8.0 / ROUND_TRIP_S;
    let small = measure(FAR, &["small-buffers=64KiB"], &[]);
    let double = measure(FAR, &["small-buffers=128KiB"], &[]);
    assert!(small.last("snd_wnd").iter().all(|window| *window <= 64 << 10));
    within("small-buffers=64KiB: rate over window / RTT", small.rate() / bound(64.0), 0.2..1.05);
    within("small-buffers=128KiB: rate over window / RTT", double.rate() / bound(128.0), 0.2..1.05);
    let ratio = double.rate() / small.rate();
    within("small-buffers: rate of twice the buffer over that of one", ratio, 1.5..2.7);
}

#[test]
fn unscaled_windows_hold_65535_bytes() {
    let measured = measure(FAR, &["window-scaling-off"], &[]);
    assert!(measured.last("options").iter().all(|options| options & SCALING == 0));
    assert!(measured.last("snd_wnd").iter().all(|window| *window <= 65535));
    let bound = 65535.0 * 8.0 / ROUND_TRIP_S;
    within("window-scaling-off: rate over 65535 B / RTT", measured.rate() / bound, 0.5..1.05);
}

#[test]
fn what_is_not_offered_is_not_used() {
    let off = measure("lab", &["sack-off", "timestamps-off"], &[]);
    assert!(off.last("options").iter().all(|options| options & (SACK | TIMESTAMPS) == 0));
    assert!(off.granted("tcp.mss").iter().all(|mss| mss == "1460"), "{:?}", off.granted("tcp.mss"));
    let on = measure("lab", &[], &[]);
    assert!(on.last("options").iter().all(|options| options & (SACK | TIMESTAMPS) == SACK | TIMESTAMPS));
    assert!(on.granted("tcp.mss").iter().all(|mss| mss == "1448"), "{:?}", on.granted("tcp.mss"));
}

#[test]
fn without_offloads_every_packet_is_one() {
    let with = measure("lab", &[], &[]);
    let without = measure("lab", &["offload-off"], &[]);
    assert!(with.packet_bytes() > 4 * 1514, "{}", with.packet_bytes());
    assert!(without.packet_bytes() <= 1514, "{}", without.packet_bytes());
    // The cost of a packet is paid some forty times as often.
    let cost = [with.cpu_ns_per_byte(), without.cpu_ns_per_byte()];
    assert!(cost[1] > 1.5 * cost[0], "{cost:?} ns a byte");
}

#[test]
fn each_rule_of_a_firewall_takes_its_time() {
    let half = |rules: &str| {
        let rules = format!("firewall-rules={rules}");
        measure_round_trips("lab", &[&rules], &small()).half_round_trip_ns()
    };
    let (few, some, many) = (half("1"), half("4000"), half("12000"));
    // Twice a way: out of one host and into the other.
    let each = [(some - few) / 8000.0, (many - some) / 16000.0];
    let ratio = each[1] / each[0];
    within("firewall-rules: ns a rule, of few rules", each[0], 0.5..100.0);
    within("firewall-rules: the next rules over the first", ratio, 0.4..2.5);
}

#[test]
fn a_hog_takes_half_of_its_cpu_and_is_warned_of() {
    let measured = measure("lab", &["cpu-hog=0"], &["cpu.placement=0/1"]);
    assert!(measured.warns_of("foreign-cpu"));
    let kept_off = measured.kept_off(0);
    within("cpu-hog: share of the time off the CPU", kept_off, 0.3..0.8);
}

#[test]
fn a_slow_reader_sets_the_rate_by_its_window() {
    // A window that holds a whole block is never waited for.
    let measured = measure("lab", &["slow-reader=200Mb/s"], &["socket.receive-buffer=256KiB"]);
    let ratio = measured.rate() / 200e6;
    within("slow-reader=200Mb/s: rate over the reader's", ratio, 0.6..1.02);
    let share = measured.moved("rwnd_limited") as f64 / measured.moved("busy_time") as f64;
    assert!(share > 0.5, "the window bound {share} of the time");
}

#[test]
fn what_a_program_sets_or_does_holds_its_rate() {
    let paced = measure("lab", &["pacing-cap=100Mb/s"], &[]);
    within("pacing-cap=100Mb/s: rate over the limit", paced.rate() / 1e8, 0.5..1.05);
    // The kernel doubles what is asked for.
    let bound = 2.0 * 64.0 * 1024.0 * 8.0 / ROUND_TRIP_S;
    for fault in ["pinned-send-buffer=64KiB", "pinned-receive-buffer=64KiB"] {
        let ratio = measure(FAR, &[fault], &[]).rate() / bound;
        within(&format!("{fault}: rate over twice the buffer / RTT"), ratio, 0.1..1.05);
    }
    let each = 8.0 * LADDER_BYTES as f64 / 2e-3;
    let ratio = measure("lab", &["slow-source=2ms"], &[]).rate() / each;
    within("slow-source=2ms: rate over that of a message each 2 ms", ratio, 0.2..1.05);
}

#[test]
fn small_writes_cost_the_sender_their_calls() {
    let rate = |fault: &str| measure("lab", &[fault], &[]).rate();
    let ratio = rate("small-writes=4KiB") / rate("small-writes=64");
    within("small-writes: rate of 64 times the size over that of one", ratio, 4.0..200.0);
}

/// An end that works longer costs the rate what it adds where its thread binds, and nothing where it has time to spare.
#[test]
fn work_costs_where_its_thread_binds() {
    let rate = |lab: &str, settings: &[&str]| measure(lab, &[], settings).rate();
    // A message each 10 ms: that is what the sender takes, and nothing else binds.
    let bound = |work: &str| rate("lab", &["shim.spin=10ms", work]);
    let alone = rate("lab", &["shim.spin=10ms"]);
    within("a sender that binds", bound("shim.sender-work=50") / alone, 0.63..0.70);
    within("a receiver with time to spare", bound("shim.receiver-work=50") / alone, 0.95..1.05);
    let shaped = rate("lab:rate=200Mb/s", &["shim.sender-work=50"]);
    within("a sender whose link binds: its share of the link", shaped / 200e6, 0.90..0.97);
    // A call for each 2 KiB: that is what the receiver takes.
    let slow = rate("lab", &["stream.read-size=2KiB"]);
    let slower = rate("lab", &["stream.read-size=2KiB", "shim.receiver-work=100"]);
    within("a receiver that binds", slower / slow, 0.35..0.65);
}

/// Of MTU 1500 a tunnel leaves 1450, and of that 1398 are TCP's, in a frame of 1514 all the same.
#[test]
fn a_tunnel_shortens_each_packet() {
    let measured = measure("lab:rate=100Mb/s", &["tunnel"], &[]);
    let (inside, outside) = (measured.rate(), measure("lab:rate=100Mb/s", &[], &[]).rate());
    within("tunnel: rate over the link's", inside / 1e8, 0.89..1398.0 / 1514.0 + 0.002);
    within("tunnel: rate over that without", inside / outside, 0.95..0.98);
    // What passes a tunnel is counted there and below it.
    assert!(!measured.warns_of("foreign-bytes"));
    // What stands in the send buffer when the last message is handed over is on its way for some time yet.
    let steps = measured.recording.steps.iter().filter(|step| step.pass > 0);
    let sockets = steps.flat_map(|step| &step.sockets).filter(|socket| socket.host == HostId(0));
    let sent: Vec<[u64; 2]> = sockets
        .map(|socket| {
            let behind = socket.drained.get("bytes_acked").copied().unwrap_or(0);
            [behind, socket.until_acknowledged("bytes_acked")]
        })
        .collect();
    let least = 8 * 1448;
    assert!(!sent.is_empty() && sent.iter().all(|[behind, all]| least < *behind && behind < all), "{sent:?}");
}

/// The median time of a request of 1 KiB.
fn request_ns(faults: &[&str], settings: &[&str]) -> f64 {
    let of_requests = |step: Step| {
        let block = Block { message_bytes: 1 << 10, messages: 1, slices: 24, lead: 8, ..step.blocks[0] };
        Step { blocks: vec![block], ..step }
    };
    let recording = one_step("lab", (faults, settings), ("network.tcp", Pattern::Stream), of_requests);
    let flows = recording.trials.iter().filter(|trial| trial.pass > 0).flat_map(|trial| &trial.roles);
    let slices = flows.flat_map(|role| &role.flows).flat_map(|flow| &flow.slices_ns);
    median(slices.map(|ns| *ns as f64)).unwrap()
}

#[test]
fn two_writes_and_a_read_wait_for_a_late_answer() {
    let waited = request_ns(&["write-write-read"], &[]);
    within("write-write-read: a request, ns", waited, 30e6..80e6);
    let at_once = request_ns(&[], &["shim.answered=on"]);
    within("shim.answered: a request with TCP_NODELAY, ns", at_once, 0.0..20e6);
}

#[test]
fn a_competing_flow_takes_its_share() {
    let measured = measure("lab:rate=200Mb/s", &["competing-flow"], &[]);
    within("competing-flow: rate over the link's", measured.rate() / 200e6, 0.05..0.85);
    assert!(measured.warns_of("foreign-bytes"));
}

#[test]
fn an_idle_receiver_gets_what_others_leave_of_its_cpu() {
    // Few messages: it may get next to nothing.
    let few = |step: Step| {
        let block = Block { message_bytes: LADDER_BYTES, messages: 1, slices: 8, lead: 2, ..step.blocks[0] };
        Step { blocks: vec![block], ..step }
    };
    let ns = |faults: &[&str]| {
        let recording =
            one_step("lab", (faults, &["cpu.placement=0/1"]), ("network.tcp", Pattern::Stream), few);
        let trials = recording.trials.iter().filter(|trial| trial.pass > 0);
        let flows = trials.flat_map(|trial| &trial.roles).flat_map(|role| &role.flows);
        flows.flat_map(|flow| &flow.slices_ns).sum::<u64>() as f64
    };
    let ratio = ns(&["cpu-hog=1"]) / ns(&["cpu-hog=1", "idle-receiver"]);
    within("idle-receiver: rate over that of an ordinary one beside a busy process", ratio, 0.0..0.8);
}

#[test]
fn a_sender_that_rests_outlasts_its_window() {
    let few = |step: Step| {
        let block = Block { message_bytes: LADDER_BYTES, messages: 1, slices: 3, lead: 1, ..step.blocks[0] };
        Step { blocks: vec![block], ..step }
    };
    let faults: (&[&str], &[&str]) = (&["idle-restart=600ms", "small-initial-window=2"], &[]);
    let recording = one_step("lab:delay=20ms", faults, ("network.tcp", Pattern::Stream), few);
    let trials = || recording.trials.iter().filter(|trial| trial.pass > 0);
    let flows = trials().flat_map(|trial| &trial.roles).flat_map(|role| &role.flows);
    let slices: Vec<f64> = flows.flat_map(|flow| &flow.slices_ns).map(|ns| *ns as f64).collect();
    // Each of them has one rest: that the receiver is ready is no message.
    let longest = slices.iter().copied().fold(0.0, f64::max);
    within("idle-restart=600ms: the longest message, ns", longest, 0.64e9..1.2e9);
    let sockets = || recording.steps.iter().filter(|step| step.pass > 0).flat_map(|step| &step.sockets);
    let timeout_us = sockets().filter_map(|socket| socket.last.get("rto")).copied().min().unwrap();
    assert!((40_000..600_000).contains(&timeout_us), "{timeout_us} us");
    let busy_us = sockets().filter_map(|socket| socket.moved.get("busy_time")).copied().max().unwrap();
    assert!((busy_us as f64) < 1e-3 * slices.iter().sum::<f64>() / 2.0, "{busy_us} us of {slices:?}");
    // The host says which of its routes begin with little.
    let routes = recording.hosts[0].environment.stack["routes"]["with_metrics"].to_string();
    assert!(routes.contains("InitCwnd(2)"), "{routes}");
}

#[test]
fn an_mtu_on_one_side_holds_both_ways() {
    let measured = measure("lab", &["b:small-mtu=1000"], &[]);
    // What the receiver says that it takes, less the timestamps.
    assert!(measured.last("snd_mss").contains(&(1000 - 52)), "{:?}", measured.last("snd_mss"));
}

#[test]
fn a_server_late_on_small_messages_is_named() {
    let sizes = (6..=16).map(|power| 1 << power).collect();
    let trips = RoundTrips { sizes, exchanges: 4, passes: 6 };
    let curves = measure_round_trips("lab", &["delayed-ack"], &trips).curves();
    let ping_pongs = curves.iter().filter(|curve| curve.case.pattern == Pattern::PingPong);
    let breaks: Vec<_> = ping_pongs.flat_map(|curve| &curve.breaks).collect();
    let named: Vec<_> = breaks.iter().filter(|found| found.class == "delayed-ack").collect();
    assert!(!named.is_empty(), "{breaks:#?}");
    for found in named {
        assert!(found.from_bytes < 1448 && 1448 <= found.at_bytes, "{found:#?}");
        let jump = found.jump_ns.unwrap().median;
        within("delayed-ack=40ms: fall of half a round trip at 1448 B, ns", jump, -25e6..-15e6);
    }
}

#[test]
fn the_report_of_a_run_tells_its_faults() {
    let arguments = ["lab:fault=b:sack-off", "--fault", "slow-reader=300Mb/s", "--only", "network.tcp"];
    let run = run(&[&arguments[..], &["--profile", "quick", "--passes", "1", "--no-page"]].concat());
    let report = run.report();
    assert!(warnings(&report).contains(&"fault".to_owned()), "{:?}", warnings(&report));
    let text = String::from_utf8_lossy(&run.output.stdout);
    assert!(text.contains("With b:sack-off, slow-reader=300Mb/s put in by hand"), "{text}");
    let rate = entry(&report, "network.tcp", Some("b>a"), 1)["throughput_bps"]["median"].as_f64().unwrap();
    within("slow-reader=300Mb/s: rate over the reader's", rate / 300e6, 0.3..1.02);
}
