//! Observations that fall into two groups, of which one median says nothing.

use super::median::{of_sorted, sorted};
use super::{dip, median};
use serde::{Deserialize, Serialize};

/// A group holds at least this share of the observations, and at least two.
const LEAST_SHARE: f64 = 0.15;
/// From this many observations on the dip must confirm two groups.
const CONFIRMED: usize = 20;
/// Two groups are believed below this p of the dip.
const LEVEL: f64 = 0.01;
/// From so many observations on, the gap between two groups must be so many times the deviation
/// within them. Few observations have a wide gap by chance: these are the gaps that 1 % of sets with
/// one group exceed, simulated with exponential noise, which has wider ones than the normal. With the
/// dip to confirm them, four deviations are enough.
const GAPS: [(usize, f64); 7] =
    [(6, 60.0), (8, 32.0), (10, 19.0), (12, 15.0), (15, 10.5), (18, 8.5), (CONFIRMED, 4.0)];

/// A group of observations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Mode {
    /// Their median.
    pub centre: f64,
    /// The least of them.
    pub low: f64,
    /// The largest of them.
    pub high: f64,
    /// Their share of all observations.
    pub share: f64,
}

/// The groups of observations, the lower first: one as a rule, two where a gap parts them; none of
/// nothing.
///
/// The gap is the widest that leaves enough on both sides, and counts by the median absolute deviation
/// of the observations from the median of their group, which is taken to be at least `floor`, what the
/// clock can tell apart. A series that jumps once falls into two groups too: ask for its change point.
pub fn modes(values: &[f64], floor: f64) -> Vec<Mode> {
    let sorted = sorted(values.iter().copied());
    let parts = match cut(&sorted, floor) {
        Some(cut) => vec![&sorted[..cut], &sorted[cut..]],
        None => vec![&sorted[..]],
    };
    parts.into_iter().filter_map(|part| mode(part, sorted.len())).collect()
}

fn mode(part: &[f64], all: usize) -> Option<Mode> {
    let (low, high) = (*part.first()?, *part.last()?);
    Some(Mode { centre: of_sorted(part)?, low, high, share: part.len() as f64 / all as f64 })
}

/// Where the second group begins.
fn cut(sorted: &[f64], floor: f64) -> Option<usize> {
    let n = sorted.len();
    let (_, least_gap) = GAPS.iter().rev().find(|(from, _)| n >= *from)?;
    let least = ((LEAST_SHARE * n as f64).ceil() as usize).max(2);
    let gap = |cut: &usize| sorted[*cut] - sorted[cut - 1];
    let cut = (least..=n - least).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let wide = gap(&cut) > least_gap * deviation_within(sorted, cut)?.max(floor);
    let confirmed = || n < CONFIRMED || dip(sorted).is_some_and(|(_, p)| p < LEVEL);
    (wide && confirmed()).then_some(cut)
}

/// The median distance of the observations from the median of their group.
fn deviation_within(sorted: &[f64], cut: usize) -> Option<f64> {
    let (lower, upper) = sorted.split_at(cut);
    let centres = (of_sorted(lower)?, of_sorted(upper)?);
    let from = |centre: f64| move |value: &f64| (value - centre).abs();
    median(lower.iter().map(from(centres.0)).chain(upper.iter().map(from(centres.1))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::tests::noise;
    use proptest::prelude::*;

    #[test]
    fn two_groups_are_found_with_their_shares() {
        let mut random = noise(11);
        for (n, lower) in [(10, 6), (15, 10), (24, 16), (60, 30)] {
            let values: Vec<f64> =
                (0..n).map(|i| if i < lower { 100.0 } else { 130.0 } + 0.5 * random.normal()).collect();
            let found = modes(&values, 0.0);
            assert_eq!(found.len(), 2, "{n}");
            assert_eq!(found[0].share, lower as f64 / n as f64);
            assert!((found[0].centre - 100.0).abs() < 1.0 && (found[1].centre - 130.0).abs() < 1.0);
            assert!(found[0].high < found[1].low);
        }
    }

    #[test]
    fn one_group_is_one_whatever_its_tail() {
        let mut random = noise(12);
        for n in [6, 8, 10, 12, 15, 19, 20, 33, 100] {
            let sets = 1000;
            let mut two = [0, 0];
            for _ in 0..sets {
                let normal: Vec<f64> = (0..n).map(|_| random.normal()).collect();
                let tail: Vec<f64> = (0..n).map(|_| -(1.0 - random.uniform()).ln()).collect();
                two[0] += usize::from(modes(&normal, 0.0).len() == 2);
                two[1] += usize::from(modes(&tail, 0.0).len() == 2);
            }
            println!("{n}: {two:?} of {sets}");
            assert!(two.iter().all(|two| *two <= 20), "{n}: {two:?}");
        }
    }

    #[test]
    fn an_outlier_or_a_tick_is_no_group() {
        let mut values: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i % 4)).collect();
        values[5] = 500.0;
        assert_eq!(modes(&values, 1.0).len(), 1);
        let ticks: Vec<f64> = (0..12).map(|i| f64::from(i % 2)).collect();
        assert_eq!(modes(&ticks, 1.0).len(), 1);
        assert!(modes(&[f64::NAN], 0.0).is_empty());
        assert_eq!(modes(&[4.0], 0.0), [Mode { centre: 4.0, low: 4.0, high: 4.0, share: 1.0 }]);
    }

    proptest! {
        #[test]
        fn the_shares_make_a_whole(values in prop::collection::vec(prop::num::f64::ANY, 0..30)) {
            let total: f64 = modes(&values, 0.0).iter().map(|mode| mode.share).sum();
            let finite = values.iter().any(|value| value.is_finite());
            prop_assert!((total - f64::from(u8::from(finite))).abs() < 1e-9);
        }
    }
}
