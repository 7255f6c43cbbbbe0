//! Whole searches for causes on the made-up machine: what was put in is named first, what was not is not.

use super::super::Simulation;
use crate::analysis::{analyse, compare_arms};
use crate::diagnosis::{CauseVerdict, Grade, diagnose, suspects};
use crate::plan::{
    Arm, ArmKind, Comparison, Metric, Plan, PlantedCause, Rungs, View, Why, World, experiments, hindrances,
};
use crate::record::{Event, Flow, Recording, WireAudit};
use crate::schedule::{Suspects, search_of};
use crate::vocabulary::{CAUSES, Cause, Rung};
use std::collections::BTreeSet;

const SECOND_NS: u64 = 1_000_000_000;

/// What a program sets so that a cause's experiments have something to undo.
const UNDONE: &[(&str, &str)] = &[
    ("small-segments", "tcp.mss=536"),
    ("pacing-cap", "tcp.pacing-rate=300Gb/s"),
    ("small-reads", "stream.read-size=1KiB"),
    ("slow-reader", "shim.read-rate=300Gb/s"),
    ("slow-source", "shim.spin=1ns"),
    ("extra-copies", "shim.copies=1"),
    ("small-writes", "shim.write-size=1KiB"),
    ("nagle-delayed-ack", "tcp.no-delay=off"),
    ("shared-cpu", "cpu.placement=0/0"),
    ("low-priority", "shim.receiver-priority=idle"),
];

/// Causes whose experiments the made-up machine does not feel: a rung that it is not measured on, or a pace that it has not.
const ELSEWHERE: &[&str] = &["slow-cipher", "burst-drops", "eager-limit", "library-buffers", "daemon-route"];

/// A quiet machine with these causes.
pub(super) fn world(causes: &[(&str, f64)]) -> World {
    let planted =
        |(cause, strength): &(&str, f64)| PlantedCause { cause: (*cause).into(), strength: *strength };
    let mut causes: Vec<PlantedCause> = causes.iter().map(planted).collect();
    if causes.is_empty() {
        causes.push(PlantedCause { cause: "none".into(), strength: 1.0 });
    }
    World { noise: 0.01, between: 0.005, delay_ns: 1e6, causes, ..World::default() }
}

pub(super) fn plan(world: &World, base: &[&str], budget_s: u64) -> Plan {
    let mut plan = super::plan(|_| ());
    plan.target = format!("simulated:{world}").parse().unwrap();
    plan.profile.sizes = vec![64, 1 << 20];
    plan.profile.trial_ns = 15_000_000;
    plan.profile.warm_up_ns = 5_000_000;
    plan.profile.timeline_ns = 0;
    plan.settings = base.iter().map(|text| text.parse().unwrap()).collect();
    plan.arms = experiments(Rung::named("network.tcp").unwrap(), &plan.settings, false).unwrap();
    plan.arms.extend(Arm::controls().unwrap());
    plan.arms.extend(hindrances(Rung::named("network.tcp").unwrap(), &plan.settings).unwrap());
    plan.budget_ns = Some(budget_s * SECOND_NS);
    let design = Comparison {
        metric: Metric::Throughput,
        blocks: 9,
        extend: false,
        margin: 0.01,
        connections: 1,
        adaptive: true,
        against_bps: None,
        hosts: false,
    };
    plan.view = View::Comparison { rungs: Rungs::unnamed(["network.tcp"]), design, application: None };
    plan
}

/// The recording of a whole search.
pub(super) fn searched(plan: &Plan, world: &World, seed: u64) -> Recording {
    searched_by(suspects, plan, world, seed)
}

/// By those signs.
fn searched_by(suspects: Suspects, plan: &Plan, world: &World, seed: u64) -> Recording {
    let plan = Plan { seed, ..plan.clone() };
    let mut simulation = Simulation::new(&plan, world, seed);
    let mut recording = super::headed(&plan);
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    let mut schedule = search_of(&plan, &recording, suspects);
    let unavailable = schedule.unavailable().to_vec();
    unavailable.into_iter().for_each(|not| recording.push(Event::NotMeasured(not)));
    while let Some(step) = schedule.next(&recording) {
        simulation.step(&step).into_iter().for_each(|event| recording.push(event));
    }
    recording
}

