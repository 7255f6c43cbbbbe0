//! Whole searches on the made-up machine: what was planted is found, a healthy path is left alone, a lure is refused.

use super::super::Simulation;
use crate::analysis::{Fate, Tuned, TuningStop, Verdict, tuned};
use crate::plan::{
    Arm, Comparison, Metric, Plan, PlantedCause, RACE_BLOCKS, Rungs, SCREENING_BLOCKS, Stack, Step, Tuning,
    View, Why, World, candidates,
};
use crate::record::{End, Event, Granted, Recording, Trial};
use crate::schedule::schedule_of;
use std::collections::BTreeSet;

/// A search among what is typed, of streams alone, which is quicker: round trips are refused over a token bucket.
fn plan(set: &str, base: &str) -> Plan {
    let mut plan = super::plan(|_| ());
    plan.target = "lab:rate=100Gb/s".parse().unwrap();
    plan.profile.sizes = vec![64, 1 << 20];
    plan.profile.trial_ns = 20_000_000;
    plan.profile.warm_up_ns = 15_000_000;
    plan.profile.timeline_ns = 0;
    plan.arms = candidates(set).unwrap().into_iter().map(Arm::candidate).collect();
    plan.arms.extend(Arm::controls().unwrap());
    plan.settings =
        base.split('+').filter(|text| !text.is_empty()).map(|text| text.parse().unwrap()).collect();
    let comparison = Comparison {
        metric: Metric::Throughput,
        blocks: RACE_BLOCKS,
        extend: false,
        adaptive: false,
        against_bps: None,
        hosts: false,
        margin: 0.01,
        connections: 3,
    };
    let design = Tuning { comparison, screening: SCREENING_BLOCKS, hosts: false };
    plan.view = View::Tuning { rungs: Rungs::unnamed(["network.tcp"]), design };
    plan
}

fn quiet() -> World {
    World { noise: 0.004, between: 0.002, ..World::default() }
}

/// A whole search on a machine of which a wish comes true: so many times as long the messages of a trial take.
fn searched(plan: &Plan, world: &World, seed: u64, factor: fn(&Step) -> f64) -> (Recording, Tuned) {
    let plan = Plan { seed, ..plan.clone() };
    let mut simulation = Simulation::new(&plan, world, seed);
    let mut recording = super::headed(&plan);
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    let mut schedule = schedule_of(&plan, &recording);
    while let Some(step) = schedule.next(&recording) {
        for mut event in simulation.step(&step) {
            if let Event::Trial(trial) = &mut event {
                stretch(trial, factor(&step));
            }
            recording.push(event);
        }
    }
    recording.push(Event::End(End { reason: "completed".into(), error: None, at_ns: 0 }));
    let found = tuned(&recording).unwrap();
    (recording, found)
}

fn stretch(trial: &mut Trial, factor: f64) {
    for flow in trial.roles.iter_mut().flat_map(|role| &mut role.flows) {
        flow.duration_ns = (flow.duration_ns as f64 * factor) as u64;
        flow.slices_ns.iter_mut().for_each(|ns| *ns = (*ns as f64 * factor) as u64);
    }
}

fn names(found: &Tuned) -> Vec<&str> {
    found.kept().into_iter().map(|step| step.name.as_str()).collect()
}

#[test]
fn a_healthy_path_is_left_alone() {
    let plan = plan("tcp.no-delay=off,tcp.mss=1400", "");
    let noisy = World { noise: 0.02, between: 0.01, ..World::default() };
    let sessions = 200;
    let changed = (0..sessions).filter(|seed| !searched(&plan, &noisy, *seed, |_| 1.0).1.kept().is_empty());
    assert_eq!(changed.count(), 0, "of {sessions} searches");
    let (_, found) = searched(&plan, &quiet(), 1, |_| 1.0);
    assert_eq!((found.verdict(), found.stop), (Verdict::Same, TuningStop::NothingLeft), "{found:?}");
}

#[test]
fn a_planted_small_buffer_is_found() {
    let world = World { delay_ns: 500_000.0, ..quiet() };
    let base = "socket.send-buffer=64KiB+socket.receive-buffer=64KiB";
    let set = "socket.send-buffer=4MiB,socket.send-buffer=4MiB+socket.receive-buffer=4MiB,tcp.no-delay=off";
    let (_, found) = searched(&plan(set, base), &world, 1, |_| 1.0);
    assert_eq!(names(&found), ["socket.send-buffer=4MiB + socket.receive-buffer=4MiB"], "{found:?}");
    assert!(found.steps[0].gain.estimate > 1.0, "{:?}", found.steps[0]);
    assert_eq!(found.verdict(), Verdict::Different);
    // One of two buffers alone gains nothing, and who gains nothing is left out early.
    assert_eq!(found.rounds[0].fates[0], Fate::NoGain);
    let ran = found.rounds[0].compared.candidates[0].change.unwrap().n;
    assert_eq!(ran, SCREENING_BLOCKS, "it ran on");
}

