//! What only shows where sizes stand at equal distances: time that comes back with every segment.

use super::Curve;
use crate::statistic::Line;

/// A time that rises and falls with a period of sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sawtooth {
    /// The period.
    pub period_bytes: u64,
    /// How far the time goes up and down about its line.
    pub amplitude_ns: f64,
    /// The share of the squares about the line that the period explains.
    pub explained: f64,
    /// How often chance alone explains as much.
    pub p: f64,
}

/// The least sizes of a grid.
const LEAST_SIZES: usize = 16;
/// The least periods that it spans.
const LEAST_PERIODS: f64 = 2.0;
/// The least sizes within a period.
const LEAST_WITHIN: f64 = 2.5;
/// Chance is believed above this.
const SURE: f64 = 0.01;

/// The sawtooth of this period, such as that of a segment's payload, in a curve whose sizes stand at
/// equal distances; none on another grid, and none that chance explains.
///
/// The periodogram's power at one frequency that was chosen beforehand follows a beta distribution where
/// there is nothing but noise: Priestley, Spectral Analysis and Time Series, section 6.1.4.
pub fn sawtooth(curve: &Curve, period_bytes: u64) -> Option<Sawtooth> {
    let points = curve.points.iter();
    let points: Vec<(f64, f64)> =
        points.filter_map(|point| Some((point.message_bytes as f64, point.time_ns()?.median))).collect();
    let (period, n) = (period_bytes as f64, points.len() as f64);
    let step = points.get(1)?.0 - points.first()?.0;
    let span = points.last()?.0 - points.first()?.0;
    let is_grid = points.windows(2).all(|pair| pair[1].0 - pair[0].0 == step);
    let is_enough = points.len() >= LEAST_SIZES && span >= LEAST_PERIODS * period;
    if !is_grid || !is_enough || period < LEAST_WITHIN * step {
        return None;
    }
    let line = Line::fit(points.iter().copied())?;
    let (mut total, mut cosine, mut sine) = (0.0, 0.0, 0.0);
    for (size, time) in &points {
        let (residual, angle) = (time - line.at(*size), std::f64::consts::TAU * size / period);
        total += residual.powi(2);
        cosine += residual * angle.cos();
        sine += residual * angle.sin();
    }
    let amplitude_ns = 2.0 / n * cosine.hypot(sine);
    let explained = (n / 2.0 * amplitude_ns.powi(2) / total).min(1.0);
    // Two numbers of the line and two of the period are fitted.
    let p = (1.0 - explained).powf((n - 4.0) / 2.0);
    (p < SURE).then_some(Sawtooth { period_bytes, amplitude_ns, explained, p })
}
