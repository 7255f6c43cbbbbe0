//! The rungs that are measured when they are named in full: they cost time, or hosts lack them.

use super::{FRAME_BYTES, FRAME_SIZES, Family, LADDER_BYTES, Place, Rung};
use crate::vocabulary::{Pattern, STREAM_ENGINES};
use Pattern::{Bidirectional, PingPong, Stream};
use Place::{InHost, Network};

/// A rung of one flow, over IPv4, at the profile's sizes.
const fn rung(
    id: &'static str,
    transport: &'static str,
    place: Place,
    below: Option<&'static str>,
    about: &'static str,
) -> Rung {
    Rung {
        id,
        transport: super::transport(transport),
        place,
        below,
        patterns: &[PingPong, Stream],
        flows: &[1],
        cache: None,
        family: Family::V4,
        ladder_bytes: LADDER_BYTES,
        sizes: &[],
        sibling: true,
        on_request: true,
        engines: &[],
        title: id,
        about,
    }
}

/// `network.tcp-best`: profiles with time for it measure it unasked.
pub const NETWORK_TCP_BEST: Rung = Rung {
    patterns: &[Stream],
    engines: STREAM_ENGINES,
    title: "network.tcp, best engine",
    ..rung(
        "network.tcp-best",
        "tcp",
        Network,
        Some("network.tcp"),
        "TCP between the two hosts by the engine that is fastest on them, which looks find before the passes",
    )
};

/// `in-host.tls`.
pub const IN_HOST_TLS: Rung = rung(
    "in-host.tls",
    "tls",
    InHost,
    Some("in-host.tcp"),
    "TLS 1.3 over TCP over the loopback interface: what sealing and opening cost",
);

/// `in-host.ssh`.
pub const IN_HOST_SSH: Rung = rung(
    "in-host.ssh",
    "openssh",
    InHost,
    Some("in-host.tcp"),
    "a byte stream through OpenSSH over the loopback interface: two processes more, and sealing",
);

/// `in-host.quic`.
pub const IN_HOST_QUIC: Rung = rung(
    "in-host.quic",
    "quic",
    InHost,
    Some("in-host.udp"),
    "QUIC over the loopback interface: a transport in user space, sealed, over datagrams",
);

/// `in-host.mptcp`.
pub const IN_HOST_MPTCP: Rung = rung(
    "in-host.mptcp",
    "mptcp",
    InHost,
    Some("in-host.tcp"),
    "multipath TCP over the loopback interface: one path, and what the layer above it costs",
);

/// `in-host.vsock`.
pub const IN_HOST_VSOCK: Rung = rung(
    "in-host.vsock",
    "vsock",
    InHost,
    Some("in-host.shared-memory"),
    "vsock over its loopback: the sockets that virtual machines speak to their hosts with",
);

/// `in-host.sctp`.
pub const IN_HOST_SCTP: Rung =
    rung("in-host.sctp", "sctp", InHost, Some("in-host.shared-memory"), "SCTP over the loopback interface");

/// `in-host.smc`.
pub const IN_HOST_SMC: Rung = rung(
    "in-host.smc",
    "smc",
    InHost,
    Some("in-host.tcp"),
    "SMC within a host: shared memory below TCP's calls, where the kernel has it",
);

/// `network.tls`.
pub const NETWORK_TLS: Rung =
    rung("network.tls", "tls", Network, Some("network.tcp"), "TLS 1.3 over TCP between the two hosts");

/// `network.ssh`.
pub const NETWORK_SSH: Rung = rung(
    "network.ssh",
    "openssh",
    Network,
    Some("network.tcp"),
    "a byte stream through OpenSSH between the two hosts: what goes by ssh has no more",
);

/// `network.quic`.
pub const NETWORK_QUIC: Rung = Rung {
    patterns: &[PingPong, Stream, Bidirectional],
    ..rung("network.quic", "quic", Network, Some("network.udp"), "QUIC between the two hosts")
};

/// `network.mptcp`.
pub const NETWORK_MPTCP: Rung =
    rung("network.mptcp", "mptcp", Network, Some("network.tcp"), "multipath TCP between the two hosts");

/// `network.sctp`.
pub const NETWORK_SCTP: Rung =
    rung("network.sctp", "sctp", Network, Some("in-host.sctp"), "SCTP between the two hosts");

/// `network.smc`.
pub const NETWORK_SMC: Rung = rung(
    "network.smc",
    "smc",
    Network,
    Some("network.tcp"),
    "SMC between the two hosts: RDMA below TCP's calls, or else TCP",
);

