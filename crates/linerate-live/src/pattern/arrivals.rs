//! What a receiver learns of numbered and stamped datagrams: which came, which came twice or too late, and how
//! their delays vary. No clock is compared with another: only differences of delays count.

use super::{Latencies, Sample, Tally};

/// A datagram holds its tag first, which ends with its number, and then when it was sent.
const NUMBER_BYTES: usize = 8;
/// Bytes of a number and of the time of sending: what is at the beginning of a datagram that has room.
pub const STAMPED_BYTES: usize = 16;

/// Delays that are kept until the least one is known; of more datagrams every so many.
const MOST_DELAYS: u64 = 1 << 20;

/// Datagrams of a block that can be told apart.
const MOST_NUMBERS: u64 = 1 << 28;

/// The smoothing of jitter (RFC 3550, section 6.4.1).
const SMOOTHING: f64 = 16.0;

/// What is kept of each datagram of a block; which of them it is, is asked before the loop.
pub(super) trait ArrivalRecord {
    /// Whether it asks when they came.
    const TIMED: bool;
    /// One more, of this block, that came at this moment. The other end wrote it: it may say anything.
    fn arrived(&mut self, datagram: &[u8], now_ns: u64) -> Arrival;
    /// How far delays were apart so far.
    fn spread_ns(&self) -> u64 {
        0
    }
    /// What was learnt.
    fn finish(self, tally: &mut Tally, samples: &mut Vec<(Sample, Latencies)>);
}

/// What is recorded of a block, by what its datagrams have room for.
#[derive(Debug, Default)]
pub(super) enum RecordKind {
    /// They have no number, or are too many: they are counted alone.
    #[default]
    Counted,
    /// They have a number.
    Numbered(Numbers),
    /// They have a number and a time.
    Stamped(Numbers, Times),
}

/// Datagrams that cannot be told apart.
#[derive(Debug)]
pub(super) struct Unnumbered;

/// Which of a block's datagrams came.
#[derive(Debug)]
pub(super) struct Numbers {
    /// A bit for each number that came.
    seen: Vec<u64>,
    all: u64,
    largest: Option<u64>,
    duplicated: u64,
    reordered: u64,
}

/// The same, and how long they were under way.
#[derive(Debug)]
pub(super) struct Stamps(pub Numbers, pub Times);

/// How long they were under way, but for a constant that nobody knows.
#[derive(Debug)]
pub(super) struct Times {
    every: u64,
    kept: Vec<i64>,
    least: i64,
    most: i64,
    last: Option<(u64, i64)>,
    jitter_ns: f64,
    steps: Latencies,
}

/// What a datagram is to its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// One that had not come yet.
    First,
    /// One that had.
    Duplicate,
    /// None of its own.
    Stray,
}

impl RecordKind {
    /// For a block of so many datagrams of this size.
    pub fn for_block(all: u64, message_bytes: usize) -> RecordKind {
        if message_bytes < NUMBER_BYTES || all > MOST_NUMBERS {
            return RecordKind::Counted;
        }
        let seen = vec![0; all.div_ceil(64) as usize];
        let numbers = Numbers { seen, all, largest: None, duplicated: 0, reordered: 0 };
        match message_bytes >= STAMPED_BYTES {
            true => RecordKind::Stamped(numbers, Times::for_block(all)),
            false => RecordKind::Numbered(numbers),
        }
    }
}

impl Numbers {
    /// What this number is to its block.
    #[inline]
    fn note(&mut self, number: u64) -> Arrival {
        if number >= self.all {
            return Arrival::Stray;
        }
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.seen[word] & bit != 0 {
            self.duplicated += 1;
            return Arrival::Duplicate;
        }
        self.seen[word] |= bit;
        self.reordered += u64::from(self.largest.is_some_and(|largest| number < largest));
        self.largest = self.largest.max(Some(number));
        Arrival::First
    }

    fn tell(&self, tally: &mut Tally) {
        (tally.duplicated, tally.reordered) = (Some(self.duplicated), Some(self.reordered));
    }
}

impl ArrivalRecord for Unnumbered {
    const TIMED: bool = false;

    #[inline]
    fn arrived(&mut self, _datagram: &[u8], _now_ns: u64) -> Arrival {
        Arrival::First
    }

    fn finish(self, _tally: &mut Tally, _samples: &mut Vec<(Sample, Latencies)>) {}
}

impl ArrivalRecord for Numbers {
    const TIMED: bool = false;

    #[inline]
    fn arrived(&mut self, datagram: &[u8], _now_ns: u64) -> Arrival {
        self.note(number(datagram))
    }

    fn finish(self, tally: &mut Tally, _samples: &mut Vec<(Sample, Latencies)>) {
        self.tell(tally);
    }
}

impl ArrivalRecord for Stamps {
    const TIMED: bool = true;

    #[inline]
    fn arrived(&mut self, datagram: &[u8], now_ns: u64) -> Arrival {
        let number = number(datagram);
        let came = self.0.note(number);
        if came == Arrival::First {
            self.1.record(number, now_ns.wrapping_sub(sent_ns(datagram)) as i64);
        }
        came
    }

    fn spread_ns(&self) -> u64 {
        self.1.most.saturating_sub(self.1.least).max(0) as u64
    }

