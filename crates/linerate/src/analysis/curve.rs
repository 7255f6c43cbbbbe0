//! One case against message size.

use super::trial::{self, Machines, Values};
use crate::plan::Case;
use crate::record::Recording;
use crate::statistic::{Estimate, Line, median};
use crate::vocabulary::{Cache, Pattern};
use std::collections::BTreeMap;

/// One case against message size.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What was measured.
    pub case: Case,
    /// The sizes, ascending.
    pub points: Vec<Point>,
    /// The straight lines that describe a ping-pong curve; none for streams.
    pub segments: Vec<Segment>,
}

/// One message size of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The size.
    pub message_bytes: u64,
    /// Where the bytes lay.
    pub cache: Cache,
    /// One value a pass.
    pub passes: BTreeMap<u32, Values>,
}

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

impl Point {
    /// A number's median and interval over the passes.
    pub fn estimate(&self, number: impl Fn(&Values) -> Option<f64>) -> Option<Estimate> {
        Estimate::of(self.passes.values().filter_map(number))
    }

    /// The time of one message in one pass: half a round trip, or a stream's time a message.
    fn message_ns(&self, pass: u32) -> Option<f64> {
        let values = self.passes.get(&pass)?;
        let streamed = || Some(8e9 * self.message_bytes as f64 / values.throughput_bps?);
        values.half_round_trip_ns.or_else(streamed)
    }
}

impl Curve {
    /// The point at this size.
    pub fn at(&self, message_bytes: u64) -> Option<&Point> {
        let found = self.points.binary_search_by_key(&message_bytes, |point| point.message_bytes);
        found.ok().map(|index| &self.points[index])
    }

    /// Every pass that measured something, ascending.
    pub(super) fn passes(&self) -> Vec<u32> {
        let mut passes: Vec<u32> =
            self.points.iter().flat_map(|point| point.passes.keys().copied()).collect();
        passes.sort_unstable();
        passes.dedup();
        passes
    }

    /// The line through one pass's times, over the sizes that `wanted` accepts.
    pub(super) fn line(&self, pass: u32, wanted: impl Fn(u64) -> bool) -> Option<Line> {
        let points = self.points.iter().filter(|point| wanted(point.message_bytes));
        Line::fit(points.filter_map(|point| Some((point.message_bytes as f64, point.message_ns(pass)?))))
    }

    /// Whether one pass measured this size.
    pub(super) fn holds(&self, pass: u32, message_bytes: u64) -> bool {
        self.at(message_bytes).is_some_and(|point| point.message_ns(pass).is_some())
    }
}

/// Every case's curve, from the bottom of the ladder up. Pass 0 and the long streams stay out.
pub(super) fn curves(recording: &Recording) -> Vec<Curve> {
    type Passes = BTreeMap<u32, Vec<Values>>;
    let machines = Machines::of(recording);
    let mut cases: BTreeMap<&Case, BTreeMap<u64, (Cache, Passes)>> = BTreeMap::new();
    for trial in
        recording.trials.iter().filter(|trial| trial.pass > 0 && trial.why.counts() && !trial.case.timeline)
    {
        let sizes = cases.entry(&trial.case).or_default();
        let (_, passes) =
            sizes.entry(trial.block.message_bytes).or_insert((trial.block.cache, Passes::new()));
        passes.entry(trial.pass).or_default().push(trial::values(trial, &machines));
    }
    let point = |(message_bytes, (cache, passes)): (u64, (Cache, Passes))| Point {
        message_bytes,
        cache,
        passes: passes.into_iter().map(|(pass, trials)| (pass, Values::middle(&trials))).collect(),
    };
    let mut curves: Vec<Curve> = cases
        .into_iter()
        .map(|(case, sizes)| {
            let points = sizes.into_iter().map(point).collect();
            let mut curve = Curve { case: case.clone(), points, segments: Vec::new() };
            curve.segments = segment(&curve).into_iter().collect();
            curve
        })
        .collect();
    curves.sort_by_key(|curve| super::height(&curve.case.rung));
    curves
}

/// One line over all sizes of a ping-pong curve.
fn segment(curve: &Curve) -> Option<Segment> {
    if curve.case.pattern != Pattern::PingPong {
        return None;
    }
    let lines: Vec<Line> = curve.passes().iter().filter_map(|pass| curve.line(*pass, |_| true)).collect();
    let line = Line {
        constant: median(lines.iter().map(|line| line.constant))?,
        slope: median(lines.iter().map(|line| line.slope))?,
    };
    let medians = curve.points.iter().filter_map(|point| {
        Some((point.message_bytes as f64, point.estimate(|values| values.half_round_trip_ns)?.median))
    });
    Some(Segment {
        from_bytes: curve.points.first()?.message_bytes,
        to_bytes: curve.points.last()?.message_bytes,
        line,
        relative_residual: line.relative_residual(medians),
        n: u32::try_from(lines.len()).unwrap_or(u32::MAX),
    })
}
