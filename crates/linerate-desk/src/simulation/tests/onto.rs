//! A later run adds to an earlier one: what was cut goes on where it was, what was whole gets more.

use super::{Simulation, begun, plan, run};
use crate::plan::{Plan, Rungs, View, Why, World};
use crate::record::{Addition, Recording};
use crate::schedule::{NoGoingOn, Passes, Schedule, resumable};
use std::collections::BTreeMap;

const HOUR_NS: u64 = 3_600_000_000_000;

fn few(edit: impl Fn(&mut Plan)) -> Plan {
    plan(|plan| {
        plan.view = View::Ladder(Rungs::unnamed(["in-host.tcp", "network.tcp"]));
        (plan.profile.passes, plan.profile.budget_ns) = (6, 0);
        edit(plan);
    })
}

fn world() -> World {
    World { noise: 0.05, ..World::quiet() }
}

/// So many steps of each pass of the plan; a long stream is in the first one alone.
fn passes(recording: &Recording) -> Vec<usize> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for step in recording.steps.iter().filter(|step| step.why == Why::Pass && !step.case.timeline) {
        *counts.entry(step.pass).or_default() += 1;
    }
    counts.into_values().collect()
}

/// Goes on with what stands of an earlier run, an hour later.
fn onto(plan: &Plan, earlier: &Recording, passes: Option<u32>, budget_ns: Option<u64>) -> Recording {
    let mut recording = resumable(plan, earlier).unwrap().recording;
    let after_steps = recording.steps.len() as u32;
    let last = recording.steps.last().unwrap();
    let at_ns = last.at_ns + last.duration_ns + HOUR_NS;
    recording.additions.push(Addition { after_steps, at_ns, passes, budget_ns, ..Addition::default() });
    let mut simulation = Simulation::new(plan, &world(), plan.seed + u64::from(after_steps));
    let mut schedule = Passes::new(plan, &recording);
    while let Some(step) = schedule.next(&recording) {
        // The made-up clock began anew.
        simulation.step(&step).into_iter().for_each(|event| recording.push(event.later(at_ns)));
    }
    recording
}

#[test]
fn a_cut_run_ends_with_its_passes_whole() {
    let plan = few(|_| ());
    let whole = run(&plan, &world());
    let each = passes(&whole);
    assert_eq!(each.len(), 6);
    let first_of = |pass| whole.steps.iter().position(|step| step.pass == pass).unwrap();
    for (cut, dropped) in [(first_of(3) + 2, Some(3)), (first_of(4), None), (whole.steps.len() - 1, Some(6))]
    {
        let stands = resumable(&plan, &whole.until(cut)).unwrap();
        assert_eq!(stands.dropped, dropped, "cut after {cut}");
        assert!(stands.recording.sessions.iter().all(|one| dropped.is_none_or(|pass| one.pass < pass)));
        let ended = onto(&plan, &whole.until(cut), None, None);
        assert_eq!(passes(&ended), each, "cut after {cut}");
        let of = |recording: &Recording| -> Vec<_> {
            let of_passes = recording.steps.iter().filter(|step| step.why == Why::Pass);
            of_passes.map(|step| (step.pass, step.case.clone())).collect()
        };
        assert_eq!(of(&ended), of(&whole), "the passes are those of a run that was not cut");
    }
}

#[test]
fn a_whole_run_gets_passes_on_top() {
    let plan = few(|_| ());
    let whole = run(&plan, &world());
    let each = passes(&whole)[0];
    let twice = onto(&plan, &whole, None, None);
    assert_eq!(passes(&twice), vec![each; 12], "as many as the plan has");
    let further = onto(&plan, &twice, Some(3), None);
    assert_eq!(passes(&further), vec![each; 15]);
    assert_eq!(resumable(&plan, &further).unwrap().dropped, None, "a third time it can be gone on with");
    // One that was cut in what was added ends that, and no more.
    let cut = twice.until(twice.steps.len() - 3);
    assert_eq!(passes(&onto(&plan, &cut, None, None)), vec![each; 12]);
}

#[test]
fn added_time_is_that_of_the_later_run() {
    let plan = few(|plan| plan.budget_ns = Some(20_000_000_000));
    let whole = run(&plan, &world());
    let longer = onto(&plan, &whole, None, Some(30_000_000_000));
    let added_s = (longer.spent_ns() - whole.spent_ns()) as f64 / 1e9;
    assert!((20.0..32.0).contains(&added_s), "{added_s} s, and an hour between is nobody's");
}

#[test]
fn what_another_schedule_made_is_refused() {
    let plan = few(|_| ());
    let whole = run(&plan, &world());
    let other = Plan { seed: plan.seed + 1, ..plan.clone() };
    assert!(matches!(resumable(&other, &whole), Err(NoGoingOn::OtherSteps(_))));
    assert_eq!(resumable(&plan, &begun(&plan)), Err(NoGoingOn::NoWholePass));
    let first = whole.steps.iter().position(|step| step.pass == 1).unwrap();
    for cut in [3, first, first + 1] {
        assert_eq!(resumable(&plan, &whole.until(cut)), Err(NoGoingOn::NoWholePass), "cut after {cut}");
    }
}
