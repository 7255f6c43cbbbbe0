//! What carries the bytes.

use super::Pattern::{
    self, Bidirectional, Capacity, Connect, FixedCount, PingPing, PingPong, RequestResponse, Stream, ZeroLoss,
};

/// A transport in the listing.
#[derive(Debug)]
pub struct TransportEntry {
    /// Its name in plans and records.
    pub name: &'static str,
    /// Whether one process does all the work (memory), or two ends meet.
    pub ends: u32,
    /// Whether the two ends may be on different hosts.
    pub crosses_hosts: bool,
    /// How often the thread at one end copies each byte.
    pub copies: u32,
    /// The bytes that cross to or from memory, at the end that pays more, for each byte of a message
    /// that comes from memory: the read of its source at least.
    pub traffic: u32,
    /// The least message that means anything.
    pub least_bytes: u64,
    /// The largest message; none for any.
    pub most_bytes: Option<u64>,
    /// Its header in each packet.
    pub header_bytes: u64,
    /// Whether a window limits what is under way, which grows while a stream runs.
    pub has_window: bool,
    /// Whether all that is sent arrives.
    pub reliable: bool,
    /// The patterns that it can carry.
    pub patterns: &'static [Pattern],
    /// Whether it can run beside another measurement.
    pub loads: bool,
    /// Whether its ends ask again and again, and never sleep: then streams poll as well.
    pub only_polls: bool,
    /// One line for `linerate list`.
    pub about: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// Work on memory by one thread.
const ALONE: &[Pattern] = &[Stream];
/// One way at a time.
const IN_TURN: &[Pattern] = &[PingPong, Stream, FixedCount];
/// Both ways, an end each waiting in its own call.
const BOTH_WAYS: &[Pattern] = &[PingPong, Stream, FixedCount, Bidirectional];
/// One end does both ways at once and waits for whichever moves first; what loses can be searched.
const LOSSY: &[Pattern] = &[PingPong, Stream, FixedCount, PingPing, RequestResponse, Capacity, ZeroLoss];
/// The same of what loses nothing.
const BOTH_WAYS_AT_ONCE: &[Pattern] =
    &[PingPong, Stream, FixedCount, Bidirectional, PingPing, RequestResponse];
/// The same, and a connection for each request.
const CONNECTIONS: &[Pattern] =
    &[PingPong, Stream, FixedCount, Bidirectional, PingPing, RequestResponse, Connect];

/// Whole messages between ranks.
const PASSED: &[Pattern] = &[PingPong, Stream, PingPing];
/// The same over a connection, which can be made anew.
const PASSED_OVER: &[Pattern] = &[PingPong, Stream, FixedCount, PingPing];

/// Every transport.
pub const TRANSPORTS: &[TransportEntry] = &[
    TransportEntry {
        name: "memory-copy",
        ends: 1,
        crosses_hosts: false,
        copies: 1,
        traffic: 3,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 0,
        has_window: false,
        reliable: true,
        patterns: ALONE,
        loads: false,
        only_polls: false,
        about: "memcpy by one thread; a byte copied counts once",
        source: "memcpy(3); J. D. McCalpin, STREAM",
    },
    TransportEntry {
        name: "memory-triad",
        ends: 1,
        crosses_hosts: false,
        copies: 0,
        traffic: 0,
        least_bytes: 1 << 10,
        most_bytes: None,
        header_bytes: 0,
        has_window: false,
        reliable: true,
        patterns: ALONE,
        loads: false,
        only_polls: false,
        about: "STREAM triad a = b + s*c by one thread; counted as STREAM does, 24 bytes an element",
        source: "J. D. McCalpin, Memory Bandwidth and Machine Balance, IEEE TCCA Newsletter, December 1995",
    },
    TransportEntry {
        name: "shared-memory",
        ends: 2,
        crosses_hosts: false,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 0,
        has_window: false,
        reliable: true,
        patterns: IN_TURN,
        loads: false,
        only_polls: false,
        about: "a ring in a shared mapping between two processes; spins a bounded time, then a futex",
        source: "mmap(2), futex(2)",
    },
    TransportEntry {
        name: "pipe",
        ends: 2,
        crosses_hosts: false,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 0,
        has_window: false,
        reliable: true,
        patterns: BOTH_WAYS,
        loads: true,
        only_polls: false,
        about: "two pipes, one each way: one write a message, reads of at least 64 KiB",
        source: "pipe(7)",
    },
    TransportEntry {
        name: "unix",
        ends: 2,
        crosses_hosts: false,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 0,
        has_window: false,
        reliable: true,
        patterns: CONNECTIONS,
        loads: true,
        only_polls: false,
        about: "Unix stream sockets, one write a message, reads of at least 64 KiB",
        source: "unix(7)",
    },
    TransportEntry {
        name: "unix-datagram",
        ends: 2,
        crosses_hosts: false,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        // What the kernel's default send buffer of 208 KiB holds, in powers of two.
        most_bytes: Some(128 << 10),
        header_bytes: 0,
        has_window: false,
        reliable: true,
        patterns: BOTH_WAYS_AT_ONCE,
        loads: false,
        only_polls: false,
        about: "Unix datagram sockets, one datagram a message; a full receiver holds the sender",
        source: "unix(7)",
    },
    TransportEntry {
        name: "tcp",
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        // With timestamps (RFC 9293, 7323).
        header_bytes: 32,
        has_window: true,
        reliable: true,
        patterns: CONNECTIONS,
        loads: true,
        only_polls: false,
        about: "TCP sockets, one write a message, reads of at least 64 KiB",
        source: "RFC 9293; tcp(7)",
    },
    TransportEntry {
        name: "udp",
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        // 65535 less the headers of IPv4 and UDP (RFC 791, RFC 768); over IPv6 20 more would fit.
        most_bytes: Some(65_507),
        header_bytes: 8,
        has_window: false,
        reliable: false,
        patterns: LOSSY,
        loads: false,
        only_polls: false,
        about: "UDP sockets, one datagram a message; what the receiver cannot take is lost and counted",
        source: "RFC 768; udp(7)",
    },
    TransportEntry {
        name: "tls",
        ends: 2,
        crosses_hosts: true,
        // Into the record and out of it, besides the kernel's.
        copies: 2,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        // TCP's; each record of up to 16 KiB has 22 more (RFC 8446, section 5.2).
        header_bytes: 32,
        has_window: true,
        reliable: true,
        patterns: IN_TURN,
        loads: false,
        only_polls: false,
        about: "TLS 1.3 over TCP by rustls, records of at most 16 KiB; a certificate of the session's own is pinned",
        source: "RFC 8446",
    },
    TransportEntry {
        name: "quic",
        ends: 2,
        crosses_hosts: true,
        // Into the packet and out of it, besides the kernel's.
        copies: 2,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        // UDP's 8, a short header of 13, a stream frame of up to 12, 16 of the cipher (RFC 9000, RFC 9001).
        header_bytes: 49,
        has_window: true,
        reliable: true,
        patterns: BOTH_WAYS,
        loads: false,
        only_polls: false,
        about: "QUIC by quinn-proto over one UDP socket a flow, one stream; a certificate of the session's own is pinned",
        source: "RFC 9000; RFC 9001",
    },
    TransportEntry {
        name: "mptcp",
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        // TCP's with timestamps, and the data sequence signal of 24 bytes.
        header_bytes: 56,
        has_window: true,
        reliable: true,
        patterns: CONNECTIONS,
        loads: true,
        only_polls: false,
        about: "multipath TCP sockets, one write a message; where the way lets no MPTCP pass the kernel falls back to TCP",
        source: "RFC 8684; linux/Documentation/networking/mptcp.rst",
    },
    TransportEntry {
        name: "vsock",
        ends: 2,
        crosses_hosts: false,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 0,
        has_window: true,
        reliable: true,
        patterns: CONNECTIONS,
        loads: true,
        only_polls: false,
        about: "vsock stream sockets within this machine (context 1), where the kernel has its loopback",
        source: "vsock(7)",
    },
    TransportEntry {
        name: "sctp",
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 28,
        has_window: true,
        reliable: true,
        patterns: CONNECTIONS,
        loads: true,
        only_polls: false,
        about: "SCTP sockets, one association a flow and one stream in it, where the kernel has SCTP",
        source: "RFC 9260; RFC 6458, section 4",
    },
    TransportEntry {
        name: "smc",
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 32,
        has_window: true,
        reliable: true,
        patterns: CONNECTIONS,
        loads: true,
        only_polls: false,
        about: "SMC sockets, where the kernel has them: RDMA or shared memory below TCP's calls, or else TCP",
        source: "RFC 7609; smcss(8)",
    },
    TransportEntry {
        name: "rdma",
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 0,
        has_window: true,
        reliable: true,
        patterns: IN_TURN,
        loads: false,
        only_polls: false,
        about: "RDMA devices: looked for and told; driving them (rsockets of librdmacm) needs one to be tried on",
        source: "rsocket(7)",
    },
    TransportEntry {
        name: "raw",
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        // The frame sizes of RFC 2544, 64 to 1518, without the checksum.
        least_bytes: 60,
        most_bytes: Some(1514),
        header_bytes: 0,
        has_window: false,
        reliable: false,
        patterns: LOSSY,
        loads: false,
        only_polls: false,
        about: "raw Ethernet frames, one a message, past the queueing discipline; what does not arrive is counted",
        source: "packet(7); RFC 2544, section 9.1",
    },
    TransportEntry {
        name: "lite",
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        // TCP's with timestamps; each message has 16 more.
        header_bytes: 32,
        has_window: true,
        reliable: true,
        patterns: PASSED_OVER,
        loads: false,
        only_polls: false,
        about: "the program's own message layer over TCP: matched by tag, large ones without a copy of its own",
        source: "D. Turner, X. Chen: Protocol-dependent message-passing performance on Linux clusters, IEEE Cluster 2002 (MP_Lite)",
    },
    TransportEntry {
        name: "mpi",
        ends: 2,
        crosses_hosts: false,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        // MPI counts bytes in an int.
        most_bytes: Some(1 << 30),
        header_bytes: 0,
        has_window: false,
        reliable: true,
        patterns: PASSED,
        loads: false,
        only_polls: true,
        about: "two ranks of an MPI of this host, loaded at run time and started by its own launcher",
        source: "MPI: A Message-Passing Interface Standard, version 4.1, chapter 3",
    },
];
