//! Two sets that are not paired: how far one lies above the other.

use super::median::{of_sorted, sorted};
use super::rank::{self, Tails};
use serde::{Deserialize, Serialize};

/// Above this many observations in all the normal stands for the exact distribution.
const EXACT: usize = 50;

/// How far a second set lies above a first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Shift {
    /// The median of all differences of one of the second and one of the first.
    pub estimate: f64,
    /// The lower end of its interval; none where too few observations were made for one.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
    /// The probability of a sum of ranks as far out, to either side, if both sets were of one kind.
    pub p: f64,
    /// The numbers of observations of the first and of the second set.
    pub n: (u32, u32),
}

/// Estimates how far `b` lies above `a` and tests whether it does at all; none if either is empty.
///
/// The test is that of Mann and Whitney (Annals of Mathematical Statistics 18, 1947), the estimate
/// and its interval are those of Hodges and Lehmann (the same, 34, 1963). It takes the observations
/// for independent: a drift between the two sets is taken for a difference, so pairs are better.
pub fn rank_sum(a: &[f64], b: &[f64], confidence: f64) -> Option<Shift> {
    let (a, b) = (sorted(a.iter().copied()), sorted(b.iter().copied()));
    let differences = sorted(a.iter().flat_map(|from| b.iter().map(move |to| to - from)));
    let estimate = of_sorted(&differences)?;
    let rank =
        interval_rank(a.len(), b.len(), confidence).filter(|rank| (1..=differences.len()).contains(rank));
    let count = |values: &[f64]| u32::try_from(values.len()).unwrap_or(u32::MAX);
    Some(Shift {
        estimate,
        low: rank.map(|rank| differences[rank - 1]),
        high: rank.map(|rank| differences[differences.len() - rank]),
        p: tails(&a, &b).two_sided(),
        n: (count(&a), count(&b)),
    })
}

/// The probabilities of a rank sum of `b` as low or as high, given the ranks of all.
fn tails(a: &[f64], b: &[f64]) -> Tails {
    let ranks = rank::doubled(&[a, b].concat());
    let seen = ranks[a.len()..].iter().sum::<usize>();
    if ranks.len() <= EXACT {
        return Tails::exact(&sums(&ranks, b.len()), seen);
    }
    // The mean and the variance of a sum drawn without replacement; ties are in the variance.
    let (all, drawn) = (ranks.len() as f64, b.len() as f64);
    let mean = ranks.iter().sum::<usize>() as f64 / all;
    let spread: f64 = ranks.iter().map(|rank| (*rank as f64 - mean).powi(2)).sum();
    let variance = drawn * (all - drawn) / (all * (all - 1.0)) * spread;
    Tails::normal(seen as f64, drawn * mean, variance)
}

