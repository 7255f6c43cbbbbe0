//! What follows the passes: breaks to the byte, time where it helps, and never more than there is.

use super::Simulation;
use super::{begun, go_on, plan, run};
use crate::plan::{Plan, Rungs, View, Why, World};
use crate::record::{Event, Recording, StepRecord};
use crate::schedule::{Passes, Schedule};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// Only what lies between the hosts: it keeps the runs short.
fn network(edit: impl Fn(&mut Plan)) -> Plan {
    plan(|plan| {
        plan.view = View::Ladder(Rungs::unnamed(["in-host.tcp", "network.tcp"]));
        edit(plan);
    })
}

/// The sizes on both sides of each step that was confirmed, by wait mode.
fn pairs(recording: &Recording) -> BTreeSet<(u64, u64)> {
    let steps = recording.steps.iter().filter(|step| step.why == Why::Pairs);
    let sizes = |step: &StepRecord| {
        let of_step = recording.trials.iter().filter(|trial| trial.step == step.step);
        let sizes: BTreeSet<u64> = of_step.map(|trial| trial.block.message_bytes).collect();
        (*sizes.first().unwrap(), *sizes.last().unwrap())
    };
    steps.map(sizes).collect()
}

fn end_s(recording: &Recording) -> f64 {
    recording.steps.last().map_or(0.0, |step| (step.at_ns + step.duration_ns) as f64 / 1e9)
}

#[test]
fn a_step_at_any_size_is_found_to_the_byte() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    for _ in 0..12 {
        let at = 2f64.powf(random.random_range(1.0..22.9)) as u64 + 1;
        let world = World { step_at: at, step_ns: 3e6, noise: 0.04, bursts: 0.03, ..World::quiet() };
        let recording = run(&network(|plan| plan.seed = at), &world);
        assert_eq!(pairs(&recording), BTreeSet::from([(at - 1, at)]), "a step at {at}");
    }
}

#[test]
fn a_smooth_curve_is_not_bisected() {
    let bisected = (0..10).filter(|seed| {
        let world = World { noise: 0.03, ..World::quiet() };
        let recording = run(&network(|plan| plan.seed = *seed), &world);
        recording.steps.iter().any(|step| step.why == Why::Bisect)
    });
    assert_eq!(bisected.count(), 0);
}

#[test]
fn only_a_quiet_machine_is_done_early() {
    let plan = network(|_| ());
    let quiet = run(&plan, &World { noise: 0.004, ..World::default() });
    let noisy = run(&plan, &World { noise: 0.2, ..World::default() });
    let extra = |recording: &Recording| recording.steps.iter().filter(|s| s.why == Why::Extra).count();
    assert_eq!(extra(&quiet), 0);
    assert!(extra(&noisy) > 20, "{}", extra(&noisy));
    let budget_s = Passes::new(&plan, &begun(&plan)).predicted_ns() as f64 / 1e9;
    assert!(end_s(&quiet) < 0.9 * budget_s && end_s(&noisy) < 1.05 * budget_s);
    assert!(end_s(&noisy) > 0.8 * budget_s, "{}", end_s(&noisy));
}

#[test]
fn visits_go_where_the_interval_is_widest() {
    let recording = run(
        &network(|plan| plan.budget_ns = Some(100_000_000_000)),
        &World { noise: 0.08, modes: 0.3, ..World::default() },
    );
    let analysis = crate::analysis::analyse(&recording);
    let n = |point: &crate::analysis::Point| point.passes.len();
    let counts: BTreeSet<usize> = analysis.curves.iter().flat_map(|curve| &curve.points).map(n).collect();
    assert!(counts.first() == Some(&10) && counts.last() > Some(&12), "{counts:?}");
}

#[test]
fn a_prediction_holds_within_a_fifth() {
    for budget_s in [10u64, 30, 60, 140, 300] {
        let plan = plan(|plan| plan.budget_ns = Some(budget_s * 1_000_000_000));
        let world = World { noise: 0.1, between: 0.05, ..World::default() };
        let predicted = Passes::new(&plan, &begun(&plan)).predicted_ns() as f64 / 1e9;
        let actual = end_s(&run(&plan, &world));
        assert!((0.8..1.2).contains(&(actual / predicted)), "{actual} s of {predicted} s");
        assert!((0.8..1.2).contains(&(actual / budget_s as f64)), "{actual} s of {budget_s} s");
    }
}

/// A run on a machine on which each step takes this many times as long as it should.
fn stretched(plan: &Plan, factor: u64) -> Recording {
    let (world, mut recording) = (World::quiet(), begun(plan));
    let mut simulation = Simulation::new(plan, &world, plan.seed);
    let mut schedule = Passes::new(plan, &recording);
    while let Some(step) = schedule.next(&recording) {
        for mut event in simulation.step(&step) {
            if let Event::Step(step) = &mut event {
                (step.at_ns, step.duration_ns) = (factor * step.at_ns / 10, factor * step.duration_ns / 10);
            }
            recording.push(event);
        }
    }
    recording
}

#[test]
fn a_late_run_keeps_passes_for_an_interval() {
    let plan = plan(|_| ());
    assert!(plan.profile.budget_ns > 0);
    let passes = |recording: &Recording| {
        recording.steps.iter().filter(|step| step.why == Why::Pass).map(|step| step.pass).max().unwrap()
    };
    let budget_s = Passes::new(&plan, &begun(&plan)).predicted_ns() as f64 / 1e9;
    let (slower, slowest) = (stretched(&plan, 14), stretched(&plan, 40));
    assert!((6..10).contains(&passes(&slower)) && end_s(&slower) < 1.1 * budget_s, "{}", end_s(&slower));
    assert_eq!(passes(&slowest), 6);
}

#[test]
fn a_short_budget_says_what_it_leaves_out() {
    let plan = plan(|plan| plan.budget_ns = Some(10_000_000_000));
    let schedule = Passes::new(&plan, &begun(&plan));
    assert!(schedule.note().unwrap().contains("leaves out"));
    assert!(schedule.unavailable().iter().any(|it| it.reason.why.contains("left out")));
}

#[test]
fn a_run_cut_in_its_study_goes_on() {
    let world = World { step_at: 70_000, step_ns: 3e6, ..World::default() };
    let plan = network(|_| ());
    let whole = run(&plan, &world);
    let is_study = |step: &&StepRecord| step.why == Why::Bisect;
    let cut = whole.steps.iter().find(is_study).unwrap().step as usize + 5;
    let mut resumed = whole.until(cut);
    go_on(&plan, &world, &mut resumed, usize::MAX);
    let of = |recording: &Recording| -> Vec<_> {
        recording.steps.iter().map(|step| (step.pass, step.why, step.case.clone())).collect()
    };
    assert_eq!(of(&whole)[..cut + 20], of(&resumed)[..cut + 20]);
}
