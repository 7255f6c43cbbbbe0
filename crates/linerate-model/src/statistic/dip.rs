//! How far observations are from having one peak.

use super::median::sorted;
use rand::{RngExt, SeedableRng};

/// The sets of uniform noise from which the p of a dip is counted.
const SETS: u32 = 2000;
/// Above so many observations the dip shrinks with the root of their number.
const SETTLED: usize = 200;
const SEED: u64 = 0x64_6970;
/// The fewest observations of which a dip is asked.
const LEAST: usize = 4;

/// The largest distance between the share of observations up to a value and the nearest distribution
/// with one peak, and the probability of such a distance from the uniform, which has no dip and is
/// hardest to tell from two peaks. None of fewer than four observations.
///
/// Hartigan and Hartigan, Annals of Statistics 13, 1985; the algorithm is Hartigan's AS 217 (Applied
/// Statistics 34, 1985) as Mächler corrected it (R package diptest). The p is counted over 2000 sets of
/// noise that are the same each time, so the smallest is 1/2001.
pub fn dip(values: &[f64]) -> Option<(f64, f64)> {
    let sorted = sorted(values.iter().copied());
    if sorted.len() < LEAST {
        return None;
    }
    let found = statistic(&sorted);
    let n = sorted.len().min(SETTLED);
    let settled = found * (sorted.len() as f64 / n as f64).sqrt();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(SEED);
    let mut set = vec![0.0; n];
    let as_far = (0..SETS).filter(|_| {
        set.fill_with(|| random.random::<f64>());
        set.sort_unstable_by(f64::total_cmp);
        statistic(&set) >= settled - 1e-12
    });
    Some((found, (as_far.count() + 1) as f64 / f64::from(SETS + 1)))
}

/// The dip of ascending values.
fn statistic(x: &[f64]) -> f64 {
    let (below, above) = (minorant(x), majorant(x));
    let (mut low, mut high) = (0, x.len() - 1);
    // In steps of 1/(2n), as all distances here; one is the least.
    let mut dip: f64 = 1.0;
    while x[low] < x[high] {
        let knots = (chain(&below, high, low), chain(&above, low, high));
        let (distance, convex, concave) = widest(x, &knots.0, &knots.1);
        if distance < dip {
            break;
        }
        let left = knots.0[convex..].windows(2).map(|ends| reach(x, ends[1], ends[0], 1.0));
        let right = knots.1[concave..].windows(2).map(|ends| reach(x, ends[0], ends[1], -1.0));
        dip = left.chain(right).fold(dip, f64::max);
        let next = (knots.0[convex], knots.1[concave]);
        if next == (low, high) {
            break;
        }
        (low, high) = next;
    }
    dip / (2 * x.len()) as f64
}

/// For each value the one before it on the greatest convex minorant of the values up to it.
fn minorant(x: &[f64]) -> Vec<usize> {
    let mut before: Vec<usize> = vec![0; x.len()];
    for j in 1..x.len() {
        let mut at = j - 1;
        while at > 0 {
            let next = before[at];
            if (x[j] - x[at]) * ((at - next) as f64) < (x[at] - x[next]) * ((j - at) as f64) {
                break;
            }
            at = next;
        }
        before[j] = at;
    }
    before
}

/// For each value the one after it on the least concave majorant of the values from it.
fn majorant(x: &[f64]) -> Vec<usize> {
    let last = x.len() - 1;
    let mut after: Vec<usize> = vec![last; x.len()];
    for k in (0..last).rev() {
        let mut at = k + 1;
        while at < last {
            let next = after[at];
            if (x[at] - x[k]) * ((next - at) as f64) < (x[next] - x[at]) * ((at - k) as f64) {
                break;
            }
            at = next;
        }
        after[k] = at;
    }
    after
}

/// The knots from one value to another.
fn chain(links: &[usize], from: usize, to: usize) -> Vec<usize> {
    let mut knots = vec![from];
    let mut at = from;
    while at != to {
        at = links[at];
        knots.push(at);
    }
    knots
}

