//! Whether a series drifts, and how far.

use super::median;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// The fewest observations of which a drift is asked.
const LEAST: usize = 4;

/// Whether a series drifts, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Trend {
    /// The probability of so many rises over falls, or falls over rises, if there were no drift.
    pub p: f64,
    /// The change from the first to the last observation as a share of the median.
    pub change: f64,
}

/// The drift of equally spaced observations in the order of time; what is not finite is a gap. None
/// of fewer than four, or with a median of zero.
///
/// The test is that of Mann (Econometrica 13, 1945) with Kendall's correction for ties, the slope that
/// of Theil and Sen (JASA 63, 1968). The test takes the observations for independent: where each
/// resembles the one before, it finds drift too often. Takes time with the square of their number.
pub fn trend(series: &[f64]) -> Option<Trend> {
    let points: Vec<(usize, f64)> =
        series.iter().copied().enumerate().filter(|(_, v)| v.is_finite()).collect();
    if points.len() < LEAST {
        return None;
    }
    let pairs = || points.iter().enumerate().flat_map(|(i, a)| points[i + 1..].iter().map(move |b| (a, b)));
    let rises: f64 = pairs().map(|(a, b)| if a.1 == b.1 { 0.0 } else { (b.1 - a.1).signum() }).sum();
    let slope = median(pairs().map(|(a, b)| (b.1 - a.1) / (b.0 - a.0) as f64))?;
    let length = points.last()?.0 - points.first()?.0;
    let change = slope * length as f64 / median(series.iter().copied())?.abs();
    change.is_finite().then(|| Trend { p: p_of(rises, &points), change })
}

/// The probability of so many more rises than falls, or the reverse, in any order of the values.
fn p_of(rises: f64, points: &[(usize, f64)]) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
    values.sort_by(f64::total_cmp);
    let weight = |n: usize| (n * (n - 1) * (2 * n + 5)) as f64;
    let ties: f64 = values.chunk_by(|a, b| a == b).map(|ties| weight(ties.len())).sum();
    let deviation = ((weight(values.len()) - ties) / 18.0).sqrt();
    // A step of the statistic is two, so one corrects for continuity.
    let distance = (rises.abs() - 1.0).max(0.0) / deviation;
    if distance.is_finite() { 2.0 * Normal::standard().sf(distance) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::tests::noise;
    use proptest::prelude::*;

    /// SciPy: the tie-corrected normal of S = 34, and `theilslopes(x)[0]` = 0.8 of a median of 6.5.
    #[test]
    fn the_test_and_the_slope_come_out_as_in_scipy() {
        let found = trend(&[3.0, 5.0, 4.0, 6.0, 6.0, 9.0, 8.0, 7.0, 12.0, 10.0]).unwrap();
        assert!((found.p - 0.003041744319900935).abs() < 1e-9, "{found:?}");
        assert!((found.change - 0.8 * 9.0 / 6.5).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn level_and_short_series_have_no_drift() {
        assert_eq!(trend(&[5.0; 8]), Some(Trend { p: 1.0, change: 0.0 }));
        assert_eq!(trend(&[1.0, 2.0, 3.0]), None);
        assert_eq!(trend(&[0.0; 8]), None);
    }

    #[test]
    fn a_gap_is_not_closed() {
        let found = trend(&[100.0, 101.0, f64::NAN, 103.0, 104.0, 105.0]).unwrap();
        assert!((found.change - 5.0 / 103.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn noise_alone_seldom_drifts() {
        let mut random = noise(3);
        for n in [6, 10, 30] {
            let series = 2000;
            let found = (0..series).filter(|_| {
                let values: Vec<f64> = (0..n).map(|_| 100.0 + random.normal()).collect();
                trend(&values).unwrap().p < 0.01
            });
            let share = found.count() as f64 / f64::from(series);
            assert!(share <= 0.015, "{n}: {share}");
        }
    }

    proptest! {
        #[test]
        fn odd_numbers_never_break_it(values in prop::collection::vec(prop::num::f64::ANY, 0..40)) {
            trend(&values);
        }
    }
}
