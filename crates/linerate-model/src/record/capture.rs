//! The packets of one trial as both hosts saw them, and how they are written into one line.

use super::TraceHost;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A packet as it passed an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet {
    /// When, by the host's time of day: nanoseconds since 1970.
    pub ns: u64,
    /// Bytes that it had.
    pub length: u32,
    /// Whether the host sent it.
    pub outgoing: bool,
    /// Its first bytes, from the Ethernet header on.
    pub head: Vec<u8>,
}

/// What one host saw.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CapturedSide {
    /// The interface.
    pub interface: String,
    /// [`encode_packets`].
    pub packets: String,
    /// Packets that there was no room for.
    pub dropped: u64,
    /// Whether it ended at the limit of bytes that are kept.
    pub cut: bool,
    /// The counters of `struct tcp_info` that moved.
    pub tcp: BTreeMap<String, u64>,
    /// Its values that are no counters, at the end.
    pub tcp_last: BTreeMap<String, u64>,
    /// The address and port of the connection here.
    pub address: String,
}

/// One trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capture {
    /// What was captured, as the user said it.
    pub target: String,
    /// Bytes that the second host received of the first.
    pub bytes: u64,
    /// Those of them that came after the receiver's first call had returned, when its clock began.
    pub timed_bytes: u64,
    /// Whether nothing came for so long that its receiver waited no more.
    pub stalled: bool,
    /// The knobs that were set.
    pub knobs: Vec<String>,
    /// How long these took, by the receiver's clock.
    pub elapsed_ns: u64,
    /// The hosts: the one that sent, and the one that received.
    pub hosts: Vec<TraceHost>,
    /// What each saw.
    pub sides: Vec<CapturedSide>,
}

/// Bytes before each head: time, length, direction, and how long the head is.
const AHEAD: usize = 8 + 4 + 1 + 2;

/// Packets as text: of each the numbers, lowest byte first, and its head.
pub fn encode_packets(packets: &[Packet]) -> String {
    let mut bytes = Vec::new();
    for packet in packets {
        let kept = packet.head.len().min(usize::from(u16::MAX));
        bytes.extend(packet.ns.to_le_bytes());
        bytes.extend(packet.length.to_le_bytes());
        bytes.push(u8::from(packet.outgoing));
        bytes.extend((kept as u16).to_le_bytes());
        bytes.extend(&packet.head[..kept]);
    }
    STANDARD.encode(bytes)
}

/// The packets again; none where the text is none of ours.
pub fn decode_packets(text: &str) -> Option<Vec<Packet>> {
    let bytes = STANDARD.decode(text).ok()?;
    let (mut packets, mut rest) = (Vec::new(), &bytes[..]);
    while !rest.is_empty() {
        let (ahead, behind) = rest.split_at_checked(AHEAD)?;
        let kept = u16::from_le_bytes([ahead[13], ahead[14]]);
        let (head, next) = behind.split_at_checked(usize::from(kept))?;
        packets.push(Packet {
            ns: u64::from_le_bytes(ahead[..8].try_into().ok()?),
            length: u32::from_le_bytes(ahead[8..12].try_into().ok()?),
            outgoing: ahead[12] != 0,
            head: head.to_vec(),
        });
        rest = next;
    }
    Some(packets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packets_come_back(of in prop::collection::vec((any::<u64>(), any::<u32>(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..150)), 0..20)) {
            let packets: Vec<Packet> =
                of.into_iter().map(|(ns, length, outgoing, head)| Packet { ns, length, outgoing, head }).collect();
            prop_assert_eq!(decode_packets(&encode_packets(&packets)), Some(packets));
        }

        #[test]
        fn any_text_is_packets_or_none(text in "[A-Za-z0-9+/=]{0,80}") {
            decode_packets(&text);
        }
    }

    #[test]
    fn a_cut_packet_is_none() {
        let whole = encode_packets(&[Packet { head: vec![7; 9], ..Packet::default() }]);
        let bytes = STANDARD.decode(whole).unwrap();
        for length in 1..bytes.len() {
            assert_eq!(decode_packets(&STANDARD.encode(&bytes[..length])), None, "{length}");
        }
    }
}
