//! What a run leaves out when its budget is too short for all of it: sizes first, then directions and
//! flows, so that enough passes remain for intervals.

use super::coverage::Coverage;
use crate::plan::{Plan, Profile};
use crate::record::{NotMeasured, Reason};
use crate::vocabulary::{Pattern, Place, RUNGS, ReasonKind, Rung};

/// A way to measure less.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// What it leaves out, in words; empty for nothing.
    pub says: &'static str,
    /// Which sizes it keeps.
    keeps: fn(u64) -> bool,
    /// What it leaves out between the hosts besides.
    pub coverage: Coverage,
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
        coverage: Coverage::WHOLE,
        siblings: true,
        forward_only: false,
        timeline_ns: 10 * SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "every other size",
        keeps: |size| size.trailing_zeros().is_multiple_of(2),
        coverage: Coverage::WHOLE,
        siblings: true,
        forward_only: false,
        timeline_ns: 2 * SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "every other size and the rungs beside the chain",
        keeps: |size| size.trailing_zeros().is_multiple_of(2),
        coverage: Coverage::WHOLE,
        siblings: false,
        forward_only: false,
        timeline_ns: 2 * SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "every other size, the rungs beside the chain, the way back and several flows",
        keeps: |size| size.trailing_zeros().is_multiple_of(2),
        coverage: Coverage::WHOLE,
        siblings: false,
        forward_only: true,
        timeline_ns: SECOND,
        warm_up_ns: SECOND / 2,
    },
    Cut {
        says: "all sizes but 64 B, 64 KiB and 1 MiB, the rungs beside the chain, the way back, several flows and \
               the time line",
        keeps: |size| [64, 64 << 10, 1 << 20].contains(&size),
        coverage: Coverage::WHOLE,
        siblings: false,
        forward_only: true,
        timeline_ns: 0,
        warm_up_ns: SECOND / 4,
    },
];

/// The same where the way between the hosts is slow: what costs round trips goes first.
pub(super) const FAR_CUTS: &[Cut] = &[
    CUTS[0],
    Cut { says: "most sizes between the hosts", coverage: Coverage::FEW_SIZES, ..CUTS[0] },
    Cut {
        says: "all sizes but 64 B, 64 KiB and 1 MiB between the hosts",
        coverage: Coverage::THREE_SIZES,
        timeline_ns: 2 * SECOND,
        ..CUTS[0]
    },
    Cut {
        says: "all sizes but 64 B, 64 KiB and 1 MiB, the way back, several flows and what stands beside the chain \
               between the hosts, and the time line",
        coverage: Coverage::CHAIN,
        timeline_ns: 0,
        ..CUTS[0]
    },
    Cut {
        says: "all between the hosts but one flow from a to b at the sizes of the ladder, and every other size",
        coverage: Coverage::LEAST,
        timeline_ns: 0,
        ..CUTS[1]
    },
    Cut {
        says: "all between the hosts but one flow from a to b at the sizes of the ladder, all sizes but 64 B, \
               64 KiB and 1 MiB, and the rungs beside the chain",
        coverage: Coverage::LEAST,
        ..CUTS[4]
    },
];

/// The plan with this much left out; sizes that are no power of two are left out first.
pub(super) fn cut(plan: &Plan, cut: &Cut) -> Plan {
    let profile = &plan.profile;
    let regular = |size: &u64| cut.says.is_empty() || (size.is_power_of_two() && (cut.keeps)(*size));
    let is_kept = |id: &str| cut.siblings || plan.view.is_named() || !is_sibling(id);
    Plan {
        view: plan.view.clone().only(is_kept),
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

/// Why something is left out, and what to try.
pub(super) struct Reasons {
    /// Between the hosts.
    pub far: String,
    /// Within a host.
    pub near: String,
    /// What to try.
    pub hint: String,
}

/// What the cut plan does not measure though the whole one would, and why.
pub(super) fn left_out(
    whole: &Plan,
    (plan, coverage): (&Plan, &Coverage),
    reasons: &Reasons,
) -> Vec<NotMeasured> {
    let not = |rung: &Rung, pattern, what: &str| NotMeasured {
        rung: rung.id.into(),
        pattern,
        reason: Reason::new(
            ReasonKind::NoTime,
            match rung.place {
                Place::Network => format!("left out{what}: {}", reasons.far),
                Place::InHost => format!("left out{what}: {}", reasons.near),
            },
            &reasons.hint,
        ),
        ..NotMeasured::default()
    };
    let is_kept = |rung: &&Rung| plan.view.rungs().iter().any(|id| id == rung.id) && coverage.has(plan, rung);
    let (kept, dropped): (Vec<&Rung>, Vec<&Rung>) =
        RUNGS.iter().filter(|rung| whole.view.rungs().iter().any(|id| id == rung.id)).partition(is_kept);
    let dropped = dropped.into_iter().map(|rung| not(rung, None, ""));
    let is_cut = |rung: &&&Rung| {
        let forward_only =
            plan.profile.forward_only || (coverage.forward_only && rung.place == Place::Network);
        forward_only && !whole.profile.forward_only && rung.patterns.contains(&Pattern::Bidirectional)
    };
    let both_ways = kept.iter().filter(is_cut).map(|rung| not(rung, Some(Pattern::Bidirectional), ""));
    let far_sizes = kept.iter().filter(|rung| rung.place == Place::Network && !rung.sibling);
    let far_sizes = far_sizes.filter_map(|rung| {
        let what = coverage.left_of_sizes(&plan.profile.sizes)?;
        Some(not(rung, Some(Pattern::Stream), &format!(", {what}")))
    });
    dropped.chain(both_ways).chain(far_sizes).collect()
}
