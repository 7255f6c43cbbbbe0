//! A capture as pcapng: both hosts' interfaces in one file, with comments that say what was measured.
//!
//! The four kinds of blocks that it takes are written here: draft-ietf-opsawg-pcapng, sections 4.1 to 4.3 and 4.6.

use crate::record::{Capture, CapturedSide, TraceHost, decode_packets};
use crate::unit::Nanoseconds;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;

/// What tells the order of bytes.
const MAGIC: u32 = 0x1a2b_3c4d;
const ETHERNET: u16 = 1;

/// Options: of all blocks, of the section, of an interface, of a packet, of statistics.
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const NAME: u16 = 2;
const DESCRIPTION: u16 = 3;
const RESOLUTION: u16 = 9;
const FLAGS: u16 = 2;
const DROPPED: u16 = 5;

/// Times are in nanoseconds: ten to the minus nine.
const NANO: u8 = 9;

const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// Whose packets are in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Both hosts'.
    Both,
    /// The sender's.
    Sender,
    /// The receiver's.
    Receiver,
}

impl Seen {
    /// Each by its name.
    pub const ALL: [(&'static str, Seen); 3] =
        [("both", Seen::Both), ("sender", Seen::Sender), ("receiver", Seen::Receiver)];

    fn has(self, side: usize) -> bool {
        match self {
            Seen::Both => true,
            Seen::Sender => side == 0,
            Seen::Receiver => side == 1,
        }
    }
}

/// The file.
pub fn pcapng(capture: &Capture, seen: Seen) -> Vec<u8> {
    let knobs = if capture.knobs.is_empty() { "none".to_owned() } else { capture.knobs.join(" ") };
    let trial = format!(
        "{}: a stream of {} B by TCP, {} of them in {} after the receiver's first call (a packet that both hosts saw is there once for each); knobs: {knobs}. Each interface has the clock of its own host.",
        capture.target,
        capture.bytes,
        capture.timed_bytes,
        Nanoseconds(capture.elapsed_ns as f64)
    );
    let mut file = Vec::new();
    let section =
        [&MAGIC.to_le_bytes()[..], &1_u16.to_le_bytes(), &0_u16.to_le_bytes(), &u64::MAX.to_le_bytes()]
            .concat();
    let application = concat!("linerate ", env!("CARGO_PKG_VERSION"));
    block(
        &mut file,
        SECTION,
        &section,
        &[(APPLICATION, application.as_bytes()), (COMMENT, trial.as_bytes())],
    );
    let ends = capture.sides.iter().zip(&capture.hosts).enumerate();
    let (sides, hosts): (Vec<&CapturedSide>, Vec<&TraceHost>) =
        ends.filter(|(at, _)| seen.has(*at)).map(|(_, end)| end).unzip();
    for (side, host) in sides.iter().zip(hosts) {
        let of = format!("host {}: {}", host.host, side.address);
        let cut = if side.cut { "; it was cut at the limit of bytes that are kept" } else { "" };
        let comment = format!("{of}; {} not kept for want of room{cut}", side.dropped);
        let interface = [&ETHERNET.to_le_bytes()[..], &0_u16.to_le_bytes(), &0_u32.to_le_bytes()].concat();
        let options: [(u16, &[u8]); 4] = [
            (NAME, side.interface.as_bytes()),
            (DESCRIPTION, of.as_bytes()),
            (RESOLUTION, &[NANO]),
            (COMMENT, comment.as_bytes()),
        ];
        block(&mut file, INTERFACE, &interface, &options);
    }
    packets(&mut file, &sides);
    file
}

/// All packets in the order of their times, and what each interface dropped.
fn packets(file: &mut Vec<u8>, sides: &[&CapturedSide]) {
    let of_side = |(at, side): (usize, &&CapturedSide)| {
        let packets = decode_packets(&side.packets).unwrap_or_default();
        packets.into_iter().map(move |packet| (at as u32, packet)).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = sides.iter().enumerate().flat_map(of_side).collect();
    all.sort_by_key(|(_, packet)| packet.ns);
    let mut last = 0;
    for (interface, packet) in all {
        last = packet.ns;
        let numbers =
            [interface, (packet.ns >> 32) as u32, packet.ns as u32, packet.head.len() as u32, packet.length];
        let mut body: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        body.extend(&packet.head);
        body.resize(body.len().next_multiple_of(4), 0);
        let way = if packet.outgoing { OUTBOUND } else { INBOUND };
        block(file, PACKET, &body, &[(FLAGS, &way.to_le_bytes())]);
    }
    for (at, side) in sides.iter().enumerate() {
        let numbers = [at as u32, (last >> 32) as u32, last as u32];
        let body: Vec<u8> = numbers.iter().flat_map(|number: &u32| number.to_le_bytes()).collect();
        block(file, STATISTICS, &body, &[(DROPPED, &side.dropped.to_le_bytes())]);
    }
}

/// Type, length, body, options, length again; all of whole words.
fn block(file: &mut Vec<u8>, kind: u32, body: &[u8], options: &[(u16, &[u8])]) {
    let mut all = body.to_vec();
    for (code, value) in options {
        let length = value.len().min(usize::from(u16::MAX));
        all.extend(code.to_le_bytes());
        all.extend((length as u16).to_le_bytes());
        all.extend(&value[..length]);
        all.resize(all.len().next_multiple_of(4), 0);
    }
    all.extend([0; 4]);
    let length = (all.len() + 12) as u32;
    file.extend(kind.to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(all);
    file.extend(length.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Packet, encode_packets};

    #[test]
    fn blocks_tell_their_length_at_both_ends() {
        let packet = Packet { ns: 7 << 32 | 5, length: 1514, outgoing: true, head: vec![1; 67] };
        let side = CapturedSide { packets: encode_packets(&[packet]), dropped: 3, ..CapturedSide::default() };
        let capture = Capture { sides: vec![side], hosts: vec![TraceHost::default()], ..Capture::default() };
        let file = pcapng(&capture, Seen::Both);
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let (mut at, mut kinds) = (0, Vec::new());
        while at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4) as usize), (0, length));
            kinds.push(word(at));
            if word(at) == PACKET {
                assert_eq!([8, 12, 16, 20, 24].map(|ahead| word(at + ahead)), [0, 7, 5, 67, 1514]);
            }
            at += length;
        }
        assert_eq!(kinds, [SECTION, INTERFACE, PACKET, STATISTICS]);
        assert!(pcapng(&capture, Seen::Receiver).len() < file.len(), "the only side is the sender");
    }
}
