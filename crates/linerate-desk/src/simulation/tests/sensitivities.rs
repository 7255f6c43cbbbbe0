//! What a rate is sensitive to on the made-up machine: what binds there, and nothing that has time to spare.

use super::headed;
use super::searches::{plan, searched, world};
use crate::analysis::{Compared, Sensitivity, Verdict, compare_arms};
use crate::diagnosis::suspects;
use crate::plan::{ArmKind, Why, World};
use crate::record::{KnobRefused, Recording};
use crate::schedule::{search_of, unusable_knob};
use crate::simulation::Simulation;

fn compared(recording: &Recording) -> Compared {
    compare_arms(recording).unwrap()
}

fn of<'c>(compared: &'c Compared, hindrance: &str) -> &'c Sensitivity {
    compared.sensitivities.iter().find(|one| one.hindrance == hindrance).unwrap()
}

#[test]
fn a_rate_is_sensitive_to_what_binds() {
    let world = world(&[]);
    let recording = searched(&plan(&world, &[], 90), &world, 1);
    let compared = compared(&recording);
    let sender = of(&compared, "sender-work");
    assert_eq!(sender.verdict, Verdict::Different, "{sender:?}");
    let change = sender.change.unwrap();
    assert!(change.low.unwrap() < -1.0 / 6.0 && change.high.unwrap() > -1.0 / 6.0, "{change:?}");
    assert_eq!(of(&compared, "sender-copy").verdict, Verdict::Different);
    // It has two fifths of its time to spare, and a fifth more of what it does takes less.
    assert_eq!(of(&compared, "receiver-work").verdict, Verdict::Same);
}

#[test]
fn what_holds_a_path_back_leaves_its_ends_time() {
    let world = world(&[("small-send-buffer", 3.0)]);
    let compared = compared(&searched(&plan(&world, &[], 90), &world, 2));
    for hindrance in ["sender-work", "receiver-work"] {
        assert_eq!(of(&compared, hindrance).verdict, Verdict::Same, "{hindrance}");
    }
}

#[test]
fn nothing_is_called_insensitive_where_blocks_scatter() {
    let world = World { noise: 0.3, between: 0.15, ..world(&[]) };
    let compared = compared(&searched(&plan(&world, &[], 90), &world, 3));
    let same: Vec<&Sensitivity> =
        compared.sensitivities.iter().filter(|one| one.verdict == Verdict::Same).collect();
    assert!(of(&compared, "sender-work").change.is_some() && same.is_empty(), "{same:?}");
}

#[test]
fn causes_are_told_first_and_alike() {
    let world = world(&[("small-send-buffer", 3.0)]);
    let with = plan(&world, &[], 90);
    let mut without = with.clone();
    without.arms.retain(|arm| arm.kind != ArmKind::Hindered);
    let [with, without] = [with, without].map(|plan| searched(&plan, &world, 4));
    let first = with.trials.iter().position(|trial| trial.why == Why::Hindered).unwrap();
    assert!(with.trials[first..].iter().all(|trial| matches!(trial.why, Why::Hindered | Why::Probe)));
    let gain = |recording: &Recording| {
        compared(recording).candidates.iter().map(|one| one.change).collect::<Vec<_>>()
    };
    assert_eq!(gain(&with), gain(&without));
}

#[test]
fn a_short_budget_is_the_causes() {
    let world = world(&[("small-send-buffer", 3.0)]);
    let recording = searched(&plan(&world, &[], 6), &world, 5);
    assert!(recording.spent_ns() <= 6_000_000_000);
    let compared = compared(&recording);
    assert!(compared.sensitivities.iter().all(|one| one.change.is_none()), "{:?}", compared.sensitivities);
}

#[test]
fn a_window_that_a_host_has_not_is_left_out() {
    let world = world(&[]);
    let plan = plan(&world, &[], 90);
    let mut recording = headed(&plan);
    for event in Simulation::new(&plan, &world, 1).hosts() {
        recording.push(event);
    }
    for host in &mut recording.hosts {
        let (knob, value) = ("socket.receive-buffer".into(), "16MiB".into());
        let (why, hint) = ("rmem_max is 212992".into(), "raise it".into());
        host.refused.push(KnobRefused { knob, value, why, hint });
    }
    assert!(unusable_knob(&plan, &recording).is_none());
    let schedule = search_of(&plan, &recording, suspects);
    assert!(schedule.unavailable().iter().all(|not| not.arm.is_none()), "{:?}", schedule.unavailable());
}
