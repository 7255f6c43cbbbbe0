//! Whole comparisons of arms on the made-up machine: errors as rare as promised, truths found.

use super::super::Simulation;
use crate::analysis::{Compared, Confirmed, Verdict, compare_arms};
use crate::plan::{Arm, CONFIRMATION_BLOCKS, Comparison, Metric, Plan, Rungs, View, Why, World, candidates};
use crate::record::{Event, Granted, HostFacts, Recording, SessionRecord};
use crate::schedule::schedule_of;
use crate::vocabulary::Pattern;
use std::collections::BTreeSet;

/// A virtual machine in a busy house.
fn busy() -> World {
    World { noise: 0.04, between: 0.02, drift: 0.10, bursts: 0.02, autocorrelation: 0.5, ..World::default() }
}

pub(super) fn quiet() -> World {
    World { noise: 0.004, between: 0.002, ..World::default() }
}

/// A comparison of what is typed, in so many blocks.
pub(super) fn plan(set: &str, blocks: u32) -> Plan {
    let mut plan = super::plan(|_| ());
    plan.profile.sizes = vec![64, 1 << 20];
    plan.profile.trial_ns = 20_000_000;
    plan.profile.warm_up_ns = 15_000_000;
    plan.profile.timeline_ns = 0;
    plan.arms = candidates(set).unwrap().into_iter().map(Arm::candidate).collect();
    plan.arms.extend(Arm::controls().unwrap());
    let design = Comparison {
        metric: Metric::Throughput,
        blocks,
        extend: true,
        margin: 0.01,
        connections: 3,
        adaptive: false,
        against_bps: None,
        hosts: false,
    };
    plan.view = View::Comparison { rungs: Rungs::unnamed(["network.tcp"]), design, application: None };
    plan
}

fn design(plan: &mut Plan) -> &mut Comparison {
    match &mut plan.view {
        View::Comparison { design, .. } => design,
        _ => panic!("no comparison"),
    }
}

/// The recording of a whole session.
pub(super) fn session(plan: &Plan, world: &World, seed: u64) -> Recording {
    session_with(plan, world, seed, |_| ())
}

/// The same on hosts that were changed.
pub(super) fn session_with(plan: &Plan, world: &World, seed: u64, change: fn(&mut HostFacts)) -> Recording {
    let plan = Plan { seed, ..plan.clone() };
    let mut simulation = Simulation::new(&plan, world, seed);
    let mut recording = super::headed(&plan);
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    recording.hosts.iter_mut().for_each(change);
    let mut schedule = schedule_of(&plan, &recording);
    let unavailable = schedule.unavailable().to_vec();
    unavailable.into_iter().for_each(|not| recording.push(Event::NotMeasured(not)));
    while let Some(step) = schedule.next(&recording) {
        simulation.step(&step).into_iter().for_each(|event| recording.push(event));
    }
    recording
}

fn compared(plan: &Plan, world: &World, seed: u64) -> Compared {
    compare_arms(&session(plan, world, seed)).unwrap()
}

/// How many of so many sessions came out like this; of streams alone, which is quicker: round trips
/// are refused over a token bucket.
fn count(plan: &Plan, world: &World, sessions: u64, verdict: Verdict) -> u64 {
    let plan = &Plan { target: "lab:rate=100Gb/s".parse().unwrap(), ..plan.clone() };
    let one = |seed| u64::from(compared(plan, world, seed).verdict == verdict);
    (0..sessions).map(one).sum()
}

#[test]
fn idle_settings_are_seldom_called_different() {
    let plan = plan("tcp.no-delay=off", 12);
    let sessions = 200;
    let different = count(&plan, &busy(), sessions, Verdict::Different);
    println!("{different} of {sessions} sessions without a difference call it different");
    assert!(different * 100 <= 6 * sessions, "{different} of {sessions}");
}

#[test]
fn three_per_cent_are_found_on_a_noisy_machine() {
    let plan = plan("shim.slowdown=3", 20);
    let sessions = 50;
    let different = count(&plan, &busy(), sessions, Verdict::Different);
    println!("{different} of {sessions} sessions find 3 %");
    assert!(different * 100 >= 90 * sessions, "{different} of {sessions}");
}

