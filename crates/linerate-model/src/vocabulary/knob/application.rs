//! Knobs of the applications: what carries them, and how much they do.

use super::fault::SHIM_SLOWDOWN;
use super::{Had, Knob, KnobKind};
use crate::vocabulary::mover::{MOVER_NAMES, NO_CIPHER};

/// What bytes in their order can be carried by.
const CARRIERS: KnobKind = KnobKind::OneOf(&["tcp", "tls", "mptcp", "openssh", "unix", "sctp", "smc"]);

/// The knob that says what carries a pattern, in place of the transport of its case's rung: by the pattern's name.
pub const TRANSPORT_OF: &[(&str, &str)] = &[
    ("monitor", MONITOR_TRANSPORT.name),
    ("pipeline", PIPELINE_TRANSPORT.name),
    ("striped-read", STRIPED_TRANSPORT.name),
    ("striped-write", STRIPED_TRANSPORT.name),
    ("tiled-read", STRIPED_TRANSPORT.name),
    ("tiled-write", STRIPED_TRANSPORT.name),
];

const PIPELINES: &[&str] = &["pipeline"];
const MONITORS: &[&str] = &["monitor"];
const STRIPED: &[&str] = &["striped-read", "striped-write", "tiled-read", "tiled-write"];
const TILED: &[&str] = &["tiled-read", "tiled-write"];
const SLOWED: &[&str] =
    &["monitor", "pipeline", "striped-read", "striped-write", "tiled-read", "tiled-write"];
const MPI_FILES: &[&str] = &["file-read", "file-write"];
const FILES: &[&str] = &["file"];

/// A knob that does something to applications.
pub struct OfApplications {
    /// Its name.
    pub knob: &'static str,
    /// To which patterns.
    pub patterns: &'static [&'static str],
    /// Over which transports; empty where it does so whatever carries them.
    pub carriers: &'static [&'static str],
}

const fn whatever_carries(knob: &Knob, patterns: &'static [&'static str]) -> OfApplications {
    OfApplications { knob: knob.name, patterns, carriers: &[] }
}

/// Every one.
pub const OF_APPLICATIONS: &[OfApplications] = &[
    // Their own ends are slowed.
    whatever_carries(&SHIM_SLOWDOWN, SLOWED),
    whatever_carries(&MONITOR_TRANSPORT, MONITORS),
    // It listens by itself.
    OfApplications { knob: MONITOR_AGENT.name, patterns: MONITORS, carriers: MONITOR_AGENT.transports },
    whatever_carries(&MONITOR_DEADLINE, MONITORS),
    whatever_carries(&MONITOR_DELAY, MONITORS),
    whatever_carries(&PIPELINE_TRANSPORT, PIPELINES),
    whatever_carries(&PIPELINE_UPDATE, PIPELINES),
    whatever_carries(&PIPELINE_UNITS, PIPELINES),
    whatever_carries(&STRIPED_TRANSPORT, STRIPED),
    whatever_carries(&STRIPED_STORE, STRIPED),
    whatever_carries(&STRIPED_PATH, STRIPED),
    whatever_carries(&TILED_ACCESS, TILED),
    whatever_carries(&TILED_OVERLAP, TILED),
    whatever_carries(&MPI_FILE_FOLDER, MPI_FILES),
    whatever_carries(&MPI_FILE_ACCESS, MPI_FILES),
    whatever_carries(&MPI_FILE_VIEW, MPI_FILES),
    whatever_carries(&FILE_TOOL, FILES),
    whatever_carries(&FILE_FLAGS, FILES),
    whatever_carries(&FILE_CIPHER, FILES),
    whatever_carries(&FILE_FROM, FILES),
    whatever_carries(&FILE_TO, FILES),
];

/// The knobs that act in the loops of streams and round trips, of which an application's ends have nothing: all faults of these
/// but a share of slowness.
pub const OF_LOOPS: &[&str] = &[
    "shim.spin",
    "shim.copies",
    "shim.write-size",
    "shim.sender-work",
    "shim.receiver-work",
    "shim.pause",
    "shim.receiver-priority",
    "shim.answered",
    "shim.stall",
    "shim.stall-every",
    "shim.read-rate",
    "shim.overclaim",
    "tcp.send-engine",
    "tcp.receive-engine",
    "cache.mode",
    "stream.read-size",
    "message.content",
    "flow.threads",
];

const CARRIER: Knob = Knob {
    name: "",
    kind: CARRIERS,
    transports: &[],
    default: "that of the case's rung",
    harmless: None,
    had: Had::Always,
    about: "",
    source: "this program's own applications",
    hint: "tls beside tcp: what sealing costs the application",
};

