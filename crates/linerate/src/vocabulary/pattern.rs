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
    /// Both ends send a message at once and receive the other's, then the next one.
    PingPing,
    /// A fixed number of messages over a new connection, of which nothing is left out.
    FixedCount,
    /// Requests at set moments, whatever became of those before.
    RequestResponse,
    /// A connection for each request.
    Connect,
    /// A search for the largest rate that the path takes.
    Capacity,
    /// A search for the largest rate of which nothing is lost.
    ZeroLoss,
}

/// How often the receiving end of a search gives an order (RFC 9097, section 8.1): a message of a searching block
/// stands for so long.
pub const FEEDBACK_NS: u64 = 50_000_000;

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
    /// Sends a message while it receives the other end's, and keeps the time.
    Exchanges,
    /// Sends requests at set moments, receives their answers meanwhile, and keeps the time.
    Requests,
    /// Makes a connection for each request, and keeps the time.
    Connects,
    /// Takes each connection, answers its request and closes it.
    Accepts,
    /// Sends at whatever rate the other end orders.
    Offers,
    /// Orders rates, receives, and finds the largest one that the path takes.
    FindsCapacity,
    /// Orders rates, receives, and finds the largest one of which nothing is lost.
    FindsZeroLoss,
}

impl Does {
    /// Whether this end's clock and bytes are the result (method: the receiver's; a round trip is the pinger's).
    pub fn keeps_time(self) -> bool {
        use Does::{Connects, Copies, Exchanges, FindsCapacity, FindsZeroLoss, Pings, Receives, Requests};
        matches!(
            self,
            Pings | Receives | Copies | Exchanges | Requests | Connects | FindsCapacity | FindsZeroLoss
        )
    }

    /// Whether its time begins with its own message.
    pub fn begins(self) -> bool {
        matches!(self, Does::Pings | Does::Exchanges | Does::Requests | Does::Connects)
    }

    /// Whether it makes or takes connections of its own, beside those of the session.
    pub fn calls(self) -> bool {
        matches!(self, Does::Connects | Does::Accepts)
    }

    /// Whether its slices are samples of one distribution, of which a histogram is kept.
    pub fn samples(self) -> bool {
        matches!(self, Does::Pings | Does::Exchanges)
    }

    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Does::Pings => "pings",
            Does::Echoes => "echoes",
            Does::Sends => "sends",
            Does::Receives => "receives",
            Does::Copies => "copies",
            Does::Exchanges => "exchanges",
            Does::Requests => "requests",
            Does::Connects => "connects",
            Does::Accepts => "accepts",
            Does::Offers => "offers",
            Does::FindsCapacity => "finds capacity",
            Does::FindsZeroLoss => "finds zero loss",
        }
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
    /// From the making of a socket until its connection stood.
    SetUp,
    /// From the making of a socket until the last byte of the answer was there.
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

/// How a receiving end looks for a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// The least message: a datagram carries its number and its time.
    pub least_bytes: u64,
    /// The fewest parts of a trial.
    pub least_parts: u64,
    /// How long a part lasts at most.
    pub longest_part_ns: u64,
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
    /// Whether a message is waited for, which makes a sample of each: its sizes are visited apart, without a
    /// warm-up, and its ends may wait in both ways.
    pub is_exchange: bool,
    /// Whether each step of it has connections of its own.
    pub connects_anew: bool,
    /// How the receiving end looks for a rate, where it does: then a slice and a message are times, and more is sent
    /// than comes.
    pub search: Option<Search>,
}

/// Every pattern.
pub const PATTERNS: &[PatternEntry] = &[
    PatternEntry {
        pattern: Pattern::PingPong,
        name: "ping-pong",
        about: "one message there and back; half a round trip against message size",
        source: "Q. Snell, A. Mikler, J. Gustafson: NetPIPE, 1996",
        is_exchange: true,
        connects_anew: false,
        search: None,
    },
    PatternEntry {
        pattern: Pattern::Stream,
        name: "stream",
        about: "one way without pause; the receiver's bytes over the receiver's clock",
        source: "RFC 6349",
        is_exchange: false,
        connects_anew: false,
        search: None,
    },
    PatternEntry {
        pattern: Pattern::Bidirectional,
        name: "bidirectional",
        about: "a stream each way at once over the same connections; the sum of both receivers",
        source: "RFC 6349, with both directions at once",
        is_exchange: false,
        connects_anew: false,
        search: None,
    },
    PatternEntry {
        pattern: Pattern::PingPing,
        name: "ping-ping",
        about: "both ends send a message at once and receive the other's; the time of an exchange",
        source: "Intel MPI Benchmarks, PingPing",
        is_exchange: true,
        connects_anew: false,
        search: None,
    },
    PatternEntry {
        pattern: Pattern::FixedCount,
        name: "fixed-count",
        about: "a fixed number of messages over a new connection, its ramp included; nothing is left out",
        source: "NTTCP: 4096 messages of a size in Hurwitz and Feng 2005, 32768 in 2003",
        is_exchange: false,
        connects_anew: true,
        search: None,
    },
    PatternEntry {
        pattern: Pattern::RequestResponse,
        name: "request-response",
        about: "requests at a set rate, an open loop: the time from when each should have gone to its answer",
        source: "G. Tene, wrk2 and HdrHistogram: coordinated omission",
        is_exchange: true,
        connects_anew: false,
        search: None,
    },
    PatternEntry {
        pattern: Pattern::Connect,
        name: "connect",
        about: "connect, request, answer, close: the time to set a connection up, and transactions a second",
        source: "netperf, TCP_CRR; RFC 2647, connection establishment time",
        is_exchange: true,
        connects_anew: true,
        search: None,
    },
    PatternEntry {
        pattern: Pattern::Capacity,
        name: "capacity",
        about: "the largest rate of a second at the IP layer: it rises while little is lost and delays are short",
        source: "RFC 9097, section 8.1: type B",
        is_exchange: false,
        connects_anew: false,
        search: Some(Search { least_bytes: 16, least_parts: 3, longest_part_ns: 1_000_000_000 }),
    },
    PatternEntry {
        pattern: Pattern::ZeroLoss,
        name: "zero-loss",
        about: "the largest rate of which nothing is lost, by bisection; a trial a rate",
        source: "RFC 2544, section 26.1",
        is_exchange: false,
        connects_anew: false,
        search: Some(Search { least_bytes: 16, least_parts: 16, longest_part_ns: u64::MAX }),
    },
];

impl Pattern {
    /// Its line in the table. Each has one: a test holds it.
    fn entry(self) -> Option<&'static PatternEntry> {
        PATTERNS.iter().find(|entry| entry.pattern == self)
    }

    /// Whether a message is waited for; see [`PatternEntry::is_exchange`].
    pub fn is_exchange(self) -> bool {
        self.entry().is_some_and(|entry| entry.is_exchange)
    }

    /// How the receiving end looks for a rate, where it does.
    pub fn search(self) -> Option<Search> {
        self.entry()?.search
    }

    /// Whether the receiving end looks for a rate.
    pub fn searches(self) -> bool {
        self.search().is_some()
    }

    /// Whether each step of it has connections of its own.
    pub fn connects_anew(self) -> bool {
        self.entry().is_some_and(|entry| entry.connects_anew)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.entry().map_or("", |entry| entry.name))
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
