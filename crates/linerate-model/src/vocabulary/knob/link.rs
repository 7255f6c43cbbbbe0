//! Knobs of the links between a lab's hosts, which are the run's own: those of real hosts are never changed.

use super::{Had, Knob, KnobKind};

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

/// `link.adapters`.
pub const LINK_ADAPTERS: Knob = Knob {
    name: "link.adapters",
    kind: KnobKind::Count(1, MOST_ADAPTERS),
    transports: &["tcp"],
    default: "1",
    harmless: None,
    had: Had::Links,
    about: "adapters that connections are spread over, one after the other: each has a link and an address of its own",
    source: "the paper's section 6: flows over one and over two adapters of a host; docs/method/suites.md",
    hint: "2 beside several connections: where they carry no more, the adapter is not what binds",
};

/// The most adapters that a lab's host has.
const MOST_ADAPTERS: u32 = 8;
