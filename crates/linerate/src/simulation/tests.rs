//! The machine gives what was put in, and the same for the same seed.

use super::Simulation;
use crate::plan::{Plan, World};
use crate::record::synthetic::Synthetic;
use crate::record::{Event, Recording};
use crate::schedule::{Passes, Schedule};

fn plan() -> Plan {
    let full = Synthetic { passes: 2, ..Synthetic::default() }.recording();
    full.header.unwrap().plan
}

fn run(world: &World, seed: u64) -> Recording {
    let plan = plan();
    let mut simulation = Simulation::new(&plan, world, seed);
    let mut recording = Recording::default();
    simulation.hosts().into_iter().for_each(|event| recording.push(event));
    let mut schedule = Passes::new(&plan, &recording);
    while let Some(step) = schedule.next(&recording) {
        simulation.step(&step).into_iter().for_each(|event: Event| recording.push(event));
    }
    recording
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let world = World { noise: 0.05, bursts: 0.1, ..World::default() };
    assert_eq!(run(&world, 1), run(&world, 1));
    assert_ne!(run(&world, 1).trials, run(&world, 2).trials);
}

#[test]
fn time_passes_only_as_the_messages_ask() {
    let recording = run(&World::default(), 1);
    let ends = recording.steps.iter().map(|step| step.at_ns + step.duration_ns);
    let begins = recording.steps.iter().skip(1).map(|step| step.at_ns);
    assert!(ends.zip(begins).all(|(end, begin)| end == begin));
}

#[test]
fn without_noise_every_pass_gives_the_same() {
    let recording = run(&World::default(), 1);
    let analysis = crate::analysis::analyse(&recording);
    for point in analysis.curves.iter().flat_map(|curve| &curve.points) {
        let estimate = point.estimate(|values| values.throughput_bps).unwrap();
        let of_passes = point.passes.values().filter_map(|values| values.throughput_bps);
        for value in of_passes {
            assert!((value / estimate.median - 1.0).abs() < 0.01, "{value} of {}", estimate.median);
        }
    }
}
