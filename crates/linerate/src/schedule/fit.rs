//! What a run leaves out when its budget is too short for all of it: sizes first, then directions and
//! flows, so that enough passes remain for intervals.

use crate::plan::{Plan, Profile};
use crate::record::Unavailable;
use crate::vocabulary::{Pattern, RUNGS};

/// A way to measure less.
pub(super) struct Cut {
    /// What it leaves out, in words; empty for nothing.
    pub says: &'static str,
    /// Which sizes it keeps.
    keeps: fn(u64) -> bool,
    /// Whether only one flow from a to b is left.
    forward_only: bool,
    /// What is left of the long stream.
    timeline_ns: u64,
    /// The warm-up of a flow between hosts.
    warm_up_ns: u64,
}

const SECOND: u64 = 1_000_000_000;

/// From nothing left out to the least that is a ladder.
pub(super) const CUTS: &[Cut] = &[
    Cut { says: "", keeps: |_| true, forward_only: false, timeline_ns: 10 * SECOND, warm_up_ns: SECOND / 2 },
    Cut {
        says: "every other size",
        keeps: |size| size.trailing_zeros().is_multiple_of(2),
        forward_only: false,
        timeline_ns: 2 * SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "every other size, the way back and several flows",
        keeps: |size| size.trailing_zeros().is_multiple_of(2),
        forward_only: true,
        timeline_ns: SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "all sizes but 64 B, 64 KiB and 1 MiB, the way back, several flows and the time line",
        keeps: |size| [64, 64 << 10, 1 << 20].contains(&size),
        forward_only: true,
        timeline_ns: 0,
        warm_up_ns: SECOND / 4,
    },
];

/// The plan with this much left out; sizes that are no power of two are left out first.
pub(super) fn cut(plan: &Plan, cut: &Cut) -> Plan {
    let profile = &plan.profile;
    let regular = |size: &u64| cut.says.is_empty() || (size.is_power_of_two() && (cut.keeps)(*size));
    Plan {
        profile: Profile {
            sizes: profile.sizes.iter().copied().filter(regular).collect(),
            timeline_ns: profile.timeline_ns.min(cut.timeline_ns),
            warm_up_ns: profile.warm_up_ns.min(cut.warm_up_ns),
            forward_only: profile.forward_only || cut.forward_only,
            ..profile.clone()
        },
        ..plan.clone()
    }
}

/// What the cut plan does not measure though the rungs would allow it.
pub(super) fn left_out(plan: &Plan, budget_ns: u64) -> Vec<Unavailable> {
    if !plan.profile.forward_only {
        return Vec::new();
    }
    let rungs = RUNGS.iter().filter(|rung| plan.rungs.iter().any(|id| id == rung.id));
    let both_ways = rungs.filter(|rung| rung.patterns.contains(&Pattern::Bidirectional));
    both_ways
        .map(|rung| Unavailable {
            rung: rung.id.into(),
            pattern: Some(Pattern::Bidirectional),
            wait: None,
            host: None,
            why: format!("left out: {} s have no time for it", budget_ns / SECOND),
            hint: "give it more time: --budget 2m".into(),
        })
        .collect()
}
