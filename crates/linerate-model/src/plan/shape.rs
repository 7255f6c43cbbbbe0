//! What a link does to what crosses it, in one direction: rate, delay, loss and the rest, by name.

use crate::unit::{BitRate, Bytes, Nanoseconds, ParseError, Share, within};
use crate::vocabulary::LAB_KEYS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one direction of a link does. Shares are of one and of packets: 0.02 is 2 %.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shape {
    /// Bits a second, the Ethernet header included and preamble, check and gap not; none for no limit.
    pub rate: Option<BitRate>,
    /// The time from the last bit sent to the last bit received: one way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delay_ns: f64,
    /// Each packet's delay is this much longer or shorter at most, all values alike; the order is kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jitter_ns: f64,
    /// The share that is lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loss: f64,
    /// The mean number of packets that are lost in a row; 0 for losses that know nothing of each other.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub burst: f64,
    /// The share that later packets overtake: reordered packets by RFC 4737 where the link is busy.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reorder: f64,
    /// The share that comes twice.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub duplicate: f64,
    /// Bytes that may wait for the link; what comes then is dropped. None for 50 ms or a round trip's worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u64>,
    /// A rate above which packets are dropped without waiting: a policer with a bucket of 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<BitRate>,
    /// Packets larger than this vanish without a word, the Ethernet header not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub black_hole_bytes: Option<u32>,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Whether a key was set; else why not, empty where that is plain to see.
type Set = Result<(), String>;

/// One key of a lab's description that is a part of its links' shape.
pub(super) struct Key {
    /// As it is written.
    pub name: &'static str,
    set: fn(&mut Shape, &str) -> Set,
    /// Its value as it is written; none where it is not set.
    pub show: fn(&Shape) -> Option<String>,
}

/// Why a key cannot be set.
#[derive(Debug, PartialEq)]
pub(super) enum Wrong {
    /// No key has this name.
    Key,
    /// The value is not what is wanted: that, and why.
    Value(&'static str, String),
}

/// How long a queue lasts where nothing is said, and the least bytes that it holds.
const QUEUE_SECONDS: f64 = 0.050;
const LEAST_QUEUE_BYTES: f64 = (256 << 10) as f64;

/// The longest delay: somewhat more than to the Moon and back.
const LONGEST_DELAY_NS: f64 = 5e9;

/// More than half of all packets lost or reordered is no network.
const MOST: f64 = 0.5;

macro_rules! share {
    ($name:literal, $field:ident) => {
        Key {
            name: $name,
            set: |shape, text| {
                shape.$field = within(text.parse(), Share(0.0), Share(MOST), |share| share)?.0;
                Ok(())
            },
            show: |shape| (shape.$field > 0.0).then(|| shape.$field.to_string()),
        }
    };
}

macro_rules! time {
    ($name:literal, $field:ident) => {
        Key {
            name: $name,
            set: |shape, text| {
                let [least, most] = [0.0, LONGEST_DELAY_NS].map(Nanoseconds);
                shape.$field = within(text.parse(), least, most, |time| time.rounded(1))?.0;
                Ok(())
            },
            show: |shape| (shape.$field > 0.0).then(|| format!("{}ns", shape.$field)),
        }
    };
}

/// Every key, in the order in which they are printed.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "rate",
        set: |shape, text| {
            let [least, most] = [1e6, 4e11].map(BitRate);
            shape.rate = Some(within(text.parse(), least, most, |rate| rate.rounded(1))?);
            Ok(())
        },
        show: |shape| Some(format!("{}b/s", shape.rate?.0)),
    },
    time!("delay", delay_ns),
    time!("jitter", jitter_ns),
    share!("loss", loss),
    Key {
        name: "burst",
        set: |shape, text| {
            // A mean need not be whole.
            shape.burst = within(mean(text), 1.0, 1000.0, |burst| burst)?;
            Ok(())
        },
        show: |shape| (shape.burst > 0.0).then(|| shape.burst.to_string()),
    },
    share!("reorder", reorder),
    share!("duplicate", duplicate),
    Key {
        name: "queue",
        set: |shape, text| {
            let [least, most] = [2 << 10, 4 << 30].map(Bytes);
            shape.queue_bytes = Some(within(text.parse(), least, most, |size| size)?.0);
            Ok(())
        },
        show: |shape| Some(shape.queue_bytes?.to_string()),
    },
];

/// What a key's value is to be.
pub(super) fn wanted(name: &str) -> &'static str {
    LAB_KEYS.iter().find(|key| key.name == name).map_or("", |key| key.value)
}

/// A mean of a count.
fn mean(text: &str) -> Result<f64, ParseError> {
    // A plain number is written as a share of one is.
    text.parse::<Share>().map(|number| number.0).map_err(|error| ParseError { wanted: "a number", ..error })
}

