//! `struct tcp_info` by name: which of its counters moved, and what its other values are.
//!
//! Names, places and widths are those of `linux/uapi/tcp.h`; they never change, the structure only
//! grows: 104 bytes in Linux 2.6, 192 in 4.10, 232 in 5.4, 248 in 6.7, 280 in 6.18. A field that lies
//! beyond the end is one that this kernel does not have.

use std::collections::BTreeMap;

/// How a field behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows, and wraps at its width.
    Counter,
    /// A state or level.
    Gauge,
}

use Kind::{Counter, Gauge};

/// One field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The kernel's name without `tcpi_`.
    pub name: &'static str,
    /// The place of its first byte.
    pub offset: usize,
    /// Its bytes: 1, 2, 4 or 8.
    pub width: usize,
    /// Where it shares a byte: its first bit and the number of bits.
    bits: Option<(u32, u32)>,
    /// How it behaves.
    pub kind: Kind,
}

const fn field(name: &'static str, offset: usize, width: usize, kind: Kind) -> Field {
    Field { name, offset, width, bits: None, kind }
}

const fn bits(name: &'static str, offset: usize, first: u32, count: u32) -> Field {
    Field { name, offset, width: 1, bits: Some((first, count)), kind: Gauge }
}

/// Every field up to 276 bytes. `fackets` is no longer filled; the last word's layout has changed between
/// releases, so it is left out.
pub const FIELDS: &[Field] = &[
    field("state", 0, 1, Gauge),
    field("ca_state", 1, 1, Gauge),
    field("retransmits", 2, 1, Gauge),
    field("probes", 3, 1, Gauge),
    field("backoff", 4, 1, Gauge),
    field("options", 5, 1, Gauge),
    bits("snd_wscale", 6, 0, 4),
    bits("rcv_wscale", 6, 4, 4),
    bits("delivery_rate_app_limited", 7, 0, 1),
    bits("fastopen_client_fail", 7, 1, 2),
    field("rto", 8, 4, Gauge),
    field("ato", 12, 4, Gauge),
    field("snd_mss", 16, 4, Gauge),
    field("rcv_mss", 20, 4, Gauge),
    field("unacked", 24, 4, Gauge),
    field("sacked", 28, 4, Gauge),
    field("lost", 32, 4, Gauge),
    field("retrans", 36, 4, Gauge),
    field("last_data_sent", 44, 4, Gauge),
    field("last_data_recv", 52, 4, Gauge),
    field("last_ack_recv", 56, 4, Gauge),
    field("pmtu", 60, 4, Gauge),
    field("rcv_ssthresh", 64, 4, Gauge),
    field("rtt", 68, 4, Gauge),
    field("rttvar", 72, 4, Gauge),
    field("snd_ssthresh", 76, 4, Gauge),
    field("snd_cwnd", 80, 4, Gauge),
    field("advmss", 84, 4, Gauge),
    field("reordering", 88, 4, Gauge),
    field("rcv_rtt", 92, 4, Gauge),
    field("rcv_space", 96, 4, Gauge),
    field("total_retrans", 100, 4, Counter),
    field("pacing_rate", 104, 8, Gauge),
    field("max_pacing_rate", 112, 8, Gauge),
    field("bytes_acked", 120, 8, Counter),
    field("bytes_received", 128, 8, Counter),
    field("segs_out", 136, 4, Counter),
    field("segs_in", 140, 4, Counter),
    field("notsent_bytes", 144, 4, Gauge),
    field("min_rtt", 148, 4, Gauge),
    field("data_segs_in", 152, 4, Counter),
    field("data_segs_out", 156, 4, Counter),
    field("delivery_rate", 160, 8, Gauge),
    field("busy_time", 168, 8, Counter),
    field("rwnd_limited", 176, 8, Counter),
    field("sndbuf_limited", 184, 8, Counter),
    field("delivered", 192, 4, Counter),
    field("delivered_ce", 196, 4, Counter),
    field("bytes_sent", 200, 8, Counter),
    field("bytes_retrans", 208, 8, Counter),
    field("dsack_dups", 216, 4, Counter),
    field("reord_seen", 220, 4, Counter),
    field("rcv_ooopack", 224, 4, Counter),
    field("snd_wnd", 228, 4, Gauge),
    field("rcv_wnd", 232, 4, Gauge),
    field("rehash", 236, 4, Counter),
    field("total_rto", 240, 2, Counter),
    field("total_rto_recoveries", 242, 2, Counter),
    field("total_rto_time", 244, 4, Counter),
    field("received_ce", 248, 4, Counter),
    field("delivered_e1_bytes", 252, 4, Counter),
    field("delivered_e0_bytes", 256, 4, Counter),
    field("delivered_ce_bytes", 260, 4, Counter),
    field("received_e1_bytes", 264, 4, Counter),
    field("received_e0_bytes", 268, 4, Counter),
    field("received_ce_bytes", 272, 4, Counter),
];

