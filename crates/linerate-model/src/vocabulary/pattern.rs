//! Who sends what when: the patterns, and what each end does in them.

mod application;
mod does;

pub use application::{FILE_REGIONS, LEAST_BUFFER, MOST_BUFFER, MOST_REGION};
pub use does::Does;

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
    /// A message goes, a word comes back, then the next one.
    StopAndWait,
    /// One host asks all others for their state, by a new connection each.
    Monitor,
    /// Stages that are joined by streams.
    Pipeline,
    /// Regions of a file in stripes on servers, read.
    StripedRead,
    /// The same, written.
    StripedWrite,
    /// Tiles of a frame in stripes on servers, read.
    TiledRead,
    /// The same, written.
    TiledWrite,
    /// A file that all ranks of a message library have open, read.
    FileRead,
    /// The same, written.
    FileWrite,
    /// A file from a host to another, by this program or another one.
    File,
}

/// What a pattern needs of a session, and a transport's sessions offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Bytes one way.
    OneWay,
    /// Whole messages, of which none is lost, one way at a time.
    Messages,
    /// Connections of its own for each step.
    Reconnection,
    /// Bytes both ways over one connection, by an end that has a thread for each.
    Duplex,
    /// Messages of both ends at once, by one thread an end.
    Crossing,
    /// The same while that thread works.
    CrossingAtWork,
    /// Messages that do not wait for the answers of those before.
    Ahead,
    /// Further connections while it runs.
    Calls,
    /// Datagrams, which may be lost.
    Datagrams,
    /// All ranks at once.
    Ranks,
}

/// How often the receiving end of a search gives an order (RFC 9097, section 8.1): a message of a searching block
/// stands for so long.
pub const FEEDBACK_NS: u64 = 50_000_000;

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

/// What all ranks do together: as many at each of two hosts.
#[derive(Debug, Clone, Copy)]
pub struct Collective {
    /// How many messages must cross at least between the two hosts, both ways together, with so many ranks at each.
    pub crossing: fn(u64) -> u64,
    /// Whether it adds floats, of which a message then is made.
    pub adds: bool,
    /// Whether every rank waits for all others: packets of two operations cannot be one.
    pub synchronizes: bool,
}

/// Bytes of what a reduction adds: MPI_FLOAT.
pub const ELEMENT_BYTES: u64 = 4;

