//! Where a series changes its level.

use statrs::distribution::{ContinuousCDF, StudentsT};
use std::ops::Range;

/// A change is first looked for at so many times the level, and then has to hold at the level itself:
/// of a level that rises and falls back, the first cut alone proves little.
const WEAK: f64 = 10.0;

/// The places of the first values after each change of level, in order of time: on each side of a
/// change lie at least `least` values (and two).
///
/// E-divisive means (Matteson and James, JASA 109, 2014) with a t-test in place of the permutations, so
/// that the same series gives the same answer, and weak changes joined again (Fleming and others,
/// Hunter, arXiv 2301.03034). A cut is the best of many places, which the plain test does not know: at
/// 1 % it would find a change in a fifth of level series of 50 values. Its p therefore counts once for
/// each place (Bonferroni). What is left is a share of level series of the order of `p` that show a change, and not a bound: far in its
/// tails, with few values on one side, the test (Welch) finds several times as many as it says. Takes time with the square of the length. Values that are not finite are
/// left out; values that resemble the one before change more often than is said.
pub fn change_points(series: &[f64], p: f64, least: usize) -> Vec<usize> {
    let (places, values): (Vec<usize>, Vec<f64>) =
        series.iter().copied().enumerate().filter(|(_, value)| value.is_finite()).unzip();
    let search = Search { values: &values, least: least.max(2) };
    let mut cuts = Vec::new();
    search.split(0..values.len(), p * WEAK, &mut cuts);
    search.join(p, &mut cuts);
    cuts.into_iter().map(|cut| places[cut]).collect()
}

struct Search<'a> {
    values: &'a [f64],
    least: usize,
}

impl Search<'_> {
    /// Cuts at the likeliest change, then each part again.
    fn split(&self, part: Range<usize>, p: f64, cuts: &mut Vec<usize>) {
        let Some(cut) = likeliest(&self.values[part.clone()], self.least) else { return };
        let cut = part.start + cut;
        if self.p_of(part.start, cut, part.end) < p {
            self.split(part.start..cut, p, cuts);
            cuts.push(cut);
            self.split(cut..part.end, p, cuts);
        }
    }

    /// Takes away the weakest cut until all that remain tell their neighbours apart.
    fn join(&self, p: f64, cuts: &mut Vec<usize>) {
        loop {
            let bounds: Vec<usize> = [&[0], &cuts[..], &[self.values.len()]].concat();
            let tests = bounds.windows(3).map(|b| self.p_of(b[0], b[1], b[2]));
            match tests.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) {
                Some((weakest, found)) if found >= p => drop(cuts.remove(weakest)),
                _ => return,
            }
        }
    }

    /// The probability that the best of all cuts between two places tells its sides so far apart.
    fn p_of(&self, from: usize, cut: usize, to: usize) -> f64 {
        let places = (to - from + 1).saturating_sub(2 * self.least).max(1);
        t_test(&self.values[from..cut], &self.values[cut..to]) * places as f64
    }
}

/// The cut with the largest energy distance between its sides, weighted by their sizes.
fn likeliest(values: &[f64], least: usize) -> Option<usize> {
    let n = values.len();
    let to = |at: usize, part: &[f64]| part.iter().map(|value| (value - values[at]).abs()).sum::<f64>();
    // The sums of the distances within and between the sides, moved value by value to the left side.
    let mut between = 0.0;
    let mut left = 0.0;
    let mut right = (0..n).map(|at| to(at, &values[at + 1..])).sum::<f64>();
    let mut best: Option<(f64, usize)> = None;
    for cut in 1..=n.saturating_sub(least) {
        let (before, after) = (to(cut - 1, &values[..cut - 1]), to(cut - 1, &values[cut..]));
        left += before;
        right -= after;
        between += after - before;
        let (l, r) = (cut as f64, (n - cut) as f64);
        let distance = 2.0 * between / (l * r) - 2.0 * left / (l * (l - 1.0)) - 2.0 * right / (r * (r - 1.0));
        let weighted = distance * l * r / (l + r);
        if cut >= least && best.is_none_or(|(most, _)| weighted > most) {
            best = Some((weighted, cut));
        }
    }
    best.map(|(_, cut)| cut)
}

/// The two-sided p of Student's t-test, with the variances of the sides apart (Welch, 1947).
fn t_test(a: &[f64], b: &[f64]) -> f64 {
    let summary = |side: &[f64]| {
        let n = side.len() as f64;
        let mean = side.iter().sum::<f64>() / n;
        (mean, side.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n, n - 1.0)
    };
    let ((first, v, f), (second, w, g)) = (summary(a), summary(b));
    if first == second {
        return 1.0;
    }
    if v + w == 0.0 {
        return 0.0;
    }
    let freedom = (v + w).powi(2) / (v * v / f + w * w / g);
    let t = (first - second).abs() / (v + w).sqrt();
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |student| 2.0 * student.sf(t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::tests::noise;
    use proptest::prelude::*;

    /// SciPy: `ttest_ind([1, 2, 3, 4], [3, 5, 7, 9], equal_var=False)`.
    #[test]
    fn the_test_is_that_of_welch() {
        let p = t_test(&[1.0, 2.0, 3.0, 4.0], &[3.0, 5.0, 7.0, 9.0]);
        assert!((p - 0.06645858409863342).abs() < 1e-9, "{p}");
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let mut random = noise(13);
        for (at, n) in [(20, 50), (5, 50), (70, 100)] {
            let series: Vec<f64> =
                (0..n).map(|i| if i < at { 100.0 } else { 105.0 } + random.normal()).collect();
            let found = change_points(&series, 0.001, 4);
            assert!(found.len() == 1 && found[0].abs_diff(at) <= 1, "{at}: {found:?}");
        }
    }

    #[test]
    fn a_level_that_comes_back_is_two_changes() {
        let mut random = noise(14);
        let series: Vec<f64> =
            (0..90).map(|i| if (30..60).contains(&i) { 103.0 } else { 100.0 } + random.normal()).collect();
        let found = change_points(&series, 0.001, 4);
        assert!(found.len() == 2 && found[0].abs_diff(30) <= 2 && found[1].abs_diff(60) <= 2, "{found:?}");
    }

    #[test]
    fn places_count_what_is_left_out() {
        let series = [1.0, 1.1, f64::NAN, 0.9, 1.0, 5.0, 5.1, 4.9, 5.0];
        assert_eq!(change_points(&series, 0.001, 3), [5]);
        assert_eq!(change_points(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], 0.001, 3), [3]);
        for level in [&[3.0; 20][..], &[1.0], &[]] {
            assert!(change_points(level, 0.01, 2).is_empty());
        }
    }

    #[test]
    fn noise_alone_changes_as_seldom_as_said() {
        let mut random = noise(15);
        for (p, most) in [(0.01, 0.02), (0.05, 0.06)] {
            let found = (0..500).filter(|_| !change_points(&random.alike(50, 0.0), p, 4).is_empty());
            let share = found.count() as f64 / 500.0;
            println!("{p}: {share}");
            assert!(share <= most, "{p}: {share}");
        }
    }

    proptest! {
        #[test]
        fn each_part_is_long_enough(
            values in prop::collection::vec(prop::num::f64::ANY, 0..40), least in 0..8usize
        ) {
            let cuts = change_points(&values, 0.5, least);
            prop_assert!(cuts.windows(2).all(|pair| pair[0] + least <= pair[1]));
            prop_assert!(cuts.iter().all(|cut| *cut >= least && *cut + least <= values.len()));
        }
    }
}
