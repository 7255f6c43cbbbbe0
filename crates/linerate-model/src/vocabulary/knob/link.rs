//! Knobs of the links between a lab's hosts, which are the run's own: those of real hosts are never changed.

use super::{Had, Knob, KnobKind};

/// IPv6 does not run over links with a smaller one (RFC 8200, section 5), and would be gone from the host.
const MTUS: KnobKind = KnobKind::Count(1280, 65_535);

/// `link.mtu`.
pub const LINK_MTU: Knob = Knob {
    name: "link.mtu",
    kind: MTUS,
    transports: &[],
    default: "the lab's, or what the hosts have",
    harmless: None,
    had: Had::Links,
    about: "the largest packet of the lab's links while a case is measured; the MTU of real hosts is not touched",
    source: "RFC 894; rtnetlink(7), IFLA_MTU",
    hint: "1500 and 9000: what a packet costs; smaller segments on real hosts are tcp.mss",
};

/// `link.offload`.
pub const LINK_OFFLOAD: Knob = Knob {
    name: "link.offload",
    kind: KnobKind::Switch,
    transports: &[],
    default: "on, as the kernel's virtual cables have it",
    harmless: None,
    had: Had::Links,
    about: "whether the lab's interfaces make super-packets of packets, and take them: TSO, GSO and GRO",
    source: "ethtool(8), --features; Documentation/networking/segmentation-offloads.rst",
    hint: "off: what each packet costs where none is spared the stack",
};

/// `link.coalesce`.
pub const LINK_COALESCE: Knob = Knob {
    name: "link.coalesce",
    kind: KnobKind::Duration,
    transports: &[],
    default: "0ns, or what the lab has by coalesce=",
    harmless: None,
    had: Had::Links,
    about: "how long the program's own wire holds what comes to a host, as an adapter that delays its interrupt does",
    source: "ethtool(8), rx-usecs; docs/method/wire.md",
    hint: "64us on lab:wire=user: each way takes as much longer, and a stream hardly notices",
};

/// `link.coalesce-frames`.
pub const LINK_COALESCE_FRAMES: Knob = Knob {
    name: "link.coalesce-frames",
    kind: KnobKind::Count(1, 65_535),
    transports: &[],
    default: "any number, or what the lab has by coalesce-frames=",
    harmless: None,
    had: Had::Links,
    about: "how many frames are held at most, whatever is left of link.coalesce",
    source: "ethtool(8), rx-frames; docs/method/wire.md",
    hint: "32 beside link.coalesce=1ms: a stream is handed on by frames, and a lone message by time",
};
