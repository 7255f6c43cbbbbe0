//! Sizes that stand apart from both their neighbours.

use super::{Candidate, Curve, Point, candidates};
use crate::statistic::Estimate;

/// How far a time must lie from where its neighbours put it, as a share.
const APART: f64 = 0.03;

/// A size that stands apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlying {
    /// The size.
    pub message_bytes: u64,
    /// The measured size before it.
    pub before: u64,
    /// The measured size after it.
    pub after: u64,
    /// How far its time lies from where its neighbours put it, as a share of that.
    pub deviation: f64,
}

/// The sizes of a curve whose interval leaves out what a line between their neighbours says, by more than
/// a few per cent. A size next to a break is no anomaly.
pub fn outlying(curve: &Curve) -> Vec<Outlying> {
    let borders = candidates(curve);
    let of_three = |points: &[Point]| outlying_middle(points, &borders);
    curve.points.windows(3).filter_map(of_three).collect()
}

/// How far the middle of three sizes lies from the line between the other two.
pub(in crate::analysis) fn deviation(sizes: [u64; 3], times: [f64; 3]) -> f64 {
    let [from, at, to] = sizes.map(|size| size as f64);
    let between = times[0] + (times[2] - times[0]) * (at - from) / (to - from);
    times[1] / between - 1.0
}

/// Whether two intervals have a number in common.
fn meets(one: &Estimate, other: &Estimate) -> bool {
    match (one.low, one.high, other.low, other.high) {
        (Some(low), Some(high), Some(from), Some(to)) => low <= to && from <= high,
        _ => false,
    }
}

fn outlying_middle(points: &[Point], borders: &[Candidate]) -> Option<Outlying> {
    let [before, point, after] = points else { return None };
    let sizes = [before, point, after].map(|point| point.message_bytes);
    let near = |border: &Candidate| sizes.contains(&border.below) && sizes.contains(&border.above);
    if borders.iter().any(near) {
        return None;
    }
    let [first, middle, last] = [before.time_ns()?, point.time_ns()?, after.time_ns()?];
    // A size at the edge of a step is as one of its neighbours is.
    if meets(&first, &middle) || meets(&middle, &last) {
        return None;
    }
    let deviation = deviation(sizes, [first.median, middle.median, last.median]);
    let nearest = if deviation > 0.0 { middle.low? } else { middle.high? };
    let sure = self::deviation(sizes, [first.median, nearest, last.median]);
    let stands_apart = deviation.abs() > APART && sure.abs() > APART && sure * deviation > 0.0;
    stands_apart.then_some(Outlying {
        message_bytes: point.message_bytes,
        before: before.message_bytes,
        after: after.message_bytes,
        deviation,
    })
}
