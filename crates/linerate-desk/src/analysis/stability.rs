//! Whether the numbers stand still: values that stand apart, two modes, drift, likeness of neighbours.
//!
//! Nothing is deleted. What stands apart is flagged with what is known against it; two modes are told
//! apart; and as every trial of a run is compared with the median of its own case and size, all of them
//! together show a drift that no single one would.

use super::curve::{Curve, Point};
use crate::plan::Case;
use crate::record::Recording;
use crate::statistic::{Mode, change_points, lag1, median, modes, outliers, trend};
use crate::vocabulary::{Pattern, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A clock's step: deviations below it are no deviations.
const CLOCK_NS: f64 = 1.0;

/// Trials that a pass needs for its median to show a drift.
const LEAST_TRIALS: usize = 8;

/// A drift is one that chance explains in at most one of a hundred runs, and of at least this share.
const DRIFT_P: f64 = 0.01;
const DRIFT_SHARE: f64 = 0.02;

/// A change point is one that chance explains in one of a hundred runs, with so many passes on each side.
const CHANGE_P: f64 = 0.01;
const CHANGE_PASSES: usize = 3;

/// One pass whose value stands apart from the others of its case and size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Abnormal {
    /// The pass.
    pub pass: u32,
    /// Its time of a message, over the median of all passes.
    pub ratio: f64,
    /// Whether another process had its CPU, or its thread moved, meanwhile.
    pub disturbed: bool,
}

/// How all trials of one kind moved during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// What was measured.
    pub pattern: Pattern,
    /// How its ends waited.
    pub wait: Wait,
    /// The middle of each pass, in seconds since the run began.
    pub at_s: Vec<f64>,
    /// The median of each pass's trials, each over the median of its own case and size.
    pub ratio: Vec<f64>,
    /// How much times grew from the first pass to the last, as a share.
    pub change: f64,
    /// How often chance alone shows such an order: Mann–Kendall.
    pub p: f64,
    /// Whether it is more than chance, and enough to matter.
    pub is_drift: bool,
    /// When the level changed, in seconds since the run began.
    pub change_points_s: Vec<f64>,
    /// How alike successive passes of the same case and size are: the correlation at lag one.
    pub autocorrelation: Option<f64>,
}

impl Point {
    /// The passes that stand apart.
    pub fn abnormal(&self) -> Vec<Abnormal> {
        let times = self.times();
        let values: Vec<f64> = times.iter().map(|(_, time)| *time).collect();
        let Some(middle) = median(values.iter().copied()) else { return Vec::new() };
        let apart = times.iter().zip(outliers(&values, CLOCK_NS)).filter(|(_, apart)| *apart);
        let abnormal = |((pass, time), _): (&(u32, f64), bool)| Abnormal {
            pass: *pass,
            ratio: time / middle,
            disturbed: self.passes.get(pass).is_some_and(|values| values.disturbed),
        };
        apart.map(abnormal).collect()
    }

    /// The levels of its times: one, or two with their shares.
    pub fn modes(&self) -> Vec<Mode> {
        let values: Vec<f64> = self.times().into_iter().map(|(_, time)| time).collect();
        modes(&values, CLOCK_NS)
    }
}

/// How each kind of trial moved during the run; nothing of a kind with too few trials.
pub fn drifts<'c>(recording: &Recording, curves: impl Iterator<Item = &'c Curve>) -> Vec<Drift> {
    let begun: HashMap<u32, f64> =
        recording.steps.iter().map(|step| (step.step, step.at_ns as f64 / 1e9)).collect();
    let mut kinds: BTreeMap<(Pattern, Wait), Kind> = BTreeMap::new();
    let when: HashMap<(&Case, u32, u64), f64> = recording
        .trials
        .iter()
        .filter_map(|trial| {
            Some(((&trial.case, trial.pass, trial.block.message_bytes), *begun.get(&trial.step)?))
        })
        .collect();
    for curve in curves.filter(|curve| curve.case.is_base() || !curve.case.is_of_ladder()) {
        let kind = kinds.entry((curve.case.pattern, curve.case.wait)).or_default();
        for point in &curve.points {
            let times = point.times();
            let Some(middle) = median(times.iter().map(|(_, time)| *time)) else { continue };
            let ratios: Vec<f64> = times.iter().map(|(_, time)| time / middle).collect();
            kind.likeness.extend(lag1(&ratios));
            let at = |pass| when.get(&(&curve.case, pass, point.message_bytes)).copied();
            for ((pass, _), ratio) in times.iter().zip(&ratios) {
                kind.passes.entry(*pass).or_default().extend(at(*pass).map(|at| (at, *ratio)));
            }
        }
    }
    kinds.into_iter().filter_map(|(key, kind)| kind.drift(key)).collect()
}

/// The trials of one kind by pass: when, and how far from their own median. A pass has connections of its
/// own, and what they share its trials share: so passes are the observations, not trials.
#[derive(Debug, Default)]
struct Kind {
    passes: BTreeMap<u32, Vec<(f64, f64)>>,
    likeness: Vec<f64>,
}

impl Kind {
    fn drift(self, (pattern, wait): (Pattern, Wait)) -> Option<Drift> {
        let middle = |trials: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| median(trials.iter().map(of));
        // A pass that visited only what was unsure is no observation of the whole machine.
        let most = self.passes.values().map(Vec::len).max()?;
        let is_whole = |trials: &&Vec<(f64, f64)>| trials.len() >= LEAST_TRIALS.max(most / 2);
        let whole = self.passes.values().filter(is_whole);
        let passes = whole.filter_map(|trials| Some((middle(trials, |t| t.0)?, middle(trials, |t| t.1)?)));
        let (at_s, ratio): (Vec<f64>, Vec<f64>) = passes.unzip();
        let trend = trend(&ratio)?;
        let points = change_points(&ratio, CHANGE_P, CHANGE_PASSES);
        Some(Drift {
            pattern,
            wait,
            change: trend.change,
            p: trend.p,
            is_drift: trend.p < DRIFT_P && trend.change.abs() > DRIFT_SHARE,
            change_points_s: points.into_iter().filter_map(|index| at_s.get(index).copied()).collect(),
            // A median over hundreds of sizes: that of one, from ten passes, says nothing.
            autocorrelation: median(self.likeness.iter().copied()),
            at_s,
            ratio,
        })
    }
}
