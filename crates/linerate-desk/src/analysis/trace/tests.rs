//! Traces whose stages are known.

use super::*;
use crate::record::{TraceHost, TraceSide};

/// Where the stages of a made-up exchange end, after each other.
#[derive(Clone, Copy)]
struct Times {
    send: u64,
    queue: u64,
    wire: u64,
    receive: u64,
    run: u64,
    application: u64,
}

/// What is done to an exchange.
type Change = fn(&mut Times);

const USUAL: Times = Times { send: 900, queue: 200, wire: 3000, receive: 20_000, run: 400, application: 600 };

impl Times {
    fn round_trip(self) -> u64 {
        2 * (self.send + self.queue + self.receive + self.run) + self.wire + self.application
    }
}

/// A block in which the hosts' clocks have nothing to do with each other.
fn block(exchanges: &[Times], untraced_ns: u64) -> TraceBlock {
    let mut block = TraceBlock { untraced_ns: vec![untraced_ns; exchanges.len()], ..TraceBlock::default() };
    let put = |side: &mut TraceSide, point: &str, at: u64| {
        side.points.entry(point.into()).or_default().push(Some(at));
    };
    let (mut here, mut there) = (1000, 5_000_000);
    for times in exchanges {
        block.traced_ns.push(times.round_trip());
        let (asking, answering) = (&mut block.asking, &mut block.answering);
        put(asking, "send", here);
        put(asking, "queued", here + times.send);
        put(asking, "transmitted", here + times.send + times.queue);
        let back = here + times.round_trip();
        put(asking, "arrived", back - times.receive - times.run);
        put(asking, "returned", back);
        put(answering, "arrived", there);
        let returned = there + times.receive + times.run;
        put(answering, "returned", returned);
        let send = returned + times.application;
        put(answering, "send", send);
        put(answering, "queued", send + times.send);
        put(answering, "transmitted", send + times.send + times.queue);
        for side in [asking, answering] {
            side.run_delay_ns.push(times.run);
        }
        (here, there) = (back + 5000, send + 100_000);
    }
    block
}

fn trace(blocks: Vec<TraceBlock>) -> Trace {
    let host = |id| TraceHost { host: HostId(id), ..TraceHost::default() };
    Trace { message_bytes: 64, hosts: vec![host(0), host(1)], blocks, ..Trace::default() }
}

fn analysed(blocks: Vec<TraceBlock>) -> TraceOf {
    analyse_trace(&trace(blocks)).waits.remove(0)
}

fn named(of: &TraceOf, host: Option<u16>, way: Option<&str>, stage: &str) -> StageTime {
    let is =
        |one: &&StageTime| one.key.host == host.map(HostId) && one.key.way == way && one.key.stage == stage;
    of.stages.iter().find(is).unwrap_or_else(|| panic!("{stage}: {:?}", of.stages)).clone()
}

#[test]
fn what_was_lost_is_counted_and_in_no_stage() {
    let mut blocks: Vec<TraceBlock> = (0..6).map(|_| block(&[USUAL; 50], USUAL.round_trip())).collect();
    for (at, block) in blocks.iter_mut().enumerate() {
        // What the asking host gave up has no time there, and may have one at the other.
        block.asking.points.values_mut().for_each(|column| column[3] = None);
        block.traced_ns[3] = 0;
        let lost = [3, 49];
        crate::record::leave_out(&mut block.traced_ns, &lost);
        block.asking.leave_out(&lost);
        block.answering.leave_out(&lost);
        block.lost_exchanges = 2 + at as u64 % 2;
    }
    let of = analysed(blocks);
    assert_eq!((of.exchanges, of.whole, of.lost_exchanges), (288, 288, 15));
    assert!(of.sum_error().abs() < 1e-12, "{of:?}");
}

