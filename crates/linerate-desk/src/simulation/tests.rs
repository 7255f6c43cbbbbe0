//! Whole runs in virtual time.

mod applications;
mod arms;
mod causes;
mod claims;
mod clusters;
mod engines;
mod failures;
mod filters;
mod hangs;
mod machine;
mod onto;
mod searches;
mod sensitivities;
mod slow;
mod stability;
mod steps;
mod study;
mod suites;
mod tuning;

use super::Simulation;
use crate::plan::{Plan, World};
use crate::record::synthetic::Synthetic;
use crate::record::{Event, Header, Recording, SCHEMA};
use crate::schedule::{Passes, Schedule};

/// A plan over the plain ladder.
fn plan(edit: impl Fn(&mut Plan)) -> Plan {
    let full = Synthetic { passes: 10, ..Synthetic::default() }.recording();
    let mut plan = full.header.unwrap().plan;
    edit(&mut plan);
    plan
}

/// Runs a plan to its end.
fn run(plan: &Plan, world: &World) -> Recording {
    let mut recording = begun(plan);
    go_on(plan, world, &mut recording, usize::MAX);
    recording
}

/// A recording that knows its plan and nothing else yet.
fn headed(plan: &Plan) -> Recording {
    let header = Header {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        utc: "2026-11-21T14:02:11Z".into(),
        command: Vec::new(),
        defaults: None,
        plan: plan.clone(),
        plan_hash: plan.hash(),
    };
    Recording { header: Some(header), ..Recording::default() }
}

/// The header and the hosts.
fn begun(plan: &Plan) -> Recording {
    let mut recording = headed(plan);
    let hosts = Simulation::new(plan, &World::default(), 0).hosts();
    hosts.into_iter().for_each(|event| recording.push(event));
    recording
}

/// So many steps more.
fn go_on(plan: &Plan, world: &World, recording: &mut Recording, most: usize) {
    let mut simulation = Simulation::new(plan, world, plan.seed);
    let mut schedule = Passes::new(plan, recording);
    let mut steps = 0;
    while let Some(step) = schedule.next(recording).filter(|_| steps < most) {
        simulation.step(&step).into_iter().for_each(|event: Event| recording.push(event));
        steps += 1;
    }
}
