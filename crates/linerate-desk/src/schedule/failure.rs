//! What a failure changes for what follows: how long nothing may move before a step fails, and whether the run goes on.

use super::entries::Entry;
use crate::analysis::half_round_trip_ns;
use crate::plan::{Case, HostId, PATIENCE_NS, Plan};
use crate::record::{NotMeasured, Recording};
use crate::vocabulary::{Pattern, Rung};
use std::collections::BTreeSet;

/// Where something failed before, nothing may move for so long, or for so many round trips: a case that works is not
/// far slower than the others, and one that does not is to cost little time.
const SHORT_NS: u64 = 1_000_000_000;
const ROUND_TRIPS: u64 = 20;

/// Where something fails, a run may take so many times what was predicted of it, or so long.
const MOST_TIMES: u64 = 2;
const LEAST_NS: u64 = 60_000_000_000;

/// How long nothing may move in a step of this entry.
pub(super) fn patience_ns(entry: &Entry, recording: &Recording) -> u64 {
    // A process that is lost says nothing of a path.
    let has_failed = |not: &NotMeasured| {
        !not.fell_with_host() && not.case.as_ref().is_some_and(|failed| is_same_path(failed, &entry.case))
    };
    if !recording.unavailable.iter().any(has_failed) {
        return PATIENCE_NS;
    }
    let exchanges = recording
        .trials
        .iter()
        .filter(|trial| trial.case.pattern == Pattern::PingPong && is_same_path(&trial.case, &entry.case));
    let fastest = exchanges.filter_map(half_round_trip_ns).reduce(f64::min);
    let round_trip_ns = fastest.map_or(0.0, |half| 2.0 * half).max(entry.path.round_trip_ns);
    SHORT_NS.max(ROUND_TRIPS * round_trip_ns as u64).min(PATIENCE_NS)
}

/// Whether both take the same path: a rung between the same hosts, whatever the direction and the settings.
fn is_same_path(one: &Case, other: &Case) -> bool {
    one.rung == other.rung && hosts(one) == hosts(other)
}

fn hosts(case: &Case) -> BTreeSet<HostId> {
    case.pairs.iter().flat_map(|pair| [pair.from, pair.to]).collect()
}

/// Whether failures have taken so much time that no more is tried.
pub(super) fn are_too_many(recording: &Recording, predicted_ns: u64) -> bool {
    // Of a run that goes on with an earlier one its own failures count.
    let begun_ns = recording.additions.last().map_or(0, |addition| addition.at_ns);
    // A process of many hosts that is lost costs its own time, a few times at most, and says nothing of the others.
    let is_of_many = recording.plan().is_some_and(Plan::may_lose_hosts);
    let is_own = |not: &&NotMeasured| not.at_ns >= Some(begun_ns) && !(is_of_many && not.fell_with_host());
    let own = recording.unavailable.iter().filter(is_own);
    own.into_iter().any(|not| is_late(not, recording, predicted_ns))
}

/// Whether something failed so late that nothing is tried again that may fail likewise.
pub(super) fn is_late(not: &NotMeasured, recording: &Recording, predicted_ns: u64) -> bool {
    // By the run that it fell into: one that goes on with that plans what it planned.
    let begun_ns = |at_ns: u64| {
        let begun = recording.additions.iter().map(|addition| addition.at_ns);
        begun.filter(|begun| *begun <= at_ns).max().unwrap_or(0)
    };
    let after_ns = not.at_ns.map(|at_ns| at_ns - begun_ns(at_ns));
    after_ns.is_some_and(|after_ns| after_ns > LEAST_NS.max(MOST_TIMES * predicted_ns))
}

/// Whether a case may fail as that one did: over the same network, or within the same host.
pub(super) fn may_fail_likewise(case: &Case, not: &NotMeasured) -> bool {
    let place = |case: &Case| Rung::named(&case.rung).map(|rung| rung.place);
    let is_likewise = |failed: &Case| place(failed) == place(case) && hosts(failed) == hosts(case);
    not.case.as_deref().is_some_and(is_likewise)
}
