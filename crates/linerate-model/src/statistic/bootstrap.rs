//! A second way to an interval: drawing again from what was observed.

use super::Estimate;
use super::median::{of_sorted, sorted};
use super::outlier::quantile;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

const RESAMPLES: usize = 10_000;
/// The fewest observations from which to draw again.
const LEAST: usize = 15;

/// The median, such as that of paired differences, with the interval of the bias-corrected and
/// accelerated bootstrap; none of fewer than fifteen. A check of the intervals that come from ranks,
/// not a replacement: the same seed gives the same result.
///
/// Efron, JASA 82, 1987.
pub fn bootstrap(values: &[f64], confidence: f64, seed: u64) -> Option<Estimate> {
    let sorted = sorted(values.iter().copied());
    let median = of_sorted(&sorted).filter(|_| sorted.len() >= LEAST)?;
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let medians = resampled(&sorted, seed);
    let normal = Normal::standard();
    // Half of the draws that hit the median count as below it, since few values are possible.
    let below =
        medians.iter().map(|m| if *m < median { 1.0 } else { f64::from(u8::from(*m == median)) / 2.0 });
    let bias = normal.inverse_cdf(below.sum::<f64>() / RESAMPLES as f64);
    let acceleration = acceleration(&sorted);
    let end = |share: f64| {
        let shifted = bias + normal.inverse_cdf(share);
        let share = normal.cdf(bias + shifted / (1.0 - acceleration * shifted));
        share.is_finite().then(|| quantile(&medians, share))
    };
    let tail = (1.0 - confidence) / 2.0;
    let n = u32::try_from(sorted.len()).unwrap_or(u32::MAX);
    Some(Estimate { median, low: end(tail), high: end(1.0 - tail), n })
}

/// The medians of samples drawn again, in ascending order.
fn resampled(values: &[f64], seed: u64) -> Vec<f64> {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = vec![0.0; values.len()];
    sorted((0..RESAMPLES).map(|_| {
        drawn.fill_with(|| values[random.random_range(0..values.len())]);
        drawn.sort_unstable_by(f64::total_cmp);
        of_sorted(&drawn).unwrap_or(f64::NAN)
    }))
}

/// How the median's deviation changes with it, from leaving out one observation at a time.
fn acceleration(sorted: &[f64]) -> f64 {
    let without = |k: usize| of_sorted(&[&sorted[..k], &sorted[k + 1..]].concat()).unwrap_or(f64::NAN);
    let medians: Vec<f64> = (0..sorted.len()).map(without).collect();
    let mean = medians.iter().sum::<f64>() / medians.len() as f64;
    let power = |exponent: i32| medians.iter().map(|median| (mean - median).powi(exponent)).sum::<f64>();
    let found = power(3) / (6.0 * power(2).powf(1.5));
    if found.is_finite() { found } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::tests::noise;

    #[test]
    fn the_two_ways_agree() {
        let mut random = noise(9);
        for n in [20, 40] {
            let values: Vec<f64> = (0..n).map(|_| (0.05 * random.normal()).exp()).collect();
            let (ranks, drawn) =
                (Estimate::of(values.iter().copied()).unwrap(), bootstrap(&values, 0.95, 1).unwrap());
            assert_eq!(ranks.median, drawn.median);
            let ratio = drawn.half_width().unwrap() / ranks.half_width().unwrap();
            assert!((0.5..1.5).contains(&ratio), "{n}: {ratio}");
        }
    }

    #[test]
    fn few_and_equal_values_are_no_trouble() {
        assert_eq!(bootstrap(&[1.0; 14], 0.95, 1), None);
        let equal = bootstrap(&[1.0; 15], 0.95, 1).unwrap();
        assert_eq!((equal.low, equal.high), (Some(1.0), Some(1.0)));
        assert_eq!(bootstrap(&[1.0; 15], f64::NAN, 1), None);
    }

    /// 60 sets of 25: of 95 % intervals, 52 and more hold the truth in all but one case of a hundred.
    #[test]
    fn the_interval_holds_the_truth() {
        let mut random = noise(10);
        let held = (0..60).filter(|_| {
            let values: Vec<f64> = (0..25).map(|_| random.normal().exp()).collect();
            let found = bootstrap(&values, 0.95, 3).unwrap();
            found.low.unwrap() <= 1.0 && 1.0 <= found.high.unwrap()
        });
        let held = held.count();
        assert!(held >= 52, "{held}");
    }
}
