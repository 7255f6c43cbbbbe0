//! The options of netem, the kernel's network emulator: what `include/uapi/linux/pkt_sched.h` lays out.
//!
//! The probabilities are shares of 2^32 - 1, as `tc` of iproute2 encodes them (`tc/q_netem.c`).

use super::attribute::{TICK_NS, attribute};
use netlink_packet_core::NlasIterator;

/// `struct tc_netem_qopt`: latency, limit, loss, gap, duplicate, jitter, of four bytes each.
const PARAMETERS: usize = 24;

const TCA_NETEM_LOSS: u16 = 5;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_NETEM_LATENCY64: u16 = 10;
const TCA_NETEM_JITTER64: u16 = 11;

/// The Gilbert-Elliott model among the models of loss.
const NETEM_LOSS_GE: u16 = 2;
/// Marks an attribute that holds others (`NLA_F_NESTED`).
const NESTED: u16 = 1 << 15;

/// What netem does to what leaves an interface. Probabilities are shares of [`u32::MAX`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Netem {
    /// How long each packet waits.
    pub latency_ns: u64,
    /// By how much more or less, all values alike. Packets overtake each other by it.
    pub jitter_ns: u64,
    /// Which packets are lost.
    pub loss: NetemLoss,
    /// The share that comes twice.
    pub duplicate: u32,
    /// Bytes a second, the link's header included; none for no limit.
    pub bytes_per_s: Option<u64>,
    /// Packets that are held at most, under way or waiting; more are dropped. A super-packet is one.
    pub limit_packets: u32,
}

/// Which packets netem loses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NetemLoss {
    /// None.
    #[default]
    None,
    /// Each with this probability.
    Each(u32),
    /// In bursts (Gilbert): all packets in a bad state, which is entered and left with these probabilities.
    Bursts {
        /// Of a good packet to be the last before a burst.
        enters: u32,
        /// Of a lost packet to be the last of its burst.
        leaves: u32,
    },
}

/// A share of one as netem counts it.
pub fn netem_probability(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * f64::from(u32::MAX)).round() as u32
}

/// The value of `TCA_OPTIONS`. Times are there twice: in ticks of 64 ns for kernels before 4.15.
pub(super) fn options(netem: &Netem) -> Vec<u8> {
    let ticks = |ns: u64| u32::try_from(ns / TICK_NS).unwrap_or(u32::MAX);
    let each = if let NetemLoss::Each(share) = netem.loss { share } else { 0 };
    let (latency, jitter) = (ticks(netem.latency_ns), ticks(netem.jitter_ns));
    let mut bytes = words(&[latency, netem.limit_packets, each, 0, netem.duplicate, jitter]);
    for (kind, ns) in [(TCA_NETEM_LATENCY64, netem.latency_ns), (TCA_NETEM_JITTER64, netem.jitter_ns)] {
        if ns > 0 {
            bytes.extend(attribute(kind, &ns.to_ne_bytes()));
        }
    }
    if let NetemLoss::Bursts { enters, leaves } = netem.loss {
        // In the bad state nothing gets through, and in the good one nothing is lost.
        let model = attribute(NETEM_LOSS_GE, &words(&[enters, leaves, 0, 0]));
        bytes.extend(attribute(NESTED | TCA_NETEM_LOSS, &model));
    }
    if let Some(rate) = netem.bytes_per_s {
        if rate > u64::from(u32::MAX) {
            bytes.extend(attribute(TCA_NETEM_RATE64, &rate.to_ne_bytes()));
        }
        // Without overhead and cells.
        let narrow = u32::try_from(rate).unwrap_or(u32::MAX);
        bytes.extend(attribute(TCA_NETEM_RATE, &words(&[narrow, 0, 0, 0])));
    }
    bytes
}

/// What the kernel says of it.
pub(super) fn parse_options(options: &[u8]) -> Option<Netem> {
    let (parameters, rest) = options.split_at_checked(PARAMETERS)?;
    let word = |place: usize| word(parameters, place);
    let ns = |ticks: u32| u64::from(ticks) * TICK_NS;
    let mut netem = Netem {
        latency_ns: ns(word(0)?),
        limit_packets: word(1)?,
        loss: word(2).filter(|loss| *loss > 0).map_or(NetemLoss::None, NetemLoss::Each),
        duplicate: word(4)?,
        jitter_ns: ns(word(5)?),
        bytes_per_s: None,
    };
    let mut rate64 = None;
    for attribute in NlasIterator::new(rest).flatten() {
        let value = attribute.value();
        let long = || value.try_into().ok().map(u64::from_ne_bytes);
        match attribute.kind() & !NESTED {
            TCA_NETEM_LATENCY64 => netem.latency_ns = long()?,
            TCA_NETEM_JITTER64 => netem.jitter_ns = long()?,
            TCA_NETEM_RATE64 => rate64 = long(),
            TCA_NETEM_RATE => {
                netem.bytes_per_s = self::word(value, 0).filter(|rate| *rate > 0).map(u64::from);
            }
            TCA_NETEM_LOSS => netem.loss = bursts(value).unwrap_or(netem.loss),
            _ => {}
        }
    }
    netem.bytes_per_s = rate64.or(netem.bytes_per_s);
    Some(netem)
}

