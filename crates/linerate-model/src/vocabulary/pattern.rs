//! Who sends what when, and how the ends wait.

use super::Does;
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
    /// Both ends send a message at once and work meanwhile, then receive the other's.
    Overlap,
    /// A search for the largest rate that the path takes.
    Capacity,
    /// A search for the largest rate of which nothing is lost.
    ZeroLoss,
    /// One rank's message comes to all.
    Broadcast,
    /// The sums of all come to one.
    Reduce,
    /// The sums of all come to all.
    Allreduce,
    /// Each has a message for each.
    AllToAll,
    /// Nobody goes on before all are there.
    Barrier,
}

/// How often the receiving end of a search gives an order (RFC 9097, section 8.1): a message of a searching block
/// stands for so long.
pub const FEEDBACK_NS: u64 = 50_000_000;

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
    /// Until both ends have sent a message and received the other's, while neither did anything else.
    ExchangeAlone,
    /// Until a piece of work was done while no message was under way.
    WorkAlone,
    /// Until the same work was done and both messages were there, begun before it.
    ExchangeAtWork,
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

/// What a sender's messages consist of.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Bytes that no compressor can shrink, written before.
    #[default]
    Random,
    /// The kernel's page of zeros, again and again: memory that was never written.
    Zeros,
}

impl Content {
    /// Whether nothing else was asked for.
    pub fn is_usual(&self) -> bool {
        *self == Content::Random
    }
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
    /// Whether the bytes that come over the time that they take are a throughput.
    pub has_rate: bool,
    /// What all ranks of a message library do together, where they do.
    pub collective: Option<Collective>,
}

/// What all ranks do together: as many at each of two hosts.
#[derive(Debug, Clone, Copy)]
pub struct Collective {
    /// What each does.
    pub does: Does,
    /// How many messages must cross at least between the two hosts, both ways together, with so many ranks at each.
    pub crossing: fn(u64) -> u64,
    /// Whether it adds floats, of which a message then is made.
    pub adds: bool,
    /// Whether every rank waits for all others: packets of two operations cannot be one.
    pub synchronizes: bool,
}

/// Bytes of what a reduction adds: MPI_FLOAT.
pub const ELEMENT_BYTES: u64 = 4;

/// A pattern of all ranks together.
const fn together(
    (pattern, name): (Pattern, &'static str),
    about: &'static str,
    source: &'static str,
    collective: Collective,
) -> PatternEntry {
    let collective = Some(collective);
    let (is_exchange, connects_anew, search, has_rate) = (true, false, None, false);
    PatternEntry { pattern, name, about, source, is_exchange, connects_anew, search, has_rate, collective }
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
        has_rate: false,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::Stream,
        name: "stream",
        about: "one way without pause; the receiver's bytes over the receiver's clock",
        source: "RFC 6349",
        is_exchange: false,
        connects_anew: false,
        search: None,
        has_rate: true,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::Bidirectional,
        name: "bidirectional",
        about: "a stream each way at once over the same connections; the sum of both receivers",
        source: "RFC 6349, with both directions at once",
        is_exchange: false,
        connects_anew: false,
        search: None,
        has_rate: true,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::PingPing,
        name: "ping-ping",
        about: "both ends send a message at once and receive the other's; the time of an exchange",
        source: "Intel MPI Benchmarks, PingPing",
        is_exchange: true,
        connects_anew: false,
        search: None,
        has_rate: true,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::FixedCount,
        name: "fixed-count",
        about: "a fixed number of messages over a new connection, its ramp included; nothing is left out",
        source: "NTTCP: 4096 messages of a size in Hurwitz and Feng 2005, 32768 in 2003",
        is_exchange: false,
        connects_anew: true,
        search: None,
        has_rate: true,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::RequestResponse,
        name: "request-response",
        about: "requests at a set rate, an open loop: the time from when each should have gone to its answer",
        source: "G. Tene, wrk2 and HdrHistogram: coordinated omission",
        is_exchange: true,
        connects_anew: false,
        search: None,
        has_rate: true,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::Connect,
        name: "connect",
        about: "connect, request, answer, close: the time to set a connection up, and transactions a second",
        source: "netperf, TCP_CRR; RFC 2647, connection establishment time",
        is_exchange: true,
        connects_anew: true,
        search: None,
        has_rate: true,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::Overlap,
        name: "overlap",
        about: "exchanges alone, work alone, and both at once: how much of an exchange goes on while its ends compute",
        source: "W. Lawry, C. Wilson, A. B. Maccabe, R. Brightwell: COMB, IEEE Cluster 2002; OSU Micro-Benchmarks",
        is_exchange: true,
        connects_anew: false,
        search: None,
        has_rate: false,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::Capacity,
        name: "capacity",
        about: "the largest rate of a second at the IP layer: it rises while little is lost and delays are short",
        source: "RFC 9097, section 8.1: type B",
        is_exchange: false,
        connects_anew: false,
        search: Some(Search { least_bytes: 16, least_parts: 3, longest_part_ns: 1_000_000_000 }),
        has_rate: false,
        collective: None,
    },
    PatternEntry {
        pattern: Pattern::ZeroLoss,
        name: "zero-loss",
        about: "the largest rate of which nothing is lost, by bisection; a trial a rate",
        source: "RFC 2544, section 26.1",
        is_exchange: false,
        connects_anew: false,
        search: Some(Search { least_bytes: 16, least_parts: 16, longest_part_ns: u64::MAX }),
        has_rate: false,
        collective: None,
    },
    together(
        (Pattern::Broadcast, "broadcast"),
        "one rank's message comes to all ranks; each is the root in turn",
        "MPI: A Message-Passing Interface Standard, section 6.4; Intel MPI Benchmarks, Bcast",
        Collective { does: Does::Broadcasts, crossing: |_| 1, adds: false, synchronizes: false },
    ),
    together(
        (Pattern::Reduce, "reduce"),
        "the sums of all ranks' floats come to one; each is the root in turn",
        "MPI: A Message-Passing Interface Standard, section 6.9.1; Intel MPI Benchmarks, Reduce",
        Collective { does: Does::Reduces, crossing: |_| 1, adds: true, synchronizes: false },
    ),
    together(
        (Pattern::Allreduce, "allreduce"),
        "the sums of all ranks' floats come to all ranks",
        "MPI: A Message-Passing Interface Standard, section 6.9.6; Intel MPI Benchmarks, Allreduce",
        Collective { does: Does::ReducesAll, crossing: |_| 2, adds: true, synchronizes: true },
    ),
    together(
        (Pattern::AllToAll, "all-to-all"),
        "each rank has a message for each",
        "MPI: A Message-Passing Interface Standard, section 6.8; Intel MPI Benchmarks, Alltoall",
        Collective {
            does: Does::ExchangesAll,
            crossing: |ranks| 2 * ranks * ranks,
            adds: false,
            synchronizes: true,
        },
    ),
    together(
        (Pattern::Barrier, "barrier"),
        "no rank goes on before all are there; no message is carried, whatever its size",
        "MPI: A Message-Passing Interface Standard, section 6.3; Intel MPI Benchmarks, Barrier",
        Collective { does: Does::Meets, crossing: |_| 0, adds: false, synchronizes: true },
    ),
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

    /// Whether its bytes over its time are a throughput.
    pub fn has_rate(self) -> bool {
        self.entry().is_some_and(|entry| entry.has_rate)
    }

    /// What all ranks do together, where they do.
    pub fn collective(self) -> Option<Collective> {
        self.entry()?.collective
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
