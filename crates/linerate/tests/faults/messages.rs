//! What single messages tell of faults: datagrams of the wire's, requests of a server's.

use crate::measured::{one_step, within};
use linerate::analysis::measure;
use linerate::plan::{Block, Pace, Step};
use linerate::record::{Recording, Trial};
use linerate::vocabulary::{Does, Pattern};

/// The trial that counts.
fn trial(recording: &Recording) -> &Trial {
    recording.trials.iter().rev().find(|trial| trial.pass > 0).unwrap()
}

fn value(trial: &Trial, name: &str) -> f64 {
    (measure(name).unwrap().of)(trial).unwrap_or_else(|| panic!("no {name}"))
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
fn datagrams_that_the_wire_lost_doubled_and_held_are_told_by_the_receiver() {
    let faults = ["loss=1%", "duplicate=1%", "reorder=2%"];
    let change = |step| paced(step, 200_000, 20_000);
    let recording = one_step("lab:delay=1ms", (&faults, &[]), ("network.udp", Pattern::Stream), change);
    let trial = trial(&recording);
    within("loss=1%: share lost", value(trial, "loss"), 0.007..0.013);
    within("duplicate=1%: share that came twice", value(trial, "duplicated"), 0.007..0.013);
    within("reorder=2%: share that was overtaken", value(trial, "reordered"), 0.016..0.024);
    let flow = |does| &trial.roles.iter().find(|role| role.does == does).unwrap().flows[0];
    let came = flow(Does::Receives);
    assert_eq!(came.messages.unwrap() + came.lost.unwrap(), 20_000);
    // A CPU that was taken makes datagrams late, but the pace holds.
    within("paced at 40 Mb/s: sender's rate", value(trial, "sender-rate") / 40e6, 0.9..1.001);
    assert_eq!(flow(Does::Sends).tally.as_ref().unwrap().intended, Some(20_000));
}

#[test]
fn the_wires_jitter_is_the_variation_of_the_delays() {
    // The delay is uniform within 1 ms of its middle, and datagrams are too far apart to wait for each other.
    let change = |step| paced(step, 2_500_000, 1500);
    let faults = ["jitter=1ms"];
    let recording = one_step("lab:delay=2ms", (&faults, &[]), ("network.udp", Pattern::Stream), change);
    let trial = trial(&recording);
    within("jitter=1ms: median above the least", value(trial, "delay-variation.p50") / 1e6, 0.85..1.25);
    within("jitter=1ms: 99 % above the least", value(trial, "delay-variation.p99") / 1.98e6, 0.95..1.5);
    // Two uniform delays differ by a triangle: its median is 2 ms (1 - sqrt(1/2)).
    within("jitter=1ms: from one to the next", value(trial, "packet-to-packet.p50") / 0.586e6, 0.8..1.25);
}

/// A server that does nothing for 100 ms in each second.
#[test]
fn requests_at_a_set_rate_show_a_stall_that_a_ping_pong_hides() {
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
            vec![Block { message_bytes: 64, messages: 1000, slices: 6, lead: 1, pace, ..step.blocks[0] }];
        step
    };
    let of = ("network.tcp", Pattern::PingPong);
    let recording = one_step("lab", (&[], &stalled), of, open);
    let asked = trial(&recording);
    // Of the requests in a stall each waits until its end: 0 to 100 ms, all alike.
    within("95th percentile of an open loop, ms", value(asked, "response-time.p95") / 1e6, 35.0..65.0);
    within("99th percentile of an open loop, ms", value(asked, "response-time.p99") / 1e6, 80.0..110.0);
    let closed = |step: Step| {
        let blocks =
            vec![Block { message_bytes: 64, messages: 1, slices: 10_000, lead: 0, ..step.blocks[0] }];
        Step { blocks, ..step }
    };
    let recording = one_step("lab", (&[], &stalled), of, closed);
    let p99 = value(trial(&recording), "half-round-trip.p99") / 1e6;
    within("99th percentile of a closed loop, ms", p99, 0.0..10.0);
}