#[test]
fn two_hindrances_make_two_steps() {
    let base = "shim.spin=200us+shim.copies=4";
    let (recording, found) = searched(&plan("shim.spin=0us,shim.copies=0", base), &quiet(), 3, |_| 1.0);
    assert_eq!(found.steps.len(), 2, "{found:?}");
    assert_eq!(found.kept().len(), 2);
    let total = found.total.unwrap();
    let product: f64 = found.steps.iter().map(|step| 1.0 + step.gain.estimate).product();
    assert!((1.0 + total.estimate - product).abs() < 0.1 * product, "{total:?} {product}");
    assert!(found.left_out.len() == 2 && found.left_out.iter().all(|one| one.gain.low.unwrap() > 0.0));
    // Each race stands upon what those before it kept.
    assert_eq!(found.rounds[1].upon, [found.steps[0].arm]);
    assert!(recording.trials.iter().any(|trial| trial.case.arm > 64), "no arm stands upon another");
}

#[test]
fn a_lure_that_is_slower_when_confirmed_is_refused() {
    let lure = |step: &Step| match (step.case.arm, step.why) {
        (1, Why::Confirm) => 1.05,
        (1, _) => 0.8,
        _ => 1.0,
    };
    let (_, found) = searched(&plan("tcp.no-delay=off,tcp.mss=1400", ""), &quiet(), 1, lure);
    assert!(found.steps.is_empty(), "{found:?}");
    assert_eq!(found.rounds[0].fates[0], Fate::NotConfirmed);
    assert_eq!(found.verdict(), Verdict::CannotTell);
}

/// A search beside a neighbour: so many bytes of it come in for each of the search's own, by the arm.
fn beside_a_neighbour(of_arm: fn(u32) -> f64) -> Tuned {
    let plan = Plan { seed: 1, ..plan("tcp.no-delay=off", "") };
    let none = PlantedCause { cause: "none".into(), strength: 1.0 };
    let world = World { causes: vec![none], ..quiet() };
    let mut simulation = Simulation::new(&plan, &world, 1);
    let mut recording = super::headed(&plan);
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    let mut schedule = schedule_of(&plan, &recording);
    while let Some(step) = schedule.next(&recording) {
        for mut event in simulation.step(&step) {
            match &mut event {
                Event::Trial(trial) if step.case.arm == 1 => stretch(trial, 0.6),
                Event::Step(record) => {
                    let interfaces = record.hosts.iter_mut().flat_map(|host| &mut host.interfaces);
                    interfaces
                        .for_each(|one| one.rx_bytes += (of_arm(step.case.arm) * one.rx_bytes as f64) as u64);
                }
                _ => (),
            }
            recording.push(event);
        }
    }
    recording.push(Event::End(End { reason: "completed".into(), error: None, at_ns: 0 }));
    tuned(&recording).unwrap()
}

#[test]
fn a_knob_that_starves_a_neighbour_is_refused() {
    let found = beside_a_neighbour(|arm| if arm == 1 { 0.1 } else { 1.0 });
    assert!(found.steps.is_empty(), "{found:?}");
    assert_eq!(found.rounds[0].fates[0], Fate::Costs);
    let guards = &found.rounds[0].compared.candidates[0].guards;
    let worse: Vec<&str> =
        guards.iter().filter(|guard| guard.is_worse).map(|guard| guard.name.as_str()).collect();
    assert_eq!(worse, ["neighbours_share"], "{guards:?}");
    // Whoever takes no more than its half is kept: the neighbour had more than its own.
    let found = beside_a_neighbour(|arm| if arm == 1 { 1.2 } else { 4.0 });
    assert_eq!(names(&found), ["tcp.no-delay=off"], "{found:?}");
}

