//! Curves made up from known times: what was put in is found, and nothing else.

use super::*;
use crate::plan::{HostId, Pairs};
use crate::record::synthetic::{Bend, Synthetic};
use crate::record::{Granted, SessionRecord};
use crate::vocabulary::{BREAKS, Pattern, Wait};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ALPHA_NS: f64 = 20_000.0;
const BETA_NS: f64 = 0.2;

fn case(rung: &str, pattern: Pattern) -> Case {
    Case {
        rung: rung.into(),
        pattern,
        wait: Wait::Sleeping,
        flows: 1,
        pairs: Pairs::single(HostId(0), HostId(1)),
        timeline: false,
        arm: 0,
        ..Case::default()
    }
}

/// A ping-pong with this half round trip and uniform noise of this standard deviation.
fn noisy_curve(sizes: &[u64], passes: u32, noise: f64, seed: u64, time_ns: impl Fn(f64) -> f64) -> Curve {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut values = |size: u64| {
        let half_ns = time_ns(size as f64) * (1.0 + noise * (random.random::<f64>() - 0.5) * 3.46);
        let throughput_bps = Some(8e9 * size as f64 / half_ns);
        Values { throughput_bps, half_round_trip_ns: Some(half_ns), ..Values::default() }
    };
    let point = |size: &u64| Point {
        message_bytes: *size,
        cache: Cache::Hot,
        passes: (1..=passes).map(|pass| (pass, values(*size))).collect(),
    };
    let points = sizes.iter().map(point).collect();
    let mut curve = bare(case("network.tcp", Pattern::PingPong), points);
    curve.segments = segment::segments(&curve);
    curve
}

fn ladder() -> Vec<u64> {
    crate::plan::sizes::ladder()
}

fn smooth(size: f64) -> f64 {
    ALPHA_NS + BETA_NS * size
}

fn stepped(at: u64, step_ns: f64) -> impl Fn(f64) -> f64 {
    move |size| smooth(size) + if size >= at as f64 { step_ns } else { 0.0 }
}

/// The only break of a curve that steps by so much at 64 KiB.
fn only_break(step_ns: f64, slope_after: f64, refined: &[Refined], facts: &Facts) -> Break {
    let time = |size: f64| match size < 65_536.0 {
        true => smooth(size),
        false => ALPHA_NS + step_ns + BETA_NS * 65_536.0 + slope_after * (size - 65_536.0),
    };
    let curve = noisy_curve(&ladder(), 10, 0.01, 5, time);
    let found = breaks(&curve, refined, facts);
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0].clone()
}

#[test]
fn a_step_of_3_ms_is_found_at_any_size() {
    for passes in [6, 10] {
        for (seed, at) in ladder().into_iter().skip(1).enumerate() {
            let curve = noisy_curve(&ladder(), passes, 0.03, seed as u64, stepped(at, 3e6));
            let found = candidates(&curve);
            let brackets = |one: &&Candidate| one.below < at && at <= one.above;
            let bracket = found.iter().find(brackets).unwrap_or_else(|| panic!("{at}: {found:#?}"));
            assert_eq!((bracket.above, bracket.kind), (at, CandidateKind::Jump), "{found:#?}");
            assert!((bracket.jump_ns / 3e6 - 1.0).abs() < 0.25, "{at}: {bracket:?}");
        }
    }
}

#[test]
fn a_line_has_no_candidates() {
    let broken =
        (0..100).filter(|seed| !candidates(&noisy_curve(&ladder(), 6, 0.03, *seed, smooth)).is_empty());
    assert!(broken.count() <= 1);
}

#[test]
fn a_bend_is_no_step() {
    let bent = |size: f64| smooth(size) + 0.5 * BETA_NS * (size - 3e5).max(0.0);
    let found = candidates(&noisy_curve(&ladder(), 10, 0.01, 1, bent));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].kind, CandidateKind::Slope);
    assert!(found[0].below <= 1 << 19 && found[0].above >= 1 << 18, "{found:#?}");
}

#[test]
fn too_few_passes_show_one_line_and_no_break() {
    let curve = noisy_curve(&ladder(), 5, 0.01, 1, stepped(65_536, 3e6));
    assert!(candidates(&curve).is_empty());
    assert_eq!(curve.segments.len(), 1);
    assert!(noisy_curve(&[64], 10, 0.01, 1, smooth).segments.is_empty());
}

