//! How much of a line is left for payload, and how long a frame takes on it.

/// All that a frame takes on the wire beside the packet: preamble 8, header 14, check 4, gap 12 (IEEE 802.3).
const AROUND: f64 = 38.0;
/// A tag of IEEE 802.1Q.
const TAG: f64 = 4.0;
/// The shortest frame, check included, and what surrounds it: preamble 8, gap 12.
const SHORTEST: f64 = 64.0;
const BETWEEN: f64 = 20.0;
const LEAST: f64 = SHORTEST + BETWEEN;

/// What each packet carries beside its payload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Framing {
    /// Headers inside the packet, which the MTU counts.
    pub headers: f64,
    /// What surrounds the packet.
    pub around: f64,
    /// The fewest bytes that a packet takes with all of this.
    pub least: f64,
}

impl Framing {
    /// TCP over IPv4 (RFC 791, 9293).
    pub const TCP_V4: Framing = Framing { headers: 40.0, around: AROUND, least: LEAST };
    /// TCP over IPv4 with timestamps (RFC 7323), as Linux sends it.
    pub const TCP_V4_TIMESTAMPS: Framing = Framing { headers: 52.0, around: AROUND, least: LEAST };
    /// TCP over IPv6 with timestamps (RFC 8200).
    pub const TCP_V6_TIMESTAMPS: Framing = Framing { headers: 72.0, around: AROUND, least: LEAST };
    /// UDP over IPv4 (RFC 768).
    pub const UDP_V4: Framing = Framing { headers: 28.0, around: AROUND, least: LEAST };
    /// UDP over IPv6.
    pub const UDP_V6: Framing = Framing { headers: 48.0, around: AROUND, least: LEAST };

    /// The same with VLAN tags.
    pub fn tagged(self, tags: u32) -> Framing {
        Framing { around: self.around + TAG * f64::from(tags), ..self }
    }

    /// The same as something counts it that sees frames without preamble, check and gap: the Ethernet
    /// header alone surrounds the packet, and nothing is padded, as for a token bucket (tc-tbf(8)).
    pub fn as_the_stack_sees_it(self) -> Framing {
        Framing { around: self.around - AROUND + 14.0, least: 0.0, ..self }
    }

    /// The share of the line that full packets leave for payload.
    pub fn efficiency(self, mtu: f64) -> Option<f64> {
        (mtu > self.headers).then(|| (mtu - self.headers) / (mtu + self.around))
    }

    /// The packets that carry a message, and the bytes that they take on the wire.
    pub fn on_wire(self, message_bytes: f64, mtu: f64) -> Option<(f64, f64)> {
        let room = mtu - self.headers;
        (room > 0.0).then(|| {
            let packets = (message_bytes / room).ceil().max(1.0);
            let whole = packets - 1.0;
            let last = message_bytes - whole * room + self.headers + self.around;
            (packets, whole * (mtu + self.around) + last.max(self.least))
        })
    }
}

/// The time that bytes take on a line.
pub fn serialisation_ns(bytes_on_wire: f64, line_bps: f64) -> f64 {
    8e9 * bytes_on_wire / line_bps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_are_those_of_the_standards() {
        let framings = [
            Framing::TCP_V4,
            Framing::TCP_V4_TIMESTAMPS,
            Framing::TCP_V6_TIMESTAMPS,
            Framing::UDP_V4,
            Framing::UDP_V6,
        ];
        let table =
            [(1500.0, [94.93, 94.15, 92.85, 95.71, 94.41]), (9000.0, [99.14, 99.00, 98.78, 99.27, 99.05])];
        for (mtu, shares) in table {
            for (framing, share) in framings.iter().zip(shares) {
                let found = 100.0 * framing.efficiency(mtu).unwrap();
                assert!((found - share).abs() < 0.005, "{framing:?} {mtu}: {found}");
            }
        }
        for (mtu, share) in [(8160.0, 98.90), (16000.0, 99.44)] {
            let found = 100.0 * Framing::TCP_V4_TIMESTAMPS.efficiency(mtu).unwrap();
            assert!((found - share).abs() < 0.005, "{mtu}: {found}");
        }
        assert_eq!(Framing::TCP_V4.efficiency(40.0), None);
    }

    #[test]
    fn a_tag_takes_four_bytes_more() {
        let tagged = Framing::TCP_V4_TIMESTAMPS.tagged(1).efficiency(1500.0).unwrap();
        assert!((tagged - 1448.0 / 1542.0).abs() < 1e-12);
        let bucket = Framing::TCP_V4_TIMESTAMPS.as_the_stack_sees_it().efficiency(1500.0).unwrap();
        assert!((bucket - 1448.0 / 1514.0).abs() < 1e-12);
    }

    #[test]
    fn frames_take_their_time() {
        let times = [(1538.0, 1230.4), (9038.0, 7230.4), (84.0, 67.2)];
        for (bytes, ns) in times {
            assert!((serialisation_ns(bytes, 10e9) - ns).abs() < 0.05, "{bytes}");
        }
    }

    #[test]
    fn a_message_takes_whole_packets_and_a_rest() {
        let (packets, bytes) = Framing::TCP_V4_TIMESTAMPS.on_wire(2.0 * 1448.0, 1500.0).unwrap();
        assert_eq!((packets, bytes), (2.0, 2.0 * 1538.0));
        let (packets, bytes) = Framing::TCP_V4_TIMESTAMPS.on_wire(1449.0, 1500.0).unwrap();
        assert_eq!((packets, bytes), (2.0, 1538.0 + 52.0 + 38.0 + 1.0));
        assert_eq!(Framing::UDP_V4.on_wire(1.0, 1500.0), Some((1.0, 84.0)), "the shortest frame");
    }
}
