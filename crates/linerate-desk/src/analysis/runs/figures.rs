//! The curves of suites' figures on both sides: one number a curve, so that as few runs as there are can tell.

use super::{RunNumbers, SidesCompared};
use crate::analysis::{Analysis, FigureValues, SeriesValues, measure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What makes two curves the same one: where it is drawn, and at which levels along x it has points.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    suite: String,
    figure: String,
    series: String,
    y: String,
    levels: Vec<String>,
}

/// One curve of a run: what readers call it, and the geometric mean of its points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OfCurve {
    label: String,
    mean: f64,
}

/// One curve on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureCompared {
    /// The suite.
    pub suite: String,
    /// The figure.
    pub figure: String,
    /// The curve in it, in words; empty where it is alone.
    pub series: String,
    /// The number along y.
    pub y: String,
    /// Its unit.
    pub unit: String,
    /// The levels along x over which it is the geometric mean.
    pub levels: Vec<String>,
    /// How they lie to each other.
    #[serde(flatten)]
    pub sides: SidesCompared,
}

/// The curves of one run of which it is known whether more is better.
pub(super) fn numbers(analysis: &Analysis) -> BTreeMap<Key, OfCurve> {
    let figures = analysis.suites.iter().flat_map(|suite| suite.figures.iter().map(move |one| (suite, one)));
    let decides = |values: &FigureValues| more_is_better(&values.figure.y).is_some();
    let curves = figures.filter(|(_, values)| decides(values)).flat_map(|(suite, values)| {
        values.series.iter().filter_map(|series| curve(&suite.name, values, series))
    });
    curves.collect()
}

fn more_is_better(y: &str) -> Option<bool> {
    measure(y)?.metric.more_is_better
}

fn curve(suite: &str, values: &FigureValues, series: &SeriesValues) -> Option<(Key, OfCurve)> {
    let logs: Vec<f64> = series.points.iter().map(|point| point.value.median.ln()).collect();
    // Of further numbers, as models are, nothing was measured; and nothing has no logarithm.
    if series.is_besides || logs.is_empty() || !logs.iter().all(|log| log.is_finite()) {
        return None;
    }
    let key = Key {
        suite: suite.into(),
        figure: values.figure.id.clone(),
        series: series.name.clone(),
        y: values.figure.y.clone(),
        levels: series.points.iter().map(|point| point.x.name.clone()).collect(),
    };
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    Some((key, OfCurve { label: series.words.label.clone(), mean }))
}

impl Key {
    fn name(&self) -> String {
        [&*self.figure, &*self.series]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// What both sides have, and the names of what only one has.
pub(super) fn compared(
    a: &[RunNumbers],
    b: &[RunNumbers],
    margin: f64,
) -> (Vec<FigureCompared>, Vec<String>) {
    let keys: BTreeSet<&Key> = a.iter().chain(b).flat_map(|run| run.figures.keys()).collect();
    let (mut numbers, mut left_out) = (Vec::new(), Vec::new());
    for key in keys {
        match comparison(key, a, b, margin) {
            Some(number) => numbers.push(number),
            None => left_out.push(key.name()),
        }
    }
    (numbers, left_out)
}

fn comparison(key: &Key, a: &[RunNumbers], b: &[RunNumbers], margin: f64) -> Option<FigureCompared> {
    let of = |runs: &[RunNumbers]| -> Vec<f64> {
        runs.iter().filter_map(|run| run.figures.get(key)).map(|curve| curve.mean).collect()
    };
    let sides = SidesCompared::of_values(&of(a), &of(b), margin, more_is_better(&key.y))?;
    let label = a.iter().find_map(|run| run.figures.get(key)).map(|curve| curve.label.clone());
    Some(FigureCompared {
        suite: key.suite.clone(),
        figure: key.figure.clone(),
        series: label.unwrap_or_default(),
        y: key.y.clone(),
        unit: measure(&key.y)?.metric.unit.into(),
        levels: key.levels.clone(),
        sides,
    })
}
