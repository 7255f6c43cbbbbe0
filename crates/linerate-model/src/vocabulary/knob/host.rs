//! Knobs of a host's own settings: `linerate tune --allow host` sets them for a case, and puts back what was there.

use super::{Had, Knob, KnobKind};

/// What the kernel keeps of a buffer's size in an int: net/ipv4/sysctl_net_ipv4.c.
const MOST: u64 = (1 << 31) - 1;
/// The kernel takes no smaller least buffer: tcp(7), tcp_rmem.
const LEAST: u64 = 4096;

const fn knob(name: &'static str, kind: KnobKind, about: &'static str) -> Knob {
    Knob {
        name,
        kind,
        transports: &[],
        default: "what the host has",
        harmless: None,
        had: Had::Host,
        about,
        source: "Documentation/networking/ip-sysctl.rst",
        hint: "linerate tune --allow host tries it, beside the host as it stands, and puts it back",
    }
}

/// `host.tcp-receive-buffer`.
pub const RECEIVE_BUFFER: Knob = knob(
    "host.tcp-receive-buffer",
    KnobKind::Bytes(LEAST, MOST),
    "net.ipv4.tcp_rmem, the third number: how far a socket's receive buffer grows by itself",
);

/// `host.tcp-send-buffer`.
pub const SEND_BUFFER: Knob = knob(
    "host.tcp-send-buffer",
    KnobKind::Bytes(LEAST, MOST),
    "net.ipv4.tcp_wmem, the third number: how far a socket's send buffer grows by itself",
);

/// `host.receive-buffer-limit`.
pub const RECEIVE_LIMIT: Knob = Knob {
    source: "socket(7), rmem_max",
    ..knob(
        "host.receive-buffer-limit",
        KnobKind::Bytes(LEAST, MOST),
        "net.core.rmem_max: the largest receive buffer that a program gets when it asks for one",
    )
};

/// `host.send-buffer-limit`.
pub const SEND_LIMIT: Knob = Knob {
    source: "socket(7), wmem_max",
    ..knob(
        "host.send-buffer-limit",
        KnobKind::Bytes(LEAST, MOST),
        "net.core.wmem_max: the largest send buffer that a program gets when it asks for one",
    )
};

/// `host.slow-start-after-idle`.
pub const SLOW_START_AFTER_IDLE: Knob = knob(
    "host.slow-start-after-idle",
    KnobKind::Switch,
    "net.ipv4.tcp_slow_start_after_idle: whether a connection that rested begins slowly again",
);

/// `host.mtu-probing`.
pub const MTU_PROBING: Knob = knob(
    "host.mtu-probing",
    KnobKind::Count(0, 2),
    "net.ipv4.tcp_mtu_probing: never, where packets vanish, or always look for the largest segment that passes",
);

/// `host.metrics-save`.
pub const METRICS_SAVE: Knob = knob(
    "host.metrics-save",
    KnobKind::Switch,
    "net.ipv4.tcp_no_metrics_save, turned round: whether a connection begins with what the last one to that host had",
);

/// `host.window-scaling`.
pub const WINDOW_SCALING: Knob = knob(
    "host.window-scaling",
    KnobKind::Switch,
    "net.ipv4.tcp_window_scaling: whether a window may be larger than 64 KiB",
);

/// `host.selective-acks`.
pub const SELECTIVE_ACKS: Knob = knob(
    "host.selective-acks",
    KnobKind::Switch,
    "net.ipv4.tcp_sack: whether the receiver says which segments it has",
);

/// `host.queueing`.
pub const QUEUEING: Knob = Knob {
    source: "tc-fq(8); tc-fq_codel(8); RFC 8290",
    ..knob(
        "host.queueing",
        KnobKind::OneOf(&["fq", "fq_codel", "pfifo"]),
        "the queueing discipline of the interface, where it has the kernel's default, which is there again afterwards",
    )
};

/// `host.ring-size`.
pub const RING_SIZE: Knob = Knob {
    source: "ethtool(8), --set-ring",
    ..knob(
        "host.ring-size",
        KnobKind::Count(16, 65_535),
        "descriptors of each of the adapter's queues, to send and to receive; the driver may have its own limits",
    )
};

/// `host.interrupt-delay`.
pub const INTERRUPT_DELAY: Knob = Knob {
    source: "ethtool(8), --coalesce: rx-usecs, adaptive-rx",
    ..knob(
        "host.interrupt-delay",
        KnobKind::Count(0, 10_000),
        "microseconds that the adapter waits with the interrupt of what came, always alike: not by what comes",
    )
};

/// `host.governor`.
pub const GOVERNOR: Knob = Knob {
    source: "Documentation/admin-guide/pm/cpufreq.rst",
    ..knob(
        "host.governor",
        KnobKind::OneOf(&["performance", "schedutil", "ondemand", "conservative", "powersave"]),
        "what chooses the clock of all of the host's CPUs",
    )
};

/// `host.busy-read`.
pub const BUSY_READ: Knob = Knob {
    source: "Documentation/admin-guide/sysctl/net.rst, busy_read",
    ..knob(
        "host.busy-read",
        KnobKind::Count(0, 1000),
        "net.core.busy_read: microseconds that a receiver that finds nothing asks its adapter again and again",
    )
};