/// A pattern.
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
    /// What the two ends of a connection do, a thread each: that from which a case goes, and that to which.
    pub ends: [&'static [Does]; 2],
    /// What it needs of a session: one of these.
    pub needs: &'static [Need],
    /// What the only end of a transport that has one does, where the pattern makes sense there.
    pub alone: Option<Does>,
    /// Whether a message is waited for, which makes a sample of each: its sizes are visited apart, without a
    /// warm-up, and its ends may wait in both ways.
    pub is_exchange: bool,
    /// Whether each step of it has connections of its own.
    pub connects_anew: bool,
    /// Whether it is an application, whose ends play all of their sessions together.
    pub application: bool,
    /// Whether a trial is a single message, however long that takes.
    pub is_single: bool,
    /// Of so many messages a file is made for each client before the time is taken; of tiles the frame has as many as clients.
    pub prepares: u64,
    /// How the receiving end looks for a rate, where it does: then a slice and a message are times, and more is sent
    /// than comes.
    pub search: Option<Search>,
    /// Whether the bytes that come over the time that they take are a throughput.
    pub has_rate: bool,
    /// The least and the greatest message, where it bounds them, and what a message is.
    pub messages: Option<(u64, u64, &'static str)>,
    /// What all ranks of a message library do together, where they do.
    pub collective: Option<Collective>,
    /// The number of a figure of it, where a plan names none.
    pub shows: &'static str,
}

const STREAM: PatternEntry = PatternEntry {
    pattern: Pattern::Stream,
    name: "stream",
    about: "one way without pause; the receiver's bytes over the receiver's clock",
    source: "RFC 6349",
    ends: [&[Does::Sends], &[Does::Receives]],
    needs: &[Need::OneWay, Need::Datagrams],
    alone: Some(Does::Copies),
    is_exchange: false,
    connects_anew: false,
    application: false,
    is_single: false,
    prepares: 0,
    search: None,
    has_rate: true,
    messages: None,
    collective: None,
    shows: "throughput",
};

const PING_PONG: PatternEntry = PatternEntry {
    pattern: Pattern::PingPong,
    name: "ping-pong",
    about: "one message there and back; half a round trip against message size",
    source: "Q. Snell, A. Mikler, J. Gustafson: NetPIPE, 1996",
    ends: [&[Does::Pings], &[Does::Echoes]],
    needs: &[Need::Messages, Need::Datagrams],
    alone: None,
    is_exchange: true,
    has_rate: false,
    shows: "half-round-trip",
    ..STREAM
};

/// Every pattern, in the order of their kind.
pub const PATTERNS: &[PatternEntry] = &[
    PING_PONG,
    STREAM,
    PatternEntry {
        pattern: Pattern::Bidirectional,
        name: "bidirectional",
        about: "a stream each way at once over the same connections; the sum of both receivers",
        source: "RFC 6349, with both directions at once",
        ends: [&[Does::Receives, Does::Sends]; 2],
        needs: &[Need::Duplex],
        alone: None,
        ..STREAM
    },
    PatternEntry {
        pattern: Pattern::PingPing,
        name: "ping-ping",
        about: "both ends send a message at once and receive the other's; the time of an exchange",
        source: "Intel MPI Benchmarks, PingPing",
        ends: [&[Does::Exchanges]; 2],
        needs: &[Need::Crossing, Need::Datagrams],
        has_rate: true,
        shows: "exchange-time",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::FixedCount,
        name: "fixed-count",
        about: "a fixed number of messages over a new connection, its ramp included; nothing is left out",
        source: "NTTCP: 4096 messages of a size in Hurwitz and Feng 2005, 32768 in 2003",
        needs: &[Need::Reconnection],
        alone: None,
        connects_anew: true,
        ..STREAM
    },
    PatternEntry {
        pattern: Pattern::RequestResponse,
        name: "request-response",
        about: "requests at a set rate, an open loop: the time from when each should have gone to its answer",
        source: "G. Tene, wrk2 and HdrHistogram: coordinated omission",
        ends: [&[Does::Requests], &[Does::Echoes]],
        needs: &[Need::Ahead, Need::Datagrams],
        has_rate: true,
        shows: "response-time.p50",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::Connect,
        name: "connect",
        about: "connect, request, answer, close: the time to set a connection up, and transactions a second",
        source: "netperf, TCP_CRR; RFC 2647, connection establishment time",
        ends: [&[Does::Connects], &[Does::Accepts]],
        needs: &[Need::Calls],
        connects_anew: true,
        has_rate: true,
        shows: "connect-time.p50",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::Overlap,
        name: "overlap",
        about: "exchanges alone, work alone, and both at once: how much of an exchange goes on while its ends compute",
        source: "W. Lawry, C. Wilson, A. B. Maccabe, R. Brightwell: COMB, IEEE Cluster 2002; OSU Micro-Benchmarks",
        ends: [&[Does::Overlaps]; 2],
        needs: &[Need::CrossingAtWork],
        shows: "overlap",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::Capacity,
        name: "capacity",
        about: "the largest rate of a second at the IP layer: it rises while little is lost and delays are short",
        source: "RFC 9097, section 8.1: type B",
        ends: [&[Does::Offers], &[Does::FindsCapacity]],
        needs: &[Need::Datagrams],
        alone: None,
        search: Some(Search { least_bytes: 16, least_parts: 3, longest_part_ns: 1_000_000_000 }),
        has_rate: false,
        shows: "ip-capacity",
        ..STREAM
    },
    PatternEntry {
        pattern: Pattern::ZeroLoss,
        name: "zero-loss",
        about: "the largest rate of which nothing is lost, by bisection; a trial a rate",
        source: "RFC 2544, section 26.1",
        ends: [&[Does::Offers], &[Does::FindsZeroLoss]],
        needs: &[Need::Datagrams],
        alone: None,
        search: Some(Search { least_bytes: 16, least_parts: 16, longest_part_ns: u64::MAX }),
        has_rate: false,
        shows: "zero-loss-rate",
        ..STREAM
    },
    PatternEntry {
        pattern: Pattern::Broadcast,
        name: "broadcast",
        about: "one rank's message comes to all ranks; each is the root in turn",
        source: "MPI: A Message-Passing Interface Standard, section 6.4; Intel MPI Benchmarks, Bcast",
        ends: [&[Does::Broadcasts]; 2],
        needs: &[Need::Ranks],
        collective: Some(Collective { crossing: |_| 1, adds: false, synchronizes: false }),
        shows: "collective-time",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::Reduce,
        name: "reduce",
        about: "the sums of all ranks' floats come to one; each is the root in turn",
        source: "MPI: A Message-Passing Interface Standard, section 6.9.1; Intel MPI Benchmarks, Reduce",
        ends: [&[Does::Reduces]; 2],
        needs: &[Need::Ranks],
        collective: Some(Collective { crossing: |_| 1, adds: true, synchronizes: false }),
        shows: "collective-time",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::Allreduce,
        name: "allreduce",
        about: "the sums of all ranks' floats come to all ranks",
        source: "MPI: A Message-Passing Interface Standard, section 6.9.6; Intel MPI Benchmarks, Allreduce",
        ends: [&[Does::ReducesAll]; 2],
        needs: &[Need::Ranks],
        collective: Some(Collective { crossing: |_| 2, adds: true, synchronizes: true }),
        shows: "collective-time",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::AllToAll,
        name: "all-to-all",
        about: "each rank has a message for each",
        source: "MPI: A Message-Passing Interface Standard, section 6.8; Intel MPI Benchmarks, Alltoall",
        ends: [&[Does::ExchangesAll]; 2],
        needs: &[Need::Ranks],
        collective: Some(Collective { crossing: |ranks| 2 * ranks * ranks, adds: false, synchronizes: true }),
        shows: "collective-time",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::Barrier,
        name: "barrier",
        about: "no rank goes on before all are there; no message is carried, whatever its size",
        source: "MPI: A Message-Passing Interface Standard, section 6.3; Intel MPI Benchmarks, Barrier",
        ends: [&[Does::Meets]; 2],
        needs: &[Need::Ranks],
        collective: Some(Collective { crossing: |_| 0, adds: false, synchronizes: true }),
        shows: "collective-time",
        ..PING_PONG
    },
    PatternEntry {
        pattern: Pattern::StopAndWait,
        name: "stop-and-wait",
        about: "a message one way, a byte back when all of it came, then the next message",
        source: "netperf, TCP_RR with -r SIZE,1; A. S. Tanenbaum, Computer Networks, stop-and-wait",
        ends: [&[Does::Delivers], &[Does::Acknowledges]],
        needs: &[Need::Messages],
        has_rate: true,
        shows: "delivery-time",
        ..PING_PONG
    },
    application::MONITOR,
    application::PIPELINE,
    application::STRIPED_READ,
    application::STRIPED_WRITE,
    application::TILED_READ,
    application::TILED_WRITE,
    application::FILE_READ,
    application::FILE_WRITE,
    application::FILE,
];

// A pattern that has no entry, or not its own, is not compiled.
const _: () = {
    let mut at = 0;
    while at < PATTERNS.len() {
        assert!(PATTERNS[at].pattern as usize == at);
        at += 1;
    }
    assert!(at == Pattern::File as usize + 1);
};

impl Pattern {
    /// Its entry.
    pub const fn entry(self) -> &'static PatternEntry {
        &PATTERNS[self as usize]
    }

    /// Whether a message is waited for; see [`PatternEntry::is_exchange`].
    pub fn is_exchange(self) -> bool {
        self.entry().is_exchange
    }

    /// How the receiving end looks for a rate, where it does.
    pub fn search(self) -> Option<Search> {
        self.entry().search
    }

    /// Whether its bytes over its time are a throughput.
    pub fn has_rate(self) -> bool {
        self.entry().has_rate
    }

    /// What all ranks do together, where they do.
    pub fn collective(self) -> Option<Collective> {
        self.entry().collective
    }

    /// Whether the receiving end looks for a rate.
    pub fn searches(self) -> bool {
        self.search().is_some()
    }

    /// Whether it makes connections while it is timed.
    pub fn calls(self) -> bool {
        self.entry().needs.contains(&Need::Calls)
    }

    /// Whether each step of it has connections of its own.
    pub fn connects_anew(self) -> bool {
        self.entry().connects_anew
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.entry().name)
    }
}
