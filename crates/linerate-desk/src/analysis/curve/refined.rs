//! What the closer looks at a curve found: the pairs on both sides of each step.

use super::Refined;
use crate::analysis::trial::half_round_trip_ns;
use crate::plan::{Case, Why};
use crate::record::{Recording, Trial};
use std::collections::BTreeMap;

/// Every step of a case that was bisected, with its pairs, in the order in which they were measured.
pub fn refined(recording: &Recording, case: &Case) -> Vec<Refined> {
    let of_case = |trial: &&Trial| trial.why == Why::Pairs && trial.case == *case;
    let mut steps: BTreeMap<u32, Vec<(u64, f64)>> = BTreeMap::new();
    for trial in recording.trials.iter().filter(of_case) {
        if let Some(time) = half_round_trip_ns(trial) {
            steps.entry(trial.step).or_default().push((trial.block.message_bytes, time));
        }
    }
    steps.into_values().filter_map(|visits| pairs(&visits)).collect()
}

fn pairs(visits: &[(u64, f64)]) -> Option<Refined> {
    let below = visits.iter().map(|(size, _)| *size).min()?;
    let above = visits.iter().map(|(size, _)| *size).max().filter(|above| *above > below)?;
    let pair = |pair: &[(u64, f64)]| match pair {
        [(first, a), (second, b)] if first < second => Some((*a, *b)),
        [(first, a), (second, b)] if first > second => Some((*b, *a)),
        _ => None,
    };
    Some(Refined { below, above, pairs: visits.chunks(2).filter_map(pair).collect() })
}
