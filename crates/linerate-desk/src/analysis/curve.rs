//! One case against message size.

mod anomaly;
mod breaks;
mod candidate;
mod class;
mod consistency;
mod form;
mod grid;
mod outlying;
mod refined;
mod segment;
mod summary;
#[cfg(test)]
mod tests;
mod unaligned;

pub use anomaly::Anomaly;
pub use breaks::{Break, Confirmation, Refined, breaks, largest_step};
pub use candidate::{Candidate, CandidateKind, candidates};
pub use class::Facts;
pub use consistency::{Slower, Split};
pub use form::Form;
pub use grid::{Sawtooth, sawtooth};
pub(super) use outlying::deviation;
pub use outlying::{Outlying, outlying};
pub(super) use refined::refined;
pub use segment::Segment;
pub use summary::Summary;
pub use unaligned::Unaligned;

use super::trial::{self, Machines, Values};
use crate::plan::Case;
use crate::record::{Recording, Trial};
use crate::statistic::{Estimate, Line};
use crate::vocabulary::Cache;
use std::collections::BTreeMap;

/// One case against message size.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What was measured.
    pub case: Case,
    /// The sizes, ascending.
    pub points: Vec<Point>,
    /// The straight lines that describe it.
    pub segments: Vec<Segment>,
    /// Where one line gives way to the next.
    pub breaks: Vec<Break>,
    /// The curve in a few numbers.
    pub summary: Summary,
    /// Parts of its throughput that have a name.
    pub forms: Vec<Form>,
    /// Sizes that take longer than a larger one.
    pub slower: Vec<Slower>,
    /// Sizes that are quicker in parts.
    pub splits: Vec<Split>,
    /// Sizes beside which an odd one costs more.
    pub unaligned: Vec<Unaligned>,
    /// Sizes that stood apart from their neighbours and were visited again.
    pub anomalies: Vec<Anomaly>,
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

impl Point {
    /// A number's median and interval over the passes.
    pub fn estimate(&self, number: impl Fn(&Values) -> Option<f64>) -> Option<Estimate> {
        Estimate::from_values(self.passes.values().filter_map(number))
    }

    /// The time of one message: the median over the passes.
    pub fn time_ns(&self) -> Option<Estimate> {
        Estimate::from_values(self.passes.keys().filter_map(|pass| self.message_ns(*pass)))
    }

    /// Times of a message by pass.
    pub(super) fn times(&self) -> Vec<(u32, f64)> {
        self.passes.keys().filter_map(|pass| Some((*pass, self.message_ns(*pass)?))).collect()
    }

    /// The time of one message in one pass: half a round trip, or a stream's time a message.
    pub fn message_ns(&self, pass: u32) -> Option<f64> {
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

    /// Every pass that visited the whole curve (or nearly), ascending: one that visited a few sizes again
    /// has no line.
    pub(super) fn passes(&self) -> Vec<u32> {
        let mut visits: BTreeMap<u32, usize> = BTreeMap::new();
        for pass in self.points.iter().flat_map(|point| point.passes.keys()) {
            *visits.entry(*pass).or_default() += 1;
        }
        let is_whole = |visits: usize| 10 * visits >= 9 * self.points.len();
        visits.into_iter().filter(|(_, visits)| is_whole(*visits)).map(|(pass, _)| pass).collect()
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

/// The trials that curves are made of. Pass 0 and the long streams stay out.
pub(super) fn trials(recording: &Recording) -> impl Iterator<Item = &Trial> {
    counted(recording).filter(|trial| trial.case.is_of_ladder())
}

/// The same of any view; what ran beside another case stays out.
fn counted(recording: &Recording) -> impl Iterator<Item = &Trial> {
    let counts = |trial: &&Trial| trial.pass > 0 && trial.why.counts();
    recording.trials.iter().filter(counts).filter(|trial| !trial.case.timeline && !trial.case.beside)
}

/// Every case's points and lines, from the bottom of the ladder up; what `describe` adds is not in
/// them.
pub fn curves(recording: &Recording) -> Vec<Curve> {
    of_cases(recording, trials(recording))
}

/// The same of the cases of suites.
pub fn suite_curves(recording: &Recording) -> Vec<Curve> {
    of_cases(recording, counted(recording).filter(|trial| !trial.case.is_of_ladder()))
}

fn of_cases<'r>(recording: &Recording, trials: impl Iterator<Item = &'r Trial>) -> Vec<Curve> {
    let mut cases: BTreeMap<&Case, Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        cases.entry(&trial.case).or_default().push(trial);
    }
    let mut curves: Vec<Curve> = cases.values().filter_map(|trials| of_trials(recording, trials)).collect();
    curves.sort_by_key(|curve| super::height(&curve.case.rung));
    curves
}

/// The points of one case's trials, and the lines through them; none of no trials.
pub(super) fn of_trials(recording: &Recording, trials: &[&Trial]) -> Option<Curve> {
    let machines = Machines::from_recording(recording);
    let mut sizes: BTreeMap<u64, (Cache, BTreeMap<u32, Vec<Values>>)> = BTreeMap::new();
    for trial in trials {
        let (size, cache) = (trial.block.message_bytes, trial.block.cache);
        let (_, passes) = sizes.entry(size).or_insert((cache, BTreeMap::new()));
        passes.entry(trial.pass).or_default().push(trial::values(trial, &machines));
    }
    let point = |(message_bytes, (cache, passes)): (u64, (Cache, BTreeMap<u32, Vec<Values>>))| Point {
        message_bytes,
        cache,
        passes: passes.into_iter().map(|(pass, trials)| (pass, Values::middle(&trials))).collect(),
    };
    let mut curve = bare(trials.first()?.case.clone(), sizes.into_iter().map(point).collect());
    curve.segments = segment::segments(&curve);
    Some(curve)
}

fn bare(case: Case, points: Vec<Point>) -> Curve {
    Curve {
        case,
        points,
        segments: Vec::new(),
        breaks: Vec::new(),
        summary: Summary::default(),
        forms: Vec::new(),
        slower: Vec::new(),
        splits: Vec::new(),
        unaligned: Vec::new(),
        anomalies: Vec::new(),
    }
}

/// Adds to each curve what can be said of it beside the others.
pub(super) fn describe(recording: &Recording, curves: &mut [Curve]) {
    for index in 0..curves.len() {
        let curve = &curves[index];
        let facts = Facts::for_curve(recording, curves, curve);
        let breaks = breaks(curve, &refined(recording, &curve.case), &facts);
        let anomalies = anomaly::anomalies(recording, curve);
        let summary = summary::summary(curve, curves);
        let forms = form::forms(curve);
        let (slower, splits) = (consistency::slower(curve), consistency::splits(curve));
        let unaligned = unaligned::unaligned(curve);
        let curve = &mut curves[index];
        (curve.breaks, curve.summary, curve.forms) = (breaks, summary, forms);
        (curve.slower, curve.splits, curve.unaligned) = (slower, splits, unaligned);
        curve.anomalies = anomalies;
    }
}

/// Adds to each curve of a suite where it breaks, and what came of the sizes that stood apart: all else is said of a ladder
/// as a whole.
pub(super) fn describe_suites(recording: &Recording, curves: &mut [Curve]) {
    for index in 0..curves.len() {
        let curve = &curves[index];
        let facts = Facts::for_curve(recording, curves, curve);
        let breaks = breaks(curve, &refined(recording, &curve.case), &facts);
        let anomalies = anomaly::anomalies(recording, curve);
        (curves[index].breaks, curves[index].anomalies) = (breaks, anomalies);
    }
}
