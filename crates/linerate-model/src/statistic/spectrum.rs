//! Whether something returns with a known period, such as that of segments on a curve over sizes.

use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// The fewest observations of which a period is asked.
const LEAST: usize = 6;

/// How much of a residual returns with a period.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Periodicity {
    /// The share of the variance that a wave of that period takes away: from 0 to 1.
    pub power: f64,
    /// The probability of so large a share of normal noise, at this one period.
    pub p: f64,
}

/// The wave of this period in residuals at these positions, which need not be evenly spaced; none
/// where there are too few, or where the positions do not tell its phase.
///
/// The periodogram of Lomb (1976) and Scargle (1982) with a free mean (Zechmeister and Kürster, A&A
/// 496, 2009), in their normalisation; its p is that of the F test of two more parameters.
pub fn periodicity(positions: &[f64], residuals: &[f64], period: f64) -> Option<Periodicity> {
    let points: Vec<[f64; 3]> = positions
        .iter()
        .zip(residuals)
        .filter(|(at, residual)| at.is_finite() && residual.is_finite())
        .map(|(at, residual)| [(TAU * at / period).cos(), (TAU * at / period).sin(), *residual])
        .collect();
    let n = points.len() as f64;
    let mean = |k: usize| points.iter().map(|point| point[k]).sum::<f64>() / n;
    let means = [mean(0), mean(1), mean(2)];
    let shared =
        |a: usize, b: usize| points.iter().map(|p| (p[a] - means[a]) * (p[b] - means[b])).sum::<f64>() / n;
    let (cc, ss, cs) = (shared(0, 0), shared(1, 1), shared(0, 1));
    let (cy, sy, yy) = (shared(0, 2), shared(1, 2), shared(2, 2));
    let determinant = cc * ss - cs * cs;
    // A grid in step with the period sees one phase only; there nothing can be told.
    if points.len() < LEAST || determinant < 1e-6 || yy <= 0.0 {
        return None;
    }
    let power = ((ss * cy * cy + cc * sy * sy - 2.0 * cs * cy * sy) / (determinant * yy)).clamp(0.0, 1.0);
    power.is_finite().then(|| Periodicity { power, p: (1.0 - power).powf((n - 3.0) / 2.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::tests::noise;
    use proptest::prelude::*;

    fn grid() -> Vec<f64> {
        (0..200).map(|i| f64::from(i) * 64.0).collect()
    }

    #[test]
    fn a_sawtooth_is_found_at_its_period_alone() {
        let mut random = noise(7);
        let residuals: Vec<f64> =
            grid().iter().map(|at| (at % 1448.0) / 1448.0 + 0.3 * random.normal()).collect();
        let found = periodicity(&grid(), &residuals, 1448.0).unwrap();
        assert!(found.p < 1e-6 && found.power > 0.2, "{found:?}");
        let other = periodicity(&grid(), &residuals, 1000.0).unwrap();
        assert!(other.p > 0.01, "{other:?}");
    }

    #[test]
    fn a_pure_wave_takes_all() {
        let wave: Vec<f64> = grid().iter().map(|at| 5.0 + (TAU * at / 1448.0 + 1.0).sin()).collect();
        let found = periodicity(&grid(), &wave, 1448.0).unwrap();
        assert!((found.power - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn noise_has_a_period_as_often_as_said() {
        let mut random = noise(8);
        let found = (0..2000).filter(|_| {
            let residuals: Vec<f64> = (0..30).map(|_| random.normal()).collect();
            periodicity(&grid()[..30], &residuals, 1448.0).unwrap().p < 0.05
        });
        let share = found.count() as f64 / 2000.0;
        assert!((share - 0.05).abs() < 0.015, "{share}");
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        let residuals: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(periodicity(&grid(), &residuals, 64.0), None, "the grid is in step with it");
        assert_eq!(periodicity(&grid()[..5], &residuals, 1448.0), None);
        assert_eq!(periodicity(&grid(), &[1.0; 200], 1448.0), None);
        assert_eq!(periodicity(&grid(), &residuals, 0.0), None);
    }

    proptest! {
        #[test]
        fn odd_numbers_never_break_it(
            points in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..30),
            period in prop::num::f64::ANY,
        ) {
            let (positions, residuals): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            periodicity(&positions, &residuals, period);
        }
    }
}