/// The largest distance between minorant (its knots descending) and majorant (ascending), and the
/// knots of each between which it is.
fn widest(x: &[f64], minorant: &[usize], majorant: &[usize]) -> (f64, usize, usize) {
    let mut found = (0.0, minorant.len() - 1, majorant.len() - 1);
    if minorant.len() == 2 && majorant.len() == 2 {
        return (1.0, found.1, found.2);
    }
    let line = |from: usize, to: usize, at: usize| (x[at] - x[from]) * (to - from) as f64 / (x[to] - x[from]);
    let (mut i, mut v) = (minorant.len() - 2, 1);
    loop {
        let (convex, concave) = (minorant[i], majorant[v]);
        let (distance, next) = if convex > concave {
            let before = minorant[i + 1];
            ((concave - before + 1) as f64 - line(before, convex, concave), (i, v + 1))
        } else {
            let before = majorant[v - 1];
            (line(before, concave, convex) - (convex as f64 - before as f64 - 1.0), (i.max(1) - 1, v))
        };
        if distance >= found.0 {
            found = if convex > concave { (distance, i + 1, v) } else { (distance, i, v) };
        }
        (i, v) = (next.0, next.1.min(majorant.len() - 1));
        if minorant[i] == majorant[v] {
            return found;
        }
    }
}

/// The farthest that the observations between two knots lie above (1) or below (-1) their line.
fn reach(x: &[f64], from: usize, to: usize, side: f64) -> f64 {
    if to - from <= 1 || x[to] == x[from] {
        return 1.0;
    }
    let slope = (to - from) as f64 / (x[to] - x[from]);
    let distance = |at: usize| side * ((at - from) as f64 - (x[at] - x[from]) * slope) + 1.0;
    (from..=to).map(distance).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// R: `dip.test(statfaculty)` of package diptest: D = 0.059524, p = 0.0867; the others by the same
    /// algorithm (diptest for Python).
    #[test]
    fn the_dip_is_that_of_diptest() {
        let faculty = [
            30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41, 42, 43, 43, 43, 44, 44, 45, 45,
            46, 46, 47, 47, 48, 48, 48, 49, 50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57, 59, 60,
            60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72,
        ];
        let (found, p) = dip(&faculty.map(f64::from)).unwrap();
        assert!((found - 0.05952380952380952).abs() < 1e-12 && (p - 0.0867).abs() < 0.02, "{found} {p}");
        let waves: Vec<f64> =
            (0..40).map(|i| f64::from((i * 29 % 41_i32).pow(2)) / 100.0 + f64::from(i % 3) * 4.0).collect();
        let squares: Vec<f64> = (0..50).map(|k| f64::from(k * k * 7 % 101)).collect();
        let cases: [(&[f64], f64); 4] = [
            (&[1.0, 2.0, 3.0, 4.0, 5.0, 11.0, 12.0, 13.0, 14.0, 15.0], 0.15),
            (&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 5.0, 5.0, 5.0, 5.0], 0.2),
            (&waves, 0.03826177285318559),
            (&squares, 0.03384615384615384),
        ];
        for (values, wanted) in cases {
            let (found, _) = dip(values).unwrap();
            assert!((found - wanted).abs() < 1e-12, "{found} for {wanted}");
        }
    }

    #[test]
    fn the_p_of_two_groups_is_small_and_of_one_large() {
        let two: Vec<f64> = (0..30).map(|i| f64::from(i % 2) * 10.0 + f64::from(i) * 0.01).collect();
        assert!(dip(&two).unwrap().1 < 0.001);
        let one: Vec<f64> = (0..30).map(f64::from).collect();
        assert!(dip(&one).unwrap().1 > 0.9);
        let many: Vec<f64> = (0..5000).map(|i| f64::from(i % 2) * 9000.0 + f64::from(i)).collect();
        assert!(dip(&many).unwrap().1 < 0.001);
        assert_eq!(dip(&[1.0, 2.0, 3.0]), None);
    }

    proptest! {
        #[test]
        fn the_dip_is_within_its_bounds(values in prop::collection::vec(0..20i32, 4..40)) {
            let mut values: Vec<f64> = values.into_iter().map(f64::from).collect();
            values.sort_by(f64::total_cmp);
            let found = statistic(&values);
            prop_assert!(found >= 0.5 / values.len() as f64 - 1e-12 && found <= 0.25 + 1e-12, "{}", found);
            let mirrored: Vec<f64> = values.iter().rev().map(|v| -v).collect();
            prop_assert!((statistic(&mirrored) - found).abs() < 1e-9);
        }
    }
}