/// `monitor.transport`.
pub const MONITOR_TRANSPORT: Knob =
    Knob { name: "monitor.transport", about: "what carries a monitor's connections", ..CARRIER };

/// `pipeline.transport`.
pub const PIPELINE_TRANSPORT: Knob = Knob {
    name: "pipeline.transport",
    about: "what carries the streams between a pipeline's hosts",
    ..CARRIER
};

/// `striped.transport`.
pub const STRIPED_TRANSPORT: Knob =
    Knob { name: "striped.transport", about: "what carries the stripes of a file", ..CARRIER };

/// `monitor.agent`.
pub const MONITOR_AGENT: Knob = Knob {
    name: "monitor.agent",
    kind: KnobKind::OneOf(&["own", "gmond", "node-exporter"]),
    transports: &["tcp"],
    default: "own: replies of the message's size",
    harmless: None,
    had: Had::Always,
    about: "who tells a node's state: this program, or Ganglia's gmond or Prometheus' node exporter, started privately on a lab's host",
    source: "gmond(1); prometheus-node-exporter(1)",
    hint: "gmond: what its XML costs beside a reply of the same size",
};

/// `monitor.deadline`.
pub const MONITOR_DEADLINE: Knob = Knob {
    name: "monitor.deadline",
    kind: KnobKind::Duration,
    transports: &[],
    default: "1s",
    harmless: None,
    had: Had::Always,
    about: "how long a monitor waits for a node's reply before it goes on without; what a connection takes to be made is not bounded by it, and counts",
    source: "this program's monitor",
    hint: "several times round-time.p99, or good polls are missed",
};

/// `monitor.delay`.
pub const MONITOR_DELAY: Knob = Knob {
    name: "monitor.delay",
    kind: KnobKind::Duration,
    transports: &[],
    default: "0ns",
    harmless: Some(&["0ns"]),
    had: Had::Always,
    about: "a known fault: the first of a monitor's nodes waits so long before it answers",
    source: "this program's monitor",
    hint: "more than monitor.deadline: its polls are missed, and no other node's",
};

/// `pipeline.update`.
pub const PIPELINE_UPDATE: Knob = Knob {
    name: "pipeline.update",
    kind: KnobKind::Bytes(16 << 10, 64 << 20),
    transports: &[],
    default: "1MiB",
    harmless: None,
    had: Had::Always,
    about: "how much of the data a unit of work is of: the part of a slide or of a volume that an update shows",
    source: "P. Balaji et al., Cluster 2005, section 6.1: 16 MB of an image, 64 MB of a volume",
    hint: "16MiB: the whole slide; 64MiB: the whole volume",
};

/// `pipeline.units`.
pub const PIPELINE_UNITS: Knob = Knob {
    name: "pipeline.units",
    kind: KnobKind::OneOf(&["one-by-one", "ahead"]),
    transports: &[],
    default: "one-by-one: a unit is asked for when the one before it is there",
    harmless: None,
    had: Had::Always,
    about: "whether a pipeline's source waits for the request of the last stage, or goes on as long as there is room",
    source: "this program's pipeline",
    hint: "one-by-one for the time of a unit, ahead for the rate of units",
};

/// `striped.store`.
pub const STRIPED_STORE: Knob = Knob {
    name: "striped.store",
    kind: KnobKind::OneOf(&["memory", "disk"]),
    transports: &[],
    default: "memory",
    harmless: None,
    had: Had::Always,
    about: "where the servers of a striped file have their stripes: in memory, or in a file without a name in /var/tmp",
    source: "open(2), O_TMPFILE; P. Balaji et al., Cluster 2005, section 6.2",
    hint: "disk: what is written is in the page cache at least, and is not waited for",
};

/// `striped.path`.
pub const STRIPED_PATH: Knob = Knob {
    name: "striped.path",
    kind: KnobKind::Path,
    transports: &[],
    default: "none: this program's own servers",
    harmless: None,
    had: Had::Always,
    about: "a folder of any file system that is mounted on the clients' hosts: they read and write a file without a name there, and no server of ours",
    source: "pread(2), pwrite(2)",
    hint: "what is read may come from a client's page cache: as large a file as its memory shows the servers",
};

/// `tiled.access`.
pub const TILED_ACCESS: Knob = Knob {
    name: "tiled.access",
    kind: KnobKind::OneOf(&["tile", "row"]),
    transports: &[],
    default: "tile: all rows of a tile are asked for at once",
    harmless: None,
    had: Had::Always,
    about: "whether a client asks a server for all rows of its tile at once, or for one after the other",
    source: "A. Ching et al., Noncontiguous I/O through PVFS, IEEE Cluster 2002: list I/O and multiple I/O",
    hint: "row beside tile: what access with gaps costs where each gap is a request",
};