    fn finish(self, tally: &mut Tally, samples: &mut Vec<(Sample, Latencies)>) {
        let Stamps(numbers, times) = self;
        numbers.tell(tally);
        if times.last.is_none() {
            return;
        }
        tally.jitter_ns = Some(times.jitter_ns);
        let mut above = Latencies::default();
        times.kept.iter().for_each(|delay| above.record(delay.saturating_sub(times.least) as u64));
        samples.push((Sample::DelayVariation, above));
        samples.push((Sample::PacketToPacket, times.steps));
    }
}

impl Times {
    fn for_block(all: u64) -> Times {
        let every = all.div_ceil(MOST_DELAYS).max(1);
        Times {
            every,
            kept: Vec::with_capacity(all.div_ceil(every) as usize),
            least: i64::MAX,
            most: i64::MIN,
            last: None,
            jitter_ns: 0.0,
            steps: Latencies::default(),
        }
    }

    #[inline]
    fn record(&mut self, number: u64, delay_ns: i64) {
        (self.least, self.most) = (self.least.min(delay_ns), self.most.max(delay_ns));
        if number.is_multiple_of(self.every) {
            self.kept.push(delay_ns);
        }
        if let Some((before, delay_before)) = self.last {
            let step = delay_ns.saturating_sub(delay_before).unsigned_abs();
            self.jitter_ns += (step as f64 - self.jitter_ns) / SMOOTHING;
            if number == before + 1 {
                self.steps.record(step);
            }
        }
        self.last = Some((number, delay_ns));
    }
}

/// The number in a datagram's tag.
#[inline]
pub(super) fn number(datagram: &[u8]) -> u64 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&datagram[..4]);
    u32::from_le_bytes(bytes).into()
}

/// Writes when it is sent behind a datagram's tag; it must have room.
#[inline]
pub(super) fn write_sent(datagram: &mut [u8], sent_ns: u64) {
    datagram[NUMBER_BYTES..STAMPED_BYTES].copy_from_slice(&sent_ns.to_le_bytes());
}

/// When it was sent, by the sender's clock; it must have room.
#[inline]
pub(super) fn sent_ns(datagram: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&datagram[NUMBER_BYTES..STAMPED_BYTES]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The other end's clock is far behind or ahead of ours.
    const SKEWS: [u64; 3] = [0, 123_456_789, u64::MAX - 5_000_000];

    fn stamped(all: u64) -> Stamps {
        let RecordKind::Stamped(numbers, times) = RecordKind::for_block(all, 64) else {
            panic!("64 B have room")
        };
        Stamps(numbers, times)
    }

    fn datagram(number: u32, sent_ns: u64) -> [u8; STAMPED_BYTES] {
        let mut bytes = [0; STAMPED_BYTES];
        bytes[..4].copy_from_slice(&number.to_le_bytes());
        write_sent(&mut bytes, sent_ns);
        bytes
    }

    #[test]
    fn lost_doubled_and_overtaken_are_told_apart() {
        let mut arrivals = stamped(10);
        let order = [0, 1, 3, 2, 2, 5, 9, 4, 9, 10, 7_000];
        let came: Vec<Arrival> =
            order.iter().map(|number| arrivals.arrived(&datagram(*number, 0), 1000)).collect();
        let count = |what: Arrival| came.iter().filter(|came| **came == what).count();
        assert_eq!((count(Arrival::First), count(Arrival::Duplicate), count(Arrival::Stray)), (7, 2, 2));
        let (mut tally, mut samples) = (Tally::default(), Vec::new());
        arrivals.finish(&mut tally, &mut samples);
        // 2 came after 3, and 4 after 9.
        assert_eq!((tally.duplicated, tally.reordered), (Some(2), Some(2)));
    }

    #[test]
    fn delays_vary_above_the_least_on_any_clocks() {
        for skew in SKEWS {
            let mut arrivals = stamped(1000);
            for number in 0..1000u32 {
                let sent = skew.wrapping_add(u64::from(number) * 10_000);
                // Every other one is 50 us late.
                let arrived = u64::from(number) * 10_000 + 700 + 50_000 * u64::from(number % 2);
                arrivals.arrived(&datagram(number, sent), arrived);
            }
            let (mut tally, mut samples) = (Tally::default(), Vec::new());
            arrivals.finish(&mut tally, &mut samples);
            assert!((tally.jitter_ns.unwrap() / 50_000.0 - 1.0).abs() < 0.01, "{tally:?}");
            let of = |wanted: Sample| {
                let (_, found) = samples.iter().find(|(sample, _)| *sample == wanted).unwrap();
                let text = found.encode().unwrap();
                crate::record::decode_histogram(&text).unwrap()
            };
            let variation = of(Sample::DelayVariation);
            assert_eq!((variation.len(), variation.value_at_quantile(0.25)), (1000, 0));
            assert!((variation.value_at_quantile(0.75) as f64 / 50_000.0 - 1.0).abs() < 0.002);
            let steps = of(Sample::PacketToPacket);
            assert_eq!(steps.len(), 999);
            assert!((steps.value_at_quantile(0.01) as f64 / 50_000.0 - 1.0).abs() < 0.002);
        }
    }

    #[test]
    fn small_datagrams_have_no_number_and_no_time() {
        assert!(matches!(RecordKind::for_block(10, 7), RecordKind::Counted));
        let RecordKind::Numbered(mut arrivals) = RecordKind::for_block(10, 8) else {
            panic!("8 B have a number alone")
        };
        assert_eq!(arrivals.arrived(&[3, 0, 0, 0, 1, 2, 3, 4], 5), Arrival::First);
        assert_eq!(arrivals.spread_ns(), 0);
    }
}
