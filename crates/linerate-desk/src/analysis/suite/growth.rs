//! How a number grows with a factor, in each pass: in which power, or by how much a unit.

use super::compare::Scene;
use super::level;
use crate::analysis::measures::measure;
use crate::plan::{Factor, Levels};
use crate::statistic;
use std::collections::BTreeMap;

/// The numbers of a pass: where along the factor, and which.
type Points = Vec<(f64, f64)>;

impl Scene<'_> {
    /// The exponent of each pass: the slope of the line on logarithmic axes.
    pub(super) fn exponents(&self, of: &Levels, factor: Factor) -> BTreeMap<u32, f64> {
        let logarithms = |(x, y): (f64, f64)| (x > 0.0 && y > 0.0).then(|| (x.ln(), y.ln()));
        let line =
            |points: Points| least_squares(&points.into_iter().filter_map(logarithms).collect::<Vec<_>>());
        self.of_passes(of, factor, line)
    }

    /// By how much it grows a unit of the factor, in each pass.
    pub(super) fn slopes(&self, of: &Levels, factor: Factor) -> BTreeMap<u32, f64> {
        self.of_passes(of, factor, |points| statistic::slope(&points))
    }

    fn of_passes(
        &self,
        of: &Levels,
        factor: Factor,
        line: impl Fn(Points) -> Option<f64>,
    ) -> BTreeMap<u32, f64> {
        let Some(measure) = measure(self.y) else { return BTreeMap::new() };
        let mut passes: BTreeMap<u32, Points> = BTreeMap::new();
        for trial in self.trials(of) {
            let x = level(self.plan, factor, trial).number;
            if let Some(point) = x.zip(measure.value(self.recording, trial)) {
                passes.entry(trial.pass).or_default().push(point);
            }
        }
        passes.into_iter().filter_map(|(pass, points)| Some((pass, line(points)?))).collect()
    }
}

/// The slope of the least squares.
fn least_squares(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let shared: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    (spread > 0.0).then(|| shared / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponent_is_that_of_a_power() {
        let power = |exponent: f64| [1.0f64, 2.0, 4.0, 12.0].map(|x| (x.ln(), (7.0 * x.powf(exponent)).ln()));
        for exponent in [-1.0, 0.0, 0.5, 1.0, 2.0] {
            assert!((least_squares(&power(exponent)).unwrap() - exponent).abs() < 1e-9);
        }
        assert_eq!(least_squares(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }
}