fn causes(recording: &Recording) -> Vec<CauseVerdict> {
    diagnose(recording, &analyse(recording)).causes
}

/// What is named of a machine that these causes hold back.
fn named(planted: &[(&str, f64)], base: &[&str], seed: u64) -> Vec<CauseVerdict> {
    let world = world(planted);
    causes(&searched(&plan(&world, base, 90), &world, seed))
}

fn faults(found: &[CauseVerdict], grade: Grade) -> Vec<&str> {
    found.iter().filter(|one| one.is_fault && one.grade == grade).map(|one| one.cause.as_str()).collect()
}

fn undone(cause: &Cause) -> Vec<&'static str> {
    UNDONE.iter().filter(|(name, _)| *name == cause.name).map(|(_, base)| *base).collect()
}

#[test]
fn each_cause_that_is_put_in_is_named_first() {
    for cause in CAUSES.iter().filter(|cause| !ELSEWHERE.contains(&cause.name)) {
        let found = named(&[(cause.name, 1.5)], &undone(cause), 3);
        let grade = if cause.experiments.is_empty() { Grade::Consistent } else { Grade::Proved };
        let it = found.iter().find(|one| one.cause == cause.name);
        assert!(it.is_some_and(|one| one.grade == grade), "{}: {it:?}", cause.name);
        if cause.is_fault {
            let first: Vec<&str> = faults(&found, Grade::Proved);
            let first = first.first().copied().or(faults(&found, Grade::Consistent).first().copied());
            assert_eq!(first, Some(cause.name), "{found:#?}");
        }
    }
}

#[test]
fn no_cause_is_named_that_was_not_put_in() {
    // What it copies costs the made-up machine as much as a real one.
    for cause in CAUSES.iter().filter(|cause| cause.name != "extra-copies") {
        let found = named(&[], &undone(cause), 5);
        let grade = found.iter().find(|one| one.cause == cause.name).map(|one| one.grade);
        let is_named = matches!(grade, Some(Grade::Proved | Grade::Consistent));
        assert!(!is_named, "{}: {grade:?}", cause.name);
    }
}

#[test]
fn a_path_that_drops_bursts_is_told_by_pacing() {
    // The machine is faster than any pace that is tried; held back so far it is not.
    let world = world(&[("burst-drops", 20.0)]);
    let plan = plan(&world, &[], 90);
    let recording = searched(&plan, &world, 1);
    let base = crate::analysis::compare_arms(&recording).and_then(|compared| compared.base).unwrap().median;
    let paced: BTreeSet<&str> = recording
        .trials
        .iter()
        .filter_map(|trial| plan.arms.get((trial.case.arm as usize).wrapping_sub(1)))
        .filter(|arm| arm.cause.as_deref() == Some("burst-drops"))
        .map(|arm| arm.settings[0].value.as_str())
        .collect();
    assert!((1..=7).contains(&paced.len()), "{paced:?} near {base}");
    assert_eq!(faults(&causes(&recording), Grade::Proved), ["burst-drops"]);
}

#[test]
fn a_policer_between_two_paces_is_proved_all_the_same() {
    // What passes is 1.3 times the rate: the pace below it gains nothing, and the next one above loses.
    let base_of = |strength: f64| {
        let world = world(&[("burst-drops", strength)]);
        let recording = searched(&plan(&world, &[], 90), &world, 1);
        (crate::analysis::compare_arms(&recording).and_then(|it| it.base).unwrap().median, recording)
    };
    let strength = 20.0 * base_of(20.0).0 / 515e6;
    let (base, recording) = base_of(strength);
    assert!((505e6..525e6).contains(&base), "{base}");
    let found = causes(&recording);
    assert_eq!(faults(&found, Grade::Proved), ["burst-drops"], "{found:#?}");
    let it = &found[0];
    assert!(it.gain.and_then(|gain| gain.low) > Some(0.1), "{it:?}");
    assert_eq!(it.experiment, "tcp.pacing-rate=640Mb/s");
    assert!(it.evidence.iter().any(|told| told.contains("sent again, and without it")), "{it:?}");
}

