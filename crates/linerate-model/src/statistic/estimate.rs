//! A median and how far it may be off.

use super::median::{of_sorted, sorted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::sync::OnceLock;

/// A median with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The median of the observations.
    pub median: f64,
    /// The lower end of the interval; none where too few observations were made for one.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// The number of observations: passes.
    pub n: u32,
}

impl Estimate {
    /// Summarises observations; none of nothing.
    pub fn from_values(values: impl IntoIterator<Item = f64>) -> Option<Estimate> {
        let sorted = sorted(values);
        let median = of_sorted(&sorted)?;
        let ends = interval_ranks(sorted.len(), super::CONFIDENCE);
        Some(Estimate {
            median,
            low: ends.map(|(low, _)| sorted[low - 1]),
            high: ends.map(|(_, high)| sorted[high - 1]),
            n: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
        })
    }

    /// A figure that was not observed but is sure: no observation, and no width.
    pub fn exact(value: f64) -> Estimate {
        Estimate { median: value, low: Some(value), high: Some(value), n: 0 }
    }

    /// The larger distance from the median to an end of the interval.
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high? - self.median).max(self.median - self.low?))
    }

    /// The half-width as a share of the median.
    pub fn relative_half_width(&self) -> Option<f64> {
        let share = self.half_width()? / self.median.abs();
        share.is_finite().then_some(share)
    }
}

/// The ranks (from 1) of the order statistics between which the median lies with at least this
/// confidence; none when even the extremes do not reach it, which at 95 % is below six observations.
///
/// The number of observations below the median is binomial with one half, whatever the distribution:
/// David and Nagaraja, Order Statistics, 3rd edition, section 7.1.
pub fn interval_ranks(n: usize, confidence: f64) -> Option<(usize, usize)> {
    // A report asks for the same few thousands of times, and each costs a search in a binomial.
    static KNOWN: [OnceLock<Option<(usize, usize)>>; 128] = [const { OnceLock::new() }; 128];
    match KNOWN.get(n).filter(|_| confidence == super::CONFIDENCE) {
        Some(known) => *known.get_or_init(|| searched_ranks(n, confidence)),
        None => searched_ranks(n, confidence),
    }
}

fn searched_ranks(n: usize, confidence: f64) -> Option<(usize, usize)> {
    let binomial = Binomial::new(0.5, n as u64).ok()?;
    let low = binomial.inverse_cdf((1.0 - confidence) / 2.0) as usize;
    (low > 0).then(|| (low, n + 1 - low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn ranks_are_those_of_the_exact_binomial() {
        let table = [
            (6, 1, 6),
            (7, 1, 7),
            (8, 1, 8),
            (9, 2, 8),
            (10, 2, 9),
            (12, 3, 10),
            (15, 4, 12),
            (20, 6, 15),
            (25, 8, 18),
            (30, 10, 21),
            (40, 14, 27),
            (50, 18, 33),
            (70, 27, 44),
            (100, 40, 61),
        ];
        for (n, low, high) in table {
            assert_eq!(interval_ranks(n, 0.95), Some((low, high)), "{n}");
        }
    }

    /// In whole numbers: of the 2^n outcomes at most one in 40 lies beyond an end.
    #[test]
    fn ranks_of_every_number_are_those_of_counting() {
        for n in 6..=100 {
            let (mut outcomes, mut beyond, mut low) = (1_u128, 0, 0);
            loop {
                beyond += outcomes;
                if beyond * 40 > 1 << n {
                    break;
                }
                outcomes = outcomes * (n - low) / (low + 1);
                low += 1;
            }
            assert_eq!(interval_ranks(n as usize, 0.95), Some((low as usize, (n + 1 - low) as usize)), "{n}");
        }
    }

    #[test]
    fn too_few_observations_have_no_interval() {
        for n in 0..6 {
            assert_eq!(interval_ranks(n, 0.95), None, "{n}");
        }
        assert!((6..8).all(|n| interval_ranks(n, 0.99).is_none()) && interval_ranks(8, 0.99).is_some());
        let few = Estimate::from_values([1.0, 2.0, f64::NAN, 3.0]).unwrap();
        assert_eq!(few, Estimate { median: 2.0, low: None, high: None, n: 3 });
        assert_eq!(few.half_width(), None);
    }

    #[test]
    fn the_larger_half_counts() {
        let estimate = Estimate::from_values([10.0, 11.0, 12.0, 13.0, 14.0, 20.0]).unwrap();
        assert_eq!(estimate.half_width(), Some(7.5));
        assert_eq!(estimate.relative_half_width(), Some(0.6));
    }

    /// Method, T2: the interval holds the true median as often as it says.
    #[test]
    fn the_interval_covers_the_truth() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for n in [6, 10, 20] {
            let runs = 4000;
            let held = (0..runs).filter(|_| {
                // The median of -ln(u) is ln 2, far from symmetric.
                let sample: Vec<f64> = (0..n).map(|_| -random.random::<f64>().ln()).collect();
                let estimate = Estimate::from_values(sample).unwrap();
                let truth = std::f64::consts::LN_2;
                estimate.low.unwrap() <= truth && truth <= estimate.high.unwrap()
            });
            let share = held.count() as f64 / f64::from(runs);
            assert!(share > 0.94, "{n}: {share}");
        }
    }

    proptest! {
        #[test]
        fn the_median_is_inside(values in prop::collection::vec(-1e12..1e12f64, 6..80)) {
            let estimate = Estimate::from_values(values).unwrap();
            prop_assert!(estimate.low.unwrap() <= estimate.median && estimate.median <= estimate.high.unwrap());
        }

        #[test]
        fn a_unit_changes_nothing(values in prop::collection::vec(1.0..1e6f64, 6..40), power in -8..8i32) {
            let factor = 2f64.powi(power);
            let plain = Estimate::from_values(values.iter().copied()).unwrap();
            let scaled = Estimate::from_values(values.iter().map(|value| value * factor)).unwrap();
            prop_assert_eq!(scaled.median, plain.median * factor);
            prop_assert_eq!(scaled.relative_half_width(), plain.relative_half_width());
        }

        #[test]
        fn odd_numbers_never_break_it(values in prop::collection::vec(prop::num::f64::ANY, 0..40)) {
            Estimate::from_values(values);
        }
    }
}
