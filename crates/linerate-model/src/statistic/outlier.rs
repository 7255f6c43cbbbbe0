//! Observations far from the rest. They are marked, never left out.

use super::median::{of_sorted, sorted};

/// Below this many observations none is called far: there is too little of a rest.
const LEAST: usize = 6;

/// Marks what lies more than five robust deviations from the median, or more than three interquartile
/// ranges outside the quartiles (Tukey, Exploratory Data Analysis, 1977, section 2D: "far out").
///
/// The median absolute deviation is taken to be at least `floor`, what the clock can tell apart: else,
/// of values that are nearly all one, the next tick would be far. What is not finite is not marked.
pub fn outliers(values: &[f64], floor: f64) -> Vec<bool> {
    let Some((low, high)) = fences(values, floor) else { return vec![false; values.len()] };
    values.iter().map(|value| value.is_finite() && !(low..=high).contains(value)).collect()
}

/// The median distance from the median; none of nothing. Times 1.4826 it estimates the standard
/// deviation of normal observations (Hampel, JASA 69, 1974).
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = super::median(values.iter().copied())?;
    super::median(values.iter().map(|value| (value - middle).abs()))
}

/// The ends beyond which a value is far from the rest.
fn fences(values: &[f64], floor: f64) -> Option<(f64, f64)> {
    let sorted = sorted(values.iter().copied());
    let middle = of_sorted(&sorted).filter(|_| sorted.len() >= LEAST)?;
    let mad = mad(&sorted)?.max(floor);
    let (first, third) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    // Two such deviations make the interquartile range of a symmetric distribution.
    let range = (third - first).max(2.0 * floor);
    let (near, wide) = (5.0 * 1.4826 * mad, 3.0 * range);
    Some((f64::max(middle - near, first - wide), f64::min(middle + near, third + wide)))
}

/// The quantile of ascending values by linear interpolation (type 7 of Hyndman and Fan, 1996).
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * sorted.len().saturating_sub(1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::tests::noise;
    use proptest::prelude::*;

    #[test]
    fn what_is_far_is_marked_and_nothing_else() {
        let values = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 150.0, f64::NAN, 50.0, 99.8];
        let marked: Vec<usize> = (0..10).filter(|i| outliers(&values, 0.0)[*i]).collect();
        assert_eq!(marked, [6, 8]);
        assert!(outliers(&[1.0, 1.1, 1.2, 99.0], 0.0).iter().all(|far| !far), "too few for a rest");
    }

    #[test]
    fn a_tick_of_the_clock_is_not_far() {
        let values = [100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 101.0, 140.0];
        assert_eq!(outliers(&values, 1.0).iter().filter(|far| **far).count(), 1);
        assert_eq!(outliers(&values, 0.0).iter().filter(|far| **far).count(), 2);
    }

    /// R: `mad(c(1, 2, 4, 7, 11), constant = 1)`, `quantile(c(1, 2, 4, 7), 0.25)`.
    #[test]
    fn the_deviation_and_the_quantile_are_those_of_r() {
        assert_eq!(mad(&[1.0, 2.0, 4.0, 7.0, 11.0]), Some(3.0));
        assert_eq!(mad(&[]), None);
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 7.0], 0.25), 1.75);
    }

    #[test]
    fn normal_noise_is_seldom_called_far() {
        let mut random = noise(2);
        for (n, most) in [(10, 0.02), (30, 0.002), (100, 0.0005)] {
            let sets = 2000;
            let marked: usize = (0..sets)
                .map(|_| {
                    let values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
                    outliers(&values, 0.0).iter().filter(|far| **far).count()
                })
                .sum();
            let share = marked as f64 / f64::from(sets * n);
            println!("{n}: {share}");
            assert!(share < most, "{n}: {share}");
        }
    }

    proptest! {
        #[test]
        fn odd_numbers_never_break_it(values in prop::collection::vec(prop::num::f64::ANY, 0..40)) {
            prop_assert_eq!(outliers(&values, 0.0).len(), values.len());
        }
    }
}
