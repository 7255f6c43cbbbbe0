//! How far equal runs lie apart.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The runs below which nothing is said about their spread.
const LEAST_RUNS: usize = 3;

/// How far equal runs lie apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Spread {
    /// A further run lies within this share of the runs' centre with 95 %.
    pub share: f64,
    /// The number of runs from which that is known.
    pub runs: u32,
}

/// The spread of equal runs, given the median of each; none of fewer than three, or of medians that
/// are not positive.
///
/// The prediction interval of one further run with Student's t, on logarithms, since what disturbs a
/// run multiplies its rate: Hahn and Meeker, Statistical Intervals, section 4.7. Of its two ends the
/// upper lies further from the centre; that one is given.
pub fn run_spread(medians: &[f64]) -> Option<Spread> {
    let logs: Vec<f64> = medians.iter().filter(|m| m.is_finite()).map(|median| median.ln()).collect();
    if logs.len() < LEAST_RUNS || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let runs = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / runs;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (runs - 1.0);
    let t = StudentsT::new(0.0, 1.0, runs - 1.0).ok()?.inverse_cdf(0.5 + super::CONFIDENCE / 2.0);
    let share = (t * (variance * (1.0 + 1.0 / runs)).sqrt()).exp_m1();
    share.is_finite().then_some(Spread { share, runs: u32::try_from(logs.len()).unwrap_or(u32::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::median;
    use crate::statistic::tests::noise;

    /// Two runs say nothing; of three, ln 2 apart, t(2) is 4.303 and the factor 2^(4.303 √(4/3)).
    #[test]
    fn the_share_is_that_of_student() {
        let spread = run_spread(&[1.0, 2.0, 4.0]).unwrap();
        let wanted = 2f64.powf(4.302652729749462 * (4.0_f64 / 3.0).sqrt()) - 1.0;
        assert!((spread.share / wanted - 1.0).abs() < 1e-6, "{spread:?}");
        assert_eq!(spread.runs, 3);
        assert_eq!(run_spread(&[5.0; 4]).map(|s| s.share), Some(0.0));
        for refused in [&[1.0, 2.0][..], &[1.0, 2.0, f64::NAN], &[1.0, 2.0, 0.0], &[1.0, 2.0, -3.0]] {
            assert_eq!(run_spread(refused), None, "{refused:?}");
        }
    }

    /// About the geometric mean of the runs, and nearly so about their median.
    #[test]
    fn a_further_run_lies_within_as_often_as_said() {
        let mut random = noise(1);
        for runs in [6, 10] {
            let sets = 2000;
            let (mut about_mean, mut about_median) = (0, 0);
            for _ in 0..sets {
                let mut run = || 1e9 * (0.05 * random.normal()).exp();
                let medians: Vec<f64> = (0..runs).map(|_| run()).collect();
                let share = run_spread(&medians).unwrap().share;
                let mean = (medians.iter().map(|m| m.ln()).sum::<f64>() / f64::from(runs)).exp();
                let next = run();
                let within = |centre: f64| u32::from((next / centre - 1.0).abs() <= share);
                about_mean += within(mean);
                about_median += within(median(medians.iter().copied()).unwrap());
            }
            let shares = [about_mean, about_median].map(|held| f64::from(held) / f64::from(sets));
            println!("{runs} runs: {shares:?}");
            assert!(shares[0] >= 0.94 && shares[1] >= 0.93, "{runs}: {shares:?}");
        }
    }
}
