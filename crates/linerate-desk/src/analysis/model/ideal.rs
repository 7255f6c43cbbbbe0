//! The time that a message takes if nothing but the path costs any.

use super::wire::{Framing, serialisation_ns};
use crate::plan::{CUT_THROUGH_BYTES, Switching};
use crate::unit::BitRate;

/// What is known of the way between two hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// The rate of the line.
    pub line_bps: f64,
    /// The largest packet.
    pub mtu: f64,
    /// What each packet carries beside its payload.
    pub framing: Framing,
    /// Switches that store a frame before they forward it. One that does so on a faster line than the path's
    /// is less than one: the share of the time that a frame takes there.
    pub hops: f64,
    /// Switches that forward a frame once its first 64 bytes have come, counted alike.
    pub cut_through: f64,
    /// The time of each of them, beside storing.
    pub hop_ns: f64,
    /// The signal's time: about 5 µs a kilometre of fibre.
    pub propagation_ns: f64,
    /// How long the receiving adapter waits before it interrupts.
    pub coalescing_ns: f64,
}

impl Path {
    /// A wire without switches: the least that any path of this rate costs.
    pub fn direct(line_bps: f64, mtu: f64, framing: Framing) -> Path {
        Path {
            line_bps,
            mtu,
            framing,
            hops: 0.0,
            cut_through: 0.0,
            hop_ns: 0.0,
            propagation_ns: 0.0,
            coalescing_ns: 0.0,
        }
    }

    /// A way over lines of these rates, each with what stands at its far end; `f64::INFINITY` for a path without
    /// any is no time at all.
    pub fn over(stages: &[(BitRate, Switching)], mtu: f64, framing: Framing) -> Path {
        let slowest = stages.iter().map(|(rate, _)| rate.0).fold(f64::INFINITY, f64::min);
        let mut path = Path::direct(slowest, mtu, framing);
        let at = stages.iter().position(|(rate, _)| rate.0 == slowest);
        for (_, (rate, switching)) in stages.iter().enumerate().filter(|(place, _)| Some(*place) != at) {
            match switching {
                Switching::StoreAndForward => path.hops += slowest / rate.0,
                Switching::CutThrough => path.cut_through += slowest / rate.0,
            }
        }
        path
    }

    /// One way of a message: all frames on the slowest line, and the first frame again for each
    /// switch that stores it, because the others follow it closely.
    pub fn ideal_ns(&self, message_bytes: f64) -> Option<f64> {
        let (packets, bytes) = self.framing.on_wire(message_bytes, self.mtu)?;
        let first = if packets > 1.0 { self.mtu + self.framing.around } else { bytes };
        let header = first.min(CUT_THROUGH_BYTES);
        let ns = serialisation_ns(bytes + self.hops * first + self.cut_through * header, self.line_bps)
            + self.hops * self.hop_ns
            + self.propagation_ns
            + self.coalescing_ns;
        ns.is_finite().then_some(ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_switch_that_stores_adds_one_frame() {
        let direct = Path::direct(10e9, 1500.0, Framing::TCP_V4_TIMESTAMPS);
        let full = direct.ideal_ns(10.0 * 1448.0).unwrap();
        assert!((full - 10.0 * 1230.4).abs() < 1e-6);
        let switched = Path { hops: 2.0, hop_ns: 500.0, ..direct }.ideal_ns(10.0 * 1448.0).unwrap();
        assert!((switched - full - 2.0 * 1730.4).abs() < 1e-6);
        let small = Path { hops: 1.0, ..direct };
        assert!((small.ideal_ns(1.0).unwrap() - 2.0 * 8e9 * 91.0 / 10e9).abs() < 1e-6);
    }

    #[test]
    fn cut_through_adds_a_frames_first_bytes() {
        let framing = Framing::TCP_V4_TIMESTAMPS.as_the_stack_sees_it();
        let line = (BitRate(1e8), Switching::CutThrough);
        let path = Path::over(&[line; 4], 1500.0, framing);
        // Four lines of 100 Mb/s: a frame of 1264 B whole, and three times 64 B.
        let frame = 1198.0 + 66.0;
        assert!((path.ideal_ns(1198.0).unwrap() - 80.0 * (frame + 3.0 * 64.0)).abs() < 1e-6);
        let stored = (BitRate(1e8), Switching::StoreAndForward);
        let path = Path::over(&[stored, (BitRate(1e9), Switching::StoreAndForward)], 1500.0, framing);
        assert!((path.ideal_ns(1198.0).unwrap() - (80.0 + 8.0) * frame).abs() < 1e-6);
        assert_eq!(Path::over(&[], 1500.0, framing).ideal_ns(1.0), Some(0.0));
    }

    #[test]
    fn what_waits_is_added_once() {
        let direct = Path::direct(1e9, 1500.0, Framing::TCP_V4_TIMESTAMPS);
        let far = Path { propagation_ns: 5e3, coalescing_ns: 20e3, ..direct };
        assert!((far.ideal_ns(64.0).unwrap() - direct.ideal_ns(64.0).unwrap() - 25e3).abs() < 1e-6);
    }

    #[test]
    fn large_messages_run_at_the_wires_share() {
        let path = Path::direct(10e9, 9000.0, Framing::TCP_V4_TIMESTAMPS);
        let bytes = 1e4 * 8948.0;
        let rate = 8e9 * bytes / path.ideal_ns(bytes).unwrap();
        assert!((rate / 9.900e9 - 1.0).abs() < 1e-4, "{rate}");
    }
}
