//! Paired differences: how large, how sure, and whether small enough to be none.

use super::median::{of_sorted, sorted};
use super::rank::{self, Tails};
use serde::{Deserialize, Serialize};

/// From this many pairs on the normal stands for the exact distribution.
const EXACT: usize = 25;

/// What a set of paired differences says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Effect {
    /// The median of the averages of all pairs of differences.
    pub estimate: f64,
    /// The lower end of its interval; none where too few differences were taken for one.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
    /// The probability of a sum of ranks as far out, to either side, if there were no difference.
    pub p: f64,
    /// The number of differences, those of nothing among them.
    pub n: u32,
    /// The share of differences above nothing; those of nothing count half.
    pub won: f64,
    /// The ranks of the differences above nothing less those below, as a share of all: from -1 to 1.
    pub rank_biserial: f64,
}

/// Estimates the centre of differences and tests whether it is zero; none of nothing.
///
/// The estimate and its interval are those of Hodges and Lehmann (Annals of Mathematical Statistics
/// 34, 1963), the test is Wilcoxon's signed-rank test (Biometrics Bulletin 1, 1945), in which zeros
/// take part in the ranking and are then left out (Pratt, JASA 54, 1959). The effect size is Kerby's
/// matched-pairs rank-biserial correlation (Comprehensive Psychology 3, 2014). Takes memory and time
/// with the square of the number of differences.
pub fn signed_rank(differences: &[f64], confidence: f64) -> Option<Effect> {
    let differences = sorted(differences.iter().copied());
    let n = differences.len();
    let averages = walsh_averages(&differences);
    let estimate = of_sorted(&averages)?;
    let ranks = SignedRanks::from_differences(&differences);
    let (above, total) = (ranks.above as f64, ranks.all.iter().sum::<usize>() as f64);
    let ends = interval_rank(n, confidence).filter(|rank| (1..=averages.len()).contains(rank));
    let wins = differences.iter().map(|d| if *d > 0.0 { 1.0 } else { f64::from(u8::from(*d == 0.0)) / 2.0 });
    Some(Effect {
        estimate,
        low: ends.map(|rank| averages[rank - 1]),
        high: ends.map(|rank| averages[averages.len() - rank]),
        p: ranks.tails().two_sided(),
        n: u32::try_from(n).unwrap_or(u32::MAX),
        won: wins.sum::<f64>() / n as f64,
        rank_biserial: if total > 0.0 { 2.0 * above / total - 1.0 } else { 0.0 },
    })
}

/// The probability of differences as close to zero as these if their centre were the margin away or
/// further: small where they are proved to be within the margin. None of nothing, and without a
/// positive margin.
///
/// The larger p of two one-sided signed-rank tests: Schuirmann, Journal of Pharmacokinetics and
/// Biopharmaceutics 15, 1987.
pub fn equivalent(differences: &[f64], margin: f64) -> Option<f64> {
    let differences = sorted(differences.iter().copied());
    if differences.is_empty() || !margin.is_finite() || margin <= 0.0 {
        return None;
    }
    let from = |centre: f64| -> Vec<f64> { differences.iter().map(|d| d - centre).collect() };
    let above_lower = SignedRanks::from_differences(&from(-margin)).tails().up;
    let below_upper = SignedRanks::from_differences(&from(margin)).tails().down;
    Some(above_lower.max(below_upper))
}

/// The probability of differences as far below this bound if their centre lay at it or above: small where they are proved
/// to be below. None of nothing.
pub fn below(differences: &[f64], bound: f64) -> Option<f64> {
    one_sided(differences, bound).map(|tails| tails.down)
}

/// The probabilities of differences that lie so far below, and so far above, if this were their centre: one-sided
/// signed-rank tests. None of nothing.
pub(super) fn one_sided(differences: &[f64], centre: f64) -> Option<Tails> {
    let from_centre: Vec<f64> =
        differences.iter().filter(|d| d.is_finite()).map(|difference| difference - centre).collect();
    (!from_centre.is_empty()).then(|| SignedRanks::from_differences(&from_centre).tails())
}

