//! What a frame is made of, and how a super-packet is cut between its segments.
//!
//! A frame comes with the header of virtio-net (`struct virtio_net_hdr` of linux/virtio_net.h) in front. A
//! super-packet is one packet whose payload is still to be cut into segments of `gso_size`; the cut here
//! makes shorter super-packets of it, or single packets, each as the kernel would have made it
//! (net/ipv4/tcp_offload.c, udp_offload.c): own length, sequence number, identification and flags, and the
//! sum over the pseudo-header, where the rest of the checksum is still to be computed.

use linerate_sys::packet::VNET_HEADER;
use std::ops::Range;

const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_UDP: u8 = 5;
/// The bit beside the kind that says that ECN is in use.
const GSO_ECN: u8 = 0x80;

const ETHERNET: usize = 14;
const IP4: u16 = 0x0800;
const IP6: u16 = 0x86dd;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Flags of the TCP header that belong to the last segment (FIN, PSH), and to the first (CWR).
const LAST_ALONE: u8 = 0x01 | 0x08;
const FIRST_ALONE: u8 = 0x80;

/// A hardware address.
pub type Hardware = [u8; 6];

/// How a frame can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of the Ethernet, IP and transport headers.
    pub headers: usize,
    /// Payload of each segment but the last.
    pub segment: usize,
    /// Payload of all of them.
    pub payload: usize,
    is_ip6: bool,
    is_tcp: bool,
}

/// Where a frame goes.
pub fn destination(frame: &[u8]) -> Option<Hardware> {
    frame.get(VNET_HEADER..VNET_HEADER + 6)?.try_into().ok()
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(place) = bytes.get_mut(at..at + 2) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}

/// A field of the header of virtio-net, which is in the machine's own order.
fn native(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_ne_bytes)
}

impl Layout {
    /// How a frame (the header of virtio-net included) is made up; a packet that is no super-packet, or of
    /// which too little is understood, is one segment.
    pub fn parse(frame: &[u8]) -> Layout {
        let whole = frame.len().saturating_sub(VNET_HEADER);
        let single = Layout { headers: 0, segment: whole, payload: whole, is_ip6: false, is_tcp: false };
        Layout::of_super_packet(frame).unwrap_or(single)
    }

    fn of_super_packet(frame: &[u8]) -> Option<Layout> {
        let segment = usize::from(native(frame, 4));
        let kind = frame.get(1)? & !GSO_ECN;
        if segment == 0 || ![GSO_TCP4, GSO_TCP6, GSO_UDP].contains(&kind) {
            return None;
        }
        let packet = frame.get(VNET_HEADER..)?;
        let (is_ip6, protocol, transport_at) = match read_u16(packet, 12)? {
            IP4 => {
                let header = usize::from(packet.get(ETHERNET)? & 0x0f) * 4;
                (false, *packet.get(ETHERNET + 9)?, ETHERNET + header)
            }
            IP6 => (true, *packet.get(ETHERNET + 6)?, ETHERNET + 40),
            _ => return None,
        };
        let headers = match (protocol, kind) {
            (TCP, GSO_TCP4 | GSO_TCP6) => transport_at + usize::from(packet.get(transport_at + 12)? >> 4) * 4,
            (UDP, GSO_UDP) => transport_at + 8,
            _ => return None,
        };
        let payload = packet.len().checked_sub(headers)?;
        Some(Layout { headers, segment, payload, is_ip6, is_tcp: protocol == TCP })
    }

    /// Whether it can be cut at all.
    pub fn is_super_packet(&self) -> bool {
        self.headers > 0
    }

    /// How many packets it is on the wire.
    pub fn segments(&self) -> usize {
        self.payload.div_ceil(self.segment.max(1)).max(1)
    }

    /// Bytes that the first so many segments take on the wire, the Ethernet header of each included.
    pub fn wire_bytes(&self, segments: usize) -> usize {
        let payload = (segments * self.segment).min(self.payload);
        segments.min(self.segments()) * self.headers + payload
    }

    /// The size of the packet in one segment, the Ethernet header not included.
    pub fn packet_bytes(&self, segment: usize) -> usize {
        (self.wire_bytes(segment + 1) - self.wire_bytes(segment)).saturating_sub(ETHERNET)
    }

