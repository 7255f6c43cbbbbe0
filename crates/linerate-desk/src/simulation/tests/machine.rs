//! The machine gives what was put in, and the same for the same seed.

use super::{plan, run};
use crate::plan::World;

fn short(world: &World, seed: u64) -> crate::record::Recording {
    let plan = plan(|plan| {
        plan.seed = seed;
        plan.profile.passes = 2;
        plan.profile.budget_ns = 0;
    });
    run(&plan, world)
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let world = World { noise: 0.05, bursts: 0.1, ..World::default() };
    assert_eq!(short(&world, 1), short(&world, 1));
    assert_ne!(short(&world, 1).trials, short(&world, 2).trials);
}

#[test]
fn time_passes_only_as_the_messages_ask() {
    let recording = short(&World::default(), 1);
    let ends = recording.steps.iter().map(|step| step.at_ns + step.duration_ns);
    let begins = recording.steps.iter().skip(1).map(|step| step.at_ns);
    assert!(ends.zip(begins).all(|(end, begin)| end == begin));
}

#[test]
fn without_noise_every_pass_gives_the_same() {
    let analysis = crate::analysis::analyse(&short(&World::default(), 1));
    for point in analysis.curves.iter().flat_map(|curve| &curve.points) {
        let estimate = point.estimate(|values| values.throughput_bps).unwrap();
        for value in point.passes.values().filter_map(|values| values.throughput_bps) {
            assert!((value / estimate.median - 1.0).abs() < 0.01, "{value} of {}", estimate.median);
        }
    }
}