#[test]
fn stages_sum_to_what_was_clocked() {
    let of = analysed((0..8).map(|_| block(&[USUAL; 50], USUAL.round_trip() * 100 / 104)).collect());
    assert_eq!((of.exchanges, of.whole, of.disordered), (400, 400, 0));
    assert!(of.sum_error().abs() < 1e-12, "{of:?}");
    let keys: Vec<String> = of
        .stages
        .iter()
        .map(|one| format!("{} {}", one.key.host.map_or("-".into(), |host| host.to_string()), one.key.stage))
        .collect();
    let expected = [
        "a send-call",
        "a queue",
        "- wire",
        "b run-queue",
        "b receive",
        "b application",
        "b send-call",
        "b queue",
        "a run-queue",
        "a receive",
    ];
    assert_eq!(keys, expected);
    assert_eq!(named(&of, None, None, "wire").middle_ns, 3000.0);
    assert_eq!(named(&of, Some(1), Some("in"), "receive").p99_ns, 20_000.0);
    let tax = of.tax.unwrap();
    assert!((tax.median - 0.04).abs() < 1e-3 && tax.low.is_some(), "{tax:?}");
}

/// One of three is stamped and costs a third more; the one behind it costs a tenth more, and the other nothing.
#[test]
fn the_tax_of_a_sample_is_of_all() {
    let untraced = USUAL.round_trip() * 3 / 4;
    let sampled = || {
        let mut block = block(&[USUAL; 50], untraced);
        block.every = 3;
        block.between_ns = vec![vec![untraced * 11 / 10; 50], vec![untraced; 50]];
        block
    };
    let of = analysed((0..8).map(|_| sampled()).collect());
    assert_eq!((of.every, of.exchanges, of.between, of.whole), (3, 400, 800, 400));
    let [tax, stamped] = [of.tax, of.stamped_tax].map(|tax| tax.unwrap().median);
    assert!((stamped - 1.0 / 3.0).abs() < 1e-3, "{stamped}");
    assert!((tax - (1.0 / 3.0 + 0.1) / 3.0).abs() < 1e-3, "{tax}");
    assert_eq!(of.clocked.p50_ns, USUAL.round_trip() as f64, "of those that are stamped");
}

#[test]
fn a_cause_moves_its_own_stage_alone() {
    let with = |change: Change| {
        let mut times = USUAL;
        change(&mut times);
        analysed(vec![block(&[times; 50], 1)])
    };
    let usual = with(|_| ());
    let cases: [(&str, Change, f64); 4] = [
        ("wire", |times| times.wire += 100_000, 100_000.0),
        ("run-queue", |times| times.run += 50_000, 50_000.0),
        ("queue", |times| times.queue += 7000, 7000.0),
        ("application", |times| times.application += 1_000_000, 1_000_000.0),
    ];
    for (moved, change, by) in cases {
        for (one, other) in usual.stages.iter().zip(&with(change).stages) {
            let expected = if one.key.stage == moved { by } else { 0.0 };
            assert_eq!(other.middle_ns - one.middle_ns, expected, "{moved}: {:?}", one.key);
        }
    }
}

#[test]
fn what_is_not_whole_is_counted_and_not_hidden() {
    let slow = Times { receive: 90_000, ..USUAL };
    let mut broken = block(&[[USUAL; 60].as_slice(), &[slow; 40]].concat(), 1);
    for exchange in 0..30 {
        broken.answering.points.get_mut("transmitted").unwrap()[exchange] = None;
    }
    let queued = &mut broken.asking.points.get_mut("queued").unwrap()[31];
    *queued = queued.map(|at| at + 1_000_000);
    let of = analysed(vec![broken]);
    assert_eq!((of.exchanges, of.whole, of.disordered), (100, 69, 1));
    assert_eq!(of.missing, BTreeMap::from([("b: transmitted".to_owned(), 30)]));
    assert!((of.coverage() - 0.69).abs() < 1e-9);
}

#[test]
fn the_slowest_hundredth_has_its_own_path() {
    let slow = Times { run: 4_000_000, ..USUAL };
    let of = analysed(vec![block(&[[USUAL; 198].as_slice(), &[slow; 2]].concat(), 1)]);
    assert_eq!(of.clocked.slowest_ns, slow.round_trip() as f64);
    let (key, longer, share) = of.excess()[0];
    assert_eq!((key.stage, longer), ("run-queue", 3_999_600.0));
    assert!((share - 0.5).abs() < 1e-9, "it is at both hosts: {share}");
}