    /// The header of virtio-net and the packet's own headers for some of the segments of `frame`, and where
    /// in it their payload lies.
    pub fn cut(&self, frame: &[u8], segments: Range<usize>) -> (Box<[u8]>, Range<usize>) {
        let at = VNET_HEADER + self.headers;
        let from = (segments.start * self.segment).min(self.payload);
        let to = (segments.end * self.segment).min(self.payload);
        let mut head: Box<[u8]> = frame.get(..at).unwrap_or(frame).into();
        self.mend_offload(&mut head, segments.len());
        let packet = head.get_mut(VNET_HEADER..).unwrap_or_default();
        self.mend_ip(packet, to - from, segments.start);
        let transport = if self.is_tcp { mend_tcp } else { mend_udp };
        transport(self, packet, from, to);
        (head, at + from..at + to)
    }

    fn mend_offload(&self, head: &mut [u8], segments: usize) {
        if segments <= 1 && head.len() >= VNET_HEADER {
            head[1] = 0;
            head[4..6].fill(0);
        }
    }

    /// Length, identification and checksum.
    fn mend_ip(&self, packet: &mut [u8], payload: usize, first: usize) {
        let length = self.headers - ETHERNET + payload;
        if self.is_ip6 {
            put_u16(packet, ETHERNET + 4, (length - 40) as u16);
            return;
        }
        put_u16(packet, ETHERNET + 2, length as u16);
        let identification = read_u16(packet, ETHERNET + 4).unwrap_or(0).wrapping_add(first as u16);
        put_u16(packet, ETHERNET + 4, identification);
        put_u16(packet, ETHERNET + 10, 0);
        let header = usize::from(packet.get(ETHERNET).unwrap_or(&0) & 0x0f) * 4;
        let sum = sum(packet.get(ETHERNET..ETHERNET + header).unwrap_or_default());
        put_u16(packet, ETHERNET + 10, !sum);
    }

    /// Where the transport's header begins in the packet.
    fn transport_at(&self, packet: &[u8]) -> usize {
        let ip4 = || usize::from(packet.get(ETHERNET).unwrap_or(&0) & 0x0f) * 4;
        ETHERNET + if self.is_ip6 { 40 } else { ip4() }
    }

    /// The sum over addresses, protocol and length, which stands for the checksum until that is computed.
    fn pseudo_header(&self, packet: &[u8], length: usize) -> u16 {
        let addresses = if self.is_ip6 { ETHERNET + 8..ETHERNET + 40 } else { ETHERNET + 12..ETHERNET + 20 };
        let protocol = if self.is_tcp { TCP } else { UDP };
        let rest = [0, protocol, (length >> 8) as u8, length as u8];
        let halves = [sum(packet.get(addresses).unwrap_or_default()), sum(&rest)];
        fold(halves.iter().map(|half| u32::from(*half)).sum())
    }
}

fn mend_tcp(layout: &Layout, packet: &mut [u8], from: usize, to: usize) {
    let at = layout.transport_at(packet);
    if let Some(sequence) = packet.get(at + 4..at + 8).and_then(|four| four.try_into().ok()) {
        let sequence = u32::from_be_bytes(sequence).wrapping_add(from as u32);
        packet[at + 4..at + 8].copy_from_slice(&sequence.to_be_bytes());
    }
    if let Some(flags) = packet.get_mut(at + 13) {
        *flags &= if to < layout.payload { !LAST_ALONE } else { !0 };
        *flags &= if from > 0 { !FIRST_ALONE } else { !0 };
    }
    let length = layout.headers - at + (to - from);
    put_u16(packet, at + 16, layout.pseudo_header(packet, length));
}

fn mend_udp(layout: &Layout, packet: &mut [u8], from: usize, to: usize) {
    let at = layout.transport_at(packet);
    let length = 8 + (to - from);
    put_u16(packet, at + 4, length as u16);
    put_u16(packet, at + 6, layout.pseudo_header(packet, length));
}

