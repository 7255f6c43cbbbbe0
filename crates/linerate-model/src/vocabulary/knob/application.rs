//! Knobs of the applications: what carries them, and how much they do.

use super::{Had, Knob, KnobKind};
use crate::vocabulary::mover::MOVER_NAMES;

/// What bytes in their order can be carried by.
const CARRIERS: KnobKind = KnobKind::OneOf(&["tcp", "tls", "mptcp", "openssh", "unix", "sctp", "smc"]);

/// The knob that says what carries a pattern, in place of the transport of its case's rung: by the pattern's name.
pub const TRANSPORT_OF: &[(&str, &str)] = &[
    ("monitor", MONITOR_TRANSPORT.name),
    ("pipeline", PIPELINE_TRANSPORT.name),
    ("striped-read", STRIPED_TRANSPORT.name),
    ("striped-write", STRIPED_TRANSPORT.name),
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