#[test]
fn a_quiet_machine_proves_same_and_different() {
    let compared = compared(&plan("tcp.no-delay=off,shim.slowdown=5", 12), &quiet(), 1);
    let [same, slower] = compared.candidates.as_slice() else { panic!("two candidates") };
    assert_eq!((same.verdict, slower.verdict), (Verdict::Same, Verdict::Different));
    let change = slower.change.unwrap();
    let truth = 1.0 / 1.05 - 1.0;
    assert!(change.low.unwrap() < truth && truth < change.high.unwrap(), "{change:?}");
    assert!(!slower.is_gain && !slower.accepted && compared.verdict == Verdict::Different);
    assert!(compared.slowed.unwrap().holds && compared.same.unwrap().holds);
}

#[test]
fn a_gain_confirmed_in_fresh_blocks_is_accepted() {
    let mut plan = plan("shim.slowdown=0", 12);
    plan.settings.push("shim.slowdown=8".parse().unwrap());
    // On top of a slowed base the positive control has to be slower still.
    plan.arms[2].settings = vec!["shim.slowdown=20".parse().unwrap()];
    let recording = session(&plan, &quiet(), 3);
    let compared = compare_arms(&recording).unwrap();
    let candidate = &compared.candidates[0];
    assert!(candidate.accepted && candidate.confirmed == Some(Confirmed::Yes), "{candidate:?}");
    assert_eq!(candidate.confirmation.unwrap().n, CONFIRMATION_BLOCKS);
    assert_eq!((compared.blocks, candidate.change.unwrap().n), (12, 12), "fresh blocks stay apart");
    let fresh = recording.trials.iter().filter(|trial| trial.why == Why::Confirm).map(|trial| trial.case.arm);
    assert_eq!(fresh.collect::<BTreeSet<_>>(), BTreeSet::from([0, 1]), "only what won and the base");
}

#[test]
fn a_gain_not_confirmed_is_not_told() {
    let mut plan = plan("shim.slowdown=0", 12);
    plan.settings.push("shim.slowdown=8".parse().unwrap());
    plan.arms[2].settings = vec!["shim.slowdown=20".parse().unwrap()];
    let mut recording = session(&plan, &quiet(), 3);
    for trial in recording.trials.iter_mut().filter(|trial| trial.why == Why::Confirm) {
        trial.case.arm = 1 - trial.case.arm;
    }
    let candidate = compare_arms(&recording).unwrap().candidates.remove(0);
    assert_eq!((candidate.verdict, candidate.confirmed), (Verdict::CannotTell, Some(Confirmed::No)));
    assert!(candidate.reasons[0].contains("fresh"), "{:?}", candidate.reasons);
}

#[test]
fn a_control_that_fails_turns_every_verdict() {
    let mut missed = plan("shim.slowdown=5", 12);
    missed.arms[1 + 1].settings.clear();
    let mut differs = plan("shim.slowdown=5", 12);
    differs.arms[1].settings = vec!["shim.slowdown=4".parse().unwrap()];
    for (plan, part) in [(missed, "positive control"), (differs, "A/A control")] {
        let compared = compared(&plan, &quiet(), 1);
        assert_eq!(compared.verdict, Verdict::CannotTell);
        assert!(compared.candidates[0].reasons.iter().any(|why| why.contains(part)), "{compared:?}");
    }
}

#[test]
fn the_undecided_is_looked_at_twice_at_most() {
    let world = World { noise: 0.2, between: 0.1, ..World::default() };
    let mut plan = plan("tcp.no-delay=off", 6);
    assert_eq!(compared(&plan, &world, 1).blocks, 12);
    design(&mut plan).extend = false;
    let once = compared(&plan, &world, 1);
    assert_eq!((once.blocks, once.alpha), (6, 1.0 - crate::statistic::CONFIDENCE));
}

#[test]
fn latency_decides_when_it_is_asked_to() {
    let mut plan = plan("shim.slowdown=5", 12);
    design(&mut plan).metric = Metric::Latency;
    let compared = compared(&plan, &quiet(), 1);
    let candidate = &compared.candidates[0];
    assert!((candidate.change.unwrap().estimate - 0.05).abs() < 0.01 && !candidate.is_gain, "{candidate:?}");
    assert_eq!((compared.message_bytes, candidate.verdict), (64, Verdict::Different));
    assert!(candidate.guards.iter().any(|guard| guard.name == "throughput_bps"));
}

