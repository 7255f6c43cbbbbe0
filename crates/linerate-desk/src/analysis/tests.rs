//! What was put into a recording comes out of its analysis.

use super::*;
use crate::plan::{Block, Case, HostId, Pairs, Rungs, View};
use crate::record::synthetic::{Synthetic, TRUTHS};
use crate::record::{Event, Flow, NotMeasured, Reason, RoleRecord, Series, Trial};
use crate::statistic::Estimate;
use crate::vocabulary::{Cache, Does, Pattern, ReasonKind, Wait};

fn layer<'a>(analysis: &'a Analysis, name: &str) -> &'a Layer {
    let found = analysis.layers.iter().find(|layer| layer.name() == name);
    let names: Vec<_> = analysis.layers.iter().map(Layer::name).collect();
    found.unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

fn assert_near(what: &str, found: Option<Estimate>, truth: f64, share: f64) {
    let found = found.unwrap_or_else(|| panic!("{what}: nothing"));
    assert!((found.median / truth - 1.0).abs() < share, "{what}: {found:?}, not {truth}");
}

#[test]
fn what_was_put_in_comes_out() {
    let analysis = analyse(&Synthetic::default().recording());
    assert_eq!((analysis.ladder_bytes, analysis.latency_bytes), (1 << 20, 64));
    let names = ["memory.copy a", "in-host.shared-memory a", "in-host.tcp a", "network.tcp a>b"];
    for (truth, name) in TRUTHS.iter().zip(names) {
        let layer = layer(&analysis, name);
        assert_near(name, layer.throughput_bps, truth.stream_bps(1 << 20), 0.02);
        assert_eq!(layer.throughput_bps.unwrap().n, 10);
        if truth.beta_ns > 0.0 {
            let truth_ns = |wait| truth.half_round_trip_ns(wait, 64);
            assert_near(name, layer.polling_ns, truth_ns(Wait::Polling), 0.02);
            assert_near(name, layer.sleeping_ns, truth_ns(Wait::Sleeping), 0.02);
            let cpu = layer.cpu.unwrap();
            assert!((cpu.sender.unwrap() / truth.cpu_ns[0] - 1.0).abs() < 0.01, "{name}: {cpu:?}");
            assert!((cpu.receiver.unwrap() / truth.cpu_ns[1] - 1.0).abs() < 0.01, "{name}: {cpu:?}");
        }
    }
}

#[test]
fn layers_are_compared_with_the_one_below() {
    let analysis = analyse(&Synthetic::default().recording());
    for (index, name) in [(2, "in-host.tcp a"), (3, "network.tcp a>b"), (3, "network.tcp b>a")] {
        let (below, truth) = (TRUTHS[index - 1], TRUTHS[index]);
        let layer = layer(&analysis, name);
        let kept = truth.stream_bps(1 << 20) / below.stream_bps(1 << 20);
        assert_near(name, layer.kept_of_below, kept, 0.03);
        let cost = layer.cost.unwrap();
        assert_near(name, cost.constant_ns, truth.alpha_ns[0] - below.alpha_ns[0], 0.1);
        assert_near(name, Some(cost.ns_per_byte), truth.beta_ns - below.beta_ns, 0.1);
        assert_eq!(layer.below_host, Some(HostId(0)));
    }
    let shared = layer(&analysis, "in-host.shared-memory a");
    assert_eq!(shared.cost.unwrap().constant_ns, None);
    assert_near("over memory", Some(shared.cost.unwrap().ns_per_byte), 0.110 - 0.050, 0.1);
    let four = layer(&analysis, "network.tcp x 4 a>b");
    assert_eq!((four.kept_of_below, four.cost), (None, None));
}

#[test]
fn what_a_pass_shares_falls_out_of_a_ratio() {
    let synthetic = Synthetic { drift: 0.4, noise: 0.001, ..Synthetic::default() };
    let analysis = analyse(&synthetic.recording());
    let layer = layer(&analysis, "network.tcp a>b");
    assert!(layer.throughput_bps.unwrap().relative_half_width().unwrap() > 0.05);
    assert!(layer.kept_of_below.unwrap().relative_half_width().unwrap() < 0.005);
}

