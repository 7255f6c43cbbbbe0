//! Sizes that stood apart from their neighbours and were visited again.

use super::{Curve, deviation};
use crate::analysis::trial::half_round_trip_ns;
use crate::plan::Why;
use crate::record::{Recording, Trial};
use crate::statistic::median;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a size has to stand apart by, in each attempt, to be the same anomaly again.
const APART: f64 = 0.03;

/// A size that stood apart from its neighbours and was visited again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Anomaly {
    /// The size.
    pub message_bytes: u64,
    /// How far its time lay from where its neighbours put it, as a share: in the passes, then in each
    /// attempt after them.
    pub deviations: Vec<f64>,
    /// Whether it stood apart to the same side in at least two of three attempts: then it is there.
    pub recurs: bool,
}

/// Sizes and times of one message, by the pass of each attempt.
type Attempts = BTreeMap<u32, Vec<(u64, f64)>>;

/// Every size of a curve that was visited again, and what came of it.
pub fn anomalies(recording: &Recording, curve: &Curve) -> Vec<Anomaly> {
    let again = |trial: &&Trial| trial.why == Why::Rerun && trial.case == curve.case;
    let mut attempts: BTreeMap<(u64, u64, u64), Attempts> = BTreeMap::new();
    let mut steps: BTreeMap<(u32, u32), Vec<(u64, f64)>> = BTreeMap::new();
    for trial in recording.trials.iter().filter(again) {
        if let Some(time) = half_round_trip_ns(trial) {
            steps.entry((trial.pass, trial.step)).or_default().push((trial.block.message_bytes, time));
        }
    }
    for ((pass, _), visits) in steps {
        let mut sizes: Vec<u64> = visits.iter().map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if let [before, at, after] = sizes[..] {
            attempts.entry((before, at, after)).or_default().insert(pass, visits);
        }
    }
    attempts.into_iter().filter_map(|(sizes, passes)| anomaly(curve, sizes, &passes)).collect()
}

fn anomaly(curve: &Curve, (before, at, after): (u64, u64, u64), attempts: &Attempts) -> Option<Anomaly> {
    let sizes = [before, at, after];
    let ordinary = |size: u64| {
        let point = curve.at(size)?;
        let times = point.times().into_iter().filter(|(pass, _)| !attempts.contains_key(pass));
        median(times.map(|(_, time)| time))
    };
    let of_attempt = |visits: &Vec<(u64, f64)>| {
        let time = |size| median(visits.iter().filter(|(other, _)| *other == size).map(|(_, time)| *time));
        Some(deviation(sizes, [time(before)?, time(at)?, time(after)?]))
    };
    let first = deviation(sizes, [ordinary(before)?, ordinary(at)?, ordinary(after)?]);
    let deviations: Vec<f64> =
        std::iter::once(Some(first)).chain(attempts.values().map(of_attempt)).flatten().collect();
    let same = deviations.iter().filter(|one| one.abs() > APART && *one * first > 0.0).count();
    Some(Anomaly { message_bytes: at, recurs: same >= 2, deviations })
}
