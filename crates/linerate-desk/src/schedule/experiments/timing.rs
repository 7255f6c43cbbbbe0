//! How long a visit of a search lasts, by the round trip of the way.

use crate::plan::Plan;
use crate::record::Recording;
use crate::schedule::entries::Entry;
use crate::statistic::median;

/// On a way of which round trips count, a window has grown after so many, and a trial lasts as long.
const ROUND_TRIPS: f64 = 25.0;

/// Nothing warms up or lasts longer, however long the way is.
const LONGEST_NS: f64 = 2.5e9;

/// With the time that a visit takes on a way of so long a round trip.
pub(super) fn timed(entry: Entry, plan: &Plan, round_trip_ns: f64) -> Entry {
    let lasting_ns = (ROUND_TRIPS * round_trip_ns.max(entry.path.round_trip_ns)).min(LONGEST_NS) as u64;
    Entry {
        trial_ns: plan.profile.trial_ns.max(lasting_ns),
        warm_up_ns: plan.profile.warm_up_ns.max(lasting_ns),
        ..entry
    }
    .priced()
}

/// The round trip that the connections of the plan as it stands saw at least; nothing where none did.
pub(super) fn round_trip_ns(recording: &Recording) -> f64 {
    let of_base = recording.steps.iter().filter(|step| step.case.arm == 0);
    let sockets = of_base.flat_map(|step| &step.sockets);
    let least =
        sockets.filter_map(|socket| socket.last.get("min_rtt")).filter(|us| **us < u64::from(u32::MAX));
    median(least.map(|us| 1e3 * *us as f64)).unwrap_or(0.0)
}