#[test]
fn both_ways_is_the_sum_of_both_receivers() {
    let analysis = analyse(&Synthetic::default().recording());
    let both = layer(&analysis, "network.tcp a<>b");
    assert_near("both ways", both.throughput_bps, 2.0 * TRUTHS[3].stream_bps(1 << 20), 0.02);
    assert_eq!(both.direction().as_deref(), Some("a<>b"));
}

#[test]
fn flows_are_counted_until_the_first_ends() {
    let analysis = analyse(&Synthetic::default().recording());
    let four = layer(&analysis, "network.tcp x 4 a>b");
    assert_near("4 flows", four.throughput_bps, TRUTHS[3].stream_bps(1 << 20), 0.02);

    let flow = |start_ns, slices_ns: &[u64]| Flow {
        start_ns,
        slices_ns: slices_ns.to_vec(),
        bytes: 1000 * slices_ns.len() as u64,
        ..Flow::default()
    };
    let bps = |flows| {
        trial::values(&stream(flows, 0), &trial::Machines::from_recording(&Recording::default()))
            .throughput_bps
    };
    // By 300 ns, when the first flow ends, it has moved 6000 B and the second one 2000 B.
    let flows = vec![flow(0, &[25, 25, 25, 25, 100, 100]), flow(100, &[100, 100, 25, 25])];
    assert_eq!(bps(flows), Some(8e9 * 8000.0 / 300.0));
    // By 110 ns, when the second of four ends, more has come in each of them than by the first one's end.
    let flows =
        vec![flow(0, &[50, 50]), flow(0, &[55, 55]), flow(0, &[55, 55, 5, 5]), flow(0, &[55, 55, 5, 5])];
    assert_eq!(bps(flows), Some(8e9 * 8000.0 / 110.0));
    // Of flows that end together all slices count, though they are few.
    let flows = vec![flow(0, &[100, 100]), flow(0, &[100, 101]), flow(0, &[100, 102]), flow(0, &[100, 103])];
    assert_eq!(bps(flows), Some(8e9 * 8000.0 / 203.0));
    // A flow that goes on alone makes no more of it.
    let flows = vec![flow(0, &[100, 100, 100]), flow(0, &[100, 100, 900])];
    assert_eq!(bps(flows), Some(8e9 * 5000.0 / 300.0));
    // Two flows that take turns on a link of 1000 B in 100 ns never have more than the link.
    let flows = vec![flow(0, &[100, 100, 100, 500]), flow(0, &[400, 100, 100, 100])];
    assert_eq!(bps(flows), Some(8e9 * 1000.0 / 100.0));
}

/// A trial of a stream with these flows at its receiver.
fn stream(flows: Vec<Flow>, lead: u32) -> Trial {
    let case = Case {
        rung: "network.tcp".into(),
        pattern: Pattern::Stream,
        wait: Wait::Sleeping,
        flows: flows.len() as u32,
        pairs: Pairs::single(HostId(0), HostId(1)),
        timeline: false,
        arm: 0,
        ..Case::default()
    };
    let slices = flows.first().map_or(0, |flow| flow.slices_ns.len() as u32);
    let block =
        Block { message_bytes: 1000, messages: 1, slices, lead, cache: Cache::Hot, ..Block::default() };
    let roles = vec![RoleRecord {
        host: HostId(1),
        does: Does::Receives,
        flows,
        histogram: None,
        samples: Default::default(),
        pair: 0,
    }];
    Trial { step: 0, pass: 1, why: Default::default(), case, block, roles }
}

#[test]
fn flows_that_never_meet_have_no_rate() {
    let flow = |start_ns| Flow { start_ns, slices_ns: vec![10, 10], bytes: 100, ..Flow::default() };
    let trial = stream(vec![flow(0), flow(500)], 0);
    assert_eq!(
        trial::values(&trial, &trial::Machines::from_recording(&Recording::default())).throughput_bps,
        None
    );
}