impl Field {
    /// The field with this name.
    pub fn named(name: &str) -> Option<&'static Field> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// Its value; none where the structure is too short for it.
    pub fn value(&self, info: &[u8]) -> Option<u64> {
        let bytes = info.get(self.offset..self.offset + self.width)?;
        let value = match *bytes {
            [byte] => u64::from(byte),
            [a, b] => u64::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
            _ => u64::from_ne_bytes(bytes.try_into().ok()?),
        };
        let Some((first, count)) = self.bits else { return Some(value) };
        // C allots bit-fields from the lowest bit on little-endian machines and from the highest on others.
        let shift = if cfg!(target_endian = "little") { first } else { 8 - first - count };
        Some(value >> shift & ((1 << count) - 1))
    }

    /// How far it moved from one reading to the next, across a wrap.
    pub fn moved(&self, before: &[u8], after: &[u8]) -> Option<u64> {
        let moved = self.value(after)?.wrapping_sub(self.value(before)?);
        Some(moved & (u64::MAX >> (64 - 8 * self.width)))
    }
}

/// The counters that moved, by name.
pub fn moved(before: &[u8], after: &[u8]) -> BTreeMap<String, u64> {
    let counters = FIELDS.iter().filter(|field| field.kind == Counter);
    let moved = counters.filter_map(|field| Some((field.name.to_owned(), field.moved(before, after)?)));
    moved.filter(|(_, by)| *by > 0).collect()
}

/// The values that are not counters, by name.
pub fn last(after: &[u8]) -> BTreeMap<String, u64> {
    let gauges = FIELDS.iter().filter(|field| field.kind == Gauge);
    gauges.filter_map(|field| Some((field.name.to_owned(), field.value(after)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    /// Lengths of the structure over the years, and lengths between.
    const LENGTHS: &[usize] = &[0, 1, 7, 104, 148, 160, 168, 192, 224, 232, 240, 248, 280, 512];

    #[test]
    fn fields_lie_in_order_and_do_not_overlap() {
        for pair in FIELDS.windows(2) {
            let shared = pair[0].bits.is_some() && pair[0].offset == pair[1].offset;
            assert!(shared || pair[0].offset + pair[0].width <= pair[1].offset, "{pair:?}");
            assert_eq!(pair[1].offset % pair[1].width, 0, "{pair:?}");
        }
    }

    #[test]
    fn a_short_structure_has_fewer_fields() {
        let count = |length| FIELDS.iter().filter(|field| field.value(&vec![7; length]).is_some()).count();
        let counts: Vec<usize> = [0, 104, 168, 192, 232, 248, 280].map(count).into();
        assert_eq!(counts, [0, 32, 43, 46, 54, 59, FIELDS.len()]);
    }

    #[test]
    fn any_bytes_of_any_length_are_read() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(11);
        for length in LENGTHS.iter().copied().cycle().take(200) {
            let (mut before, mut after) = (vec![0; length], vec![0; length / 2 + length % 3]);
            random.fill_bytes(&mut before);
            random.fill_bytes(&mut after);
            let named = moved(&before, &after).len() + last(&after).len();
            assert!(named <= FIELDS.len());
            assert!(moved(&before, &before).is_empty());
            assert!(last(&before).values().all(|_| true));
        }
    }

    #[test]
    fn bits_of_one_byte_are_told_apart() {
        let mut info = [0; 104];
        let small = cfg!(target_endian = "little");
        (info[6], info[7]) = if small { (0xa7, 0b101) } else { (0x7a, 0b1100_0000) };
        let last = last(&info);
        assert_eq!((last["snd_wscale"], last["rcv_wscale"]), (7, 10));
        assert_eq!((last["delivery_rate_app_limited"], last["fastopen_client_fail"]), (1, 2));
    }

    #[test]
    fn a_counter_moves_across_its_wrap() {
        let (mut before, mut after) = ([0; 280], [0; 280]);
        let mut set = |name, from: u64, to: u64| {
            let Field { offset, width, .. } = *Field::named(name).unwrap();
            let skipped = if cfg!(target_endian = "little") { 0 } else { 8 - width };
            before[offset..offset + width].copy_from_slice(&from.to_ne_bytes()[skipped..][..width]);
            after[offset..offset + width].copy_from_slice(&to.to_ne_bytes()[skipped..][..width]);
        };
        set("segs_out", u64::from(u32::MAX) - 1, 3);
        set("total_rto", 65_535, 0);
        set("bytes_acked", u64::MAX, 9);
        set("snd_cwnd", 10, 40);
        let expected = [("segs_out", 5), ("total_rto", 1), ("bytes_acked", 10)];
        assert_eq!(moved(&before, &after), expected.map(|(name, by)| (name.to_owned(), by)).into());
        assert_eq!(last(&after)["snd_cwnd"], 40);
    }

    #[test]
    fn a_connection_counts_the_bytes_that_it_carries() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let before = linerate_sys::tcp_info::tcp_info(&server).unwrap();
        client.write_all(&[1; 5000]).unwrap();
        server.read_exact(&mut [0; 5000]).unwrap();
        let after = linerate_sys::tcp_info::tcp_info(&server).unwrap();
        let moved = moved(&before, &after);
        assert_eq!(moved["bytes_received"], 5000, "{moved:?}");
        assert!(moved["segs_in"] >= 1, "{moved:?}");
        let last = last(&after);
        assert!(last["rcv_mss"] >= 500 && last["snd_cwnd"] >= 1, "{last:?}");
        assert_eq!(last["state"], 1, "established");
    }
}