#[test]
fn what_a_host_refuses_leaves_the_race_at_once() {
    let plan = Plan { seed: 1, ..plan("socket.send-buffer=4MiB,tcp.no-delay=off", "") };
    let mut simulation = Simulation::new(&plan, &quiet(), 1);
    let mut recording = super::headed(&plan);
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    let mut schedule = schedule_of(&plan, &recording);
    let clipped = Granted {
        knob: "socket.send-buffer".into(),
        asked: Some("4MiB".into()),
        granted: Some("425984".into()),
    };
    while let Some(step) = schedule.next(&recording) {
        for mut event in simulation.step(&step) {
            match &mut event {
                Event::Session(session) if session.arm == 1 => session.granted = vec![clipped.clone()],
                _ => (),
            }
            recording.push(event);
        }
    }
    recording.push(Event::End(End { reason: "completed".into(), error: None, at_ns: 0 }));
    let found = tuned(&recording).unwrap();
    assert!(recording.steps.iter().any(|step| step.case.arm == 1 && step.pass == 0), "it was never asked");
    assert!(
        !recording.steps.iter().any(|step| step.case.arm == 1 && step.pass > 0),
        "a block was spent on it"
    );
    let round = &found.rounds[0];
    let at = round.compared.candidates.iter().position(|one| one.arm == 1).unwrap();
    assert_eq!(round.fates[at], Fate::NotGranted);
    let told = &round.compared.candidates[at].not_granted;
    assert_eq!(told, &["socket.send-buffer=4MiB asked, 425984 granted"]);
    assert!(found.untried.is_empty() && found.stop == TuningStop::NothingLeft, "{found:?}");
}

#[test]
#[ignore = "takes minutes: ./test --long"]
fn of_a_thousand_healthy_paths_none_is_changed() {
    let plan = plan("tcp.no-delay=off,tcp.mss=1400", "");
    let is_changed = |seed: &u64| {
        let percent = [0.4, 1.0, 2.0, 4.0][(*seed % 4) as usize];
        let world = World { noise: percent / 100.0, between: percent / 200.0, ..World::default() };
        !searched(&plan, &world, *seed, |_| 1.0).1.kept().is_empty()
    };
    let changed = (1000..2000).filter(is_changed).count();
    println!("{changed} of 1000 healthy paths were changed");
    assert!(changed <= 10, "{changed} of 1000");
}

/// What hides that the slowed control is slowed.
const HIDDEN: f64 = 0.85;

#[test]
fn a_gain_that_is_seen_twice_needs_no_slowed_control() {
    // Behind a closed window a slower sender costs no rate: the slowed arm is no slower than the base.
    let hidden = |step: &Step| match step.case.arm {
        1 => 0.2,
        3 => HIDDEN,
        _ => 1.0,
    };
    let (_, found) = searched(&plan("tcp.no-delay=off", ""), &quiet(), 1, hidden);
    assert_eq!(names(&found), ["tcp.no-delay=off"], "{found:?}");
    assert!(found.rounds[0].compared.doubts.iter().any(|doubt| doubt.contains("positive control")));
    // Without one nothing is told but a gain.
    let same = |step: &Step| if step.case.arm == 3 { HIDDEN } else { 1.0 };
    let (_, found) = searched(&plan("tcp.no-delay=off", ""), &quiet(), 1, same);
    assert_eq!((found.kept().len(), found.verdict()), (0, Verdict::CannotTell), "{found:?}");
}

#[test]
fn a_search_that_is_gone_on_with_decides_alike() {
    let plan = plan("shim.spin=0us,tcp.no-delay=off", "shim.spin=200us");
    let (recording, found) = searched(&plan, &quiet(), 5, |_| 1.0);
    let steps = recording.steps.len();
    for cut in [steps / 3, steps - 1] {
        let earlier = recording.until(cut);
        let next = schedule_of(&Plan { seed: 5, ..plan.clone() }, &earlier).next(&earlier).unwrap();
        let did = &recording.steps[cut];
        assert_eq!((&next.case, next.pass, next.why), (&did.case, did.pass, did.why), "after {cut}");
    }
    assert_eq!(names(&found), ["shim.spin=0us"]);
}

#[test]
fn a_search_without_time_says_what_it_did_not_try() {
    let mut plan = plan("shim.spin=0us,tcp.no-delay=off,tcp.mss=1400", "shim.spin=200us");
    plan.budget_ns = Some(1_000_000_000);
    let (_, found) = searched(&plan, &quiet(), 1, |_| 1.0);
    assert_eq!((found.stop, found.untried.len()), (TuningStop::Budget, 2), "{found:?}");
    assert_eq!(names(&found), ["shim.spin=0us"], "one race is made");
}

