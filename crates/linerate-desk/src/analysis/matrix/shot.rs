//! One number of a matrix: a trial between two hosts, and at which stage it was taken.

use super::metric::{Carries, CellMetric};
use crate::plan::{HostPair, Why};
use crate::record::{Recording, Trial};
use crate::vocabulary::Pattern;

/// What a trial was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// All hosts at once, in disjoint pairs.
    Screen,
    /// A cell that stood apart once more, as it was.
    Recheck,
    /// A suspect with partners at random, while all others are busy.
    Loaded,
    /// The same while nobody else sends.
    Alone,
}

/// Each stage, and what its steps are for in a recording.
const STAGES: &[(Stage, Why)] = &[
    (Stage::Screen, Why::Pass),
    (Stage::Recheck, Why::Rerun),
    (Stage::Loaded, Why::Block),
    (Stage::Alone, Why::Confirm),
];

impl Stage {
    /// What its steps are for.
    pub fn why(self) -> Why {
        STAGES.iter().find(|(stage, _)| *stage == self).map_or(Why::Probe, |(_, why)| *why)
    }

    /// The stage of a step; none of one that finds rates.
    pub fn of_step(why: Why) -> Option<Stage> {
        STAGES.iter().find(|(_, of)| *of == why).map(|(stage, _)| *stage)
    }
}

/// A number of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shot {
    /// At which stage.
    pub stage: Stage,
    /// From where to where.
    pub pair: HostPair,
    /// The number on its metric's scale, of most a logarithm; more is better.
    pub log: f64,
}

/// All numbers of a matrix, those of each metric in the order in which they were taken.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shots([Vec<Shot>; CellMetric::ALL.len()]);

impl Shots {
    /// Those of one metric.
    pub fn by(&self, metric: CellMetric) -> &[Shot] {
        &self.0[metric as usize]
    }

    /// Adds some.
    pub fn extend(&mut self, metric: CellMetric, shots: impl IntoIterator<Item = Shot>) {
        self.0[metric as usize].extend(shots);
    }

    /// Whether anything is known that such trials carry.
    pub fn have(&self, carries: Carries) -> bool {
        carries.metrics().any(|metric| !self.by(metric).is_empty())
    }
}

impl Shot {
    /// The same of the other direction.
    pub fn reversed(self) -> Shot {
        let HostPair { from, to } = self.pair;
        Shot { pair: HostPair { from: to, to: from }, ..self }
    }
}

/// All of a recording in one pattern, each as `number` has it, in the order in which they were taken.
pub fn shots(recording: &Recording, pattern: Pattern, number: impl Fn(&Trial) -> Option<f64>) -> Vec<Shot> {
    let of_trial = |trial: &Trial| {
        let stage = Stage::of_step(trial.why).filter(|_| trial.pass > 0 && trial.case.pattern == pattern)?;
        // Where pairs share a host, none has a number of its own.
        let pair = trial.case.pairs.first();
        let value = number(trial).filter(|value| value.is_finite() && *value > 0.0)?;
        (trial.case.pairs.len() == 1).then_some(Shot { stage, pair, log: value.ln() })
    };
    recording.trials.iter().filter_map(of_trial).collect()
}