#[test]
fn a_guard_that_becomes_worse_stops_a_gain() {
    let mut plan = plan("shim.slowdown=0", 12);
    plan.settings.push("shim.slowdown=8".parse().unwrap());
    plan.arms[2].settings = vec!["shim.slowdown=20".parse().unwrap()];
    let mut recording = session(&plan, &quiet(), 3);
    for trial in recording.trials.iter_mut().filter(|trial| trial.case.arm == 1) {
        trial.roles.iter_mut().flat_map(|role| &mut role.flows).for_each(|flow| flow.cpu_ns *= 2);
    }
    let candidate = compare_arms(&recording).unwrap().candidates.remove(0);
    assert!(candidate.verdict == Verdict::Different && !candidate.accepted);
    assert!(candidate.reasons[0].contains("cpu_ns_per_byte"), "{:?}", candidate.reasons);
}

#[test]
fn a_size_of_its_own_is_compared_over_a_token_bucket() {
    let mut plan = plan("tcp.no-delay=off", 6);
    plan.target = "lab:wire=tbf,rate=1Gb/s".parse().unwrap();
    plan.profile.sizes = vec![64, 256 << 10];
    let trials = session(&plan, &quiet(), 1).trials;
    let sizes: BTreeSet<u64> = trials.iter().map(|trial| trial.block.message_bytes).collect();
    assert_eq!(sizes, [256 << 10].into());
}

#[test]
fn a_refused_setting_is_never_called_the_same() {
    let mut recording = session(&plan("socket.send-buffer=64MiB", 12), &quiet(), 1);
    assert_eq!(compare_arms(&recording).unwrap().verdict, Verdict::Same);
    let granted = Granted {
        knob: "socket.send-buffer".into(),
        asked: Some("64MiB".into()),
        granted: Some("425984".into()),
    };
    let of_arm = |session: &&mut SessionRecord| session.arm == 1;
    recording.sessions.iter_mut().filter(of_arm).for_each(|session| session.granted = vec![granted.clone()]);
    let compared = compare_arms(&recording).unwrap();
    assert_eq!(compared.verdict, Verdict::CannotTell);
    assert_eq!(compared.candidates[0].not_granted, ["socket.send-buffer=64MiB asked, 425984 granted"]);
}

#[test]
fn every_pass_visits_the_arms_there_and_back() {
    let recording = session(&plan("tcp.no-delay=off", 6), &quiet(), 1);
    let mut orders = BTreeSet::new();
    for pass in 1..=18 {
        let streams = recording.steps.iter().filter(|step| step.case.pattern == Pattern::Stream);
        let order: Vec<u32> = streams.filter(|step| step.pass == pass).map(|step| step.case.arm).collect();
        let visits = [0, 1, 2, 3].map(|arm| order.iter().filter(|it| **it == arm).count());
        // Four rounds a connection; the controls are in every second one.
        assert_eq!(visits, [8, 8, 4, 4], "{order:?}");
        let there = order[..4].to_vec();
        let back: Vec<u32> = order[4..8].iter().rev().copied().collect();
        assert_eq!(there, back);
        let new = recording.sessions.iter().filter(|session| session.pass == pass);
        assert_eq!(new.map(|session| session.arm).collect::<BTreeSet<_>>().len(), 4);
        orders.insert(there);
    }
    assert!(orders.len() > 2, "{orders:?}");
}

#[test]
fn a_cut_session_goes_on_where_it_was() {
    let plan = Plan { seed: 5, ..plan("shim.slowdown=5", 6) };
    let whole = session(&plan, &quiet(), 5);
    let cut = whole.until(60);
    let (mut first, mut resumed) = (schedule_of(&plan, &whole), schedule_of(&plan, &cut));
    let mut grown = super::headed(&plan);
    grown.hosts.clone_from(&whole.hosts);
    while grown.steps.len() < 60 {
        let step = first.next(&grown).unwrap();
        assert_eq!(step.case, whole.steps[step.number as usize].case);
        grown = whole.until(step.number as usize + 1);
    }
    assert_eq!(first.next(&cut), resumed.next(&cut));
    let compared = compare_arms(&cut).unwrap();
    assert!(
        compared.verdict == Verdict::CannotTell && compared.doubts[0].contains("stopped"),
        "{compared:?}"
    );
}