#[test]
fn segments_are_the_lines_on_both_sides() {
    let curve = noisy_curve(&ladder(), 10, 0.01, 2, stepped(65_536, 40_000.0));
    let [before, after] = curve.segments[..] else { panic!("{:#?}", curve.segments) };
    assert_eq!((before.to_bytes, after.from_bytes, after.n), (32_768, 65_536, 10));
    assert!((before.line.constant / ALPHA_NS - 1.0).abs() < 0.01, "{before:?}");
    assert!((after.line.constant / (ALPHA_NS + 40_000.0) - 1.0).abs() < 0.05, "{after:?}");
    assert!(before.relative_residual.max(after.relative_residual) < 0.02);
}

#[test]
fn the_size_of_a_step_tells_its_class() {
    let may_switch = || Facts { switches: Some("mpi"), ..Facts::default() };
    let quick = Facts { small_round_trip_ns: Some(40_000.0), ..may_switch() };
    let slow = Facts { small_round_trip_ns: Some(40e6), ..may_switch() };
    let plain = Facts { switches: None, ..quick.clone() };
    let cases = [
        (40_000.0, &quick, "rendezvous-handshake"),
        (24_000.0, &quick, "rendezvous-handshake"),
        (3e6, &quick, "protocol-switch"),
        (3e6, &may_switch(), "protocol-switch"),
        (3e6, &plain, "unexplained"),
        (40_000.0, &plain, "unexplained"),
        (40e6, &plain, "delayed-ack"),
        (40e6, &quick, "delayed-ack"),
        (20e6, &quick, "delayed-ack"),
        (205e6, &quick, "retransmission-timeout"),
        (40e6, &slow, "rendezvous-handshake"),
    ];
    for (step_ns, facts, class) in cases {
        let found = only_break(step_ns, BETA_NS, &[], facts);
        assert_eq!(found.class, class, "{step_ns} {found:#?}");
        assert!(BREAKS.iter().any(|known| known.name == class));
        assert!(found.is_sure() && !found.evidence.is_empty(), "{found:#?}");
        assert_eq!((found.from_bytes, found.at_bytes), (32_768, 65_536));
        assert!((found.jump_ns.unwrap().median / step_ns - 1.0).abs() < 0.1, "{step_ns} {found:#?}");
    }
}

#[test]
fn timer_waits_of_small_messages_are_found() {
    let class = |wait_ns: f64, other_ns: f64| {
        let wait = move |size: f64| if size < 65_536.0 { wait_ns } else { 0.0 };
        let curve = noisy_curve(&ladder(), 10, 0.001, 5, move |size| other_ns + smooth(size) + wait(size));
        let round_trip = 2.0 * (other_ns + ALPHA_NS + wait_ns);
        let switches = Some("mpi");
        let facts = Facts { small_round_trip_ns: Some(round_trip), switches, ..Facts::default() };
        breaks(&curve, &[], &facts).first().map(|found| found.class)
    };
    // Where both ways wait, and where one does.
    assert_eq!(class(40e6, 0.0), Some("delayed-ack"));
    assert_eq!(class(20e6, 0.0), Some("delayed-ack"));
    // A path as long as the timer: it may be anything.
    assert_eq!(class(40e6, 100e6), Some("protocol-switch"));
}

#[test]
fn a_quicker_protocol_has_a_best_threshold() {
    let facts = Facts { switches: Some("mpi"), ..Facts::default() };
    let found = only_break(100_000.0, 0.1, &[], &facts);
    // From 64 KiB on each byte saves 0.1 ns: the step is paid back after a million of them.
    let expected = 65_536.0 + 1e6;
    assert!((found.best_threshold.unwrap() / expected - 1.0).abs() < 0.1, "{found:#?}");
    assert_eq!(found.class, "protocol-switch");
    assert_eq!(only_break(100_000.0, 0.3, &[], &Facts::default()).best_threshold, None);
}