#[test]
fn losses_that_another_cause_tells_are_no_bursts() {
    for cause in ["sack-off", "receive-drops"] {
        for seed in 0..4 {
            let world = World { noise: 0.03, between: 0.015, ..world(&[(cause, 1.5)]) };
            let found = causes(&searched(&plan(&world, &[], 90), &world, seed));
            let told = faults(&found, Grade::Consistent);
            assert!(told.contains(&cause) && !told.contains(&"burst-drops"), "{cause} {seed}: {told:?}");
        }
    }
}

#[test]
fn losses_that_another_cause_tells_prove_none_of_the_path() {
    for cause in ["sack-off", "receive-drops"] {
        let found = named(&[(cause, 1.5), ("unfit-congestion-control", 2.0)], &[], 3);
        let proved = faults(&found, Grade::Proved);
        assert!(!proved.contains(&"packet-loss"), "{cause}: {proved:?}");
        assert!(faults(&found, Grade::Consistent).contains(&cause), "{cause}: {found:#?}");
    }
    let alone = named(&[("packet-loss", 1.5)], &[], 3);
    assert_eq!(faults(&alone, Grade::Proved), ["packet-loss"]);
}

#[test]
fn what_shows_no_sign_is_not_tried() {
    let world = world(&[("packet-loss", 2.0)]);
    let plan = plan(&world, &[], 90);
    let recording = searched(&plan, &world, 1);
    let tried: BTreeSet<&str> = recording
        .trials
        .iter()
        .filter_map(|trial| plan.arms.get((trial.case.arm as usize).wrapping_sub(1))?.cause.as_deref())
        .collect();
    assert!(tried.contains("packet-loss") && !tried.contains("small-send-buffer"), "{tried:?}");
    let found = causes(&recording);
    let silent = found.iter().find(|one| one.cause == "small-send-buffer").unwrap();
    assert!(silent.is_without_sign(), "{silent:?}");
}

/// Of these experiments each is in so many blocks of the race.
fn raced(recording: &Recording, plan: &Plan, cause: &str) -> usize {
    let is_its = |arm: u32| {
        let arm = plan.arms.get((arm as usize).wrapping_sub(1));
        arm.is_some_and(|arm| arm.cause.as_deref() == Some(cause))
    };
    let trials = recording.trials.iter().filter(|trial| trial.why == Why::Block && is_its(trial.case.arm));
    trials.map(|trial| trial.pass).collect::<BTreeSet<u32>>().len()
}

#[test]
fn a_search_leaves_the_rest_where_one_explains_all() {
    let world = world(&[("small-send-buffer", 3.0)]);
    let mut plan = plan(&world, &[], 90);
    let whole = searched(&plan, &world, 4);
    let base = compare_arms(&whole).and_then(|compared| compared.base).unwrap().median;
    assert!(raced(&whole, &plan, "small-buffers") >= 6);
    let View::Comparison { design, .. } = &mut plan.view else { panic!() };
    design.against_bps = Some(3.0 * base);
    let left = searched(&plan, &world, 4);
    assert_eq!(faults(&causes(&left), Grade::Proved), ["small-send-buffer"]);
    assert!(left.spent_ns() < whole.spent_ns(), "{} {}", left.spent_ns(), whole.spent_ns());
    // What is there as it stands leaves nothing to explain.
    let View::Comparison { design, .. } = &mut plan.view else { panic!() };
    design.against_bps = Some(base);
    let enough = searched(&plan, &world, 4);
    assert!(faults(&causes(&enough), Grade::Proved).is_empty());
    assert_eq!(raced(&enough, &plan, "small-send-buffer"), 0);
}

/// No change could better it, whatever the controls show: of a full link none need be slower.
#[test]
fn a_path_that_has_all_is_healthy_where_a_control_fails() {
    let world = world(&[]);
    let mut plan = plan(&world, &[], 90);
    plan.arms.iter_mut().filter(|arm| arm.kind == ArmKind::Slowed).for_each(|arm| arm.settings.clear());
    let compared = |plan: &Plan| compare_arms(&searched(plan, &world, 4)).unwrap();
    let unknown = compared(&plan);
    assert!(!unknown.doubts.is_empty() && unknown.all_there().is_none(), "nothing is expected");
    let View::Comparison { design, .. } = &mut plan.view else { panic!() };
    design.against_bps = Some(unknown.base.unwrap().median);
    let recording = searched(&plan, &world, 4);
    let all = compare_arms(&recording).unwrap();
    assert!(!all.doubts.is_empty() && all.all_there().is_some_and(|share| share > 0.97), "{all:?}");
    let open = causes(&recording).into_iter().filter(|one| one.is_fault && one.grade != Grade::NotTested);
    assert_eq!(open.count(), 0);
    let View::Comparison { design, .. } = &mut plan.view else { panic!() };
    design.against_bps = Some(1.1 * unknown.base.unwrap().median);
    assert!(compared(&plan).all_there().is_none(), "a tenth is missing");
}