/// What one stage takes less does not make the others more than all.
#[test]
fn shares_of_what_takes_longer_are_of_that_alone() {
    let slow = Times { run: 4_000_000, queue: 0, ..USUAL };
    let of = analysed(vec![block(&[[USUAL; 198].as_slice(), &[slow; 2]].concat(), 1)]);
    let shares: Vec<f64> = of.excess().iter().map(|(_, _, share)| *share).collect();
    assert!(
        (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares.iter().all(|share| *share >= 0.0),
        "{shares:?}"
    );
    assert!(of.excess().iter().any(|(_, ns, share)| *ns < 0.0 && *share == 0.0), "a stage that takes less");
}

/// A mean of nothing is no time.
#[test]
fn a_block_without_a_whole_middle_has_none() {
    let [fast, slow] = [100, 4000].map(|run| Times { run, ..USUAL });
    let mut broken = block(&[[fast; 40], [USUAL; 40], [slow; 40]].concat(), 1);
    for all in broken.asking.points.values_mut().chain(broken.answering.points.values_mut()) {
        all[40..80].fill(None);
    }
    let of = analysed(vec![block(&[USUAL; 120], 1), broken.clone()]);
    assert_eq!((of.exchanges, of.whole), (240, 200));
    let queue = named(&of, Some(0), Some("out"), "queue").of_blocks.unwrap();
    assert_eq!((queue.median, queue.n), (USUAL.queue as f64, 1), "of the block that has a middle");
    let alone = analysed(vec![broken]);
    assert!(alone.stages.is_empty() && alone.whole == 80, "nothing is said of its stages");
    let few = analysed(vec![block(&[USUAL; 20], 1)]);
    assert!(few.stages.iter().all(|stage| stage.slowest_ns.is_none()) && few.excess().is_empty());
}

#[test]
fn a_block_whose_clock_was_set_is_left_out() {
    let mut set = block(&[USUAL; 10], 1);
    set.answering.clock_step_ns = 50_000_000;
    let of = analysed(vec![set, block(&[USUAL; 10], 1)]);
    assert_eq!((of.stepped_blocks, of.exchanges), (1, 10));
    let mut empty = block(&[USUAL; 3], 1);
    empty.asking.points.clear();
    assert!(analyse_trace(&trace(vec![empty])).waits.is_empty());
    assert!(analyse_trace(&trace(Vec::new())).waits.is_empty());
}

#[test]
fn finer_points_cut_finer_and_an_awake_receiver_is_no_gap() {
    let mut fine = block(&[USUAL; 20], 1);
    for side in [&mut fine.asking, &mut fine.answering] {
        let arrived = side.points["arrived"].clone();
        let after = |ns: u64| arrived.iter().map(|at| at.map(|at| at + ns)).collect::<Vec<_>>();
        for (point, ns) in
            [("received", 500), ("ready", 1200), ("waking", 1400), ("woken", 9000), ("running", 15_000)]
        {
            side.points.insert(point.into(), after(ns));
        }
    }
    for point in ["waking", "woken", "running"] {
        fine.asking.points.get_mut(point).unwrap()[3] = None;
    }
    let of = analysed(vec![fine]);
    assert_eq!((of.whole, of.awake), (20, 1));
    assert!(of.sum_error().abs() < 1e-12);
    assert_eq!(named(&of, Some(1), Some("in"), "run-queue").middle_ns, 6000.0);
    assert_eq!(named(&of, Some(1), Some("in"), "return").middle_ns, 5400.0);
    assert_eq!(named(&of, Some(1), Some("in"), "protocol-in").middle_ns, 700.0);
}

#[test]
fn a_point_with_too_few_stamps_is_told_of() {
    let mut seen = block(&[USUAL; 10], 1);
    let arrived = seen.answering.points.get_mut("arrived").unwrap();
    arrived.iter_mut().skip(3).for_each(|at| *at = None);
    let of = analyse_trace(&trace(vec![seen])).waits.pop().unwrap();
    assert_eq!(of.sparse, [("b: arrived".to_owned(), 0.3)].into());
    assert!(of.stages.iter().all(|stage| stage.key.host != Some(HostId(1)) || stage.key.stage != "receive"));
    let whole = analyse_trace(&trace(vec![block(&[USUAL; 10], 1)])).waits.pop().unwrap();
    assert!(whole.sparse.is_empty(), "{:?}", whole.sparse);
}