/// `network.raw`.
pub const NETWORK_RAW: Rung = Rung {
    ladder_bytes: FRAME_BYTES,
    sizes: FRAME_SIZES,
    ..rung(
        "network.raw",
        "raw",
        Network,
        None,
        "raw Ethernet frames between the two hosts, at the sizes of RFC 2544; they must share a segment",
    )
};

/// `network.rdma`.
pub const NETWORK_RDMA: Rung =
    rung("network.rdma", "rdma", Network, None, "RDMA between the two hosts, where they have devices for it");

/// `in-host.lite`.
pub const IN_HOST_LITE: Rung = rung(
    "in-host.lite",
    "lite",
    InHost,
    Some("in-host.tcp"),
    "the program's own message layer over the loopback interface: what messages cost above a stream",
);

/// `network.lite`.
pub const NETWORK_LITE: Rung = rung(
    "network.lite",
    "lite",
    Network,
    Some("network.tcp"),
    "the program's own message layer between the two hosts: what message passing must cost at least",
);

/// `in-host.mpi`.
pub const IN_HOST_MPI: Rung = rung(
    "in-host.mpi",
    "mpi",
    InHost,
    Some("in-host.shared-memory"),
    "two ranks of an MPI of this host, by whatever it takes within a host",
);

/// `in-host.pvm`.
pub const IN_HOST_PVM: Rung = rung(
    "in-host.pvm",
    "pvm",
    InHost,
    Some("in-host.unix"),
    "two tasks of a PVM of this host, through its daemon or by a connection of their own",
);

/// `network.pvm`.
pub const NETWORK_PVM: Rung = rung(
    "network.pvm",
    "pvm",
    Network,
    Some("network.tcp"),
    "two tasks of a PVM, one on each host: through both daemons by UDP, or by a TCP connection of their own",
);

/// `network.mpi`.
pub const NETWORK_MPI: Rung = rung(
    "network.mpi",
    "mpi",
    Network,
    Some("network.tcp"),
    "two ranks of an MPI, one on each host, by TCP: what crossed is counted, and refused where it took another way",
);

/// `in-host.shmem`.
pub const IN_HOST_SHMEM: Rung = rung(
    "in-host.shmem",
    "shmem",
    InHost,
    Some("in-host.shared-memory"),
    "two processing elements of OpenSHMEM, by whatever it takes within a host: puts into the other one's memory",
);

/// `network.shmem`.
pub const NETWORK_SHMEM: Rung = rung(
    "network.shmem",
    "shmem",
    Network,
    Some("network.tcp"),
    "two processing elements of OpenSHMEM, one on each host, by TCP: puts, each announced by a word",
);

/// `in-host.tcgmsg`.
pub const IN_HOST_TCGMSG: Rung = rung(
    "in-host.tcgmsg",
    "tcgmsg",
    InHost,
    Some("in-host.shared-memory"),
    "two nodes of TCGMSG, by whatever the MPI below it takes within a host",
);

/// `network.tcgmsg`.
pub const NETWORK_TCGMSG: Rung = rung(
    "network.tcgmsg",
    "tcgmsg",
    Network,
    Some("network.tcp"),
    "two nodes of TCGMSG, one on each host, by the MPI below it over TCP",
);

/// `in-host.ucx`.
pub const IN_HOST_UCX: Rung = rung(
    "in-host.ucx",
    "ucx",
    InHost,
    Some("in-host.shared-memory"),
    "tagged messages of UCX by whatever it takes within a host: what an MPI over it starts from",
);

/// `network.ucx`.
pub const NETWORK_UCX: Rung = rung(
    "network.ucx",
    "ucx",
    Network,
    Some("network.tcp"),
    "tagged messages of UCX between the two hosts, by TCP: what an MPI over it starts from",
);

/// `in-host.libfabric`.
pub const IN_HOST_LIBFABRIC: Rung = rung(
    "in-host.libfabric",
    "libfabric",
    InHost,
    Some("in-host.shared-memory"),
    "tagged messages of libfabric by the provider that it offers first within a host, or one that is asked for",
);

/// `network.libfabric`.
pub const NETWORK_LIBFABRIC: Rung = rung(
    "network.libfabric",
    "libfabric",
    Network,
    Some("network.tcp"),
    "tagged messages of libfabric between the two hosts, by TCP: what an MPI over it starts from",
);
