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
pub(super) trait Ledger {
    /// Whether it asks when they came.
    const TIMED: bool;
    /// One more, of this block, that came at this moment. The other end wrote it: it may say anything.
    fn came(&mut self, datagram: &[u8], now_ns: u64) -> Came;
    /// How far delays were apart so far.
    fn spread_ns(&self) -> u64 {
        0
    }
    /// What was learnt.
    fn finish(self, tally: &mut Tally, samples: &mut Vec<(Sample, Latencies)>);
}

/// The ledger that a block's datagrams have room for.
#[derive(Debug, Default)]
pub(super) enum Book {
    /// They have no number, or are too many: they are counted alone.
    #[default]
    Blank,
    /// They have a number.
    Numbered(Numbers),
    /// They have a number and a time.
    Stamped(Numbers, Times),
}

/// Datagrams that cannot be told apart.
#[derive(Debug)]
pub(super) struct Blank;

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
pub(super) enum Came {
    /// One that had not come yet.
    First,
    /// One that had.
    Again,
    /// None of its own.
    Stray,
}

impl Book {
    /// For a block of so many datagrams of this size.
    pub fn of(all: u64, message_bytes: usize) -> Book {
        if message_bytes < NUMBER_BYTES || all > MOST_NUMBERS {
            return Book::Blank;
        }
        let seen = vec![0; all.div_ceil(64) as usize];
        let numbers = Numbers { seen, all, largest: None, duplicated: 0, reordered: 0 };
        match message_bytes >= STAMPED_BYTES {
            true => Book::Stamped(numbers, Times::of(all)),
            false => Book::Numbered(numbers),
        }
    }
}

impl Numbers {
    /// What this number is to its block.
    #[inline]
    fn note(&mut self, number: u64) -> Came {
        if number >= self.all {
            return Came::Stray;
        }
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if self.seen[word] & bit != 0 {
            self.duplicated += 1;
            return Came::Again;
        }
        self.seen[word] |= bit;
        self.reordered += u64::from(self.largest.is_some_and(|largest| number < largest));
        self.largest = self.largest.max(Some(number));
        Came::First
    }

    fn tell(&self, tally: &mut Tally) {
        (tally.duplicated, tally.reordered) = (Some(self.duplicated), Some(self.reordered));
    }
}

impl Ledger for Blank {
    const TIMED: bool = false;

    #[inline]
    fn came(&mut self, _datagram: &[u8], _now_ns: u64) -> Came {
        Came::First
    }

    fn finish(self, _tally: &mut Tally, _samples: &mut Vec<(Sample, Latencies)>) {}
}

impl Ledger for Numbers {
    const TIMED: bool = false;

    #[inline]
    fn came(&mut self, datagram: &[u8], _now_ns: u64) -> Came {
        self.note(number(datagram))
    }

    fn finish(self, tally: &mut Tally, _samples: &mut Vec<(Sample, Latencies)>) {
        self.tell(tally);
    }
}

impl Ledger for Stamps {
    const TIMED: bool = true;

    #[inline]
    fn came(&mut self, datagram: &[u8], now_ns: u64) -> Came {
        let number = number(datagram);
        let came = self.0.note(number);
        if came == Came::First {
            self.1.came(number, now_ns.wrapping_sub(sent_ns(datagram)) as i64);
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
    fn of(all: u64) -> Times {
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
    fn came(&mut self, number: u64, delay_ns: i64) {
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
        let Book::Stamped(numbers, times) = Book::of(all, 64) else { panic!("64 B have room") };
        Stamps(numbers, times)
    }

    fn datagram(number: u32, sent_ns: u64) -> [u8; STAMPED_BYTES] {
        let mut bytes = [0; STAMPED_BYTES];
        bytes[..4].copy_from_slice(&number.to_le_bytes());
        write_sent(&mut bytes, sent_ns);
        bytes
    }

    #[test]
    fn what_was_lost_doubled_and_overtaken_is_told_apart() {
        let mut journal = stamped(10);
        let order = [0, 1, 3, 2, 2, 5, 9, 4, 9, 10, 7_000];
        let came: Vec<Came> = order.iter().map(|number| journal.came(&datagram(*number, 0), 1000)).collect();
        let count = |what: Came| came.iter().filter(|came| **came == what).count();
        assert_eq!((count(Came::First), count(Came::Again), count(Came::Stray)), (7, 2, 2));
        let (mut tally, mut samples) = (Tally::default(), Vec::new());
        journal.finish(&mut tally, &mut samples);
        // 2 came after 3, and 4 after 9.
        assert_eq!((tally.duplicated, tally.reordered), (Some(2), Some(2)));
    }

    #[test]
    fn delays_vary_above_the_least_one_whatever_the_clocks_say() {
        for skew in SKEWS {
            let mut journal = stamped(1000);
            for number in 0..1000u32 {
                let sent = skew.wrapping_add(u64::from(number) * 10_000);
                // Every other one is 50 us late.
                let arrived = u64::from(number) * 10_000 + 700 + 50_000 * u64::from(number % 2);
                journal.came(&datagram(number, sent), arrived);
            }
            let (mut tally, mut samples) = (Tally::default(), Vec::new());
            journal.finish(&mut tally, &mut samples);
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
        assert!(matches!(Book::of(10, 7), Book::Blank));
        let Book::Numbered(mut journal) = Book::of(10, 8) else { panic!("8 B have a number alone") };
        assert_eq!(journal.came(&[3, 0, 0, 0, 1, 2, 3, 4], 5), Came::First);
        assert_eq!(journal.spread_ns(), 0);
    }
}
