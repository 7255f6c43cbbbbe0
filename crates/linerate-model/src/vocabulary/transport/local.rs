//! Between two ends on one host, and in memory alone.

use super::Takes::{Buffers, Shim, Source};
use super::TransportEntry;
use super::carries::{ALONE, BOTH_WAYS, BOTH_WAYS_AT_ONCE, CONNECTIONS, IN_TURN};
use super::takes::{BYTES, STREAM_SOCKET};

/// `memory-copy`.
pub const MEMORY_COPY: TransportEntry = TransportEntry {
    name: "memory-copy",
    readable: "memory copy",
    takes: &[],
    ends: 1,
    crosses_hosts: false,
    copies: 1,
    traffic: 3,
    least_bytes: 1,
    most_bytes: None,
    header_bytes: 0,
    has_window: false,
    reliable: true,
    passes_messages: false,
    offers: ALONE,
    loads: false,
    most_flows: Some(1),
    only_polls: false,
    yields_by: None,
    foreign: false,
    has_helpers: false,
    about: "memcpy by one thread; a byte copied counts once",
    source: "memcpy(3); J. D. McCalpin, STREAM",
};

/// `memory-triad`.
pub const MEMORY_TRIAD: TransportEntry = TransportEntry {
    name: "memory-triad",
    readable: "memory triad",
    copies: 0,
    traffic: 0,
    least_bytes: 1 << 10,
    about: "STREAM triad a = b + s*c by one thread; counted as STREAM does, 24 bytes an element",
    source: "J. D. McCalpin, Memory Bandwidth and Machine Balance, IEEE TCCA Newsletter, December 1995",
    ..MEMORY_COPY
};

/// `shared-memory`.
pub const SHARED_MEMORY: TransportEntry = TransportEntry {
    name: "shared-memory",
    readable: "shared memory",
    takes: BYTES,
    ends: 2,
    crosses_hosts: false,
    copies: 1,
    traffic: 1,
    least_bytes: 1,
    most_bytes: None,
    header_bytes: 0,
    has_window: false,
    reliable: true,
    passes_messages: false,
    offers: IN_TURN,
    loads: false,
    most_flows: Some(1),
    only_polls: false,
    yields_by: None,
    foreign: false,
    has_helpers: false,
    about: "a ring in a shared mapping between two processes; spins a bounded time, then a futex",
    source: "mmap(2), futex(2)",
};

/// `pipe`.
pub const PIPE: TransportEntry = TransportEntry {
    name: "pipe",
    readable: "pipe",
    offers: BOTH_WAYS,
    loads: true,
    about: "two pipes, one each way: one write a message, reads of at least 64 KiB",
    source: "pipe(7)",
    ..SHARED_MEMORY
};

/// `unix`.
pub const UNIX: TransportEntry = TransportEntry {
    name: "unix",
    readable: "Unix socket",
    takes: STREAM_SOCKET,
    offers: CONNECTIONS,
    most_flows: None,
    about: "Unix stream sockets, one write a message, reads of at least 64 KiB",
    source: "unix(7)",
    ..PIPE
};

/// `unix-datagram`.
pub const UNIX_DATAGRAM: TransportEntry = TransportEntry {
    name: "unix-datagram",
    readable: "Unix datagrams",
    takes: &[Buffers, Shim, Source],
    // What the kernel's default send buffer of 208 KiB holds, in powers of two.
    most_bytes: Some(128 << 10),
    offers: BOTH_WAYS_AT_ONCE,
    loads: false,
    about: "Unix datagram sockets, one datagram a message; a full receiver holds the sender",
    source: "unix(7)",
    ..UNIX
};
