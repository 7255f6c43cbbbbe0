//! The straight lines that describe a curve.

use super::{Curve, unaligned};
use crate::statistic::{Estimate, Line, Penalty, Piece, Sample, median, piecewise, samples};
use std::collections::BTreeMap;

/// A range of sizes over which time grows along a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// The smallest size.
    pub from_bytes: u64,
    /// The largest size.
    pub to_bytes: u64,
    /// The median over passes of each pass's line.
    pub line: Line,
    /// How far the medians lie from the line: the root of the mean squared relative error.
    pub relative_residual: f64,
    /// The number of passes.
    pub n: u32,
}

/// A curve's medians, and the pieces of line that describe them best.
pub(super) struct Fit {
    pub sizes: Vec<u64>,
    pub samples: Vec<Sample>,
    pub pieces: Vec<Piece>,
}

impl Fit {
    /// None where there are too few passes to know how sure the medians are.
    pub fn to_curve(curve: &Curve) -> Option<Fit> {
        let medians = medians(curve);
        let (sizes, medians): (Vec<u64>, Vec<(f64, Estimate)>) =
            medians.into_iter().map(|(size, estimate)| (size, (size as f64, estimate))).unzip();
        let samples = samples(&medians)?;
        let pieces = piecewise(&samples, Penalty::for_sizes(samples.len()));
        Some(Fit { sizes, samples, pieces })
    }
}

/// The times of the sizes that lines are drawn through.
fn medians(curve: &Curve) -> Vec<(u64, Estimate)> {
    let odd = unaligned::odd_sizes(curve);
    let points = curve.points.iter().filter(|point| !odd.contains(&point.message_bytes));
    points.filter_map(|point| Some((point.message_bytes, point.time_ns()?))).collect()
}

/// The lines of a curve; a single one where too few passes were made to tell a break from noise.
pub(super) fn segments(curve: &Curve) -> Vec<Segment> {
    if curve.points.len() < 2 {
        return Vec::new();
    }
    let Some(fit) = Fit::to_curve(curve) else {
        let ends = curve.points.first().zip(curve.points.last());
        return ends
            .and_then(|(first, last)| segment(curve, first.message_bytes, last.message_bytes, None))
            .into_iter()
            .collect();
    };
    let of_piece =
        |piece: &Piece| segment(curve, fit.sizes[piece.first], fit.sizes[piece.last], Some(piece.line.slope));
    fit.pieces.iter().filter_map(of_piece).collect()
}

/// Each pass's line through the sizes of a range; with this slope where it is a single size.
pub(super) fn pass_lines(
    curve: &Curve,
    from_bytes: u64,
    to_bytes: u64,
    slope: Option<f64>,
) -> BTreeMap<u32, Line> {
    let odd = unaligned::odd_sizes(curve);
    let within = |size| (from_bytes..=to_bytes).contains(&size) && !odd.contains(&size);
    let alone = |pass| {
        let (size, slope) = (from_bytes as f64, slope.filter(|_| from_bytes == to_bytes)?);
        let time = curve.at(from_bytes)?.message_ns(pass)?;
        Some(Line { constant: time - slope * size, slope })
    };
    let line = |pass: u32| Some((pass, curve.line(pass, within).or_else(|| alone(pass))?));
    curve.passes().into_iter().filter_map(line).collect()
}

/// The line through the sizes of a range: the median over passes.
fn segment(curve: &Curve, from_bytes: u64, to_bytes: u64, slope: Option<f64>) -> Option<Segment> {
    let lines: Vec<Line> = pass_lines(curve, from_bytes, to_bytes, slope).into_values().collect();
    let line = Line {
        constant: median(lines.iter().map(|line| line.constant))?,
        slope: median(lines.iter().map(|line| line.slope))?,
    };
    let medians = medians(curve).into_iter().filter(|(size, _)| (from_bytes..=to_bytes).contains(size));
    Some(Segment {
        from_bytes,
        to_bytes,
        line,
        relative_residual: line.relative_residual(medians.map(|(size, time)| (size as f64, time.median))),
        n: u32::try_from(lines.len()).unwrap_or(u32::MAX),
    })
}