#[test]
fn pairs_confirm_a_break_or_take_it_back() {
    let facts = Facts { mss: [1448].into(), switches: Some("mpi"), ..Facts::default() };
    let pairs = |step: f64| (0..10).map(|index| (30_000.0 + f64::from(index), 30_000.0 + step)).collect();
    let look = |below, above, step| [Refined { below, above, pairs: pairs(step) }];
    let found = only_break(60_000.0, BETA_NS, &look(49_152, 49_153, 60_000.0), &facts);
    let confirmed = found.confirmed.unwrap();
    assert_eq!((found.from_bytes, found.at_bytes, found.class), (49_152, 49_153, "protocol-switch"));
    assert_eq!((confirmed.pairs, confirmed.agree, confirmed.holds, found.is_sure()), (10, 10, true, true));
    assert_eq!(found.jump_ns, Some(confirmed.difference_ns));
    // The same step at a whole number of segments.
    let found = only_break(60_000.0, BETA_NS, &look(1448 * 30, 1448 * 30 + 1, 60_000.0), &facts);
    assert_eq!(found.class, "segmentation", "{found:#?}");
    let found = only_break(60_000.0, BETA_NS, &look(49_152, 49_153, 4.5), &facts);
    assert!(!found.confirmed.unwrap().holds && !found.is_sure(), "{found:#?}");
    // A look elsewhere says nothing.
    assert_eq!(only_break(60_000.0, BETA_NS, &look(1, 2, 60_000.0), &facts).confirmed, None);
}

/// Half round trips of MPICH 4.0.2 on a lab, in microseconds: it asks the receiver first from 19 522 B on.
const OF_MPICH: &[(u64, f64)] = &[
    (1, 4.43),
    (64, 4.42),
    (1 << 10, 4.62),
    (4 << 10, 5.46),
    (8 << 10, 7.29),
    (16 << 10, 8.65),
    (32 << 10, 29.4),
    (64 << 10, 38.2),
    (96 << 10, 40.8),
    (128 << 10, 44.3),
    (256 << 10, 62.8),
    (1 << 20, 176.0),
];

/// The surer the few sizes are, the better does a line of the two sizes around the step describe them: pairs know better.
#[test]
fn what_pairs_confirmed_outlasts_a_line_of_two_sizes() {
    let sizes: Vec<u64> = OF_MPICH.iter().map(|(size, _)| *size).collect();
    let time = |size: f64| 1e3 * OF_MPICH.iter().find(|(known, _)| *known as f64 == size).unwrap().1;
    let look = |step: f64| {
        let pairs = (0..10).map(|nth| (9_000.0 + f64::from(nth), 9_000.0 + step)).collect();
        [Refined { below: 19_521, above: 19_522, pairs }]
    };
    let is_seen = |one: &Candidate| (one.below, one.above) == (16 << 10, 32 << 10);
    let mut hidden = 0;
    for seed in 0..60 {
        let curve = noisy_curve(&sizes, 52, 0.05, seed, time);
        let is_hidden = !candidates(&curve).iter().any(is_seen);
        hidden += u32::from(is_hidden);
        let (at, step) = largest_step(&curve, &look(21_000.0)).unwrap();
        assert!(at == 19_522 && (step.median - 21_000.0).abs() < 10.0, "{seed}: {at} {step:?}");
        // Pairs that differ either way, and those of which each takes a few nanoseconds longer.
        for step in [4.5, 12.0].into_iter().filter(|step| is_hidden || *step < 10.0) {
            let without = largest_step(&curve, &look(step)).map(|(at, _)| at);
            assert_ne!(without, Some(19_522), "{seed}: what pairs do not show is none");
        }
    }
    assert!(hidden > 0, "the lines alone show it in all curves");
}

/// A run with bends, and what the hosts are known to have.
fn run(bends: Vec<Bend>, edit: impl Fn(&mut Recording)) -> crate::analysis::Analysis {
    let mut recording = Synthetic { bends, ..Synthetic::default() }.recording();
    let claims = ["L1 Data 48K, of 1 CPUs", "L1 Instruction 32K, of 1 CPUs", "L2 Unified 2048K, of 1 CPUs"];
    for host in &mut recording.hosts {
        host.environment.host.insert("cpu.caches_claimed".into(), claims.to_vec().into());
    }
    edit(&mut recording);
    crate::analysis::analyse(&recording)
}

fn bend(rung: &'static str, pattern: Pattern, at_bytes: u64, step_ns: f64, slope_ns: f64) -> Bend {
    Bend { rung, pattern, at_bytes, step_ns, slope_ns }
}

