//! `host.queues`: how many queues of the adapter are in use.

use super::{AdapterNumbers, AdapterPlace, BASE, HostKnob, HostPlace, KeptIn, KeptLine, TRIED};
use crate::vocabulary::{Knob, KnobKind, Tunable};

/// `host.queues`.
pub const QUEUES: HostKnob = HostKnob {
    knob: Knob {
        name: "host.queues",
        // With more the kernel makes no interface: net/core/rtnetlink.c, rtnl_create_link.
        kind: KnobKind::Count(1, 4096),
        about: "queues of the adapter that are in use, of which each may have a CPU of its own; left alone where somebody steers the packets of one",
        source: "ethtool(8), --set-channels; Documentation/networking/scaling.rst",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-queues",
        levels: &["host.queues=2", "host.queues=4", "host.queues=8"],
        gain: 0.1,
        risk: "the adapter may be down for a moment; the interrupts of its queues are where the driver puts them afterwards",
        source: "Documentation/networking/scaling.rst, RSS",
        ..TRIED
    }),
    place: HostPlace::Adapter(AdapterPlace {
        name: "queues",
        numbers: AdapterNumbers::Channels,
        ways: &[&[("combined", None)], &[("rx", None), ("tx", None)]],
    }),
    kept: &[
        KeptLine::new(
            KeptIn::Link,
            "[Link]\nCombinedChannels={}\n# of an adapter that has them apart: RxChannels={} and TxChannels={}",
        ),
        KeptLine::new(
            KeptIn::Ifupdown,
            "    up ethtool -L $IFACE combined {} || ethtool -L $IFACE rx {} tx {}",
        ),
    ],
};
