//! The faults that a plan puts in by hand.

use crate::plan::{Fault, Plan, Setting, Target};
use crate::vocabulary::{Knob, Rung};

/// The faults that the plan puts into the lab.
pub(super) fn lab_faults(plan: Option<&Plan>) -> &[Fault] {
    match plan.map(|plan| &plan.target) {
        Some(Target::Lab(topology)) => &topology.faults,
        _ => &[],
    }
}

/// The faults of the lab, and those that knobs put into a rung without one of them.
pub(super) fn all_faults(plan: Option<&Plan>, rung: &str) -> String {
    let of_lab = lab_faults(plan).iter().map(ToString::to_string);
    let is_own = plan.is_none_or(|plan| match &plan.target {
        Target::Lab(topology) => topology.settings().is_empty(),
        _ => true,
    });
    let of_knobs = Some(faults(plan, rung)).filter(|faults| is_own && !faults.is_empty());
    of_lab.chain(of_knobs).collect::<Vec<_>>().join(", ")
}

/// The faults that the plan puts into a rung: `shim.spin=5us`.
pub(super) fn faults(plan: Option<&Plan>, rung: &str) -> String {
    let transport = Rung::named(rung).map_or("", |rung| rung.transport.name);
    let plants = |setting: &&Setting| {
        let concerns = |knob: &&Knob| knob.acts_on(transport);
        Knob::named(&setting.knob).filter(concerns).is_some_and(|knob| knob.plants_fault(&setting.value))
    };
    let Some(plan) = plan else { return String::new() };
    // Of several settings of one knob the last one holds.
    let holds = |setting: &&Setting| {
        plan.settings_for(rung, 0).filter(|other| other.knob == setting.knob).last() == Some(*setting)
    };
    let set = plan.settings_for(rung, 0).filter(holds);
    let set = set.filter(plants);
    set.map(|setting| format!("{}={}", setting.knob, setting.value)).collect::<Vec<_>>().join(", ")
}
