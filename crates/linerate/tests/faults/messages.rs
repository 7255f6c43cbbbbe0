//! What single messages tell of faults: datagrams of the wire's, requests of a server's.

use super::measured::{one_step, within};
use linerate::analysis::measure;
use linerate::plan::{Block, Pace, Step};
use linerate::record::{Recording, Trial};
use linerate::vocabulary::{Does, Pattern};

/// The trial that counts.
fn trial(recording: &Recording) -> &Trial {
    recording.trials.iter().rev().find(|trial| trial.pass > 0).unwrap()
}

fn found(recording: &Recording, name: &str) -> Option<f64> {
    measure(name).unwrap().value(recording, trial(recording))
}

fn value(recording: &Recording, name: &str) -> f64 {
    found(recording, name).unwrap_or_else(|| panic!("no {name}"))
}

/// So many datagrams of 1000 B, one in each such time.
fn paced(step: Step, every_ns: u64, messages: u64) -> Step {
    let mut step = step;
    step.case.pace = Pace::Every(every_ns);
    let (message_bytes, pace) = (1000, step.case.pace);
    step.blocks = vec![Block { message_bytes, messages, slices: 1, lead: 0, pace, ..step.blocks[0] }];
    step
}

#[test]
fn the_receiver_tells_lost_doubled_and_held() {
    let faults = ["loss=1%", "duplicate=1%", "reorder=2%"];
    let change = |step| paced(step, 200_000, 20_000);
    let recording = one_step("lab:delay=1ms", (&faults, &[]), ("network.udp", Pattern::Stream), change);
    let trial = trial(&recording);
    within("loss=1%: share lost", value(&recording, "loss"), 0.007..0.013);
    within("duplicate=1%: share that came twice", value(&recording, "duplicated"), 0.007..0.013);
    within("reorder=2%: share that was overtaken", value(&recording, "reordered"), 0.016..0.024);
    let flow = |does| &trial.roles.iter().find(|role| role.does == does).unwrap().flows[0];
    let came = flow(Does::Receives);
    assert_eq!(came.messages.unwrap() + came.lost.unwrap(), 20_000);
    // A CPU that was taken makes datagrams late, but the pace holds.
    within("paced at 40 Mb/s: sender's rate", value(&recording, "sender-rate") / 40e6, 0.9..1.001);
    assert_eq!(flow(Does::Sends).tally.as_ref().unwrap().intended, Some(20_000));
}

#[test]
fn jitter_is_the_variation_of_the_delays() {
    // The delay is uniform within 1 ms of its middle, and datagrams are too far apart to wait for each other.
    let change = |step| paced(step, 2_500_000, 1500);
    let faults = ["jitter=1ms"];
    let recording = one_step("lab:delay=2ms", (&faults, &[]), ("network.udp", Pattern::Stream), change);
    within("jitter=1ms: median above the least", value(&recording, "delay-variation.p50") / 1e6, 0.85..1.25);
    within("jitter=1ms: 99 % above the least", value(&recording, "delay-variation.p99") / 1.98e6, 0.95..1.5);
    // Two uniform delays differ by a triangle: its median is 2 ms (1 - sqrt(1/2)).
    within(
        "jitter=1ms: from one to the next",
        value(&recording, "packet-to-packet.p50") / 0.586e6,
        0.8..1.25,
    );
}

/// A server that does nothing for 100 ms in each second.
#[test]
fn requests_at_a_set_rate_show_a_stall() {
    let stalled = ["shim.stall=100ms", "shim.stall-every=1s"];
    let open = |step: Step| {
        let mut step = step;
        step.case.pattern = Pattern::RequestResponse;
        step.case.pace = Pace::Every(1_000_000);
        step.roles
            .iter_mut()
            .filter(|role| role.does == Does::Pings)
            .for_each(|role| role.does = Does::Requests);
        let pace = step.case.pace;
        step.blocks =
            vec![Block { message_bytes: 64, messages: 1000, slices: 13, lead: 1, pace, ..step.blocks[0] }];
        step
    };
    let of = ("network.tcp", Pattern::PingPong);
    let recording = one_step("lab", (&[], &stalled), of, open);
    // Of the requests in a stall each waits until its end: 0 to 100 ms, all alike.
    within("95th percentile of an open loop, ms", value(&recording, "response-time.p95") / 1e6, 35.0..65.0);
    within("99th percentile of an open loop, ms", value(&recording, "response-time.p99") / 1e6, 80.0..110.0);
    within(
        "99.9th percentile of an open loop, ms",
        value(&recording, "response-time.p99.9") / 1e6,
        94.0..150.0,
    );
    let closed = |step: Step| {
        let blocks =
            vec![Block { message_bytes: 64, messages: 1, slices: 10_000, lead: 0, ..step.blocks[0] }];
        Step { blocks, ..step }
    };
    let recording = one_step("lab", (&[], &stalled), of, closed);
    let p99 = value(&recording, "half-round-trip.p99") / 1e6;
    within("99th percentile of a closed loop, ms", p99, 0.0..10.0);
}

/// A step in which the receiving end looks for a rate.
fn searching(step: Step, pattern: Pattern, finds: Does, (messages, slices): (u64, u32)) -> Step {
    let mut step = step;
    step.case.pattern = pattern;
    for role in &mut step.roles {
        role.does = if role.does == Does::Receives { finds } else { Does::Offers };
    }
    step.blocks = vec![Block { message_bytes: 1222, messages, slices, lead: 0, ..step.blocks[0] }];
    step
}

/// Sent is came and lost, in the whole and in all parts.
fn accounted(recording: &Recording) {
    let trial = trial(recording);
    let flow = |does: fn(Does) -> bool| &trial.roles.iter().find(|role| does(role.does)).unwrap().flows[0];
    let found = flow(|does| does != Does::Offers);
    let (came, lost) = (found.messages.unwrap(), found.lost.unwrap());
    assert_eq!((came + lost) * 1222, flow(|does| does == Does::Offers).bytes);
    let parts: u64 = found.tally.as_ref().unwrap().search.iter().map(|part| part.messages).sum();
    assert!(parts <= came && came - parts < 1000, "{parts} of {came}");
}

#[test]
fn a_search_finds_the_wires_capacity() {
    let change = |step| searching(step, Pattern::Capacity, Does::FindsCapacity, (20, 4));
    let lab = "lab:rate=100Mb/s,delay=1ms";
    let recording = one_step(lab, (&[], &[]), ("network.udp", Pattern::Stream), change);
    // Of each frame the Ethernet header is no part of IP.
    let wire = 100e6 * 1250.0 / 1264.0;
    within("capacity over that of the wire", value(&recording, "ip-capacity") / wire, 0.95..1.02);
    accounted(&recording);
}

#[test]
fn the_lossless_rate_is_the_policers() {
    let change = |step| searching(step, Pattern::ZeroLoss, Does::FindsZeroLoss, (8, 16));
    let faults = ["policer=50Mb/s"];
    let wire = 50e6 / 8.0 / 1264.0;
    let search = || {
        let recording = one_step("lab:delay=1ms", (&faults, &[]), ("network.udp", Pattern::Stream), change);
        accounted(&recording);
        // A loss at each rate leaves none.
        let share = found(&recording, "zero-loss-rate").unwrap_or(0.0) / wire;
        // A policer's burst of 10 ms is in 0.4 s.
        assert!(share < 1.06, "{share} of what the policer lets through");
        share
    };
    // A single loss ends a rate, and a machine that others use loses now and then, but not three times over.
    let best = (0..3).map(|_| search()).find(|share| *share > 0.8);
    assert!(best.is_some(), "none of three searches came near the policer's rate");
}
