//! Sizes that mind three bytes, and when a share that was paired within passes is worth a word.

use super::Curve;
use crate::statistic::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A size that is quicker than the sizes three bytes beside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unaligned {
    /// The size.
    pub message_bytes: u64,
    /// What three bytes beside it cost on average, as a share of its time, paired within passes.
    pub cost: Estimate,
}

/// The lower end of the interval has to reach this share.
const LEAST_LOW: f64 = 0.01;
/// What an odd size may cost.
const UNALIGNED: f64 = 0.02;
/// The distance of an odd size.
const BESIDE: u64 = 3;

/// The sizes beside which an odd one costs more.
pub(super) fn unaligned(curve: &Curve) -> Vec<Unaligned> {
    let beside = |message_bytes: u64| {
        let (below, above) = (message_bytes.checked_sub(BESIDE)?, message_bytes.checked_add(BESIDE)?);
        let cost = paired(curve, message_bytes, |pass| {
            let time = |bytes| curve.at(bytes)?.message_ns(pass);
            // The mean of both neighbours: what the bytes themselves take falls out.
            Some((time(below)? + time(above)?) / 2.0 / time(message_bytes)? - 1.0)
        })?;
        is_worth_a_word(&cost, UNALIGNED).then_some(Unaligned { message_bytes, cost })
    };
    curve.points.iter().filter_map(|point| beside(point.message_bytes)).collect()
}

/// The sizes three bytes beside those: a line through both kinds would see a step at each.
pub(super) fn odd_sizes(curve: &Curve) -> BTreeSet<u64> {
    let round = unaligned(curve).into_iter().map(|one| one.message_bytes);
    round.flat_map(|size| [size - BESIDE, size + BESIDE]).collect()
}

pub(super) fn paired(
    curve: &Curve,
    message_bytes: u64,
    number: impl Fn(u32) -> Option<f64>,
) -> Option<Estimate> {
    Estimate::from_values(curve.at(message_bytes)?.passes.keys().filter_map(|pass| number(*pass)))
}

pub(super) fn is_worth_a_word(share: &Estimate, least: f64) -> bool {
    share.median >= least && share.low.is_some_and(|low| low >= LEAST_LOW)
}
