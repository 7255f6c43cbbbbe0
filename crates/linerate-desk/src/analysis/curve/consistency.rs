//! What a curve should not do: get quicker with size, or be beaten by its own parts.
//!
//! Träff, Gropp and Thakur, Self-consistent MPI performance guidelines, IEEE Transactions on Parallel and
//! Distributed Systems 21(5), 2010, ask the same of message passing.

use super::Curve;
use super::segment::Fit;
use super::unaligned::{is_worth_a_word, paired};
use crate::statistic::{Estimate, isotonic};
use crate::vocabulary::Rung;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A size that takes longer than a larger one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slower {
    /// The size.
    pub message_bytes: u64,
    /// The largest size that is quicker beyond both intervals.
    pub than_bytes: u64,
    /// The time above the nearest curve that never falls, as a share of it.
    pub share: f64,
}

/// A size that is quicker in parts, which use one buffer in turn: a cache that holds a part helps it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Split {
    /// The size.
    pub message_bytes: u64,
    /// The number of equal messages that it should be sent as.
    pub parts: u64,
    /// The share of the time that is saved, paired within passes.
    pub saved: Estimate,
}

/// Many sizes are looked at, so that an interval alone would call a few of them by chance: a share below
/// this one is not worth a word.
const LEAST_SHARE: f64 = 0.03;
/// The sizes that take longer than a larger one.
pub(super) fn slower(curve: &Curve) -> Vec<Slower> {
    let Some(fit) = Fit::to_curve(curve) else { return Vec::new() };
    let weighted: Vec<(f64, f64)> =
        fit.samples.iter().map(|one| (one.time, (one.sigma * one.time).powi(-2))).collect();
    let time = |bytes: &u64| Some((*bytes, curve.at(*bytes)?.time_ns()?));
    let times: Vec<(u64, Estimate)> = fit.sizes.iter().filter_map(time).collect();
    let slower = |(index, level): (usize, f64)| {
        let (message_bytes, time) = times.get(index)?;
        let low = time.low.filter(|low| *low > level)?;
        let quicker = |(_, other): &&(u64, Estimate)| other.high.is_some_and(|high| high < low);
        let than = times[index + 1..].iter().rev().find(quicker)?;
        let share = time.median / level - 1.0;
        (share >= LEAST_SHARE).then_some(Slower { message_bytes: *message_bytes, than_bytes: than.0, share })
    };
    isotonic(&weighted).into_iter().enumerate().filter_map(slower).collect()
}

/// The sizes that are quicker in parts, each with the number of parts that saves most. Where nothing is
/// sent there are no messages to be split.
pub(super) fn splits(curve: &Curve) -> Vec<Split> {
    if !is_sent(&curve.case.rung) {
        return Vec::new();
    }
    let split = |message_bytes: u64| {
        let parts = (1..message_bytes.ilog2() + 1).map(|power| 1u64 << power);
        let saved = parts.filter(|parts| message_bytes.is_multiple_of(*parts)).filter_map(|parts| {
            let part = message_bytes / parts;
            let saved = paired(curve, message_bytes, |pass| {
                Some(
                    1.0 - parts as f64 * curve.at(part)?.message_ns(pass)?
                        / curve.at(message_bytes)?.message_ns(pass)?,
                )
            })?;
            is_worth_a_word(&saved, LEAST_SHARE).then_some(Split { message_bytes, parts, saved })
        });
        saved.max_by(|a, b| a.saved.median.total_cmp(&b.saved.median))
    };
    let sizes = curve.points.iter().map(|point| point.message_bytes).filter(|size| *size > 1);
    sizes.filter_map(split).collect()
}

/// Whether a rung has two ends.
fn is_sent(rung: &str) -> bool {
    Rung::named(rung).is_none_or(|rung| rung.transport.ends > 1)
}
