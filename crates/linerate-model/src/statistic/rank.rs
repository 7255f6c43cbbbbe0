//! Ranks, and how likely a sum of ranks is.

use statrs::distribution::{ContinuousCDF, Normal};

/// The ranks of values, from 1, times two: the mean rank of ties is a half at worst.
pub(super) fn doubled(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut below = 0;
    for ties in order.chunk_by(|a, b| values[*a] == values[*b]) {
        for index in ties {
            ranks[*index] = 2 * below + ties.len() + 1;
        }
        below += ties.len();
    }
    ranks
}

/// The probabilities of a statistic as low or lower, and as high or higher.
#[derive(Clone, Copy)]
pub(super) struct Tails {
    pub(super) down: f64,
    pub(super) up: f64,
}

impl Tails {
    /// From the number of ways to each value of the statistic.
    pub(super) fn exact(ways: &[f64], seen: usize) -> Tails {
        let all: f64 = ways.iter().sum();
        Tails { down: ways[..=seen].iter().sum::<f64>() / all, up: ways[seen..].iter().sum::<f64>() / all }
    }

    /// From the normal with a correction for continuity, for a statistic on doubled ranks: its step
    /// is two, so half a step is one.
    pub(super) fn normal(seen: f64, mean: f64, variance: f64) -> Tails {
        if variance <= 0.0 {
            return Tails { down: 1.0, up: 1.0 };
        }
        let below = |distance: f64| Normal::standard().cdf(distance / variance.sqrt());
        Tails { down: below(seen - mean + 1.0), up: below(mean - seen + 1.0) }
    }

    /// The probability of a statistic as far out to either side.
    pub(super) fn two_sided(self) -> f64 {
        (2.0 * self.down.min(self.up)).min(1.0)
    }
}

/// The smallest value of the statistic that it does not exceed with at least this probability.
pub(super) fn quantile(ways: &[f64], probability: f64) -> Option<usize> {
    let wanted = ways.iter().sum::<f64>() * probability;
    let mut reached = 0.0;
    ways.iter().position(|count| {
        reached += count;
        reached >= wanted
    })
}

/// The same from the normal, with a correction for continuity.
pub(super) fn normal_quantile(mean: f64, variance: f64, probability: f64) -> Option<usize> {
    if !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    let at = mean + Normal::standard().inverse_cdf(probability) * variance.sqrt() - 0.5;
    Some(at.ceil().max(0.0) as usize)
}
