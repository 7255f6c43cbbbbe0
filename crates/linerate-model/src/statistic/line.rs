//! The two-parameter model of a message's time: a constant and a time per byte.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `T(s) = constant + slope * s`, Hockney's model with `s` in bytes and `T` in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// The time of a message of no bytes.
    pub constant: f64,
    /// The time that each byte adds; never negative.
    pub slope: f64,
}

impl Line {
    /// Fits points (size, time) by least squares with weights `1/T²`, so that every size counts by
    /// its relative error; none below two different sizes with a positive time.
    pub fn fit(points: impl IntoIterator<Item = (f64, f64)>) -> Option<Line> {
        let usable = |(s, t): &(f64, f64)| s.is_finite() && t.is_finite() && *t > 0.0;
        let points: Vec<(f64, f64)> = points.into_iter().filter(usable).collect();
        let (first, _) = *points.first()?;
        if points.iter().all(|(size, _)| *size == first) {
            return None;
        }
        // Weights relative to the shortest time stay far from overflow.
        let shortest = points.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        let weighted = || points.iter().map(|(size, time)| ((shortest / time).powi(2), *size, *time));
        let total: f64 = weighted().map(|(weight, ..)| weight).sum();
        let size = weighted().map(|(weight, size, _)| weight * size).sum::<f64>() / total;
        let time = weighted().map(|(weight, _, time)| weight * time).sum::<f64>() / total;
        let spread: f64 = weighted().map(|(weight, s, _)| weight * (s - size).powi(2)).sum();
        let shared: f64 = weighted().map(|(weight, s, t)| weight * (s - size) * (t - time)).sum();
        let slope = (shared / spread).max(0.0);
        let line = Line { constant: time - slope * size, slope };
        (line.constant.is_finite() && line.slope.is_finite()).then_some(line)
    }

    /// The time of a message of this size.
    pub fn at(&self, size: f64) -> f64 {
        self.constant + self.slope * size
    }

    /// How far the points lie from the line: the root of the mean squared relative error.
    pub fn relative_residual(&self, points: impl IntoIterator<Item = (f64, f64)>) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for (size, time) in points {
            sum += (self.at(size) / time - 1.0).powi(2);
            count += 1.0;
        }
        if count == 0.0 { 0.0 } else { f64::sqrt(sum / count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes() -> impl Iterator<Item = f64> {
        (0..24).map(|power| f64::from(1 << power))
    }

    #[test]
    fn what_has_no_slope_is_refused() {
        let cases: [&[(f64, f64)]; 5] = [
            &[],
            &[(1.0, 5.0)],
            &[(8.0, 5.0), (8.0, 6.0)],
            &[(1.0, 0.0), (2.0, f64::NAN)],
            &[(1.0, 3.0), (2.0, -4.0)],
        ];
        for points in cases {
            assert_eq!(Line::fit(points.iter().copied()), None, "{points:?}");
        }
    }

    #[test]
    fn time_that_falls_with_size_is_a_constant() {
        let line = Line::fit([(1.0, 10.0), (2.0, 9.0), (4.0, 8.0)]).unwrap();
        assert_eq!(line.slope, 0.0);
        assert!((8.0..10.0).contains(&line.constant));
    }

    #[test]
    fn small_messages_keep_their_weight() {
        // A bend at large sizes must not pull the constant away: unweighted, it would be negative.
        let points = sizes().map(|s| (s, 2000.0 + 0.06 * s * if s > 1e6 { 1.4 } else { 1.0 }));
        let line = Line::fit(points).unwrap();
        assert!((line.constant / 2000.0 - 1.0).abs() < 0.05, "{line:?}");
    }

    proptest! {
        #[test]
        fn a_line_is_found_again(constant in 1.0..1e6f64, slope in 0.0..10.0f64) {
            let truth = Line { constant, slope };
            let line = Line::fit(sizes().map(|size| (size, truth.at(size)))).unwrap();
            prop_assert!((line.constant / constant - 1.0).abs() < 1e-6, "{:?}", line);
            prop_assert!((line.slope - slope).abs() < 1e-6 * (slope + constant / 8e6), "{:?}", line);
            prop_assert!(line.relative_residual(sizes().map(|s| (s, truth.at(s)))) < 1e-6);
        }

        #[test]
        fn odd_numbers_never_break_it(
            points in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..30)
        ) {
            Line::fit(points);
        }
    }
}
