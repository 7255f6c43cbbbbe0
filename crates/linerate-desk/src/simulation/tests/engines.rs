//! The fastest engine is found by looks, measured in the passes, and told beside the plain calls.

use super::super::Simulation;
use crate::analysis::{Layer, analyse};
use crate::diagnosis::diagnose;
use crate::plan::{Arm, Plan, Rungs, Step, View, Why, World};
use crate::record::{End, Event, Recording};
use crate::schedule::{Passes, Schedule};
use crate::vocabulary::STREAM_ENGINES;

const RUNG: &str = "network.tcp-best";

fn plan() -> Plan {
    let mut plan = super::plan(|_| ());
    plan.view = View::Ladder(Rungs::unnamed(["network.tcp", RUNG]));
    let settings = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let arms = STREAM_ENGINES.iter().map(|engine| Arm {
        name: engine.name.into(),
        settings: settings(engine.settings),
        ..Arm::default()
    });
    plan.arms = arms.collect();
    plan.profile.timeline_ns = 0;
    plan.profile.sizes = vec![64, 1 << 20];
    plan
}

fn arm(name: &str) -> u32 {
    STREAM_ENGINES.iter().position(|engine| engine.name == name).unwrap() as u32 + 1
}

/// A run on a machine where a message takes so many times as long as it takes by the plain calls.
fn ran(plan: &Plan, factor: impl Fn(&Step) -> f64) -> Recording {
    let world = World { noise: 0.004, between: 0.002, ..World::default() };
    let mut simulation = Simulation::new(plan, &world, plan.seed);
    let mut recording = super::begun(plan);
    let mut schedule = Passes::new(plan, &recording);
    while let Some(step) = schedule.next(&recording) {
        for mut event in simulation.step(&step) {
            if let Event::Trial(trial) = &mut event {
                for flow in trial.roles.iter_mut().flat_map(|role| &mut role.flows) {
                    flow.duration_ns = (flow.duration_ns as f64 * factor(&step)) as u64;
                    flow.slices_ns.iter_mut().for_each(|ns| *ns = (*ns as f64 * factor(&step)) as u64);
                }
            }
            recording.push(event);
        }
    }
    recording.push(Event::End(End { reason: "completed".into(), error: None, at_ns: 0 }));
    recording
}

fn told(recording: &Recording) -> (Layer, String) {
    let analysis = analyse(recording);
    let sentence = diagnose(recording, &analysis).sentence;
    let layers: Vec<Layer> = analysis.layers.into_iter().filter(|layer| layer.rung == RUNG).collect();
    assert_eq!(layers.len(), 1, "{layers:?}");
    (layers[0].clone(), sentence)
}

#[test]
fn the_fastest_engine_is_found_and_told_with_its_gain() {
    let fast = arm("sendfile");
    let recording = ran(&plan(), |step| if step.case.arm == fast { 0.8 } else { 1.0 });
    let (layer, sentence) = told(&recording);
    assert_eq!(layer.chosen.as_deref(), Some("sendfile"));
    let share = layer.kept_of_below.unwrap();
    assert!(share.low < Some(1.25) && Some(1.25) < share.high, "{share:?}");
    assert!(sentence.contains("by its best engine here, sendfile, it carries"), "{sentence}");
    assert!(sentence.contains("more."), "{sentence}");
    // What a look shows enters no figure.
    let measured = recording.trials.iter().filter(|trial| trial.case.rung == RUNG && trial.pass > 0);
    assert!(measured.clone().count() > 5 && measured.clone().all(|trial| trial.case.arm == fast));
}

#[test]
fn what_is_fast_in_a_short_look_alone_is_not_chosen() {
    let (lure, lasting) = (arm("splice"), arm("reads of 2 MiB"));
    let is_short = |step: &Step| step.why == Why::Probe && step.predicted_ns < 350_000_000;
    let recording = ran(&plan(), |step| match step.case.arm {
        one if one == lure && is_short(step) => 0.5,
        one if one == lasting => 0.8,
        _ => 1.0,
    });
    assert_eq!(told(&recording).0.chosen.as_deref(), Some("reads of 2 MiB"));
}

#[test]
fn where_no_engine_is_faster_none_is_said_to_be() {
    let (layer, sentence) = told(&ran(&plan(), |_| 1.0));
    let share = layer.kept_of_below.unwrap();
    assert!(share.low < Some(1.0) && Some(1.0) < share.high, "{share:?}");
    assert!(sentence.contains("which is not shown to be more"), "{sentence}");
}

#[test]
fn a_run_that_is_cut_among_the_looks_goes_on_alike() {
    let plan = plan();
    let fast = arm("splice");
    let recording = ran(&plan, |step| if step.case.arm == fast { 0.8 } else { 1.0 });
    let looks = recording.steps.iter().filter(|step| step.pass == 0).count();
    for cut in [looks - 3, looks, looks + 4] {
        let earlier = recording.until(cut);
        let next = Passes::new(&plan, &earlier).next(&earlier).unwrap();
        let did = &recording.steps[cut];
        assert_eq!((&next.case, next.pass, next.why), (&did.case, did.pass, did.why), "after {cut}");
    }
}
