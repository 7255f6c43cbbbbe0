//! What carries the bytes.

mod carries;
mod local;
mod message;
mod takes;
mod waits;

use super::{Need, Pattern};
use carries::{BOTH_WAYS, BOTH_WAYS_AT_ONCE, CONNECTIONS, IN_TURN, LOSSY};
use takes::STREAM_SOCKET;
use takes::Takes::{
    Buffers, Cipher, Connection, Interface, Internet, Multiplexing, Path, Reads, Shim, Source,
};

pub use takes::Takes;
pub use waits::{OTHER_WAITS, OtherWait};

/// A transport in the listing.
#[derive(Debug)]
pub struct TransportEntry {
    /// Its name in plans and records.
    pub name: &'static str,
    /// What a reader who knows networks calls it.
    pub readable: &'static str,
    /// Settings that act on it as on others.
    pub takes: &'static [Takes],
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
    /// Whether it passes whole messages, whose streams go in windows that their receiver closes.
    pub passes_messages: bool,
    /// What its sessions offer to patterns.
    pub offers: &'static [Need],
    /// Whether it can run beside another measurement.
    pub loads: bool,
    /// The most flows of a session; none for any number.
    pub most_flows: Option<u32>,
    /// Whether its ends ask again and again, and never sleep, but for [`OTHER_WAITS`]: then streams poll as well.
    pub only_polls: bool,
    /// The switch by which ends that poll give way to others, so that they may share a CPU.
    pub yields_by: Option<&'static str>,
    /// Whether another program's code does the work: what fails in it does not end the run.
    pub foreign: bool,
    /// Whether processes of its own work beside the measuring threads, and take turns with them where CPUs are few: they
    /// are no strangers.
    pub has_helpers: bool,
    /// One line for `linerate list`.
    pub about: &'static str,
    /// Where it is defined.
    pub source: &'static str,
}