/// What a tick takes now and then is on every host.
#[test]
fn threads_that_seldom_wait_are_no_sign_of_other_work() {
    let world = world(&[]);
    let whole = searched(&plan(&world, &[], 90), &world, 5);
    let suspected = |percent: u64| suspects(&waiting(&whole, percent)).contains("foreign-work");
    assert_eq!([0, 3, 8].map(suspected), [false, false, true]);
    // A lab's own wire is no other work.
    let mut with_wire = waiting(&whole, 60);
    let mut suspected = |of_wire: u64| {
        for step in &mut with_wire.steps {
            let wall_ns = step.hosts[0].wall_ns.max(1000);
            step.wire = Some(WireAudit { wall_ns, cpu_ns: wall_ns * of_wire / 100, ..WireAudit::default() });
            for host in &mut step.hosts {
                host.busy_ns = [(0, wall_ns), (1, wall_ns)].into();
                // Both ends, and what is left for the wire or for others.
                (host.wall_ns, host.own_ns) = (wall_ns, wall_ns * 7 / 10);
            }
        }
        suspects(&with_wire).contains("foreign-work")
    };
    assert_eq!([0, 55].map(&mut suspected), [true, false]);
}

/// All threads wait for their CPU so much of their time.
fn waiting(whole: &Recording, percent: u64) -> Recording {
    let mut recording = whole.clone();
    for flow in flows(&mut recording) {
        flow.run_delay_ns = Some(flow.duration_ns * percent / 100);
        flow.involuntary_switches = 3;
        flow.voluntary_switches = 0;
    }
    recording
}

fn flows(recording: &mut Recording) -> impl Iterator<Item = &mut Flow> {
    recording.trials.iter_mut().flat_map(|trial| &mut trial.roles).flat_map(|role| &mut role.flows)
}

/// A thread that runs or waits to run all the time is at its limit, whoever has its CPU meanwhile.
#[test]
fn of_a_cpu_that_others_have_the_rest_binds() {
    let world = world(&[]);
    let mut whole = searched(&plan(&world, &[], 90), &world, 5);
    flows(&mut whole).for_each(|flow| flow.cpu_ns = flow.duration_ns / 20);
    let suspected = |percent: u64| suspects(&waiting(&whole, percent)).contains("small-writes");
    assert_eq!([0, 50, 90].map(suspected), [false, false, true]);
}

/// Acknowledgements that come home behind the last message come, too.
#[test]
fn what_comes_while_a_buffer_drains_is_not_lost() {
    let world = world(&[("reverse-loss", 1.5)]);
    let mut recording = searched(&plan(&world, &[], 90), &world, 5);
    assert!(suspects(&recording).contains("reverse-loss"));
    for socket in recording.steps.iter_mut().flat_map(|step| &mut step.sockets) {
        let came = socket.moved.get("segs_in").copied().unwrap_or(0);
        socket.drained.insert("segs_in".into(), came);
    }
    assert!(!suspects(&recording).contains("reverse-loss"), "half came, and half behind");
}

