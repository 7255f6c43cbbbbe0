//! Patterns that are whole applications in small: their ends are played together, by all of a host's sessions at once.

use super::{Collective, Does, Need, PING_PONG, Pattern, PatternEntry, STREAM};

const PAPER: &str = "P. Balaji et al., Head-to-TOE Evaluation of High-Performance Sockets, Cluster 2005";

/// The least buffer of a pipeline: a row of a tile, or a few triangles, with what says where they belong.
pub const LEAST_BUFFER: u64 = 1 << 10;
/// The largest.
pub const MOST_BUFFER: u64 = 4 << 20;

/// The longest region of a file in stripes: a server sets memory aside for its part of eight of them.
pub const MOST_REGION: u64 = 64 << 20;

/// Regions of a file in stripes, which are used one after the other, again and again.
pub const FILE_REGIONS: u64 = 8;

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
    messages: Some((LEAST_BUFFER, MOST_BUFFER, "a pipeline's buffers")),
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
    prepares: FILE_REGIONS,
    has_rate: false,
    messages: Some((0, MOST_REGION, "the regions of a file in stripes")),
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

/// Tiles of a frame that lies in stripes on servers, read.
pub const TILED_READ: PatternEntry = PatternEntry {
    pattern: Pattern::TiledRead,
    name: "tiled-read",
    about: "each client reads its tile of a frame that lies in stripes on servers: rows with gaps between them, as a display wall does",
    source: "MPI-Tile-IO, Parallel I/O Benchmarking Consortium; P. Balaji et al., Cluster 2005, section 6.2",
    ends: [&[Does::Serves], &[Does::FetchesTile]],
    messages: Some((0, MOST_REGION, "the tiles of a frame")),
    ..STRIPED_READ
};

/// The same, written.
pub const TILED_WRITE: PatternEntry = PatternEntry {
    pattern: Pattern::TiledWrite,
    name: "tiled-write",
    about: "each client writes its tile of a frame in stripes to servers, until all of its stripes are told to be there",
    ends: [&[Does::StoresTile], &[Does::Keeps]],
    ..TILED_READ
};

/// A file that all ranks have open, read.
pub const FILE_READ: PatternEntry = PatternEntry {
    pattern: Pattern::FileRead,
    name: "file-read",
    about: "each rank of an MPI reads its part of a file that all have open (MPI-IO); what comes is compared with the truth",
    source: "MPI: A Message-Passing Interface Standard, version 4.1, chapter 14; IOR",
    ends: [&[Does::ReadsFile]; 2],
    needs: &[Need::Ranks],
    alone: None,
    // What must cross is the file system's, and each rank may go on alone.
    collective: Some(Collective { crossing: |_| 0, adds: false, synchronizes: false }),
    has_rate: false,
    messages: Some((0, MOST_REGION, "the parts of a file that all ranks have open")),
    shows: "striped-throughput",
    ..STREAM
};

/// The same, written.
pub const FILE_WRITE: PatternEntry = PatternEntry {
    pattern: Pattern::FileWrite,
    name: "file-write",
    about: "each rank of an MPI writes its part of a file that all have open (MPI-IO); it is read again and compared",
    ends: [&[Does::WritesFile]; 2],
    ..FILE_READ
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
