//! Throughput against message size from two stated values: Hockney's model.

use super::paper::{PAPERS, Paper};
use super::row::Layer;
use super::value::Axis;
use serde::Deserialize;

/// A line of the file.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    paper: String,
    layer: Layer,
    curve: String,
    alpha_us: f64,
    #[serde(rename = "r_inf_Mbps")]
    rate_mbps: f64,
    #[serde(rename = "n_half_B")]
    n_half_bytes: f64,
    annotation: String,
}

/// A curve against message size: `T(s) = α + 8·s/r`. It is a model of two stated values: its knee was
/// not measured.
///
/// R. W. Hockney: The communication challenge for MPP: Intel Paragon and Meiko CS-2, Parallel Computing 20
/// (1994).
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The paper.
    pub paper: &'static Paper,
    /// What it is of.
    pub layer: Layer,
    /// What was measured, over which network.
    pub label: String,
    /// Half a round trip of the smallest message.
    pub alpha_ns: f64,
    /// The rate of the largest messages.
    pub r_inf_bps: f64,
    /// The size at which half of that rate is reached.
    pub n_half_bytes: f64,
    /// Where the measured curve is known to differ.
    pub annotation: String,
}

impl Curve {
    pub(super) fn from_line(line: Line) -> Option<Curve> {
        Some(Curve {
            paper: PAPERS.iter().find(|paper| paper.id == line.paper)?,
            layer: line.layer,
            label: line.curve,
            alpha_ns: line.alpha_us * 1e3,
            r_inf_bps: line.rate_mbps * 1e6,
            n_half_bytes: line.n_half_bytes,
            annotation: line.annotation,
        })
    }

    /// Half a round trip of a message of this size.
    pub fn half_round_trip_ns(&self, message_bytes: f64) -> f64 {
        self.alpha_ns + 8e9 * message_bytes / self.r_inf_bps
    }

    /// The rate at which messages of this size move.
    pub fn throughput_bps(&self, message_bytes: f64) -> f64 {
        8e9 * message_bytes / self.half_round_trip_ns(message_bytes)
    }

    /// Its height on an axis.
    pub fn at(&self, axis: Axis, message_bytes: f64) -> f64 {
        match axis {
            Axis::Throughput => self.throughput_bps(message_bytes),
            Axis::HalfRoundTrip => self.half_round_trip_ns(message_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::curves;

    #[test]
    fn half_of_the_rate_is_reached_at_n_half() {
        for curve in curves() {
            let half = curve.throughput_bps(curve.n_half_bytes) / curve.r_inf_bps;
            assert!((half - 0.5).abs() < 1e-3, "{}: {half}", curve.label);
        }
    }

    #[test]
    fn a_curve_spans_half_round_trip_and_rate() {
        let curve = curves().iter().find(|curve| curve.label == "TCP, 10GbE, MTU 9000, tuned").unwrap();
        assert_eq!((curve.alpha_ns, curve.r_inf_bps), (21e3, 3.9e9));
        assert_eq!(curve.half_round_trip_ns(0.0), 21e3);
        assert!((curve.throughput_bps(1e9) / 3.9e9 - 1.0).abs() < 1e-4);
    }
}