/// A full link that lacks what a tunnel's headers take lacks nothing else.
#[test]
fn what_the_headers_of_a_tunnel_take_is_told() {
    let world = world(&[("tunnel", 1.01)]);
    let base = |plan: &Plan| compare_arms(&searched(plan, &world, 5)).unwrap().base.unwrap().median;
    let bps = base(&plan(&world, &[], 90));
    let grade = |missing: f64| {
        let mut plan = plan(&world, &[], 90);
        let View::Comparison { design, .. } = &mut plan.view else { panic!() };
        design.against_bps = Some(bps / missing);
        let mut recording = searched(&plan, &world, 5);
        // No thread is busy, and segments are as small as a tunnel of 50 B a packet makes them.
        flows(&mut recording).for_each(|flow| flow.cpu_ns = flow.duration_ns / 20);
        for socket in recording.steps.iter_mut().flat_map(|step| &mut step.sockets) {
            socket.last.extend([("snd_mss".into(), 1398), ("pmtu".into(), 1450)]);
        }
        causes(&recording).into_iter().find(|one| one.cause == "tunnel").map(|one| one.grade)
    };
    assert_eq!(grade(1398.0 / 1448.0), Some(Grade::Consistent));
    assert_eq!(grade(0.9), Some(Grade::NotTested), "that is more than they take");
}

/// A window that is full of what a busy receiver has not read yet is no small one.
#[test]
fn a_busy_receiver_s_window_is_no_small_one() {
    let world = world(&[("small-receive-window", 1.3)]);
    let whole = searched(&plan(&world, &[], 90), &world, 5);
    let suspected = |[busy, waited]: [u64; 2]| {
        let mut recording = whole.clone();
        flows(&mut recording).for_each(|flow| flow.cpu_ns = flow.duration_ns * busy / 100);
        for socket in recording.steps.iter_mut().flat_map(|step| &mut step.sockets) {
            let all = socket.moved.get("busy_time").copied().unwrap_or(0);
            socket.moved.insert("rwnd_limited".into(), all * waited / 100);
        }
        suspects(&recording).contains("small-receive-window")
    };
    assert_eq!([[10, 0], [10, 40], [90, 40], [90, 80]].map(suspected), [false, true, false, true]);
}

/// What comes now and then is not seen in the first blocks; time is left when nothing of them won.
#[test]
fn a_sign_that_comes_late_is_looked_at_again() {
    let world = world(&[("packet-loss", 1.5)]);
    let late: Suspects = |recording| {
        let are_few = recording.trials.iter().all(|trial| trial.pass < 9);
        if are_few { BTreeSet::new() } else { suspects(recording) }
    };
    let recording = searched_by(late, &plan(&world, &[], 90), &world, 3);
    let found = causes(&recording);
    assert_eq!(faults(&found, Grade::Proved), ["packet-loss"], "{found:#?}");
    assert!(recording.spent_ns() <= 90 * SECOND_NS, "{}", recording.spent_ns());
}

/// A block that the buffers hold is read from them when nothing comes any more.
#[test]
fn a_reader_that_keeps_up_by_its_buffer_is_suspected() {
    let world = world(&[]);
    let whole = searched(&plan(&world, &[], 90), &world, 5);
    let suspected = |percent: u64| {
        let mut recording = whole.clone();
        for step in &mut recording.steps {
            let took_ns = step.sockets.iter().map(|socket| socket.watched_ns).max().unwrap_or(0);
            for socket in &mut step.sockets {
                socket.last.insert("last_data_recv".into(), took_ns * percent / 100 / 1_000_000);
            }
        }
        suspects(&recording).contains("slow-reader")
    };
    assert_eq!([0, 5, 50].map(suspected), [false, false, true]);
}

/// What a warm-up sends is no part of what a block's time is set beside.
#[test]
fn a_warm_up_hides_no_rests() {
    let world = world(&[]);
    let mut whole = searched(&plan(&world, &[], 90), &world, 5);
    flows(&mut whole).for_each(|flow| flow.cpu_ns = flow.duration_ns / 20);
    let suspected = |percent: u64| {
        let mut recording = whole.clone();
        for socket in recording.steps.iter_mut().flat_map(|step| &mut step.sockets) {
            socket.watched_ns *= 6;
            socket.moved.insert("busy_time".into(), socket.watched_ns * percent / 100 / 1000);
        }
        suspects(&recording).contains("slow-source")
    };
    assert_eq!([95, 50].map(suspected), [false, true]);
}