/// Every transport.
pub const TRANSPORTS: &[TransportEntry] = &[
    local::MEMORY_COPY,
    local::MEMORY_TRIAD,
    local::SHARED_MEMORY,
    local::PIPE,
    local::UNIX,
    local::UNIX_DATAGRAM,
    TransportEntry {
        name: "tcp",
        readable: "TCP",
        takes: &[Buffers, Connection, Interface, Path, Internet, Shim, Reads, Multiplexing, Source],
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
        passes_messages: false,
        offers: CONNECTIONS,
        loads: true,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "TCP sockets, one write a message, reads of at least 64 KiB",
        source: "RFC 9293; tcp(7)",
    },
    TransportEntry {
        name: "udp",
        readable: "UDP",
        takes: &[Buffers, Interface, Internet, Source],
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
        passes_messages: false,
        offers: LOSSY,
        loads: false,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "UDP sockets, one datagram a message; what the receiver cannot take is lost and counted",
        source: "RFC 768; udp(7)",
    },
    TransportEntry {
        name: "tls",
        readable: "TLS",
        takes: &[Buffers, Connection, Path, Internet, Cipher, Shim, Reads, Source],
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
        passes_messages: false,
        offers: IN_TURN,
        loads: true,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "TLS 1.3 over TCP by rustls, records of at most 16 KiB; a certificate of the session's own is pinned",
        source: "RFC 8446",
    },
    TransportEntry {
        name: "quic",
        readable: "QUIC",
        takes: &[Buffers, Cipher, Shim, Reads, Source],
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
        passes_messages: false,
        offers: BOTH_WAYS,
        loads: false,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "QUIC by quinn-proto over one UDP socket a flow, one stream; a certificate of the session's own is pinned",
        source: "RFC 9000; RFC 9001",
    },
    TransportEntry {
        name: "openssh",
        readable: "OpenSSH",
        takes: &[],
        ends: 2,
        crosses_hosts: true,
        // Into the program beside it, into the packet, and the same at the other end, besides the kernel's.
        copies: 3,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        // TCP's; each packet of up to 32 KiB has some 30 more (RFC 4253, section 6).
        header_bytes: 32,
        has_window: true,
        reliable: true,
        passes_messages: false,
        offers: BOTH_WAYS_AT_ONCE,
        loads: true,
        most_flows: Some(16),
        only_polls: false,
        yields_by: None,
        foreign: true,
        has_helpers: true,
        about: "a byte stream through OpenSSH's ssh and sshd, one of each a flow, with keys of the session's own",
        source: "RFC 4253; RFC 4254, section 7.2; ssh(1), -W",
    },
    TransportEntry {
        name: "mptcp",
        readable: "multipath TCP",
        takes: &[Buffers, Path, Internet, Shim, Reads, Multiplexing, Source],
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
        passes_messages: false,
        offers: CONNECTIONS,
        loads: true,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "multipath TCP sockets, one write a message; where the way lets no MPTCP pass the kernel falls back to TCP",
        source: "RFC 8684; linux/Documentation/networking/mptcp.rst",
    },
    TransportEntry {
        name: "vsock",
        readable: "vsock",
        takes: STREAM_SOCKET,
        ends: 2,
        crosses_hosts: false,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 0,
        has_window: true,
        reliable: true,
        passes_messages: false,
        offers: CONNECTIONS,
        loads: true,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "vsock stream sockets within this machine (context 1), where the kernel has its loopback",
        source: "vsock(7)",
    },
    TransportEntry {
        name: "sctp",
        readable: "SCTP",
        takes: STREAM_SOCKET,
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 28,
        has_window: true,
        reliable: true,
        passes_messages: false,
        offers: CONNECTIONS,
        loads: true,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "SCTP sockets, one association a flow and one stream in it, where the kernel has SCTP",
        source: "RFC 9260; RFC 6458, section 4",
    },
    TransportEntry {
        name: "smc",
        readable: "SMC",
        takes: STREAM_SOCKET,
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 32,
        has_window: true,
        reliable: true,
        passes_messages: false,
        offers: CONNECTIONS,
        loads: true,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "SMC sockets, where the kernel has them: RDMA or shared memory below TCP's calls, or else TCP",
        source: "RFC 7609; smcss(8)",
    },
    TransportEntry {
        name: "rdma",
        readable: "RDMA",
        takes: &[],
        ends: 2,
        crosses_hosts: true,
        copies: 1,
        traffic: 1,
        least_bytes: 1,
        most_bytes: None,
        header_bytes: 0,
        has_window: true,
        reliable: true,
        passes_messages: false,
        offers: IN_TURN,
        loads: false,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "RDMA devices: looked for and told; driving them (rsockets of librdmacm) needs one to be tried on",
        source: "rsocket(7)",
    },
    TransportEntry {
        name: "raw",
        readable: "raw frames",
        takes: &[],
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
        passes_messages: false,
        offers: LOSSY,
        loads: false,
        most_flows: None,
        only_polls: false,
        yields_by: None,
        foreign: false,
        has_helpers: false,
        about: "raw Ethernet frames, one a message, past the queueing discipline; what does not arrive is counted",
        source: "packet(7); RFC 2544, section 9.1",
    },
    message::LITE,
    message::MPI,
    message::PVM,
    message::SHMEM,
    message::TCGMSG,
    message::UCX,
    message::LIBFABRIC,
];

impl TransportEntry {
    /// The names of those that take settings of a kind, in the order of the table; `N` is how many they are.
    pub(super) const fn taking<const N: usize>(takes: Takes) -> [&'static str; N] {
        let mut names = [""; N];
        let (mut at, mut next) = (0, 0);
        while at < TRANSPORTS.len() {
            if takes.is_of(TRANSPORTS[at].takes) {
                names[next] = TRANSPORTS[at].name;
                next += 1;
            }
            at += 1;
        }
        names
    }

    /// How many take settings of a kind.
    pub(super) const fn takers(takes: Takes) -> usize {
        let (mut at, mut count) = (0, 0);
        while at < TRANSPORTS.len() {
            count += takes.is_of(TRANSPORTS[at].takes) as usize;
            at += 1;
        }
        count
    }

    /// Whether another program's library chooses the ports, and which end connects.
    pub fn chooses_ports(&self) -> bool {
        self.foreign && self.passes_messages
    }

    /// Whether its sessions offer what a pattern needs.
    pub fn carries(&self, pattern: Pattern) -> bool {
        let entry = pattern.entry();
        // An application has bytes in their order, and no blocks: as a load has.
        entry.needs.iter().any(|need| self.offers.contains(need)) && (!entry.application || self.loads)
    }
}