/// `tiled.overlap`.
pub const TILED_OVERLAP: Knob = Knob {
    name: "tiled.overlap",
    kind: KnobKind::Count(0, 512),
    transports: &[],
    default: "0",
    harmless: None,
    had: Had::Always,
    about: "how many elements of 32 bytes, of the 1024 of a row, two tiles beside each other have in common",
    source: "MPI-Tile-IO, --overlap_x",
    hint: "128: what neighbours both read, as the projectors of a display wall do",
};

/// `mpi.file-folder`.
pub const MPI_FILE_FOLDER: Knob = Knob {
    name: "mpi.file-folder",
    kind: KnobKind::Path,
    transports: &["mpi"],
    default: "/var/tmp",
    harmless: None,
    had: Had::Always,
    about: "the folder in which ranks have a file open together: of a file system that all of their hosts have; its name goes when all have it",
    source: "MPI: A Message-Passing Interface Standard, version 4.1, section 14.2",
    hint: "a folder of a parallel file system on all hosts: what its clients, servers and the MPI's own aggregation carry",
};

/// `mpi.file-access`.
pub const MPI_FILE_ACCESS: Knob = Knob {
    name: "mpi.file-access",
    kind: KnobKind::OneOf(&["collective", "independent"]),
    transports: &["mpi"],
    default: "collective",
    harmless: None,
    had: Had::Always,
    about: "whether ranks read and write a file together (MPI_File_write_at_all) or each for itself (MPI_File_write_at)",
    source: "R. Thakur, W. Gropp, E. Lusk: Data Sieving and Collective I/O in ROMIO, 1999",
    hint: "collective with tiles: the library exchanges rows, so that each rank writes whole pieces",
};

/// `mpi.file-view`.
pub const MPI_FILE_VIEW: Knob = Knob {
    name: "mpi.file-view",
    kind: KnobKind::OneOf(&["regions", "tiles"]),
    transports: &["mpi"],
    default: "regions: each rank's part is in one piece",
    harmless: None,
    had: Had::Always,
    about: "what a rank's part of a file is: a region, or a tile of a frame, by a view of rows with gaps between them (MPI_Type_vector)",
    source: "MPI-Tile-IO, Parallel I/O Benchmarking Consortium; MPI 4.1, section 14.3",
    hint: "tiles with mpi.file-access=independent: what gaps cost where nobody gathers them",
};

/// `file.tool`.
pub const FILE_TOOL: Knob = Knob {
    name: "file.tool",
    kind: KnobKind::OneOf(MOVER_NAMES),
    transports: &["tcp"],
    default: "linerate: this program's own engine",
    harmless: None,
    had: Had::Always,
    about: "which program moves a file; another one than this, and its service, are started privately on a lab's hosts",
    source: "J. Cope et al., LCI 2007, Table 3; docs/guides/transfer.md",
    hint: "gridftp beside linerate: what digests and parallel streams are worth here",
};

/// `file.flags`.
pub const FILE_FLAGS: Knob = Knob {
    name: "file.flags",
    kind: KnobKind::OneOf(&["shipped", "best"]),
    transports: &["tcp"],
    default: "shipped: nothing is said to it but where to send",
    harmless: None,
    had: Had::Always,
    about: "whether a program that moves a file is told what its manual knows to be quickest: cipher, streams, blocks",
    source: "the manuals of the programs; docs/guides/transfer.md has the flags",
    hint: "best beside shipped: what the usual settings cost",
};

/// `file.cipher`.
pub const FILE_CIPHER: Knob = Knob {
    name: "file.cipher",
    kind: KnobKind::OneOf(&[NO_CIPHER, "aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"]),
    transports: &["tcp"],
    default: "none: the bytes cross as they are",
    harmless: None,
    had: Had::Always,
    about: "what this program's own engine seals a file's streams by: TLS 1.3, with a certificate of the transfer's own",
    source: "RFC 8446, appendix B.4",
    hint: "aes-128-gcm beside none: what sealing costs; scp beside it: what is left of that program's own limits",
};

/// `file.from`.
pub const FILE_FROM: Knob = Knob {
    name: "file.from",
    kind: KnobKind::OneOf(&["disk", "memory"]),
    transports: &["tcp"],
    default: "disk",
    harmless: None,
    had: Had::Always,
    about: "where the file is that is moved: below /var/tmp, or below /dev/shm, which is memory",
    source: "J. Cope et al., LCI 2007, section 5.4",
    hint: "memory beside disk: what reading costs",
};

/// `file.to`.
pub const FILE_TO: Knob = Knob {
    name: "file.to",
    about: "where the file is moved to: below /var/tmp, or below /dev/shm, which is memory",
    hint: "memory beside disk: what waiting for the disk costs",
    ..FILE_FROM
};