/// A search whose host is slow for one block after the screening, and as quick as before from then on.
fn held_up(plan: &Plan, seed: u64) -> (Recording, Tuned) {
    let plan = Plan { seed, ..plan.clone() };
    let mut simulation = Simulation::new(&plan, &quiet(), seed);
    let mut recording = super::headed(&plan);
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    let mut schedule = schedule_of(&plan, &recording);
    let mut waited_ns = 0;
    while let Some(step) = schedule.next(&recording) {
        let is_slow = plan.tuning().unwrap().comparison.block_of(step.pass) == SCREENING_BLOCKS + 1;
        for mut event in simulation.step(&step) {
            if let Event::Step(record) = &mut event {
                waited_ns += if is_slow { 40 * record.duration_ns } else { 0 };
                record.at_ns += waited_ns;
            }
            recording.push(event);
        }
    }
    recording.push(Event::End(End { reason: "completed".into(), error: None, at_ns: 0 }));
    let found = tuned(&recording).unwrap();
    (recording, found)
}

#[test]
fn who_is_cut_for_time_stays_cut_and_is_told() {
    let set = "shim.spin=0ns,shim.spin=1ns,shim.spin=2ns,shim.spin=3ns,shim.spin=4ns,shim.spin=5ns";
    let mut plan = plan(set, "shim.spin=200us");
    plan.budget_ns = Some(6 * searched(&plan, &quiet(), 1, |_| 1.0).0.spent_ns());
    let mut cuts = 0;
    for seed in 1..=4 {
        let (recording, found) = held_up(&plan, seed);
        let comparison = &plan.tuning().unwrap().comparison;
        let round = &found.rounds[0];
        for cut in round.cut.iter().filter(|cut| cut.blocks > 0) {
            cuts += 1;
            let at = round.compared.candidates.iter().position(|one| one.arm == cut.arm).unwrap();
            let (one, fate) = (&round.compared.candidates[at], round.fates[at]);
            assert!(matches!(fate, Fate::OutOfTime | Fate::Beaten), "{one:?} {fate:?}");
            assert!(one.reasons.iter().any(|why| why.contains("--budget")), "{one:?}");
            let number = Stack::default().with(cut.arm).number();
            let raced =
                recording.steps.iter().filter(|step| step.case.arm == number && step.why == Why::Block);
            let blocks: BTreeSet<u32> = raced.map(|step| comparison.block_of(step.pass)).collect();
            let span = blocks.last().unwrap() - blocks.first().unwrap() + 1;
            assert_eq!((span, blocks.len() as u32), (cut.blocks, cut.blocks), "it was away and came back");
        }
    }
    assert!(cuts > 0, "no search is cut");
}

/// A search by a library whose jobs take so long to start: what was spent, and what was kept.
fn launched(start_ns: u64, budget_ns: u64) -> (u64, Tuned) {
    let levels = "mpi.socket-buffer=256KiB,1MiB,4MiB,mpi.eager-limit=64KiB,256KiB,mpi.progress-thread=on";
    let mut plan = plan(levels, "mpi.socket-buffer=4KiB");
    let View::Tuning { mut design, .. } = plan.view else { panic!("no search") };
    (design.comparison.connections, design.comparison.blocks) = (1, 9);
    plan.view = View::Tuning { rungs: Rungs::named(["network.mpi"]), design };
    plan.budget_ns = Some(budget_ns);
    let mut simulation = Simulation::new(&plan, &quiet(), 1);
    let mut recording = super::headed(&plan);
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    let mut schedule = schedule_of(&plan, &recording);
    let (mut waited_ns, mut open) = (0, (0, BTreeSet::new()));
    while let Some(step) = schedule.next(&recording) {
        if open.0 != step.pass {
            open = (step.pass, BTreeSet::new());
        }
        waited_ns += if open.1.insert(step.case.arm) { start_ns } else { 0 };
        let gains = [2, 3].contains(&step.case.arm);
        for mut event in simulation.step(&step) {
            match &mut event {
                Event::Trial(trial) => stretch(trial, if gains { 0.7 } else { 1.0 }),
                Event::Step(record) => record.at_ns += waited_ns,
                _ => (),
            }
            recording.push(event);
        }
    }
    recording.push(Event::End(End { reason: "completed".into(), error: None, at_ns: 0 }));
    (recording.spent_ns(), tuned(&recording).unwrap())
}

#[test]
fn jobs_that_are_started_are_paid_from_the_budget() {
    let second = 1_000_000_000;
    for (start_ns, budget_s) in [(800_000_000, 90), (800_000_000, 240), (2 * second, 240)] {
        let (spent_ns, found) = launched(start_ns, budget_s * second);
        assert!(spent_ns < budget_s * second * 11 / 10, "{start_ns}: {} s of {budget_s}", spent_ns / second);
        let kept = names(&found);
        assert!(
            kept.first().is_some_and(|name| name.starts_with("mpi.socket-buffer=")),
            "{start_ns}: {found:?}"
        );
    }
}
