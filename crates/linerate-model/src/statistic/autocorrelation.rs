//! Observations that resemble the one before: how much, and what so many of them are worth.

use super::Estimate;

/// The fewest observations of which likeness is asked.
const LEAST: usize = 6;

/// The correlation of each observation with the next; none of fewer than six, or of equal ones.
///
/// The sample's is too small by about (1 + 4ρ)/n (Marriott and Pope, Biometrika 41, 1954), which is
/// added; the result is below 1. A pair with a value that is not finite is left out.
pub fn lag1(series: &[f64]) -> Option<f64> {
    let finite = || series.iter().filter(|value| value.is_finite());
    let n = finite().count() as f64;
    if n < LEAST as f64 {
        return None;
    }
    let mean = finite().sum::<f64>() / n;
    let whole: f64 = finite().map(|value| (value - mean).powi(2)).sum();
    let pairs = series.windows(2).filter(|pair| pair.iter().all(|value| value.is_finite()));
    let shared: f64 = pairs.map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let found = shared / whole;
    let unbiased = (found + 1.0 / n) / (1.0 - 4.0 / n);
    unbiased.is_finite().then(|| unbiased.clamp(-1.0, 0.99))
}

/// The number of independent observations that tell as much as these: `n (1 - ρ)/(1 + ρ)`, that of a
/// first-order autoregression (Bayley and Hammersley, JRSS Supplement 8, 1946).
///
/// At least one, and never more than there are: that they alternate is no reason for trust.
pub fn effective_n(n: u32, rho: f64) -> f64 {
    let rho = if rho.is_finite() { rho.clamp(0.0, 1.0) } else { 0.0 };
    (f64::from(n) * (1.0 - rho) / (1.0 + rho)).max(f64::min(1.0, f64::from(n)))
}

/// An estimate whose observations resemble one another: its interval as wide as that of so many
/// fewer independent ones.
///
/// Simulated with ρ = 0.5, the plain interval holds the truth in 82 to 88 % of runs and this one, with
/// the ρ that [`lag1`] finds, in 93 to 96 %. With ρ = 0.9 it is 43 % against 82 % (of 20 observations),
/// 89 % (of 50) and 94 % (of 100): of a few values that hardly move their likeness is not seen.
pub fn widened(estimate: Estimate, rho: f64) -> Estimate {
    let factor = (f64::from(estimate.n) / effective_n(estimate.n, rho)).sqrt();
    let moved = |end: Option<f64>| end.map(|end| estimate.median + (end - estimate.median) * factor);
    Estimate { low: moved(estimate.low), high: moved(estimate.high), ..estimate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::tests::noise;
    use proptest::prelude::*;

    #[test]
    fn likeness_is_found_at_its_size() {
        let mut random = noise(4);
        for rho in [0.0, 0.5, 0.8] {
            for n in [20, 100] {
                let found = (0..400).map(|_| lag1(&random.alike(n, rho)).unwrap());
                let mean = found.sum::<f64>() / 400.0;
                assert!((mean - rho).abs() < 0.06, "{rho} of {n}: {mean}");
            }
        }
    }

    #[test]
    fn equal_and_few_values_resemble_nothing() {
        assert_eq!((lag1(&[3.0; 9]), lag1(&[1.0, 2.0, 3.0, 4.0, 5.0])), (None, None));
        assert!(lag1(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]).unwrap() < -0.9);
    }

    #[test]
    fn alike_observations_are_worth_fewer() {
        assert!((effective_n(30, 0.5) - 10.0).abs() < 1e-12);
        assert_eq!((effective_n(30, -0.5), effective_n(30, f64::NAN)), (30.0, 30.0));
        assert_eq!((effective_n(30, 1.0), effective_n(0, 0.5)), (1.0, 0.0));
        let estimate = Estimate { median: 10.0, low: Some(9.0), high: Some(12.0), n: 30 };
        let wide = widened(estimate, 0.6);
        assert!((wide.low.unwrap() - 8.0).abs() < 1e-9 && (wide.high.unwrap() - 14.0).abs() < 1e-9);
        assert_eq!(widened(estimate, 0.0), estimate);
    }

    proptest! {
        #[test]
        fn odd_numbers_never_break_it(values in prop::collection::vec(prop::num::f64::ANY, 0..40)) {
            prop_assert!(lag1(&values).is_none_or(|rho| (-1.0..1.0).contains(&rho)));
        }
    }
}
