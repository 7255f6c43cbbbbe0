//! The time that a message takes if nothing but the path costs any.

use super::wire::{Framing, serialisation_ns};

/// What is known of the way between two hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// The rate of the line.
    pub line_bps: f64,
    /// The largest packet.
    pub mtu: f64,
    /// What each packet carries beside its payload.
    pub framing: Framing,
    /// Switches that store a frame before they forward it.
    pub hops: f64,
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
        Path { line_bps, mtu, framing, hops: 0.0, hop_ns: 0.0, propagation_ns: 0.0, coalescing_ns: 0.0 }
    }

    /// One way of a message: all frames on the first line, and the first frame again after each
    /// switch that stores it, because the others follow it closely.
    pub fn ideal_ns(&self, message_bytes: f64) -> Option<f64> {
        let (packets, bytes) = self.framing.on_wire(message_bytes, self.mtu)?;
        let first = if packets > 1.0 { self.mtu + self.framing.around } else { bytes };
        let ns = serialisation_ns(bytes + self.hops * first, self.line_bps)
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
