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
    /// Whether the rungs beside the chain are left.
    siblings: bool,
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
    Cut {
        says: "",
        keeps: |_| true,
        siblings: true,
        forward_only: false,
        timeline_ns: 10 * SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "every other size",
        keeps: |size| size.trailing_zeros().is_multiple_of(2),
        siblings: true,
        forward_only: false,
        timeline_ns: 2 * SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "every other size and the rungs beside the chain",
        keeps: |size| size.trailing_zeros().is_multiple_of(2),
        siblings: false,
        forward_only: false,
        timeline_ns: 2 * SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "every other size, the rungs beside the chain, the way back and several flows",
        keeps: |size| size.trailing_zeros().is_multiple_of(2),
        siblings: false,
        forward_only: true,
        timeline_ns: SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "all sizes but 64 B, 64 KiB and 1 MiB, the rungs beside the chain, the way back, several flows and \
               the time line",
        keeps: |size| [64, 64 << 10, 1 << 20].contains(&size),
        siblings: false,
        forward_only: true,
        timeline_ns: 0,
        warm_up_ns: SECOND / 4,
    },
];

/// The plan with this much left out; sizes that are no power of two are left out first.
pub(super) fn cut(plan: &Plan, cut: &Cut) -> Plan {
    let profile = &plan.profile;
    let regular = |size: &u64| cut.says.is_empty() || (size.is_power_of_two() && (cut.keeps)(*size));
    let is_kept = |id: &String| cut.siblings || plan.named || !is_sibling(id);
    Plan {
        rungs: plan.rungs.iter().filter(|id| is_kept(id)).cloned().collect(),
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

/// Whether a rung stands beside the chain.
fn is_sibling(id: &str) -> bool {
    RUNGS.iter().any(|rung| rung.id == id && rung.sibling)
}

/// What the cut plan does not measure though the whole one would.
pub(super) fn left_out(whole: &Plan, plan: &Plan) -> Vec<Unavailable> {
    let seconds = whole.budget_ns.unwrap_or(0) / SECOND;
    let not = |rung: &str, pattern| Unavailable {
        rung: rung.into(),
        pattern,
        wait: None,
        host: None,
        why: format!("left out: {seconds} s have no time for it"),
        hint: "give it more time: --budget 2m".into(),
    };
    let dropped = whole.rungs.iter().filter(|id| !plan.rungs.contains(id)).map(|id| not(id, None));
    let rungs = RUNGS.iter().filter(|rung| plan.rungs.iter().any(|id| id == rung.id));
    let both_ways = rungs.filter(|rung| rung.patterns.contains(&Pattern::Bidirectional));
    let is_cut = plan.profile.forward_only && !whole.profile.forward_only;
    let both_ways = both_ways.filter(|_| is_cut).map(|rung| not(rung.id, Some(Pattern::Bidirectional)));
    dropped.chain(both_ways).collect()
}
