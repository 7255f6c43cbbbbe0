//! How long a visit of a search lasts, by the round trip of the way.

use crate::analysis::throughput_bps;
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

/// Where the path as it stands gave rates so far apart, a visit lasts longer, up to so many times, if there is time for it.
const SCATTER: f64 = 1.5;
const MOST_TIMES: f64 = 4.0;

/// With longer visits where rates scatter, as where packets are lost: what a short visit sees hangs on when one was.
pub(super) fn stretched(entry: Entry, slack: f64, recording: &Recording) -> Entry {
    let of_base = recording.trials.iter().filter(|trial| trial.pass > 0 && trial.case.arm == 0);
    let rates: Vec<f64> = of_base.filter_map(throughput_bps).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    if most < SCATTER * least {
        return entry;
    }
    let longer = |ns: u64| (ns as f64 * slack.clamp(1.0, MOST_TIMES)).min(LONGEST_NS).max(ns as f64) as u64;
    Entry { trial_ns: longer(entry.trial_ns), warm_up_ns: longer(entry.warm_up_ns), ..entry }.priced()
}

/// The round trip that the connections of the plan as it stands saw at least; nothing where none did.
pub(super) fn round_trip_ns(recording: &Recording) -> f64 {
    let of_base = recording.steps.iter().filter(|step| step.case.arm == 0);
    let sockets = of_base.flat_map(|step| &step.sockets);
    let least =
        sockets.filter_map(|socket| socket.last.get("min_rtt")).filter(|us| **us < u64::from(u32::MAX));
    median(least.map(|us| 1e3 * *us as f64)).unwrap_or(0.0)
}

/// What a visit takes at least, by what a message took in the discarded pass: few of long ones are more than a visit is to last.
pub(super) fn least_visit_ns(entry: &Entry, recording: &Recording) -> u64 {
    let mut probes = recording.trials.iter().filter(|trial| trial.pass == 0 && trial.case.arm == 0);
    let message_ns = probes.next_back().and_then(|trial| {
        let longest = trial.roles.iter().flat_map(|role| &role.flows).map(|flow| flow.duration_ns).max()?;
        longest.checked_div(trial.block.messages * u64::from(trial.block.slices))
    });
    let message_ns = message_ns.unwrap_or(0);
    let least_ns = message_ns.saturating_mul(entry.least_messages(message_ns as f64));
    entry.warm_up_ns.max(message_ns).saturating_add(entry.trial_ns.max(least_ns))
}
