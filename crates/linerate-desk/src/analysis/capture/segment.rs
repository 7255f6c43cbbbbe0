//! TCP segments out of packets, with sequence numbers that do not wrap.

use crate::record::Packet;

/// A packet of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// When it passed.
    pub ns: u64,
    /// Whether the host sent it.
    pub outgoing: bool,
    /// The first byte's place in the stream.
    pub begin: u64,
    /// Bytes of data.
    pub bytes: u64,
    /// The place up to which the other direction is acknowledged.
    pub acknowledges: u64,
    /// The window as the packet tells it.
    pub window: u16,
}

impl Segment {
    /// The place behind its last byte.
    pub fn end(&self) -> u64 {
        self.begin + self.bytes
    }
}

/// Places of both directions are counted from far above 0, so that what is sent again before the first packet that was seen has one.
const BASE: u64 = 1 << 32;

/// What is TCP of these, in their order; what is none, or too short to tell, is left out.
pub fn segments(packets: &[Packet]) -> Vec<Segment> {
    // By direction: the last number, and its place.
    let mut known: [Option<(u32, u64)>; 2] = [None, None];
    let mut place = |outgoing: bool, number: u32| {
        let known = &mut known[usize::from(outgoing)];
        let (last, at) = *known.get_or_insert((number, BASE));
        let moved = i64::from(number.wrapping_sub(last).cast_signed());
        let at = at.saturating_add_signed(moved);
        *known = Some((number, at));
        at
    };
    let one = |packet: &Packet| {
        let raw = raw(packet)?;
        Some(Segment {
            ns: packet.ns,
            outgoing: packet.outgoing,
            begin: place(packet.outgoing, raw.sequence),
            bytes: raw.bytes,
            acknowledges: place(!packet.outgoing, raw.acknowledged),
            window: raw.window,
        })
    };
    packets.iter().filter_map(one).collect()
}

struct Raw {
    sequence: u32,
    acknowledged: u32,
    window: u16,
    bytes: u64,
}

/// Ethernet, IPv4 or IPv6 without extension headers, TCP with an acknowledgement.
fn raw(packet: &Packet) -> Option<Raw> {
    const ETHERNET: usize = 14;
    const TCP: u8 = 6;
    const ACK: u8 = 0x10;
    let head = &packet.head;
    let byte = |at: usize| head.get(at).copied();
    let half = |at: usize| Some(u16::from_be_bytes([byte(at)?, byte(at + 1)?]));
    let word = |at: usize| Some(u32::from(half(at)?) << 16 | u32::from(half(at + 2)?));
    let (tcp, total) = match half(12)? {
        0x0800 if byte(ETHERNET + 9)? == TCP => {
            (ETHERNET + usize::from(byte(ETHERNET)? & 15) * 4, u64::from(half(ETHERNET + 2)?))
        }
        0x86dd if byte(ETHERNET + 6)? == TCP => (ETHERNET + 40, 40 + u64::from(half(ETHERNET + 4)?)),
        _ => return None,
    };
    let header = (tcp - ETHERNET) as u64 + u64::from(byte(tcp + 12)? >> 4) * 4;
    if byte(tcp + 13)? & ACK == 0 {
        return None;
    }
    // A super-packet longer than IP can say tells 0 (BIG TCP).
    let total = if total > 0 { total } else { u64::from(packet.length).saturating_sub(ETHERNET as u64) };
    let bytes = total.checked_sub(header)?;
    Some(Raw { sequence: word(tcp + 4)?, acknowledged: word(tcp + 8)?, window: half(tcp + 14)?, bytes })
}
