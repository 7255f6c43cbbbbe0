//! Where exactly a step in a curve is: bisection to the byte, then both sides in turns.
//!
//! Two lines are known, before and after the step, and two sizes on either side of it. A trial at the
//! size in the middle lies near one of the lines, and so halves the range. A single trial may be
//! disturbed, so the median of several decides, more of them the smaller the step is against the noise.

use super::entries::Entry;
use crate::analysis::{Candidate, CandidateKind, Curve, half_round_trip_ns};
use crate::plan::{Case, Why};
use crate::record::Recording;
use crate::statistic::{Line, mad, median};
use crate::vocabulary::Pattern;

/// Pairs of the size below and the size above that confirm a step.
const PAIRS: usize = 10;

/// The fewest trials that decide whether a size lies below or above: one disturbed trial changes nothing.
const LEAST_TRIALS: usize = 3;

/// A step that needs more trials a decision than this is too small to be bisected.
const MOST_TRIALS: usize = 9;

/// How many standard errors the middle between both lines must be away from either.
const SURE: f64 = 3.5;

/// A normal deviate's standard deviation is so many median absolute deviations.
const MAD_TO_SIGMA: f64 = 1.4826;

/// A median of normal deviates has a standard error larger than their mean's by this.
const MEDIAN_TO_MEAN: f64 = 1.2533;

/// A step that is being looked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bisection {
    case: Case,
    before: Line,
    after: Line,
    below: u64,
    above: u64,
    /// Trials a decision.
    trials: usize,
    /// How large the step is against the noise; the larger ones go first.
    pub significance: f64,
    /// Whether its pairs have been asked for.
    paired: bool,
}

/// Every step of the ping-pong curves that can be found, the clearest first.
pub(super) fn bisections(curves: &[Curve], most: usize) -> Vec<Bisection> {
    let mut bisections: Vec<Bisection> = curves
        .iter()
        .filter(|curve| curve.case.pattern == Pattern::PingPong)
        .flat_map(|curve| {
            crate::analysis::candidates(curve)
                .into_iter()
                .filter_map(|candidate| bisection(curve, &candidate))
        })
        .collect();
    bisections.sort_by(|a, b| b.significance.total_cmp(&a.significance));
    bisections.truncate(most);
    bisections
}

fn bisection(curve: &Curve, candidate: &Candidate) -> Option<Bisection> {
    let at = |size: u64| {
        let of_passes = curve.at(size)?.passes.values().filter_map(|values| values.half_round_trip_ns);
        mad(&of_passes.collect::<Vec<_>>()).map(|mad| MAD_TO_SIGMA * mad)
    };
    let noise_ns = at(candidate.below)?.max(at(candidate.above)?).max(1.0);
    let needed = (2.0 * SURE * MEDIAN_TO_MEAN * noise_ns / candidate.jump_ns.abs()).powi(2).ceil();
    let trials = (needed as usize).max(LEAST_TRIALS) | 1;
    let wanted = candidate.kind == CandidateKind::Jump && candidate.jump_ns > 0.0 && trials <= MOST_TRIALS;
    wanted.then(|| Bisection {
        case: curve.case.clone(),
        before: candidate.before,
        after: candidate.after,
        below: candidate.below,
        above: candidate.above,
        trials,
        significance: candidate.significance,
        paired: false,
    })
}

impl Bisection {
    /// The next visit: a size in the middle, or at the end both sides in turns; none when all is done.
    pub fn next(&mut self, entries: &[Entry]) -> Option<(Why, Entry)> {
        let entry = entries.iter().find(|entry| entry.case == self.case)?;
        if let Some(middle) = self.middle() {
            return Some((Why::Bisect, entry.with_sizes(vec![middle; self.trials])));
        }
        if std::mem::replace(&mut self.paired, true) {
            return None;
        }
        // Which side comes first alternates, so that a drift favours neither.
        let pair = |index: usize| match index % 2 {
            0 => [self.below, self.above],
            _ => [self.above, self.below],
        };
        Some((Why::Pairs, entry.with_sizes((0..PAIRS).flat_map(pair).collect())))
    }

    fn middle(&self) -> Option<u64> {
        (self.above - self.below > 1).then(|| self.below + (self.above - self.below) / 2)
    }

    /// Takes in what the last visit found.
    pub fn narrow(&mut self, recording: &Recording) {
        let Some(middle) = self.middle() else { return };
        let of_middle = recording.trials.iter().rev().filter(|trial| {
            trial.why == Why::Bisect && trial.case == self.case && trial.block.message_bytes == middle
        });
        let times = of_middle.take(self.trials).filter_map(half_round_trip_ns);
        let Some(time) = median(times) else { return };
        let size = middle as f64;
        if time > (self.before.at(size) + self.after.at(size)) / 2.0 {
            self.above = middle;
        } else {
            self.below = middle;
        }
    }
}
