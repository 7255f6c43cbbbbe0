//! What fails on the way: it costs its own case and sizes, and the rest is measured.

use super::{begun, go_on, plan, run};
use crate::analysis::{Vanishing, analyse, has_failed, not_measured, vanishing};
use crate::diagnosis::diagnose;
use crate::plan::{Case, Plan, Rungs, Step, View, World};
use crate::record::{Event, NotMeasured, Reason, Recording, Trial};
use crate::schedule::{Passes, Schedule};
use crate::simulation::Simulation;
use crate::vocabulary::{Pattern, Place, ReasonKind, Rung};
use std::collections::BTreeSet;

fn two_rungs() -> Plan {
    plan(|plan| plan.view = View::Ladder(Rungs::unnamed(["in-host.tcp", "network.tcp"])))
}

fn swallowing(above: u64) -> World {
    World { swallows_above: above, ..World::quiet() }
}

fn sizes(recording: &Recording, place: Place, pattern: Pattern) -> BTreeSet<u64> {
    let is_here = |rung: &str| Rung::named(rung).is_some_and(|rung| rung.place == place);
    let counting = recording.trials.iter().filter(|trial| trial.pass > 0 && trial.why.counts());
    let of_case = counting.filter(|trial| trial.case.pattern == pattern && is_here(&trial.case.rung));
    of_case.map(|trial| trial.block.message_bytes).collect()
}

#[test]
fn sizes_that_pass_are_measured_and_their_end_is_found() {
    for above in [100, 1400, 70_000] {
        let plan = two_rungs();
        let recording = run(&plan, &swallowing(above));
        let here = sizes(&recording, Place::InHost, Pattern::PingPong);
        let there = sizes(&recording, Place::Network, Pattern::PingPong);
        let passing: BTreeSet<u64> = here.iter().copied().filter(|size| *size <= above).collect();
        assert!(passing.len() > 2 && there == passing, "{above}: {there:?}");
        let found = vanishing(&recording);
        let exact = |it: &Vanishing| (it.passes, it.fails) == (above, above + 1);
        assert!(!found.is_empty() && found.iter().all(exact), "{found:?}");
        assert!(has_failed(&recording));
        let analysis = analyse(&recording);
        let diagnosis = diagnose(&recording, &analysis);
        let finding = diagnosis.findings.iter().find(|finding| finding.code == "large-vanish").unwrap();
        let told = format!("{above} B pass, {} B do not: packets above {} B vanish", above + 1, above + 52);
        assert_eq!(finding.detail, told);
        assert!(finding.hint.contains(&format!("tcp.mss={}", above + 12)), "{}", finding.hint);
        assert!(diagnosis.findings.iter().all(|finding| finding.code != "failed-once"));
        // Each case once, with where it begins.
        let left = not_measured(&recording);
        let cases: BTreeSet<_> = left.iter().filter_map(|not| not.case.clone()).collect();
        let failed = left.iter().filter(|not| not.reason.kind == ReasonKind::Failed);
        assert_eq!(cases.len(), failed.count());
    }
}

#[test]
fn a_run_with_failures_that_was_cut_goes_on_as_it_would_have() {
    let plan = two_rungs();
    let world = swallowing(1400);
    // Times differ: a machine begins its own anew.
    let what = |recording: &Recording| {
        let steps = recording.steps.iter().map(|step| (step.step, step.case.clone(), step.why));
        steps.collect::<Vec<_>>()
    };
    let whole = run(&plan, &world);
    for cut in [1, 40, 90, 150, 200] {
        let mut recording = begun(&plan);
        go_on(&plan, &world, &mut recording, cut);
        go_on(&plan, &world, &mut recording, usize::MAX);
        let together = what(&recording);
        let common = together.len().min(what(&whole).len()).min(240);
        assert_eq!(together[..common], what(&whole)[..common], "cut at {cut}");
    }
}

/// Runs to the end; what is between hosts fails in steps that `fails` picks.
fn run_failing(plan: &Plan, fails: impl Fn(u32) -> bool) -> Recording {
    run_with(plan, |tried, _| fails(tried).then(Vec::new))
}

/// The same with the sizes that fail.
fn run_with(plan: &Plan, fails: impl Fn(u32, &Step) -> Option<Vec<u64>>) -> Recording {
    let mut recording = begun(plan);
    let mut simulation = Simulation::new(plan, &World::quiet(), plan.seed);
    let mut schedule = Passes::new(plan, &recording);
    let mut tried = 0;
    while let Some(step) = schedule.next(&recording) {
        if !step.case.pairs.is_within_host() {
            tried += 1;
            if let Some(message_bytes) = fails(tried, &step) {
                let reason = Reason::new(ReasonKind::Failed, "failed: the path was away", "");
                let failed = NotMeasured::failed(&step, &step.case.pairs, reason);
                recording.push(Event::NotMeasured(NotMeasured { message_bytes, ..failed }));
                continue;
            }
        }
        simulation.step(&step).into_iter().for_each(|event| recording.push(event));
    }
    recording
}

#[test]
fn a_path_that_was_away_for_a_while_is_measured_when_it_is_back() {
    let recording = run_failing(&two_rungs(), |tried| (3..6).contains(&tried));
    assert!(recording.unavailable.iter().any(|not| not.after_steps.is_some()));
    assert!(!has_failed(&recording), "{:?}", not_measured(&recording));
    let analysis = analyse(&recording);
    let findings = diagnose(&recording, &analysis).findings;
    assert!(findings.iter().any(|finding| finding.code == "failed-once"), "{findings:?}");
    let codes = ["large-vanish", "one-direction", "one-family"];
    assert!(findings.iter().all(|finding| !codes.contains(&finding.code)), "{findings:?}");
}

/// A size that fails alone is not hidden by larger ones that were measured before it failed for good.
#[test]
fn a_size_that_fails_alone_is_told() {
    const FAILS: u64 = 4096;
    let is_it = |step: &Step| step.case.pattern == Pattern::PingPong && step.blocks[0].message_bytes == FAILS;
    let recording = run_with(&two_rungs(), |_, step| (step.pass > 0 && is_it(step)).then(|| vec![FAILS]));
    let counting = recording.trials.iter().filter(|trial| trial.pass > 0);
    let larger = |case: &Case| {
        let of_case = |trial: &&Trial| trial.case.is_of(case) && trial.block.message_bytes > FAILS;
        counting.clone().any(|trial| of_case(&trial))
    };
    let left = not_measured(&recording);
    let cases: Vec<&Case> = left.iter().filter_map(|not| not.case.as_deref()).collect();
    assert!(has_failed(&recording) && cases.iter().any(|case| larger(case)), "{left:?}");
    assert!(left.iter().all(|not| not.case.is_none() || not.message_bytes == [FAILS]), "{left:?}");
}

#[test]
fn where_nothing_passes_each_case_is_tried_a_few_times() {
    let recording = run_failing(&two_rungs(), |_| true);
    let failed: Vec<_> = recording.unavailable.iter().filter(|not| not.after_steps.is_some()).collect();
    let cases: BTreeSet<_> = failed.iter().filter_map(|not| not.case.clone()).collect();
    // A long stream is tried once.
    assert!(
        (cases.len()..=2 * cases.len()).contains(&failed.len()),
        "{} failures of {} cases",
        failed.len(),
        cases.len()
    );
    assert!(sizes(&recording, Place::InHost, Pattern::PingPong).len() > 5);
    assert!(sizes(&recording, Place::Network, Pattern::PingPong).is_empty());
}