/// The sum of RFC 1071, not complemented.
fn sum(bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|two| u32::from(two[0]) << 8 | two.get(1).map_or(0, |low| u32::from(*low)));
    fold(words.sum())
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const NEEDS_CHECKSUM: u8 = 1;

    /// A super-packet of TCP over IPv4 with this payload, in segments of `segment`.
    pub fn super_packet(payload: usize, segment: u16) -> Vec<u8> {
        let mut frame = vec![NEEDS_CHECKSUM, GSO_TCP4, 66, 0];
        frame.extend(segment.to_ne_bytes());
        frame.extend([34, 0, 16, 0]);
        frame.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
        let length = (52 + payload) as u16;
        frame.extend([0x45, 0]);
        frame.extend(length.to_be_bytes());
        frame.extend([0, 7, 0x40, 0, 64, TCP, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2]);
        frame.extend([0x10, 0, 0x20, 0]);
        frame.extend(1000u32.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend([0x80, 0x10 | LAST_ALONE | FIRST_ALONE, 1, 0, 0, 0, 0, 0]);
        frame.extend([1; 12]);
        frame.extend((0..payload).map(|byte| byte as u8));
        frame
    }

    #[test]
    fn a_super_packet_is_many_on_the_wire() {
        let frame = super_packet(4000, 1448);
        let layout = Layout::parse(&frame);
        assert_eq!((layout.headers, layout.segments()), (66, 3));
        assert_eq!(layout.wire_bytes(1), 1514);
        assert_eq!(layout.wire_bytes(3), 3 * 66 + 4000);
        assert_eq!((layout.packet_bytes(0), layout.packet_bytes(2)), (1500, 4000 - 2896 + 52));
        let plain = Layout::parse(&[0; 110]);
        assert_eq!((plain.segments(), plain.wire_bytes(1), plain.is_super_packet()), (1, 100, false));
    }

    #[test]
    fn a_piece_is_what_the_kernel_would_have_made() {
        let frame = super_packet(4000, 1448);
        let layout = Layout::parse(&frame);
        let (head, body) = layout.cut(&frame, 1..2);
        assert_eq!(body, 76 + 1448..76 + 2896);
        assert_eq!((head[1], native(&head, 4)), (0, 0), "one segment is no super-packet");
        let packet = &head[VNET_HEADER..];
        assert_eq!(read_u16(packet, ETHERNET + 2), Some(1500));
        assert_eq!(read_u16(packet, ETHERNET + 4), Some(8), "identification counts segments");
        assert_eq!(sum(&packet[ETHERNET..ETHERNET + 20]), 0xffff, "the sum of a sound header is all ones");
        assert_eq!(&packet[38..42], &(1000u32 + 1448).to_be_bytes());
        assert_eq!(packet[47], 0x10, "neither the first nor the last");
        let expected = fold(198 * 256 * 2 + 18 * 2 + 1 + 2 + u32::from(TCP) + 32 + 1448);
        assert_eq!(read_u16(packet, 50), Some(expected));
        let (last, _) = layout.cut(&frame, 1..3);
        assert_eq!((last[1], native(&last, 4)), (GSO_TCP4, 1448));
        assert_eq!(last[VNET_HEADER + 47], 0x10 | LAST_ALONE);
        let (first, _) = layout.cut(&frame, 0..1);
        assert_eq!(first[VNET_HEADER + 47], 0x10 | FIRST_ALONE);
    }

    proptest::proptest! {
        #[test]
        fn pieces_are_the_whole(payload in 1usize..60000, segment in 100u16..9000, cut in 0usize..700) {
            let frame = super_packet(payload, segment);
            let layout = Layout::parse(&frame);
            let at = cut.min(layout.segments());
            let bodies = [layout.cut(&frame, 0..at).1, layout.cut(&frame, at..layout.segments()).1];
            let joined: Vec<u8> = bodies.into_iter().flat_map(|body| frame[body].to_vec()).collect();
            proptest::prop_assert_eq!(&joined[..], &frame[76..]);
        }

        #[test]
        fn no_frame_is_trusted(bytes in proptest::collection::vec(0u8.., 0..200), kind in 0u8..6, segment in 0u16..50) {
            let mut frame = bytes;
            if frame.len() > 24 {
                frame[1] = kind;
                frame[4..6].copy_from_slice(&segment.to_ne_bytes());
                frame[22..24].copy_from_slice(&IP4.to_be_bytes());
            }
            let layout = Layout::parse(&frame);
            let segments = layout.segments();
            if layout.is_super_packet() {
                let (_, body) = layout.cut(&frame, 0..segments);
                proptest::prop_assert!(body.end <= frame.len());
            }
            destination(&frame);
        }
    }
}
