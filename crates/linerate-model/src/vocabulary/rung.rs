//! The rungs of the ladder, from the bottom up.

mod on_request;

use super::transport::{TRANSPORTS, TransportEntry};
use super::{Cache, Engine, Pattern, is_same};
use Pattern::{Bidirectional, PingPong, Stream};

/// Where the two ends of a rung stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Both ends (or the only one) on the same host.
    InHost,
    /// One end on each host, with the wire between.
    Network,
}

/// An IP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// IPv4, or whatever address the hosts were reached at.
    V4,
    /// IPv6.
    V6,
}

/// The size at which the streams of most rungs are compared.
pub const LADDER_BYTES: u64 = 1 << 20;

/// The size at which datagrams are compared: with its headers it fits into one Ethernet frame.
pub const DATAGRAM_BYTES: u64 = 1 << 10;

/// The size at which frames are compared: the longest of ordinary Ethernet, without its checksum.
pub const FRAME_BYTES: u64 = 1514;

/// The frame sizes of RFC 2544, section 9.1, each without its checksum of four bytes.
pub const FRAME_SIZES: &[u64] = &[60, 124, 252, 508, 1020, 1276, 1514];

/// The size at which the latency of rungs is compared.
pub const LATENCY_BYTES: u64 = 64;

/// One layer, measured the same way as every other.
#[derive(Debug)]
pub struct Rung {
    /// The dotted name: `network.tcp`.
    pub id: &'static str,
    /// What carries its bytes.
    pub transport: &'static TransportEntry,
    /// Where its ends stand.
    pub place: Place,
    /// The rung whose cost is contained in this one.
    pub below: Option<&'static str>,
    /// What is measured on it.
    pub patterns: &'static [Pattern],
    /// The numbers of parallel connections that streams are measured with.
    pub flows: &'static [u32],
    /// The cache mode, where the rung is defined by it; otherwise it follows the message size.
    pub cache: Option<Cache>,
    /// The IP version of its addresses, where it has any.
    pub family: Family,
    /// The message size at which its streams are compared with those of other rungs.
    pub ladder_bytes: u64,
    /// The message sizes that it has of its own; none where they are the profile's.
    pub sizes: &'static [u64],
    /// Whether it stands beside the chain from memory to the network: unless it is asked for by name,
    /// only its stated sizes are measured.
    pub sibling: bool,
    /// Whether it is measured only when it is named in full.
    pub on_request: bool,
    /// The engines of which the fastest one is chosen by proof for it, on these hosts; none where its engine is what is set.
    pub engines: &'static [Engine],
    /// What the terminal shows.
    pub title: &'static str,
    /// One line for `linerate list`.
    pub about: &'static str,
}

/// A name has one rung.
impl PartialEq for Rung {
    fn eq(&self, other: &Rung) -> bool {
        self.id == other.id
    }
}

impl Rung {
    /// The rung with this name; none where this version has none.
    pub fn named(id: &str) -> Option<&'static Rung> {
        RUNGS.iter().find(|rung| rung.id == id)
    }

    /// Whether its engine is found by proof on these hosts, and not what is set.
    pub const fn chooses_engine(&self) -> bool {
        !self.engines.is_empty()
    }
}

/// The transport with this name; that there is one is seen when the program is compiled.
const fn transport(name: &str) -> &'static TransportEntry {
    let mut at = 0;
    loop {
        if is_same(TRANSPORTS[at].name, name) {
            return &TRANSPORTS[at];
        }
        at += 1;
    }
}

