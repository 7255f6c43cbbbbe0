//! Who sends what when, and how the ends wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The order in which messages cross.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// A message goes, the same bytes come back, then the next one.
    PingPong,
    /// One end sends without pause, the other receives.
    #[default]
    Stream,
    /// Both ends stream at once over the same connections.
    Bidirectional,
}

/// What one end of a session does during a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// Sends a message, waits for its return, and keeps the time.
    Pings,
    /// Returns each message.
    Echoes,
    /// Sends without pause.
    Sends,
    /// Receives and keeps the time.
    Receives,
    /// Works alone on memory and keeps the time.
    Copies,
}

impl Does {
    /// Whether this end's clock and bytes are the result (method: the receiver's; a round trip is the pinger's).
    pub fn keeps_time(self) -> bool {
        matches!(self, Does::Pings | Does::Receives | Does::Copies)
    }
}

/// What the samples of a histogram are, besides round trips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sample {
    /// From the moment at which a request should have gone until its answer was back.
    FromIntended,
    /// From the moment at which it went until then.
    FromSend,
    /// From the moment at which a message should have gone until it went.
    SentLate,
    /// From the call of `connect` until the connection stood.
    SetUp,
    /// From the call of `connect` until the answer was there and the connection closed.
    Transaction,
    /// A datagram's delay above the least one of its block.
    DelayVariation,
    /// How far the delays of two datagrams that were sent one after the other differ.
    PacketToPacket,
}

/// How an end waits for the next message.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Asks again and again, never leaving its CPU.
    Polling,
    /// Sleeps in the kernel; the CPU is kept awake by a spinner of idle priority.
    #[default]
    Sleeping,
}

/// Where the bytes of a message lie before it is sent.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// One buffer, used again and again: in the nearest cache that holds it.
    #[default]
    Hot,
    /// The next part of a region larger than the caches: in memory.
    Cold,
}

/// A pattern in the listing.
#[derive(Debug)]
pub struct PatternEntry {
    /// The value that plans and records carry.
    pub pattern: Pattern,
    /// Its name there.
    pub name: &'static str,
    /// One line for `linerate list`.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// Every pattern.
pub const PATTERNS: &[PatternEntry] = &[
    PatternEntry {
        pattern: Pattern::PingPong,
        name: "ping-pong",
        about: "one message there and back; half a round trip against message size",
        source: "Q. Snell, A. Mikler, J. Gustafson: NetPIPE, 1996",
    },
    PatternEntry {
        pattern: Pattern::Stream,
        name: "stream",
        about: "one way without pause; the receiver's bytes over the receiver's clock",
        source: "RFC 6349",
    },
    PatternEntry {
        pattern: Pattern::Bidirectional,
        name: "bidirectional",
        about: "a stream each way at once over the same connections; the sum of both receivers",
        source: "RFC 6349, with both directions at once",
    },
];

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = PATTERNS.iter().find(|entry| entry.pattern == *self);
        f.pad(entry.map_or("", |entry| entry.name))
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Wait::Polling => "polling",
            Wait::Sleeping => "sleeping",
        })
    }
}