#[test]
fn flows_that_never_met_are_said_to_be_left_out() {
    let mut recording = Synthetic { passes: 2, ..Synthetic::default() }.recording();
    for trial in recording.trials.iter_mut().filter(|trial| trial.case.flows == 4) {
        trial.roles.iter_mut().for_each(|role| role.flows[3].start_ns += 3_600_000_000_000);
    }
    let analysis = analyse(&recording);
    let four = layer(&analysis, "network.tcp x 4 a>b");
    assert_eq!(four.throughput_bps, None);
    assert_eq!(four.not_measured[0].reason.why, "its flows were never all under way at once");
}

#[test]
fn a_round_trip_is_the_median_after_the_lead() {
    let flow = Flow { slices_ns: vec![9000, 400, 400, 404, 9000], ..Flow::default() };
    let mut trial = stream(vec![flow], 1);
    trial.case.pattern = Pattern::PingPong;
    trial.roles[0].does = Does::Pings;
    trial.block.messages = 2;
    let values = trial::values(&trial, &trial::Machines::from_recording(&Recording::default()));
    assert_eq!(values.half_round_trip_ns, Some(402.0 / 2.0 / 2.0));
    assert_eq!(values.throughput_bps, Some(8e9 * 1000.0 / 100.5));
}

#[test]
fn several_trials_of_a_pass_are_one_observation() {
    let mut recording = Recording::default();
    for (pass, slice) in [(1, 10), (1, 1000), (1, 10), (2, 20), (0, 1)] {
        let flow = Flow { slices_ns: vec![slice], bytes: 1000, ..Flow::default() };
        recording.push(Event::Trial(Trial { pass, ..stream(vec![flow], 0) }));
    }
    let analysis = analyse(&recording);
    let estimate = analysis.layers[0].throughput_bps.unwrap();
    assert_eq!(estimate, Estimate { median: 8e9 * 75.0, low: None, high: None, n: 2 });
}

#[test]
fn fewer_than_six_passes_have_no_interval() {
    let analysis = analyse(&Synthetic { passes: 5, ..Synthetic::default() }.recording());
    let estimate = layer(&analysis, "network.tcp a>b").throughput_bps.unwrap();
    assert_eq!((estimate.n, estimate.low, estimate.high), (5, None, None));
}

#[test]
fn a_ping_pong_curve_has_a_line() {
    let analysis = analyse(&Synthetic::default().recording());
    let wanted = |curve: &&Curve| curve.case.rung == "network.tcp" && curve.case.pattern == Pattern::PingPong;
    let curve = analysis.curves.iter().find(wanted).unwrap();
    let segment = curve.segments[0];
    assert_eq!((segment.from_bytes, segment.to_bytes, segment.n), (1, 1 << 23, 10));
    assert!((segment.line.constant / 2800.0 - 1.0).abs() < 0.01, "{segment:?}");
    assert!((segment.line.slope / 0.2 - 1.0).abs() < 0.01, "{segment:?}");
    assert!(segment.relative_residual < 0.02, "{segment:?}");
}

