//! Whole messages between two ranks.

use super::Takes::{Buffers, Connection, Interface, Internet, Path, Source};
use super::TransportEntry;
use super::carries::{GATHERED, PASSED, PASSED_OVER};

/// `mpi`.
pub const MPI: TransportEntry = TransportEntry {
    name: "mpi",
    readable: "MPI",
    takes: &[],
    ends: 2,
    crosses_hosts: true,
    copies: 1,
    traffic: 1,
    least_bytes: 1,
    // MPI counts bytes in an int.
    most_bytes: Some(1 << 30),
    header_bytes: 0,
    has_window: false,
    reliable: true,
    passes_messages: true,
    offers: GATHERED,
    loads: false,
    // Each is a process, and asks its CPU again and again.
    most_flows: Some(64),
    only_polls: true,
    yields_by: Some("mpi.yield"),
    foreign: true,
    has_helpers: false,
    about: "two ranks of an MPI of this host, loaded at run time and started by its own launcher",
    source: "MPI: A Message-Passing Interface Standard, version 4.1, chapter 3",
};

/// `pvm`.
pub const PVM: TransportEntry = TransportEntry {
    name: "pvm",
    readable: "PVM",
    takes: &[],
    ends: 2,
    crosses_hosts: true,
    // Into its buffer and out of it, besides the kernel's.
    copies: 2,
    traffic: 1,
    least_bytes: 1,
    // The daemons hold whole messages, too.
    most_bytes: Some(256 << 20),
    header_bytes: 0,
    has_window: false,
    reliable: true,
    passes_messages: true,
    offers: PASSED,
    loads: false,
    most_flows: Some(1),
    only_polls: false,
    yields_by: None,
    foreign: true,
    has_helpers: true,
    about: "two tasks of a PVM of this host, loaded at run time, in a virtual machine that lasts as long as the session",
    source: "A. Geist et al., PVM 3 User's Guide and Reference Manual, ORNL/TM-12187, 1994",
};

/// `shmem`.
pub const SHMEM: TransportEntry = TransportEntry {
    name: "shmem",
    readable: "OpenSHMEM",
    takes: &[],
    ends: 2,
    crosses_hosts: true,
    copies: 1,
    traffic: 1,
    least_bytes: 1,
    // Two of them must fit into symmetric memory.
    most_bytes: Some(64 << 20),
    header_bytes: 0,
    has_window: false,
    reliable: true,
    passes_messages: true,
    offers: PASSED,
    loads: false,
    most_flows: Some(1),
    only_polls: true,
    yields_by: None,
    foreign: true,
    has_helpers: false,
    about: "two processing elements of an OpenSHMEM of this host, loaded at run time and started by its own launcher",
    source: "OpenSHMEM Application Programming Interface 1.4",
};

/// `tcgmsg`.
pub const TCGMSG: TransportEntry = TransportEntry {
    name: "tcgmsg",
    readable: "TCGMSG",
    about: "two nodes of TCGMSG over an MPI of this host, loaded at run time and started by that MPI's launcher",
    source: "R. J. Harrison: Portable tools and applications for parallel computers, 1991; tcgmsg.h of Global Arrays 5.8",
    ..UCX
};

/// `ucx`.
pub const UCX: TransportEntry = TransportEntry {
    name: "ucx",
    readable: "UCX",
    takes: &[],
    ends: 2,
    crosses_hosts: true,
    copies: 1,
    traffic: 1,
    least_bytes: 1,
    most_bytes: None,
    header_bytes: 0,
    has_window: false,
    reliable: true,
    passes_messages: true,
    offers: PASSED,
    loads: false,
    most_flows: Some(1),
    only_polls: true,
    yields_by: None,
    foreign: true,
    has_helpers: false,
    about: "tagged messages of UCX, loaded at run time: what MPICH and others carry theirs by, without the MPI",
    source: "Unified Communication X API; ucp/api/ucp.h of UCX 1.13",
};

/// `libfabric`.
pub const LIBFABRIC: TransportEntry = TransportEntry {
    name: "libfabric",
    readable: "libfabric",
    about: "tagged messages of libfabric, loaded at run time: what Intel MPI and others carry theirs by, without the MPI",
    source: "fabric(7), fi_tagged(3); rdma/fi_tagged.h of libfabric 1.17",
    ..UCX
};

/// `lite`.
pub const LITE: TransportEntry = TransportEntry {
    name: "lite",
    readable: "lite",
    takes: &[Buffers, Connection, Interface, Path, Internet, Source],
    ends: 2,
    crosses_hosts: true,
    copies: 1,
    traffic: 1,
    least_bytes: 1,
    most_bytes: None,
    // TCP's with timestamps; each message has 64 more.
    header_bytes: 32,
    has_window: true,
    reliable: true,
    passes_messages: true,
    offers: PASSED_OVER,
    loads: false,
    most_flows: Some(1),
    only_polls: false,
    yields_by: None,
    foreign: false,
    has_helpers: false,
    about: "the program's own message layer over TCP: matched by tag, large ones without a copy of its own",
    source: "D. Turner, X. Chen: Protocol-dependent message-passing performance on Linux clusters, IEEE Cluster 2002 (MP_Lite)",
};
