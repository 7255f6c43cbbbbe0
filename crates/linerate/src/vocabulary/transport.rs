//! What carries the bytes.

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
    /// One line for `linerate list`.
    pub about: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

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
        about: "UDP sockets, one datagram a message; what the receiver cannot take is lost and counted",
        source: "RFC 768; udp(7)",
    },
];