fn classes(analysis: &crate::analysis::Analysis, rung: &str, pattern: Pattern) -> Vec<&'static str> {
    let of = |curve: &&Curve| {
        (curve.case.rung.as_str(), curve.case.pattern) == (rung, pattern) && curve.points.len() > 1
    };
    let mut found: Vec<&str> =
        analysis.curves.iter().filter(of).flat_map(|curve| &curve.breaks).map(|found| found.class).collect();
    found.dedup();
    found
}

#[test]
fn only_a_bend_of_the_copy_is_a_cache() {
    let cold = bend("memory.copy", Pattern::Stream, 1 << 20, 0.0, 0.1);
    let network = |step_ns, slope_ns| bend("network.tcp", Pattern::Stream, 1 << 20, step_ns, slope_ns);
    let knee = run(vec![cold, network(0.0, 0.1)], |_| ());
    assert_eq!(classes(&knee, "memory.copy", Pattern::Stream), ["cache"]);
    assert_eq!(classes(&knee, "network.tcp", Pattern::Stream), ["cache"]);
    let step = run(vec![cold, network(300_000.0, 0.0)], |_| ());
    assert_eq!(classes(&step, "network.tcp", Pattern::Stream), ["unexplained"]);
    // One size behind it may be a bend as well as a step.
    let late = |rung| bend(rung, Pattern::Stream, 4 << 20, 0.0, 0.2);
    let last = run(vec![late("memory.copy"), late("network.tcp")], |_| ());
    assert_eq!(classes(&last, "memory.copy", Pattern::Stream), ["cache"]);
    assert_eq!(classes(&last, "network.tcp", Pattern::Stream), ["cache"]);
    let elsewhere = run(vec![network(0.0, 0.1)], |_| ());
    assert_eq!(classes(&elsewhere, "network.tcp", Pattern::Stream), ["unexplained"]);
}

#[test]
fn a_bend_at_half_a_granted_buffer_is_the_buffer() {
    let network = bend("network.tcp", Pattern::PingPong, 1 << 18, 0.0, 0.3);
    let analysis = run(vec![network], |recording| {
        let granted = Granted {
            knob: "socket.send-buffer".into(),
            asked: None,
            granted: Some((1u64 << 19).to_string()),
        };
        recording.sessions.push(SessionRecord {
            pass: 1,
            rung: "network.tcp".into(),
            flows: 1,
            arm: 0,
            host: HostId(0),
            worker: 0,
            granted: vec![granted],
            endpoints: Vec::new(),
        });
    });
    assert_eq!(classes(&analysis, "network.tcp", Pattern::PingPong), ["buffer"]);
}

#[test]
fn buffers_in_turn_are_named_as_what_they_are() {
    let network = bend("network.tcp", Pattern::Stream, 1 << 21, 400_000.0, 0.0);
    let analysis = run(vec![network], |recording| {
        for trial in recording.trials.iter_mut().filter(|trial| trial.block.message_bytes >= 1 << 21) {
            trial.block.cache = Cache::Cold;
        }
    });
    assert_eq!(classes(&analysis, "network.tcp", Pattern::Stream), ["cache"]);
}

#[test]
fn a_size_slower_than_a_larger_one_is_named() {
    let late = |size: f64| smooth(size) + if size == 1024.0 { 8000.0 } else { 0.0 };
    let slower = consistency::slower(&noisy_curve(&ladder(), 10, 0.01, 1, late));
    assert_eq!(slower.len(), 1, "{slower:#?}");
    assert_eq!(slower[0].message_bytes, 1024);
    assert!(slower[0].than_bytes > 1024 && slower[0].share > 0.1, "{slower:#?}");
    let named = (0..50)
        .filter(|seed| !consistency::slower(&noisy_curve(&ladder(), 6, 0.02, *seed, smooth)).is_empty());
    assert!(named.count() <= 1);
}

#[test]
fn a_message_that_parts_would_beat_is_named() {
    let costly = |size: f64| smooth(size) + if size > 262_144.0 { 0.3 * size } else { 0.0 };
    let splits = consistency::splits(&noisy_curve(&ladder(), 10, 0.01, 1, costly));
    let whole = splits.iter().find(|split| split.message_bytes == 1 << 20).unwrap();
    let expected = 1.0 - 4.0 * smooth(262_144.0) / costly(1_048_576.0);
    assert_eq!(whole.parts, 4);
    assert!((whole.saved.median - expected).abs() < 0.02, "{whole:?} {expected}");
    assert!(splits.iter().all(|split| split.message_bytes > 262_144), "{splits:#?}");
    assert!(consistency::splits(&noisy_curve(&ladder(), 10, 0.02, 1, smooth)).is_empty());
}

