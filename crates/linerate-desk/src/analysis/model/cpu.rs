//! What a message costs a CPU: a part each message, each packet and each byte.

use crate::analysis::{Curve, Layer, Load, Values};
use crate::statistic::median;
use crate::vocabulary::Wait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which end's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Those that send.
    Sender,
    /// Those that receive.
    Receiver,
}

impl Side {
    /// This side's threads in one pass.
    pub fn load(self, values: &Values) -> Option<Load> {
        match self {
            Side::Sender => values.sender,
            Side::Receiver => values.receiver,
        }
    }
}

/// CPU time of one side: `t = per_message + packets * per_packet + bytes * per_byte`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuCost {
    /// What each message costs: the calls.
    pub message_ns: f64,
    /// What each pass through the stack costs; zero where it is in the bytes, as in every report.
    #[serde(skip)]
    pub packet_ns: f64,
    /// What each byte costs: the copies.
    pub ns_per_byte: f64,
}

impl CpuCost {
    /// Of a layer's stream; none of ends that poll, whose CPU time is the time that passed.
    pub fn of_layer(layer: &Layer, curves: &[Curve], side: Side) -> Option<CpuCost> {
        let curve = layer.stream(curves).filter(|curve| curve.case.wait == Wait::Sleeping)?;
        Self::from_curve(curve, side)
    }

    /// Fits a stream's CPU time over message sizes. At one packet size a packet's cost cannot be told
    /// from that of its bytes, so it is in them.
    pub fn from_curve(curve: &Curve, side: Side) -> Option<CpuCost> {
        let points = curve.points.iter().filter_map(|point| {
            let bytes = point.message_bytes as f64;
            let loads = point.passes.values().filter_map(|values| side.load(values));
            Some((bytes, bytes * median(loads.map(|load| load.cpu_ns_per_byte))?))
        });
        Self::fit(&points.collect::<Vec<_>>())
    }

    /// Fits points (bytes of a message, its CPU time) by least squares with weights `1/t²`, neither
    /// part below zero. With two columns, the best of the unbounded fit and of either column alone.
    pub fn fit(points: &[(f64, f64)]) -> Option<CpuCost> {
        let usable =
            |(bytes, ns): &&(f64, f64)| *bytes > 0.0 && *ns > 0.0 && bytes.is_finite() && ns.is_finite();
        // Divided by its time, each equation reads 1 = a * message + b * byte.
        let rows: Vec<(f64, f64)> = points.iter().filter(usable).map(|(s, t)| (1.0 / t, s / t)).collect();
        let sum = |term: fn(&(f64, f64)) -> f64| rows.iter().map(term).sum::<f64>();
        let (aa, ab, bb) = (sum(|r| r.0 * r.0), sum(|r| r.0 * r.1), sum(|r| r.1 * r.1));
        let (a, b) = (sum(|r| r.0), sum(|r| r.1));
        if rows.len() < 2 || aa <= 0.0 || bb <= 0.0 {
            return None;
        }
        let determinant = aa * bb - ab * ab;
        let both = ((a * bb - b * ab) / determinant, (b * aa - a * ab) / determinant);
        let candidates = [both, (a / aa, 0.0), (0.0, b / bb)];
        let error = |(x, y): &(f64, f64)| rows.iter().map(|r| (r.0 * x + r.1 * y - 1.0).powi(2)).sum::<f64>();
        let allowed =
            candidates.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite() && *x >= 0.0 && *y >= 0.0);
        let (message_ns, ns_per_byte) = allowed.min_by(|p, q| error(p).total_cmp(&error(q)))?;
        Some(CpuCost { message_ns, packet_ns: 0.0, ns_per_byte })
    }

    /// The rate at which so many CPUs are full: messages of `bytes`, stack passes of `stack_bytes`.
    pub fn bps(&self, cpus: f64, bytes: f64, stack_bytes: f64) -> f64 {
        8e9 * cpus / (self.ns_per_byte + self.packet_ns / stack_bytes + self.message_ns / bytes)
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
    fn parts_below_zero_are_zero() {
        let falling = CpuCost::fit(&[(1.0, 10.0), (2.0, 9.0), (4.0, 8.0)]).unwrap();
        assert_eq!(falling.ns_per_byte, 0.0);
        let steep = CpuCost::fit(&[(10.0, 1.0), (20.0, 4.0)]).unwrap();
        assert_eq!(steep.message_ns, 0.0);
        assert_eq!(CpuCost::fit(&[(1.0, 1.0)]), None);
        assert_eq!(CpuCost::fit(&[(1.0, f64::NAN), (2.0, -1.0)]), None);
    }

    #[test]
    fn the_rate_of_a_full_cpu_follows_the_size() {
        let cost = CpuCost { message_ns: 500.0, packet_ns: 250.0, ns_per_byte: 0.1 };
        assert!((cost.bps(1.0, 1000.0, 1000.0) - 8e9 / 0.85).abs() < 1.0);
        assert!((cost.bps(2.0, 1e12, 1e12) / (16e9 / 0.1) - 1.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn what_was_put_in_is_found(message in 0.0..1e5f64, byte in 0.001..10.0f64) {
            let points: Vec<_> = sizes().map(|s| (s, message + byte * s)).collect();
            let cost = CpuCost::fit(&points).unwrap();
            prop_assert!((cost.ns_per_byte / byte - 1.0).abs() < 1e-4, "{cost:?}");
            prop_assert!((cost.message_ns - message).abs() < 1e-4 * (message + byte), "{cost:?}");
        }
    }
}
