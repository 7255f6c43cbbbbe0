//! Whole diagnoses on the made-up machine: what is there is proved, what is not is ruled out.

use super::arms::{plan, session};
use crate::analysis::analyse;
use crate::diagnosis::{CauseVerdict, Grade, diagnose};
use crate::plan::{Plan, World};
use crate::record::KnobRefused;

/// Of a plan whose first arms are experiments for these causes.
fn diagnosed(mut plan: Plan, causes: &[&str], world: &World, seed: u64) -> Vec<CauseVerdict> {
    for (arm, cause) in plan.arms.iter_mut().zip(causes) {
        arm.cause = Some((*cause).to_owned());
    }
    let recording = session(&plan, world, seed);
    diagnose(&recording, &analyse(&recording)).causes
}

fn quiet() -> World {
    World { noise: 0.004, between: 0.002, ..World::default() }
}

/// A sender that wastes 20 us on each message.
fn wasteful(set: &str) -> Plan {
    let mut plan = plan(set, 12);
    plan.settings.push("shim.spin=20us".parse().unwrap());
    plan
}

#[test]
fn what_moves_the_rate_and_has_its_sign_is_proved() {
    let found = diagnosed(wasteful("shim.spin=0us"), &["sender-copies"], &quiet(), 1);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.grade, one.experiment.as_str()), (Grade::Proved, "shim.spin=0us"), "{one:?}");
    assert!(one.gain.is_some_and(|gain| gain.estimate > 0.05), "{one:?}");
}

#[test]
fn what_gains_without_its_sign_is_not_named() {
    let found = diagnosed(wasteful("shim.spin=0us"), &["unfit-congestion-control"], &quiet(), 1);
    assert_eq!(found[0].grade, Grade::CannotTell, "{found:?}");
    assert!(found[0].evidence.iter().any(|told| told.contains("no sign")), "{found:?}");
}

#[test]
fn what_changes_nothing_or_costs_is_ruled_out() {
    let plan = plan("tcp.no-delay=off,shim.slowdown=5", 12);
    let found = diagnosed(plan, &["sender-copies", "receiver-copies"], &quiet(), 1);
    assert!(found.len() == 2 && found.iter().all(|one| one.grade == Grade::RuledOut), "{found:?}");
}

#[test]
fn a_loud_machine_proves_nothing_and_rules_nothing_out() {
    let loud = World { noise: 0.2, between: 0.1, ..World::default() };
    let found = diagnosed(plan("tcp.no-delay=off", 6), &["sender-copies"], &loud, 1);
    assert_eq!(found[0].grade, Grade::CannotTell, "{found:?}");
}

#[test]
fn a_healthy_path_is_seldom_called_ill() {
    let plan = plan("tcp.no-delay=off,tcp.mss=1448", 10);
    let proved = |seed| {
        let found = diagnosed(plan.clone(), &["sender-copies", "receiver-copies"], &quiet(), seed);
        found.iter().filter(|one| one.grade == Grade::Proved).count()
    };
    assert_eq!((0..40).map(proved).sum::<usize>(), 0);
}

#[test]
fn an_experiment_that_a_host_does_not_allow_is_told() {
    let mut plan = plan("socket.send-buffer=4MiB,tcp.no-delay=off", 6);
    plan.arms[0].cause = Some("small-send-buffer".into());
    let world = quiet();
    let recording = super::arms::session_with(&plan, &world, 1, |host| {
        let (knob, value) = ("socket.send-buffer".into(), "4MiB".into());
        let (why, hint) = ("wmem_max is 212992".into(), "raise it".into());
        host.refused.push(KnobRefused { knob, value, why, hint });
    });
    let found = diagnose(&recording, &analyse(&recording)).causes;
    assert_eq!(found[0].grade, Grade::NotTested, "{found:?}");
    assert!(found[0].evidence.iter().any(|told| told.contains("wmem_max")), "{found:?}");
    assert!(recording.trials.iter().all(|trial| trial.case.arm != 1), "it was measured");
}