fn bursts(models: &[u8]) -> Option<NetemLoss> {
    let model = NlasIterator::new(models).flatten().find(|model| model.kind() == NETEM_LOSS_GE)?;
    let (enters, leaves) = (word(model.value(), 0)?, word(model.value(), 1)?);
    Some(NetemLoss::Bursts { enters, leaves })
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn word(bytes: &[u8], place: usize) -> Option<u32> {
    bytes.get(4 * place..4 * place + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    /// What `tc` of iproute2 6.1.0 sends for `delay 10ms 1ms loss 1% duplicate 0.5%`.
    const TC_RANDOM: [u8; 24] = [
        0x5a, 0x62, 0x02, 0x00, 0xe8, 0x03, 0x00, 0x00, 0x29, 0x5c, 0x8f, 0x02, 0x00, 0x00, 0x00, 0x00, 0x14,
        0xae, 0x47, 0x01, 0x09, 0x3d, 0x00, 0x00,
    ];

    /// And for `delay 5s loss gemodel 0.12626263% 12.5% 100% 0% rate 1gbit limit 5000`.
    const TC_BURSTS: [u8; 68] = [
        0xc8, 0x17, 0xa8, 0x04, 0x88, 0x13, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18, 0x00, 0x05, 0x80, 0x14, 0x00, 0x02, 0x00, 0x5b, 0xbf,
        0x52, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x06,
        0x00, 0x40, 0x59, 0x73, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];

    /// And for the rate of `rate 100gbit`.
    const TC_FAST: [u8; 32] = [
        0x0c, 0x00, 0x08, 0x00, 0x00, 0xdd, 0x0e, 0xe9, 0x02, 0x00, 0x00, 0x00, 0x14, 0x00, 0x06, 0x00, 0xff,
        0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];

    /// A time of 64 bits, which that version of `tc` does not send: length, kind, nanoseconds.
    fn time(kind: u8, ns: u64) -> Vec<u8> {
        [&[12, 0, kind, 0][..], &ns.to_le_bytes()].concat()
    }

    fn random() -> Netem {
        Netem {
            latency_ns: 10_000_000,
            jitter_ns: 1_000_000,
            loss: NetemLoss::Each(netem_probability(0.01)),
            duplicate: netem_probability(0.005),
            limit_packets: 1000,
            bytes_per_s: None,
        }
    }

    /// Bursts of eight packets that lose one of a hundred.
    fn in_bursts() -> Netem {
        let loss = NetemLoss::Bursts {
            enters: netem_probability(0.001_262_626_3),
            leaves: netem_probability(0.125),
        };
        let bytes_per_s = Some(125_000_000);
        Netem { latency_ns: 5_000_000_000, loss, limit_packets: 5000, bytes_per_s, ..Netem::default() }
    }

    #[test]
    fn the_options_are_those_of_tc() {
        let times = [time(10, 10_000_000), time(11, 1_000_000)].concat();
        assert_eq!(options(&random()), [&TC_RANDOM[..], &times].concat());
        let (head, rest) = TC_BURSTS.split_at(PARAMETERS);
        assert_eq!(options(&in_bursts()), [head, &time(10, 5_000_000_000), rest].concat());
        let fast = Netem { bytes_per_s: Some(12_500_000_000), ..Netem::default() };
        assert_eq!(options(&fast), [&[0; PARAMETERS], &TC_FAST[..]].concat());
    }

    #[test]
    fn what_is_said_is_read_again() {
        let fast = Netem { bytes_per_s: Some(12_500_000_000), ..random() };
        for netem in [Netem::default(), random(), in_bursts(), fast] {
            assert_eq!(parse_options(&options(&netem)), Some(netem));
        }
        // Of a kernel that knows no times of 64 bits: whole ticks.
        assert_eq!(parse_options(&TC_RANDOM), Some(random()));
        assert_eq!(parse_options(&TC_BURSTS[..20]), None);
    }
}