/// How many choices of so many of the ranks give each sum.
///
/// The shift algorithm of Streitberg and Röhmel (Statistical Software Newsletter 12, 1986), which
/// ties do not disturb.
fn sums(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let most = ranks.iter().sum::<usize>();
    let mut ways = vec![vec![0.0; most + 1]; chosen + 1];
    ways[0][0] = 1.0;
    let mut reached = 0;
    for (seen, rank) in ranks.iter().enumerate() {
        reached += rank;
        for count in (1..=chosen.min(seen + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            let (from, to) = (&fewer[count - 1], &mut more[0]);
            for sum in *rank..=reached {
                to[sum] += from[sum - rank];
            }
        }
    }
    ways.swap_remove(chosen)
}

/// The rank, from 1, of the difference at the lower end of the interval; zero when even the extremes
/// do not reach the confidence.
fn interval_rank(a: usize, b: usize, confidence: f64) -> Option<usize> {
    let tail = (1.0 - confidence) / 2.0;
    if a + b <= EXACT {
        let ranks: Vec<usize> = (1..=a + b).collect();
        let least = b * (b + 1) / 2;
        return rank::quantile(&sums(&ranks, b)[least..], tail);
    }
    let (pairs, all) = ((a * b) as f64, (a + b) as f64);
    rank::normal_quantile(pairs / 2.0, pairs * (all + 1.0) / 12.0, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hollander and Wolfe, table 4.1, permeability of membranes; R: `wilcox.test(y, x)`.
    #[test]
    fn the_published_example_comes_out_as_in_r() {
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let early = [1.15, 0.88, 0.90, 0.74, 1.21];
        let shift = rank_sum(&term, &early, 0.95).unwrap();
        assert!((shift.p - 0.2544122544122544).abs() < 1e-12, "{shift:?}");
        assert!((shift.estimate + 0.305).abs() < 1e-9 && shift.n == (10, 5));
        assert!((shift.low.unwrap() + 0.76).abs() < 1e-9 && (shift.high.unwrap() - 0.15).abs() < 1e-9);
    }

    /// SciPy: `mannwhitneyu(a, b, method="asymptotic")`.
    #[test]
    fn many_with_ties_come_out_as_in_scipy() {
        let a: Vec<f64> = (0..30).map(|i| f64::from(i * 29 % 41)).collect();
        let b: Vec<f64> = (0..28).map(|i| f64::from(i * 17 % 43 + 5)).collect();
        let shift = rank_sum(&a, &b, 0.95).unwrap();
        assert!((shift.p - 0.0463412746940115).abs() < 1e-9, "{shift:?}");
        assert!(shift.low.unwrap() > -0.1 && shift.estimate > 0.0);
    }

    #[test]
    fn too_few_are_never_told_apart() {
        let shift = rank_sum(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], 0.95).unwrap();
        assert_eq!((shift.estimate, shift.low, shift.high), (10.0, None, None));
        assert!((shift.p - 0.1).abs() < 1e-12);
        let four = rank_sum(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.0, 13.0, 14.0], 0.95).unwrap();
        assert_eq!((four.low, four.high), (Some(7.0), Some(13.0)));
        assert_eq!(rank_sum(&[1.0], &[f64::NAN], 0.95), None);
    }

    proptest! {
        #[test]
        fn the_p_is_that_of_all_choices(
            a in prop::collection::vec(0..6i32, 1..6), b in prop::collection::vec(0..6i32, 1..6)
        ) {
            let floats = |v: &[i32]| v.iter().copied().map(f64::from).collect::<Vec<f64>>();
            let (a, b) = (floats(&a), floats(&b));
            let ranks = rank::doubled(&[a.clone(), b.clone()].concat());
            let seen: usize = ranks[a.len()..].iter().sum();
            let sums: Vec<usize> = (0..1_u32 << ranks.len())
                .filter(|chosen| chosen.count_ones() as usize == b.len())
                .map(|chosen| ranks.iter().enumerate().map(|(i, r)| r * (chosen >> i & 1) as usize).sum())
                .collect();
            let up = sums.iter().filter(|s| **s >= seen).count() as f64 / sums.len() as f64;
            prop_assert!((tails(&a, &b).up - up).abs() < 1e-12);
        }

        #[test]
        fn interval_and_test_agree_on_zero(
            a in prop::collection::vec(0.0..1.0f64, 4..15), b in prop::collection::vec(0.3..1.3f64, 4..15)
        ) {
            let shift = rank_sum(&a, &b, 0.95).unwrap();
            let outside = shift.low.unwrap() > 0.0 || shift.high.unwrap() < 0.0;
            prop_assert!(outside == (shift.p < 0.05) || (shift.p - 0.05).abs() < 1e-9, "{:?}", shift);
        }

        #[test]
        fn odd_numbers_never_break_it(
            a in prop::collection::vec(prop::num::f64::ANY, 0..30),
            b in prop::collection::vec(prop::num::f64::ANY, 0..30),
        ) {
            rank_sum(&a, &b, 0.95);
        }
    }
}