#[test]
fn a_host_s_own_setting_is_proved_where_it_may_be_changed() {
    let world = world(&[("offloads-off", 2.0)]);
    let mut plan = plan(&world, &[], 90);
    plan.arms = experiments(Rung::named("network.tcp").unwrap(), &[], true).unwrap();
    plan.arms.extend(Arm::controls().unwrap());
    let View::Comparison { design, .. } = &mut plan.view else { panic!() };
    design.hosts = true;
    let found = causes(&searched(&plan, &world, 1));
    assert_eq!(faults(&found, Grade::Proved), ["offloads-off"], "{found:#?}");
}

#[test]
fn two_causes_at_once_are_both_named() {
    let found = named(&[("packet-loss", 1.5), ("small-receive-window", 1.4)], &[], 2);
    let proved: BTreeSet<&str> = faults(&found, Grade::Proved).into_iter().collect();
    assert_eq!(proved, BTreeSet::from(["packet-loss", "small-receive-window"]), "{found:#?}");
}

#[test]
fn a_change_within_another_is_named_alone() {
    let found = named(&[("small-send-buffer", 3.0)], &[], 1);
    assert_eq!(faults(&found, Grade::Proved), ["small-send-buffer"], "{found:#?}");
    let both = named(&[("small-buffers", 3.0)], &[], 1);
    assert_eq!(faults(&both, Grade::Proved), ["small-buffers"], "{both:#?}");
}

#[test]
fn a_search_keeps_within_its_budget() {
    for (delay_ns, budget_s) in [(0.0, 90), (5e6, 90), (5e6, 240), (40e6, 240)] {
        let world = World { delay_ns, ..world(&[("small-send-buffer", 3.0)]) };
        let recording = searched(&plan(&world, &[], budget_s), &world, 1);
        let last = recording.steps.last().unwrap();
        let took_ns = last.at_ns + last.duration_ns;
        assert!(took_ns <= budget_s * SECOND_NS, "{} s of {budget_s} at {delay_ns} ns", took_ns / SECOND_NS);
        let confirmed = recording.trials.iter().any(|trial| trial.why == Why::Confirm);
        assert!(confirmed, "nothing was confirmed within {budget_s} s at {delay_ns} ns");
    }
}

/// A message takes 0.6 s: a visit has one that warms it up, and one.
#[test]
fn a_search_of_long_messages_is_told_in_its_budget() {
    let world = world(&[("slow-source", 1000.0)]);
    let mut plan = plan(&world, &undone(Cause::named("slow-source").unwrap()), 90);
    plan.profile.sizes = vec![64, 3 << 20];
    let recording = searched(&plan, &world, 6);
    let of_base = recording.steps.iter().filter(|step| step.case.arm == 0 && step.why == Why::Block);
    let each_ns: Vec<u64> = of_base.map(|step| step.duration_ns / 2).collect();
    assert!(each_ns.iter().all(|ns| (500_000_000..900_000_000).contains(ns)), "{each_ns:?}");
    let found = causes(&recording);
    assert_eq!(faults(&found, Grade::Proved), ["slow-source"], "{found:#?}");
    assert!(recording.spent_ns() <= 90 * SECOND_NS);
}

#[test]
fn a_cut_search_goes_on_where_it_was() {
    let world = world(&[("small-send-buffer", 3.0)]);
    let plan = Plan { seed: 5, ..plan(&world, &[], 60) };
    let whole = searched(&plan, &world, 5);
    for cut in [40, whole.steps.len() / 2, whole.steps.len() - 10] {
        let next = search_of(&plan, &whole, suspects).next(&whole.until(cut)).unwrap();
        assert_eq!((&next.case, next.pass), (&whole.steps[cut].case, whole.steps[cut].pass), "{cut}");
    }
}

#[test]
fn a_healthy_machine_is_seldom_called_ill() {
    let ill = (0..15).filter(|seed| !faults(&named(&[], &[], *seed), Grade::Proved).is_empty()).count();
    assert_eq!(ill, 0, "of 15");
}

#[test]
#[ignore = "takes minutes: ./test --long"]
fn of_many_healthy_searches_few_are_called_ill() {
    let open = [Grade::Proved, Grade::CannotTell, Grade::Consistent];
    let is_ill = |seed: &u64| {
        let found = named(&[], &[], *seed);
        found.iter().any(|one| one.is_fault && open.contains(&one.grade))
    };
    let ill = (0..300).filter(is_ill).count();
    assert!(ill <= 9, "{ill} of 300");
}
