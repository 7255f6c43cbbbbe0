//! Arms that are compared on applications, on the made-up machine: what is put in is found, and nothing else.

use super::super::machine::Machine;
use super::arms::{quiet, session, session_with};
use crate::analysis::{ArmCandidate, Compared, Verdict, compare_arms};
use crate::plan::{
    APPLICATIONS, Application, Arm, Case, Comparison, Metric, Plan, PlannedHost, Rungs, View, World,
    candidates,
};
use crate::record::{Recording, UnavailableTransport};
use crate::vocabulary::Rung;
use std::collections::BTreeSet;

/// A comparison on an application, on three hosts.
fn plan(name: &str, set: &str) -> Plan {
    let application = Application::named(name).unwrap();
    let mut plan = super::arms::plan(set, 8);
    plan.arms = candidates(set).unwrap().into_iter().map(Arm::candidate).collect();
    plan.arms.extend(Arm::controls().unwrap());
    plan.hosts = PlannedHost::first(3);
    plan.profile.sizes = vec![application.bytes];
    let metric = application.metrics().next().unwrap();
    let View::Comparison { design, .. } = &plan.view else { panic!("no comparison") };
    let design = Comparison { metric, connections: 1, ..design.clone() };
    let suite = application.suite(Rung::named("network.tcp").unwrap(), None).unwrap();
    let rungs = Rungs::named(["network.tcp", "network.tls"]);
    plan.view = View::Comparison { rungs, design, application: Some(Box::new(suite)) };
    plan
}

fn compared(recording: &Recording) -> Compared {
    compare_arms(recording).unwrap()
}

fn only(compared: &Compared) -> &ArmCandidate {
    let [one] = compared.candidates.as_slice() else { panic!("one candidate") };
    one
}

/// The change that a truth makes of a metric: a share of the time, or of the rate.
fn told(metric: Metric, of_time: f64) -> f64 {
    if metric.number().more_is_better == Some(true) { 1.0 / (1.0 + of_time) - 1.0 } else { of_time }
}

#[test]
fn every_application_tells_a_difference_by_its_metric() {
    for application in APPLICATIONS {
        let recording = session(&plan(application.name, "shim.slowdown=5"), &quiet(), 1);
        let compared = compared(&recording);
        let (one, slowed) = (only(&compared), compared.slowed.as_ref().unwrap());
        assert_eq!(compared.application.as_deref(), Some(application.name));
        assert_eq!((one.verdict, one.is_gain), (Verdict::Different, false), "{compared:?}");
        for (change, truth) in [(one.change.unwrap(), 0.05), (slowed.change, 0.10)] {
            let truth = told(compared.metric, truth);
            let holds = change.low.unwrap() < truth && truth < change.high.unwrap();
            assert!(holds, "{}: {truth} {change:?}", application.name);
        }
        let hosts: BTreeSet<_> =
            recording.steps.iter().flat_map(|step| &step.roles).map(|role| role.host).collect();
        assert_eq!(hosts.len(), 3, "{}: all hosts have a part", application.name);
    }
}

#[test]
fn what_changes_nothing_is_the_same() {
    for (name, set) in [("monitor", "monitor.deadline=900ms"), ("microscope", "tcp.no-delay=off")] {
        let compared = compared(&session(&plan(name, set), &quiet(), 2));
        assert_eq!(only(&compared).verdict, Verdict::Same, "{name}: {compared:?}");
    }
}

#[test]
fn noise_is_seldom_called_different() {
    let world = World { noise: 0.04, between: 0.02, drift: 0.10, bursts: 0.02, ..World::default() };
    let plan = plan("striped-write", "striped.store=disk");
    let is_told = |seed| compared(&session(&plan, &world, seed)).verdict == Verdict::Different;
    let different = (0..60).filter(|seed| is_told(*seed)).count();
    assert!(different <= 6, "{different} of 60");
}

/// Each arm is carried by its own rung, and the difference between these is what is found.
#[test]
fn a_transport_is_a_candidate() {
    let plan = plan("microscope", "pipeline.transport=tls");
    let recording = session(&plan, &quiet(), 3);
    let carried = |arm: u32| -> BTreeSet<&str> {
        recording
            .steps
            .iter()
            .filter(|step| step.case.arm == arm)
            .map(|step| step.case.rung.as_str())
            .collect()
    };
    assert_eq!(
        [0, 1, 2, 3].map(carried),
        ["tcp", "tls", "tcp", "tcp"].map(|one| [&*format!("network.{one}").leak()].into())
    );
    let compared = compared(&recording);
    let machine = Machine::new(&quiet());
    let one_of = |arm| recording.steps.iter().find(|step| step.case.arm == arm).unwrap().case.clone();
    let ns = |case: Case| machine.message_ns(&case, compared.message_bytes);
    let truth = ns(one_of(1)) / ns(one_of(0)) - 1.0;
    let change = only(&compared).change.unwrap();
    assert!(
        truth.abs() > 0.01 && change.low.unwrap() < truth && truth < change.high.unwrap(),
        "{truth} {change:?}"
    );
    assert_eq!(compared.rung, "network.tcp", "what is told is of the plan as it stands");
}

/// A host that has not what an arm is carried by costs that arm alone, which is told.
#[test]
fn an_arm_that_no_host_can_carry_is_said_to_be_missing() {
    let plan = plan("microscope", "pipeline.transport=tls,pipeline.update=1MiB");
    let recording = session_with(&plan, &quiet(), 4, |host| {
        host.lacks =
            vec![UnavailableTransport { transport: "tls".into(), ..UnavailableTransport::default() }];
    });
    let compared = compared(&recording);
    let [tls, update] = compared.candidates.as_slice() else { panic!("two candidates") };
    assert_eq!((tls.verdict, tls.change), (Verdict::CannotTell, None));
    assert!(tls.reasons.iter().any(|why| why.contains("not measured")), "{tls:?}");
    assert_eq!(compared.blocks, 8, "what cannot be measured is not waited for");
    assert_eq!(update.verdict, Verdict::Same);
    let not = recording.unavailable.iter().find(|not| not.rung == "network.tls").unwrap();
    assert_eq!(not.arm, Some(1));
}

#[test]
fn a_control_that_is_not_slowed_is_no_proof() {
    let mut plan = plan("monitor", "shim.slowdown=5");
    plan.arms[2].settings.clear();
    let compared = compared(&session(&plan, &quiet(), 5));
    assert_eq!(compared.verdict, Verdict::CannotTell);
    assert!(only(&compared).reasons.iter().any(|why| why.contains("positive control")), "{compared:?}");
}

#[test]
fn a_comparison_on_an_application_comes_back_from_its_file() {
    let plan = plan("microscope", "pipeline.transport=tls");
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    let case = Case { id: "application.microscope".into(), ..Case::default() };
    assert_eq!(plan.graph(&case).unwrap().stages.len(), 4);
}
