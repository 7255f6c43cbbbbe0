//! Patterns that are whole applications in small: their ends are played together, by all of a host's sessions at once.

use super::{Does, Need, PING_PONG, Pattern, PatternEntry, STREAM};

const PAPER: &str = "P. Balaji et al., Head-to-TOE Evaluation of High-Performance Sockets, Cluster 2005";

/// The cluster's state, asked of every node.
pub const MONITOR: PatternEntry = PatternEntry {
    pattern: Pattern::Monitor,
    name: "monitor",
    about: "one host asks every other one for its state, a new connection each: rounds as a cluster's monitor makes them",
    source: PAPER,
    ends: [&[Does::Collects], &[Does::Reports]],
    needs: &[Need::Calls],
    connects_anew: true,
    application: true,
    shows: "round-time",
    ..PING_PONG
};

/// Filters that are joined by streams.
pub const PIPELINE: PatternEntry = PatternEntry {
    pattern: Pattern::Pipeline,
    name: "pipeline",
    about: "stages on hosts, joined by streams of buffers: units of work go through them, and are compared with the truth",
    source: PAPER,
    ends: [&[Does::Stages]; 2],
    needs: &[Need::OneWay],
    connects_anew: true,
    application: true,
    shows: "unit-time",
    ..PING_PONG
};

/// Regions of files that lie in stripes on servers, read.
pub const STRIPED_READ: PatternEntry = PatternEntry {
    pattern: Pattern::StripedRead,
    name: "striped-read",
    about: "clients read regions of a file that lies in stripes on servers; what comes is compared with the truth",
    source: PAPER,
    ends: [&[Does::Serves], &[Does::Fetches]],
    needs: &[Need::OneWay],
    alone: None,
    connects_anew: true,
    application: true,
    has_rate: false,
    shows: "striped-throughput",
    ..STREAM
};

/// The same, written.
pub const STRIPED_WRITE: PatternEntry = PatternEntry {
    pattern: Pattern::StripedWrite,
    name: "striped-write",
    about: "clients write regions of a file in stripes to servers, each until all of its stripes are told to be there",
    ends: [&[Does::Stores], &[Does::Keeps]],
    ..STRIPED_READ
};

/// A file that is moved: its size is the message's, and the streams are the connections.
pub const FILE: PatternEntry = PatternEntry {
    pattern: Pattern::File,
    name: "file",
    about: "a file is moved from a host to another until it is on the disk there, and compared; by this program, or in a lab by another one",
    source: "J. Cope et al., LCI 2007, section 5.4, Table 3",
    ends: [&[Does::Moves], &[Does::Takes]],
    needs: &[Need::OneWay],
    alone: None,
    connects_anew: true,
    application: true,
    is_single: true,
    has_rate: false,
    shows: "file-throughput",
    ..STREAM
};
