//! What a comparison of arms measures in a visit, and how often it visits each arm in a block.

use super::blocks::LEAST_ROUND_TRIPS;
use super::coverage::Coverage;
use super::entries::{Entry, entries};
use crate::plan::{ArmKind, Comparison, Plan};
use crate::record::{NotMeasured, Recording};
use crate::vocabulary::{Pattern, Rung, Wait};

/// How an arm is visited in a block: there and back so many times, and so many trials of what decides in a
/// visit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub rounds: u64,
    pub trials: usize,
}

/// What differs from visit to visit (where threads and pages lie) is much more than what differs from
/// trial to trial within one, so many short visits tell more than a few long ones.
const MANY: Pace = Pace { rounds: 12, trials: 1 };

/// Round trips scatter less from visit to visit than streams do.
const SEVERAL: Pace = Pace { rounds: 3, trials: 1 };

/// Where each visit has to warm up for long, its trials are used.
const FEW: Pace = Pace { rounds: 1, trials: 3 };

/// Over a long path a trial takes a second, and a diagnosis has many arms.
const ONE: Pace = Pace { rounds: 1, trials: 1 };

/// Each visit of an application has connections of its own between all of its hosts.
const OF_APPLICATION: Pace = Pace { rounds: 2, trials: 1 };

/// How long an arm of a search takes in a block.
const SEARCHING_NS: u64 = 400_000_000;

/// There and back so often at most, and what a visit takes beside its trial.
const MOST_SEARCHING: u64 = 6;
const STEP_NS: u64 = 10_000_000;

/// The longest warm-up that many visits can pay.
const SHORT_WARM_UP_NS: u64 = 50_000_000;

/// Visits of a round: there and back.
pub(super) const VISITS: u64 = 2;

/// What a comparison measures.
pub(super) struct Visited {
    /// What a visit of the plan as it stands measures, what decides first.
    pub entries: Vec<Entry>,
    /// What those of the other arms do, of an application: each may be carried otherwise.
    pub own: Vec<Entry>,
    pub pace: Pace,
    pub unavailable: Vec<NotMeasured>,
}

impl Visited {
    pub fn new(plan: &Plan, comparison: &Comparison, recording: &Recording) -> Visited {
        let (all, unavailable) = entries(plan, recording, &Coverage::WHOLE);
        if plan.view.application().is_some() {
            let (mut entries, mut own): (Vec<Entry>, Vec<Entry>) =
                all.into_iter().partition(|entry| entry.case.arm == 0);
            // Without a candidate, or what it is held against, there is nothing to compare.
            if entries.is_empty() || !own.iter().any(|entry| is_candidate(plan, entry.case.arm)) {
                entries.clear();
                own.clear();
            }
            let is_far = entries.iter().any(|entry| entry.path.is_long());
            let pace = if is_far { ONE } else { OF_APPLICATION };
            return Visited { entries, own, pace, unavailable };
        }
        let (entries, pace) = of_rung(plan, comparison, all);
        let unavailable = unavailable.into_iter().filter(concerns).collect();
        Visited { entries, own: Vec::new(), pace, unavailable }
    }
}

fn is_candidate(plan: &Plan, arm: u32) -> bool {
    let arm = (arm as usize).checked_sub(1).and_then(|at| plan.arms.get(at));
    arm.is_some_and(|arm| arm.kind == ArmKind::Candidate)
}

/// A stream and a ping-pong of the plan's rung.
fn of_rung(plan: &Plan, comparison: &Comparison, all: Vec<Entry>) -> (Vec<Entry>, Pace) {
    let decides = plan.view.decides(comparison);
    let mut entries: Vec<Entry> = all.into_iter().filter(is_compared).collect();
    entries.retain(|entry| entry.sizes.contains(&size(plan, entry.case.pattern)));
    entries.sort_by_key(|entry| entry.case.pattern != decides);
    let warm_up_ns = entries.first().map_or(0, |entry| entry.warm_up_ns.min(plan.profile.warm_up_ns));
    // Over a long path a connection has to find its rate each time.
    let is_far = entries.iter().any(|entry| entry.path.is_long());
    let is_short = warm_up_ns <= SHORT_WARM_UP_NS && !is_far;
    let has_experiments = plan.arms.iter().any(|arm| arm.cause.is_some());
    let pace = match decides {
        _ if plan.tuning().is_some() => searching(&entries),
        Pattern::PingPong => SEVERAL,
        _ if is_short => MANY,
        _ if is_far && has_experiments => ONE,
        _ => FEW,
    };
    for entry in &mut entries {
        let trials = trials(entry, decides, pace);
        entry.sizes = vec![size(plan, entry.case.pattern)];
        if !entry.path.is_long() {
            entry.trial_ns = entry.trial_ns.min(plan.profile.trial_ns);
            entry.warm_up_ns = entry.warm_up_ns.min(plan.profile.warm_up_ns);
        }
        let sizes = entry.sizes.repeat(trials);
        entry.nominal_ns = entry.with_sizes(sizes).nominal_ns;
    }
    // Without what decides nothing can be compared, and what is watched alone is no comparison.
    if entries.first().is_none_or(|entry| entry.case.pattern != decides) {
        entries.clear();
    }
    (entries, pace)
}

/// A search has many arms, of which few stay: as many short visits as fit into its share of a block, at least one there and
/// one back.
fn searching(entries: &[Entry]) -> Pace {
    let trial_ns = entries.first().map_or(0, |entry| {
        let round_trips = (LEAST_ROUND_TRIPS * entry.path.round_trip_ns) as u64;
        entry.trial_ns.max(round_trips) + entry.warm_up_ns + STEP_NS
    });
    let rounds = SEARCHING_NS / (VISITS * trial_ns).max(1);
    Pace { rounds: rounds.clamp(1, MOST_SEARCHING), trials: 1 }
}

/// One connection, from the first host to the second, both ends sleeping; those of a library that only polls as they do.
pub(super) fn is_compared(entry: &Entry) -> bool {
    let case = &entry.case;
    entry.rung.transport.ends == 2
        && (case.wait == Wait::Sleeping || entry.rung.transport.only_polls)
        && case.flows == 1
        && case.pairs.is_forward()
        && case.pattern != Pattern::Bidirectional
        && !case.timeline
}

/// Whether what is not measured would be compared.
pub(super) fn concerns(not: &NotMeasured) -> bool {
    let only_polls = Rung::named(&not.rung).is_some_and(|rung| rung.transport.only_polls);
    not.wait.is_none_or(|wait| wait == Wait::Sleeping || only_polls)
}

/// The message size that a pattern is compared at: the plan has a small one and a large one.
pub(super) fn size(plan: &Plan, pattern: Pattern) -> u64 {
    let sizes = plan.profile.sizes.iter().copied();
    let size = if pattern == Pattern::PingPong { sizes.min() } else { sizes.max() };
    size.unwrap_or_default()
}

/// Trials of a visit.
pub(super) fn trials(entry: &Entry, decides: Pattern, pace: Pace) -> usize {
    if entry.case.pattern == decides { pace.trials } else { 1 }
}
