//! A figure worked out of others: how far it may be off.

use super::median::sorted;
use super::outlier::quantile;
use super::{CONFIDENCE, Estimate};
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

const DRAWS: usize = 2000;
/// The share of draws that may have no result, such as the root of a negative number.
const WITHOUT_RESULT: f64 = 0.02;

/// What a function makes of estimates that are independent of one another; none where it makes
/// nothing of their medians.
///
/// Each input is drawn as a normal as wide as its interval (JCGM 101:2008, with 2000 draws; the same
/// seed gives the same result). An input without an interval gives a result without one: that little
/// was observed is not that it is sure. What is sure, such as the size of a header, is
/// [`Estimate::exact`].
pub fn propagate<const N: usize>(
    inputs: [Estimate; N],
    seed: u64,
    f: impl Fn([f64; N]) -> f64,
) -> Option<Estimate> {
    let median = Some(f(inputs.map(|input| input.median))).filter(|median| median.is_finite())?;
    let n = inputs.iter().map(|input| input.n).filter(|n| *n > 0).min().unwrap_or(0);
    let ends = inputs.iter().map(Estimate::half_width).collect::<Option<Vec<f64>>>().and_then(|widths| {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let normal = Normal::standard();
        let scale = normal.inverse_cdf(0.5 + CONFIDENCE / 2.0);
        let results = sorted((0..DRAWS).map(|_| {
            f(std::array::from_fn(|k| {
                inputs[k].median + widths[k] / scale * normal.inverse_cdf(random.random::<f64>())
            }))
        }));
        let enough = results.len() as f64 >= DRAWS as f64 * (1.0 - WITHOUT_RESULT);
        let tail = (1.0 - CONFIDENCE) / 2.0;
        enough.then(|| (quantile(&results, tail).min(median), quantile(&results, 1.0 - tail).max(median)))
    });
    Some(Estimate { median, low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high), n })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(median: f64, half: f64) -> Estimate {
        Estimate { median, low: Some(median - half), high: Some(median + half), n: 10 }
    }

    /// The half-widths of a sum add in squares; so do the relative ones of a ratio.
    #[test]
    fn widths_add_in_squares() {
        let sum = propagate([about(100.0, 3.0), about(50.0, 4.0)], 1, |[a, b]| a + b).unwrap();
        assert!(
            (sum.half_width().unwrap() - 5.0).abs() < 0.35 && sum.median == 150.0 && sum.n == 10,
            "{sum:?}"
        );
        let ratio = propagate([about(100.0, 3.0), about(50.0, 2.0)], 1, |[a, b]| a / b).unwrap();
        assert!((ratio.relative_half_width().unwrap() - 0.05).abs() < 0.005, "{ratio:?}");
    }

    #[test]
    fn what_is_sure_adds_nothing() {
        let sure = propagate([about(100.0, 3.0), Estimate::exact(2.0)], 7, |[a, b]| a * b).unwrap();
        assert!((sure.half_width().unwrap() - 6.0).abs() < 0.5 && sure.n == 10, "{sure:?}");
        let unknown = Estimate { low: None, high: None, n: 3, ..about(2.0, 0.0) };
        let hidden = propagate([about(100.0, 3.0), unknown], 7, |[a, b]| a * b).unwrap();
        assert_eq!(hidden, Estimate { median: 200.0, low: None, high: None, n: 3 });
    }

    #[test]
    fn the_same_seed_gives_the_same() {
        let once = |seed| propagate([about(100.0, 3.0)], seed, |[a]| a * a);
        assert_eq!(once(5), once(5));
        assert_ne!(once(5), once(6));
    }

    #[test]
    fn results_that_are_no_numbers_hide_the_interval() {
        assert_eq!(propagate([about(-1.0, 0.5)], 1, |[a]| a.sqrt()), None);
        let near = propagate([about(1.0, 2.0)], 1, |[a]| a.sqrt()).unwrap();
        assert_eq!((near.median, near.low), (1.0, None));
    }
}