#[test]
fn costly_odd_sizes_are_named_where_measured() {
    let sizes: Vec<u64> = crate::plan::sizes::full();
    let odd = |size: f64| smooth(size) * if size > 1e5 && size % 4.0 != 0.0 { 1.1 } else { 1.0 };
    let found = unaligned::unaligned(&noisy_curve(&sizes, 10, 0.01, 1, odd));
    assert!(found.len() >= 10 && found.iter().all(|one| one.message_bytes > 100_000), "{found:#?}");
    assert!((found[0].cost.median - 0.1).abs() < 0.02, "{found:#?}");
    // What they cost is no step of the curve.
    assert_eq!(noisy_curve(&sizes, 10, 0.01, 1, odd).segments.len(), 1);
    assert!(unaligned::unaligned(&noisy_curve(&ladder(), 10, 0.01, 1, odd)).is_empty());
    assert!(unaligned::unaligned(&noisy_curve(&sizes, 10, 0.01, 1, smooth)).is_empty());
}

#[test]
fn parts_of_a_curve_have_names() {
    let names = |time: &dyn Fn(f64) -> f64| {
        let curve = noisy_curve(&ladder(), 10, 0.002, 1, time);
        form::forms(&curve).into_iter().map(|form| (form.name, form.from_bytes)).collect::<Vec<_>>()
    };
    let flat = |size: f64| 100.0 + BETA_NS * size;
    let part = |name: &str, from_bytes: u64| (name.to_owned(), from_bytes);
    assert_eq!(names(&flat), [part("plateau", 16_384)]);
    let dips = |size: f64| flat(size) * if size == 16_384.0 || size == 32_768.0 { 1.5 } else { 1.0 };
    assert_eq!(names(&dips)[0], part("dip", 16_384));
    let falls = |size: f64| flat(size) * if size > 1e6 { 1.5 } else { 1.0 };
    assert!(names(&falls).contains(&part("fall-off", 2 << 20)), "{:?}", names(&falls));
}

#[test]
fn a_curve_comes_to_a_few_numbers() {
    let analysis = run(Vec::new(), |_| ());
    let of = |curve: &&Curve| curve.case.rung == "network.tcp" && curve.case.pattern == Pattern::Stream;
    let summary = analysis.curves.iter().find(of).unwrap().summary;
    let near = |found: Option<f64>, truth: f64| (found.unwrap() / truth - 1.0).abs() < 0.03;
    assert!(near(summary.alpha_ns, 1000.0) && near(summary.beta, 0.14), "{summary:?}");
    assert!(near(summary.r_infinity_bps, 8.0 / 0.14 * 1e9), "{summary:?}");
    // Half of it is reached at alpha/beta = 7143 B.
    assert_eq!(summary.n_half_bytes, Some(8192));
    assert_eq!(summary.s90_bytes, Some(65_536));
    assert!(summary.peak_bps >= summary.tail_bps && summary.peak_bytes > Some(1 << 18), "{summary:?}");
    let share = summary.area.unwrap();
    assert!((0.7..0.9).contains(&share), "{summary:?}");
}

#[test]
fn a_sawtooth_shows_on_a_linear_grid_only() {
    let grid: Vec<u64> = (1..=128).map(|index| 64 * index).collect();
    let saw = |size: f64| smooth(size) + 600.0 * ((size % 1448.0) / 1448.0);
    let found = sawtooth(&noisy_curve(&grid, 10, 0.003, 1, saw), 1448).unwrap();
    assert!(found.explained > 0.3 && found.amplitude_ns > 100.0 && found.p < 1e-6, "{found:?}");
    assert_eq!(sawtooth(&noisy_curve(&grid, 10, 0.003, 1, smooth), 1448), None);
    assert_eq!(sawtooth(&noisy_curve(&ladder(), 10, 0.003, 1, saw), 1448), None);
    assert_eq!(sawtooth(&noisy_curve(&grid[..10], 10, 0.003, 1, saw), 1448), None);
}