/// The ladder.
pub const RUNGS: &[Rung] = &[
    Rung {
        id: "memory.copy",
        transport: transport("memory-copy"),
        place: Place::InHost,
        below: None,
        patterns: &[Stream],
        flows: &[1],
        cache: Some(Cache::Hot),
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: false,
        on_request: false,
        engines: &[],
        title: "memory.copy, in cache",
        about: "memcpy of one message again and again: the copy that every socket pays twice",
    },
    Rung {
        id: "memory.copy-cold",
        transport: transport("memory-copy"),
        place: Place::InHost,
        below: None,
        patterns: &[Stream],
        flows: &[1],
        cache: Some(Cache::Cold),
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: false,
        on_request: false,
        engines: &[],
        title: "memory.copy, DRAM",
        about: "memcpy that walks through 64 MiB: what is left when the caches do not help",
    },
    Rung {
        id: "memory.triad",
        transport: transport("memory-triad"),
        place: Place::InHost,
        below: None,
        patterns: &[Stream],
        flows: &[1],
        cache: Some(Cache::Cold),
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: false,
        on_request: false,
        engines: &[],
        title: "memory.triad (STREAM)",
        about: "STREAM triad through 64 MiB arrays: the memory bandwidth as it is usually quoted",
    },
    Rung {
        id: "in-host.shared-memory",
        transport: transport("shared-memory"),
        place: Place::InHost,
        below: Some("memory.copy"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: false,
        on_request: false,
        engines: &[],
        title: "in-host.shared-memory",
        about: "two processes over a shared ring: two copies and no kernel",
    },
    Rung {
        id: "in-host.pipe",
        transport: transport("pipe"),
        place: Place::InHost,
        below: Some("in-host.shared-memory"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "in-host.pipe",
        about: "two processes over a pipe each way: the kernel's simplest stream",
    },
    Rung {
        id: "in-host.unix",
        transport: transport("unix"),
        place: Place::InHost,
        below: Some("in-host.shared-memory"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "in-host.unix",
        about: "two processes over a Unix stream socket: sockets without a network stack",
    },
    Rung {
        id: "in-host.unix-datagram",
        transport: transport("unix-datagram"),
        place: Place::InHost,
        below: Some("in-host.shared-memory"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V4,
        ladder_bytes: DATAGRAM_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "in-host.unix-datagram",
        about: "two processes over a Unix datagram socket: each message kept whole, none lost",
    },
    Rung {
        id: "in-host.tcp",
        transport: transport("tcp"),
        place: Place::InHost,
        below: Some("in-host.shared-memory"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: false,
        on_request: false,
        engines: &[],
        title: "in-host.tcp",
        about: "TCP over the loopback interface: the kernel's stack without a wire",
    },
    Rung {
        id: "in-host.tcp6",
        transport: transport("tcp"),
        place: Place::InHost,
        below: Some("in-host.shared-memory"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V6,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "in-host.tcp6",
        about: "TCP over the loopback interface by IPv6",
    },
    Rung {
        id: "in-host.udp",
        transport: transport("udp"),
        place: Place::InHost,
        below: Some("in-host.shared-memory"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V4,
        ladder_bytes: DATAGRAM_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "in-host.udp",
        about: "UDP over the loopback interface: datagrams, which are lost where the receiver is slower",
    },
    Rung {
        id: "in-host.udp6",
        transport: transport("udp"),
        place: Place::InHost,
        below: Some("in-host.shared-memory"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V6,
        ladder_bytes: DATAGRAM_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "in-host.udp6",
        about: "UDP over the loopback interface by IPv6",
    },
    Rung {
        id: "network.tcp",
        transport: transport("tcp"),
        place: Place::Network,
        below: Some("in-host.tcp"),
        patterns: &[PingPong, Stream, Bidirectional],
        flows: &[1, 4],
        cache: None,
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: false,
        on_request: false,
        engines: &[],
        title: "network.tcp",
        about: "TCP between the two hosts",
    },
    Rung {
        id: "network.tcp6",
        transport: transport("tcp"),
        place: Place::Network,
        below: Some("in-host.tcp6"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V6,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "network.tcp6",
        about: "TCP between the two hosts by IPv6",
    },
    Rung {
        id: "network.udp",
        transport: transport("udp"),
        place: Place::Network,
        below: Some("in-host.udp"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V4,
        ladder_bytes: DATAGRAM_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "network.udp",
        about: "UDP between the two hosts; a datagram above the MTU crosses in fragments, all lost with one of them",
    },
    Rung {
        id: "network.udp6",
        transport: transport("udp"),
        place: Place::Network,
        below: Some("in-host.udp6"),
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V6,
        ladder_bytes: DATAGRAM_BYTES,
        sizes: &[],
        sibling: true,
        on_request: false,
        engines: &[],
        title: "network.udp6",
        about: "UDP between the two hosts by IPv6; above the MTU in fragments, all lost with one of them",
    },
    on_request::NETWORK_TCP_BEST,
    on_request::IN_HOST_TLS,
    on_request::IN_HOST_SSH,
    on_request::IN_HOST_QUIC,
    on_request::IN_HOST_MPTCP,
    on_request::IN_HOST_VSOCK,
    on_request::IN_HOST_SCTP,
    on_request::IN_HOST_SMC,
    on_request::IN_HOST_LITE,
    on_request::IN_HOST_MPI,
    on_request::NETWORK_MPI,
    on_request::IN_HOST_PVM,
    on_request::NETWORK_PVM,
    on_request::IN_HOST_SHMEM,
    on_request::NETWORK_SHMEM,
    on_request::IN_HOST_TCGMSG,
    on_request::NETWORK_TCGMSG,
    on_request::IN_HOST_UCX,
    on_request::NETWORK_UCX,
    on_request::IN_HOST_LIBFABRIC,
    on_request::NETWORK_LIBFABRIC,
    on_request::NETWORK_TLS,
    on_request::NETWORK_SSH,
    on_request::NETWORK_QUIC,
    on_request::NETWORK_MPTCP,
    on_request::NETWORK_SCTP,
    on_request::NETWORK_SMC,
    on_request::NETWORK_LITE,
    on_request::NETWORK_RAW,
    on_request::NETWORK_RDMA,
];
