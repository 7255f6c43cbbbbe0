//! What a link does to what crosses it, in one direction: rate, delay, loss and the rest, by name.

use super::target::TargetError;
use crate::unit::{BitRate, Bytes, Nanoseconds};
use crate::vocabulary::meant;
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

/// One key of a lab's description that is a part of its links' shape.
pub(super) struct Key {
    /// As it is written.
    pub name: &'static str,
    wanted: &'static str,
    set: fn(&mut Shape, &str) -> Option<()>,
    show: fn(&Shape) -> Option<String>,
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
            wanted: "a share such as 1%",
            set: |shape, text| {
                shape.$field = share(text, MOST)?;
                Some(())
            },
            show: |shape| (shape.$field > 0.0).then(|| shape.$field.to_string()),
        }
    };
}

macro_rules! time {
    ($name:literal, $field:ident) => {
        Key {
            name: $name,
            wanted: "a time such as 10ms, at most 5s",
            set: |shape, text| {
                shape.$field = text.parse::<Nanoseconds>().ok().filter(|time| time.0 <= LONGEST_DELAY_NS)?.0;
                Some(())
            },
            show: |shape| (shape.$field > 0.0).then(|| format!("{}ns", shape.$field)),
        }
    };
}

/// Every key, in the order in which they are printed.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "rate",
        wanted: "a rate of 1Mb/s to 400Gb/s",
        set: |shape, text| {
            shape.rate = Some(rate(text)?);
            Some(())
        },
        show: |shape| Some(format!("{}b/s", shape.rate?.0)),
    },
    time!("delay", delay_ns),
    time!("jitter", jitter_ns),
    share!("loss", loss),
    Key {
        name: "burst",
        wanted: "a mean number of packets lost in a row, 1 to 1000",
        set: |shape, text| {
            shape.burst = text.parse().ok().filter(|burst| (1.0..=1000.0).contains(burst))?;
            Some(())
        },
        show: |shape| (shape.burst > 0.0).then(|| shape.burst.to_string()),
    },
    share!("reorder", reorder),
    share!("duplicate", duplicate),
    Key {
        name: "queue",
        wanted: "a size of 2KiB to 4GiB",
        set: |shape, text| {
            let bytes = text.parse::<Bytes>().ok()?.0;
            shape.queue_bytes = Some(bytes).filter(|bytes| (2 << 10..=4 << 30).contains(bytes));
            shape.queue_bytes.map(drop)
        },
        show: |shape| Some(shape.queue_bytes?.to_string()),
    },
];

/// `2%` or `0.02`, up to `most`.
pub(super) fn share(text: &str, most: f64) -> Option<f64> {
    let share = match text.strip_suffix('%') {
        Some(number) => number.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (0.0..=most).contains(&share).then_some(share)
}

pub(super) fn rate(text: &str) -> Option<BitRate> {
    text.parse().ok().filter(|rate: &BitRate| (1e6..=4e11).contains(&rate.0))
}

impl Shape {
    /// Sets one key; the error says what is wanted. `others` are the keys that belong elsewhere.
    pub(super) fn set(
        &mut self,
        name: &str,
        value: &str,
        others: &[&'static str],
    ) -> Result<(), TargetError> {
        let key = KEYS.iter().find(|key| key.name == name).ok_or_else(|| {
            let known: Vec<&str> = others.iter().copied().chain(KEYS.iter().map(|key| key.name)).collect();
            let hint = meant(known.iter().copied(), name, &format!("it knows {}", known.join(", ")));
            TargetError::new(format!("the lab knows no `{name}`"), hint)
        })?;
        let bad = || {
            let what = format!("lab:{name}={value}: not {}", key.wanted);
            TargetError::new(what, "try lab:rate=1Gb/s,delay=5ms,loss=0.1%")
        };
        (key.set)(self, value).ok_or_else(bad)
    }

    /// The keys that are set, as they are written.
    pub(super) fn said(&self) -> impl Iterator<Item = String> + '_ {
        KEYS.iter().filter_map(|key| Some(format!("{}={}", key.name, (key.show)(self)?)))
    }

    /// Whether it does nothing at all.
    pub fn is_plain(&self) -> bool {
        *self == Shape::default()
    }

    /// Bytes that may wait for a link of this rate, where nobody said: 50 ms of it, or what is under way in
    /// a round trip, so that one flow can fill the link.
    pub fn queue(&self) -> Option<u64> {
        let rate = self.rate?;
        let seconds = QUEUE_SECONDS.max(2e-9 * self.delay_ns);
        Some(self.queue_bytes.unwrap_or((rate.0 / 8.0 * seconds).max(LEAST_QUEUE_BYTES) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_set_and_shown() {
        let said = "rate=1000000000b/s,delay=10000000ns,jitter=1000ns,loss=0.01,burst=8,reorder=0.02,duplicate=0.001,queue=65536";
        let mut shape = Shape::default();
        for pair in said.split(',') {
            let (name, value) = pair.split_once('=').unwrap();
            shape.set(name, value, &[]).unwrap();
        }
        assert_eq!(shape.said().collect::<Vec<_>>().join(","), said);
        assert!(Shape::default().is_plain() && !shape.is_plain());
    }

    #[test]
    fn what_no_link_does_is_refused() {
        for (name, value) in [("loss", "51%"), ("rate", "1"), ("queue", "1"), ("delay", "6s"), ("burst", "0")]
        {
            assert!(Shape::default().set(name, value, &[]).is_err(), "{name}={value}");
        }
        let error = Shape::default().set("delai", "1ms", &["mtu"]).unwrap_err();
        assert_eq!(error.hint, "did you mean `delay`?");
    }

    #[test]
    fn a_queue_lasts_a_round_trip_at_least() {
        let shape = |delay_ns| Shape { rate: Some(BitRate(1e9)), delay_ns, ..Shape::default() };
        assert_eq!(shape(0.0).queue(), Some(6_250_000));
        assert_eq!(shape(1e8).queue(), Some(25_000_000));
        assert_eq!(Shape::default().queue(), None);
    }
}
