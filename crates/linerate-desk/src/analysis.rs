//! A recording to numbers with uncertainty: curves against message size, and the ladder of layers.
//!
//! Each trial gives its own numbers; each pass one value a case and size; each value an interval over
//! the passes. Whatever compares two layers is taken within a pass first, so that what both share
//! falls out. Pass 0 enters nothing. Nothing here fails: what a recording does not hold is `None`.

mod application;
mod arms;
mod capture;
mod connections;
mod curve;
mod distribution;
mod efficiency;
mod failures;
mod foreign;
mod history;
mod imported;
mod ladder;
pub mod matrix;
mod measures;
mod medians;
pub mod model;
mod runs;
mod search;
mod several;
mod stability;
mod stream;
mod suite;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod trace;
mod trial;

pub use application::polls_missed;
pub use arms::{
    ALPHA, Candidate as ArmCandidate, Compared, Confirmed, Control, CutCandidate, Fate, Guard, LeftOut,
    SHORT, Sensitivity, Tuned, TuningRound, TuningStep, TuningStop, Verdict, candidates_upon, compare_arms,
    expected_bps, finer, is_between, is_link_full, is_near, is_refused, losses_gone, reaching, tuned,
};
pub use capture::{CaptureAnalysis, FlightPoint, analyse_capture};
pub use curve::{
    Anomaly, Break, Candidate, CandidateKind, Confirmation, Curve, Facts, Form, Outlying, Point, Refined,
    Sawtooth, Segment, Slower, Split, Summary, Unaligned, breaks, candidates, curves, outlying, sawtooth,
    suite_curves,
};
pub use distribution::{Distribution, Percentile, distributions};
pub use efficiency::{Kept, efficiency};
pub use failures::{Vanishing, has_failed, not_measured, vanishing};
pub use foreign::{HEADERS, foreign_bytes};
pub use history::{FALSE_CHANGES, FigureOverRuns, History, LEAST_OF_LEVEL, Level, PastRun, histories};
pub use imported::{ImportedNumber, imported};
pub use ladder::{Cost, CpuTime, Layer, below};
pub use measures::{Measure, measure, sent_late, shown};
pub use runs::{
    FactsDiffer, FigureCompared, ImportedCompared, LEAST_RUNS, NumberCompared, RunNumbers, RunsCompared,
    SideEntry, SidesCompared, compare_runs,
};
pub use stability::{Abnormal, Drift};
pub use stream::{
    STREAM_FIGURES, StreamAnalysis, StreamEnd, StreamFigure, StreamLine, StreamLines, StreamSizes,
    StreamUnit, StreamValue, analyse_stream,
};
pub use suite::{
    Binding, CellValue, ClaimOutcome, FigureValues, Holds, LaneValues, Piece, Ranked, RankedPair,
    RankingValues, SeriesValues, ShownNumber, StageValues, StagesValues, StreamValues, SuiteValues,
    TableValues, TimeLineValues, ValueAt, conclusions, is_at, shown_numbers,
};
pub use table::Table;
pub use timeline::{Sampled, Timeline, settled_ns};
pub use trace::{
    Clocked, RunningTraceAnalysis, StageKey, StageTime, TraceAnalysis, TraceOf, analyse_running_trace,
    analyse_trace,
};
pub use trial::{Load, Values, half_round_trip_ns, lost_share, received_bps, throughput_bps, wire_lateness};

use crate::record::Recording;
use crate::vocabulary::{LADDER_BYTES, LATENCY_BYTES, RUNGS, Rung};

/// All numbers of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// The measured size nearest to [`LADDER_BYTES`]: the throughput of most layers is taken at it.
    pub ladder_bytes: u64,
    /// The measured size nearest to [`LATENCY_BYTES`].
    pub latency_bytes: u64,
    /// One curve a case, from the bottom of the ladder up.
    pub curves: Vec<Curve>,
    /// The ladder, from the bottom up.
    pub layers: Vec<Layer>,
    /// One for each long stream.
    pub timelines: Vec<Timeline>,
    /// How each kind of trial moved during the run.
    pub drifts: Vec<Drift>,
    /// What the plan files asked for.
    pub suites: Vec<SuiteValues>,
    /// A layer without numbers for each of their cases.
    pub suite_layers: Vec<Layer>,
    /// One curve a case of theirs.
    pub suite_curves: Vec<Curve>,
    /// The numbers that their figures show.
    pub suite_numbers: Vec<ShownNumber>,
}

/// Turns a recording into numbers.
pub fn analyse(recording: &Recording) -> Analysis {
    let mut curves = curve::curves(recording);
    curve::describe(recording, &mut curves);
    let ladder_bytes = nearest_stated(&curves, LADDER_BYTES);
    let latency_bytes = nearest(curves.iter(), LATENCY_BYTES);
    let layers = ladder::layers(recording, &curves, latency_bytes);
    let timelines = timeline::timelines(recording);
    // A matrix has a case a cell, and neither curves nor layers.
    let is_matrix = recording.plan().is_some_and(|plan| plan.screening().is_some());
    let suites = suite::suites(recording);
    let suite_layers = if is_matrix { Vec::new() } else { ladder::of_suites(recording) };
    let mut suite_curves = if is_matrix { Vec::new() } else { curve::suite_curves(recording) };
    curve::describe_suites(recording, &mut suite_curves);
    let suite_numbers = suite::shown_numbers(recording);
    let drifts = stability::drifts(recording, curves.iter().chain(&suite_curves));
    Analysis {
        ladder_bytes,
        latency_bytes,
        curves,
        layers,
        timelines,
        drifts,
        suites,
        suite_layers,
        suite_curves,
        suite_numbers,
    }
}

/// The size at which a rung's throughput is compared; an unknown one's as that of most.
fn stated_bytes(rung: &str) -> u64 {
    Rung::named(rung).map_or(LADDER_BYTES, |rung| rung.ladder_bytes)
}

/// The measured size nearest to `stated`, among the rungs that are compared at it: all at the same one.
fn nearest_stated(curves: &[Curve], stated: u64) -> u64 {
    let same = |curve: &&Curve| stated_bytes(&curve.case.rung) == stated;
    nearest(curves.iter().filter(same), stated)
}

/// The measured size whose ratio to `wanted` is nearest to one; `wanted` itself of nothing.
fn nearest<'c>(curves: impl Iterator<Item = &'c Curve>, wanted: u64) -> u64 {
    let distance = |size: &u64| ((*size).max(1) as f64 / wanted as f64).ln().abs();
    let sizes = curves.flat_map(|curve| curve.points.iter().map(|point| point.message_bytes));
    sizes.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(wanted)
}

/// Where a rung stands on the ladder; an unknown one above all others.
fn height(rung: &str) -> usize {
    RUNGS.iter().position(|known| known.id == rung).unwrap_or(usize::MAX)
}