impl Shape {
    /// Sets one key.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), Wrong> {
        let key = KEYS.iter().find(|key| key.name == name).ok_or(Wrong::Key)?;
        (key.set)(self, value).map_err(|why| Wrong::Value(wanted(name), why))
    }

    /// The keys that are set, as they are written.
    pub(super) fn as_written(&self) -> impl Iterator<Item = String> + '_ {
        KEYS.iter().filter_map(|key| Some(format!("{}={}", key.name, (key.show)(self)?)))
    }

    /// Whether it does nothing at all.
    pub fn is_plain(&self) -> bool {
        *self == Shape::default()
    }

    /// Bytes that may wait for a link of this rate: what was said, or 50 ms of it, or what is under way in
    /// its own round trip.
    pub fn queue(&self) -> Option<u64> {
        self.queue_over(2.0 * self.delay_ns)
    }

    /// The same on a way with this round trip: enough for one flow to fill the link.
    pub(super) fn queue_over(&self, round_trip_ns: f64) -> Option<u64> {
        let rate = self.rate?;
        let seconds = QUEUE_SECONDS.max(1e-9 * round_trip_ns);
        Some(self.queue_bytes.unwrap_or((rate.0 / 8.0 * seconds).max(LEAST_QUEUE_BYTES) as u64))
    }

    /// The part of it that is a line's: the rate, and what may wait for it.
    pub(super) fn of_line(&self, round_trip_ns: f64) -> Shape {
        Shape { rate: self.rate, queue_bytes: self.queue_over(round_trip_ns), ..Shape::default() }
    }

    /// What is left of it without the line.
    pub(super) fn without_line(&self) -> Shape {
        Shape { rate: None, queue_bytes: None, ..self.clone() }
    }

    /// What cannot go together: what is wrong, and what to try. What `known` has already is not asked again.
    pub(super) fn check(&self, known: &Shape) -> Result<(), (&'static str, &'static str)> {
        let cases = [
            (self.jitter_ns > self.delay_ns, "jitter is larger than delay", "give it a delay as large"),
            (
                self.burst > 0.0 && self.loss == 0.0 && self.burst != known.burst,
                "burst says nothing without loss",
                "try loss=1%,burst=8",
            ),
            (
                self.queue_bytes.is_some() && self.rate.is_none(),
                "queue says nothing without rate",
                "try rate=1Gb/s,queue=1MiB",
            ),
        ];
        let broken = cases.into_iter().find(|(holds, ..)| *holds);
        broken.map_or(Ok(()), |(_, what, hint)| Err((what, hint)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_link_is_in_the_vocabulary() {
        let mut told: Vec<&str> = LAB_KEYS.iter().filter(|key| key.of_link).map(|key| key.name).collect();
        let mut known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        told.sort_unstable();
        known.sort_unstable();
        assert_eq!(told, known);
    }

    #[test]
    fn keys_are_set_and_shown() {
        let said = "rate=1000000000b/s,delay=10000000ns,jitter=1000ns,loss=0.01,burst=8,reorder=0.02,duplicate=0.001,queue=65536";
        let mut shape = Shape::default();
        for pair in said.split(',') {
            let (name, value) = pair.split_once('=').unwrap();
            shape.set(name, value).unwrap();
        }
        assert_eq!(shape.as_written().collect::<Vec<_>>().join(","), said);
        assert!(Shape::default().is_plain() && !shape.is_plain());
    }

    #[test]
    fn what_no_link_does_is_refused() {
        for (name, value) in [
            ("loss", "51%"),
            ("rate", "1"),
            ("rate", "1GB"),
            ("queue", "1"),
            ("queue", "1Gb/s"),
            ("delay", "6s"),
            ("delay", "nan"),
            ("burst", "0"),
        ] {
            let wrong = Shape::default().set(name, value).unwrap_err();
            assert!(
                matches!(&wrong, Wrong::Value(wanted, why) if !wanted.is_empty() && !why.is_empty()),
                "{name}={value}"
            );
        }
        assert_eq!(Shape::default().set("delai", "1ms"), Err(Wrong::Key));
    }

    #[test]
    fn a_queue_lasts_a_round_trip_at_least() {
        let shape = Shape { rate: Some(BitRate(1e9)), ..Shape::default() };
        assert_eq!(shape.queue(), Some(6_250_000));
        assert_eq!(shape.queue_over(2e8), Some(25_000_000));
        assert_eq!(Shape::default().queue_over(1e9), None);
        assert_eq!(Shape { queue_bytes: Some(5000), ..shape }.queue_over(1e9), Some(5000));
    }
}