/// The averages of all pairs, each with itself too, in ascending order.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let pairs =
        values.iter().enumerate().flat_map(|(i, a)| values[i..].iter().map(move |b| a / 2.0 + b / 2.0));
    sorted(pairs)
}

/// The rank, from 1, of the average at the lower end of the interval: the quantile of the sum of
/// ranks; zero when even the extremes do not reach the confidence.
fn interval_rank(n: usize, confidence: f64) -> Option<usize> {
    let tail = (1.0 - confidence) / 2.0;
    if n <= EXACT {
        let ranks: Vec<usize> = (1..=n).collect();
        return rank::quantile(&sums(&ranks), tail);
    }
    let n = n as f64;
    let (mean, variance) = (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
    rank::normal_quantile(mean, variance, tail)
}

/// How many choices of signs give each sum of the ranks whose sign is plus.
///
/// The shift algorithm of Streitberg and Röhmel (Statistical Software Newsletter 12, 1986).
fn sums(ranks: &[usize]) -> Vec<f64> {
    let mut ways = vec![0.0; ranks.iter().sum::<usize>() + 1];
    ways[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        reached += rank;
        for sum in (*rank..=reached).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

/// The ranks of the differences that are not zero, doubled so that those of ties are whole.
struct SignedRanks {
    all: Vec<usize>,
    above: usize,
}

impl SignedRanks {
    fn from_differences(differences: &[f64]) -> SignedRanks {
        let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
        let ranked = rank::doubled(&sizes).into_iter().zip(differences).filter(|(_, d)| **d != 0.0);
        let (mut all, mut above) = (Vec::new(), 0);
        for (rank, difference) in ranked {
            all.push(rank);
            above += if *difference > 0.0 { rank } else { 0 };
        }
        SignedRanks { all, above }
    }

    fn tails(&self) -> Tails {
        if self.all.len() <= EXACT {
            return Tails::exact(&sums(&self.all), self.above);
        }
        // Each rank is counted or not with one half, so ties and zeros are in the variance already.
        let mean = self.all.iter().sum::<usize>() as f64 / 2.0;
        let variance = self.all.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>() / 4.0;
        Tails::normal(self.above as f64, mean, variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: depression before and after.
    fn depression() -> Vec<f64> {
        let first = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let second = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.06 + 0.08, 1.29];
        first.iter().zip(second).map(|(a, b)| a - b).collect()
    }

    /// R: `wilcox.test(first, second, paired = TRUE, conf.int = TRUE)`.
    #[test]
    fn the_published_example_comes_out_as_in_r() {
        let effect = signed_rank(&depression(), 0.95).unwrap();
        assert!((effect.p - 0.0390625).abs() < 1e-12, "{effect:?}");
        assert!((effect.estimate - 0.46).abs() < 1e-9, "{effect:?}");
        assert!((effect.low.unwrap() - 0.01).abs() < 1e-9 && (effect.high.unwrap() - 0.786).abs() < 1e-9);
        assert_eq!((effect.n, effect.won), (9, 7.0 / 9.0));
        assert!((effect.rank_biserial - (40.0 - 5.0) / 45.0).abs() < 1e-12);
    }

    /// SciPy: `wilcoxon(d, zero_method="pratt", correction=True, method="asymptotic")`.
    #[test]
    fn ties_and_zeros_come_out_as_in_scipy() {
        let differences = [
            -6, 3, -3, 6, 0, -6, 4, -2, 7, 1, -5, 4, -2, 7, 1, -5, 4, -2, 8, 2, -4, 5, -1, 8, 2, -4, 6, 0, 9,
            3, -3, 6, 0, -6, 3, -3, 6, 0, -6, 4,
        ];
        let effect = signed_rank(&differences.map(f64::from), 0.95).unwrap();
        assert!((effect.p - 0.1734103963696476).abs() < 1e-9, "{effect:?}");
    }

    #[test]
    fn too_few_differences_have_no_interval() {
        for n in 1..6 {
            let effect = signed_rank(&vec![1.0; n], 0.95).unwrap();
            assert_eq!((effect.estimate, effect.low, effect.high), (1.0, None, None), "{n}");
            assert!(effect.p > 0.05);
        }
        let six = signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, f64::NAN], 0.95).unwrap();
        assert_eq!((six.low, six.high, six.p, six.n), (Some(1.0), Some(6.0), 2.0 / 64.0, 6));
        assert_eq!(signed_rank(&[f64::NAN], 0.95), None);
    }

    #[test]
    fn no_difference_is_no_effect() {
        let effect = signed_rank(&[0.0; 12], 0.95).unwrap();
        assert_eq!((effect.estimate, effect.p, effect.won, effect.rank_biserial), (0.0, 1.0, 0.5, 0.0));
    }

    #[test]
    fn only_many_differences_are_proved_small() {
        let small: Vec<f64> = (0..12).map(|i| 0.002 * f64::from(i - 6)).collect();
        assert!(equivalent(&small, 0.02).unwrap() < 0.05);
        assert!(equivalent(&small, 0.001).unwrap() > 0.05);
        assert!(equivalent(&small[..3], 1.0).unwrap() > 0.05);
        assert!((equivalent(&[0.0; 6], 0.5).unwrap() - 1.0 / 64.0).abs() < 1e-12);
        assert_eq!((equivalent(&[], 1.0), equivalent(&small, 0.0)), (None, None));
    }

    #[test]
    fn the_normal_takes_over_where_it_fits() {
        let ranks: Vec<usize> = (1..=30).collect();
        let exact = rank::quantile(&sums(&ranks), 0.025).unwrap();
        assert!(interval_rank(30, 0.95).unwrap().abs_diff(exact) <= 1, "{exact}");
    }

    proptest! {
        #[test]
        fn the_p_is_that_of_all_choices_of_signs(values in prop::collection::vec(-4..=4i32, 1..11)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let found = SignedRanks::from_differences(&values);
            let sums: Vec<usize> = (0..1_u32 << found.all.len())
                .map(|signs| found.all.iter().enumerate().map(|(i, r)| r * (signs >> i & 1) as usize).sum())
                .collect();
            let up = sums.iter().filter(|sum| **sum >= found.above).count() as f64 / sums.len() as f64;
            let down = sums.iter().filter(|sum| **sum <= found.above).count() as f64 / sums.len() as f64;
            let tails = found.tails();
            prop_assert!((tails.up - up).abs() < 1e-12 && (tails.down - down).abs() < 1e-12);
        }

        #[test]
        fn interval_and_test_agree_on_zero(
            values in prop::collection::vec(-1.0..2.0f64, 6..26)
        ) {
            let effect = signed_rank(&values, 0.95).unwrap();
            let outside = effect.low.unwrap() > 0.0 || effect.high.unwrap() < 0.0;
            prop_assert_eq!(outside, effect.p < 0.05, "{:?}", effect);
        }

        #[test]
        fn the_other_way_round_is_the_same(values in prop::collection::vec(-1e3..1e3f64, 1..40)) {
            let there = signed_rank(&values, 0.95).unwrap();
            let back = signed_rank(&values.iter().map(|v| -v).collect::<Vec<f64>>(), 0.95).unwrap();
            prop_assert!((there.p - back.p).abs() < 1e-12);
            prop_assert_eq!(there.low, back.high.map(|h| -h));
            prop_assert!((there.estimate + back.estimate).abs() < 1e-9);
            prop_assert!((there.rank_biserial + back.rank_biserial).abs() < 1e-9);
        }

        #[test]
        fn odd_numbers_never_break_it(
            values in prop::collection::vec(prop::num::f64::ANY, 0..40), level in prop::num::f64::ANY
        ) {
            signed_rank(&values, level);
            equivalent(&values, level);
        }
    }
}
