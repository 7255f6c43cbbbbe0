//! Drift, two modes and disturbed trials that were put in are told; of a quiet machine nothing is.

use super::{plan, run};
use crate::analysis::{Analysis, analyse};
use crate::diagnosis::diagnose;
use crate::plan::{Rungs, View, World};
use crate::record::Recording;

fn recorded(world: &World, seed: u64) -> Recording {
    let plan = plan(|plan| {
        plan.seed = seed;
        plan.view = View::Ladder(Rungs::unnamed(["in-host.tcp", "network.tcp"]));
    });
    run(&plan, world)
}

/// The codes of all findings.
fn codes(recording: &Recording, analysis: &Analysis) -> Vec<&'static str> {
    diagnose(recording, analysis).findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn a_drift_is_told_and_a_quiet_machine_has_none() {
    let drifting = recorded(&World { drift: 0.10, noise: 0.03, ..World::default() }, 1);
    let analysis = analyse(&drifting);
    assert!(
        analysis.drifts.iter().all(|drift| drift.is_drift && drift.change > 0.02),
        "{:?}",
        analysis.drifts
    );
    assert!(codes(&drifting, &analysis).contains(&"drift"));
    let false_alarms = (0..10).map(|seed| {
        let quiet = recorded(&World { noise: 0.05, between: 0.02, bursts: 0.02, ..World::default() }, seed);
        analyse(&quiet).drifts.iter().filter(|drift| drift.is_drift).count()
    });
    assert_eq!(false_alarms.sum::<usize>(), 0);
}

#[test]
fn two_modes_are_told_with_their_shares() {
    let recording = recorded(&World { modes: 0.4, noise: 0.003, ..World::default() }, 3);
    let analysis = analyse(&recording);
    assert!(codes(&recording, &analysis).contains(&"modes"));
    let modes = analysis.curves.iter().flat_map(|curve| &curve.points).map(|point| point.modes());
    let two: Vec<_> = modes.filter(|modes| modes.len() == 2).collect();
    assert!(!two.is_empty());
    for modes in two {
        let ratio = modes[1].centre / modes[0].centre;
        assert!((1.15..1.25).contains(&ratio), "{ratio}");
        assert!((modes[0].share + modes[1].share - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_disturbed_trial_is_flagged_and_kept() {
    let recording = recorded(&World { bursts: 0.03, noise: 0.01, ..World::default() }, 5);
    let analysis = analyse(&recording);
    let points = || analysis.curves.iter().flat_map(|curve| &curve.points);
    let abnormal: Vec<_> = points().flat_map(|point| point.abnormal()).collect();
    let disturbed = abnormal.iter().filter(|one| one.disturbed && one.ratio > 2.0).count();
    assert!(disturbed > 10 && disturbed * 10 > abnormal.len() * 8, "{disturbed} of {}", abnormal.len());
    assert!(points().all(|point| point.estimate(|v| v.throughput_bps).unwrap().n >= 10));
    assert!(codes(&recording, &analysis).contains(&"foreign-cpu"));
}