#[test]
fn what_could_not_be_measured_keeps_its_place() {
    let mut recording = Synthetic { passes: 1, ..Synthetic::default() }.recording();
    recording.trials.retain(|trial| trial.case.rung != "in-host.tcp");
    recording.trials.retain(|trial| trial.case.pattern != Pattern::Bidirectional);
    let unavailable = |rung: &str, pattern, wait| NotMeasured {
        rung: rung.into(),
        pattern,
        wait,
        host: None,
        reason: Reason::new(ReasonKind::Unsaid, "one CPU", "two"),
        ..NotMeasured::default()
    };
    for _ in 0..2 {
        let polling = unavailable("network.tcp", Some(Pattern::PingPong), Some(Wait::Polling));
        recording.push(Event::NotMeasured(polling));
        recording.push(Event::NotMeasured(unavailable("in-host.tcp", None, None)));
    }
    let plan = &mut recording.header.as_mut().unwrap().plan;
    let rungs = plan.view.rungs().iter().map(String::as_str).chain(["memory.triad"]);
    plan.view = View::Ladder(Rungs::unnamed(rungs));
    let analysis = analyse(&recording);
    assert_eq!(layer(&analysis, "in-host.tcp").unavailable.as_ref().unwrap().reason.why, "one CPU");
    assert!(layer(&analysis, "in-host.tcp").not_measured.is_empty());
    assert!(layer(&analysis, "memory.triad").unavailable.as_ref().unwrap().reason.why.contains("no trial"));
    assert_eq!(layer(&analysis, "network.tcp a>b").not_measured.len(), 1);
    let order: Vec<_> = analysis.layers.iter().map(|layer| height(&layer.rung)).collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn placement_retransmits_and_wait_are_kept() {
    let mut recording = Synthetic { passes: 2, ..Synthetic::default() }.recording();
    for step in recording.steps.iter_mut().filter(|step| step.case.rung == "network.tcp") {
        step.sockets[0].moved.insert("total_retrans".into(), 3);
    }
    let analysis = analyse(&recording);
    let network = layer(&analysis, "network.tcp b>a");
    assert_eq!(network.placement, [0, 1]);
    assert_eq!(network.retransmits, Some(6));
    assert_eq!(network.wait, Some(Wait::Sleeping));
    let memory = layer(&analysis, "memory.copy a");
    assert_eq!((memory.wait, memory.retransmits), (None, None));
    assert_eq!(memory.placement, [0]);
}

#[test]
fn a_long_stream_is_a_line_over_time() {
    let mut recording = Recording::default();
    let flow = Flow {
        start_ns: 5_000_000_000,
        slices_ns: vec![500_000_000, 1_000_000_000, 2_000_000_000],
        bytes: 3000,
        ..Flow::default()
    };
    let mut trial = stream(vec![flow], 1);
    trial.case.timeline = true;
    recording.push(Event::Trial(trial));
    recording.push(Event::Series(Series {
        step: 0,
        host: HostId(1),
        worker: None,
        flow: None,
        at_ns: vec![4_900_000_000, 6_000_000_000],
        values: [("cwnd".to_owned(), vec![10.0, 20.0])].into(),
    }));
    let analysis = analyse(&recording);
    assert!(analysis.layers.is_empty() && analysis.curves.is_empty());
    let timeline = &analysis.timelines[0];
    assert_eq!(timeline.at_s, [0.5, 1.5, 3.5]);
    assert_eq!(timeline.throughput_bps, [Some(16_000.0), Some(8_000.0), Some(4_000.0)]);
    assert_eq!(timeline.sampled[0].at_s, [-0.1, 1.0]);
}

#[test]
fn the_rate_of_datagrams_is_what_came() {
    let case = Case {
        rung: "network.udp".into(),
        pattern: Pattern::Stream,
        wait: Wait::Sleeping,
        flows: 1,
        pairs: Pairs::single(HostId(0), HostId(1)),
        timeline: false,
        arm: 0,
        ..Case::default()
    };
    let mut recording = Synthetic { passes: 6, ..Synthetic::default() }.recording();
    for pass in 1..=6 {
        // 25 of 100 datagrams came in 4 us: the last stamp closes half a slice.
        let block = Block {
            message_bytes: 1024,
            messages: 10,
            slices: 10,
            lead: 0,
            cache: Cache::Hot,
            ..Block::default()
        };
        let sent = Flow { duration_ns: 2000, bytes: 100 * 1024, ..Flow::default() };
        let came = Flow {
            slices_ns: vec![1000, 1000, 2000],
            duration_ns: 90_000,
            bytes: 25 * 1024,
            messages: Some(25),
            lost: Some(75),
            ..Flow::default()
        };
        let role = |host, does, flow| RoleRecord {
            host: HostId(host),
            does,
            flows: vec![flow],
            histogram: None,
            samples: Default::default(),
            pair: 0,
        };
        let roles = vec![role(1, Does::Receives, came), role(0, Does::Sends, sent)];
        recording.trials.push(Trial {
            step: 0,
            pass,
            why: Default::default(),
            case: case.clone(),
            block,
            roles,
        });
    }
    let analysis = analyse(&recording);
    let udp = layer(&analysis, "network.udp a>b");
    assert_eq!((udp.ladder_bytes, analysis.ladder_bytes), (1024, 1 << 20));
    assert_near("goodput", udp.throughput_bps, 8e9 * 25.0 * 1024.0 / 4000.0, 1e-9);
    assert_near("loss", udp.lost_share, 0.75, 1e-9);
    assert!(layer(&analysis, "network.tcp a>b").lost_share.is_none());
}
