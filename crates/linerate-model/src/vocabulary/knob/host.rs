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
