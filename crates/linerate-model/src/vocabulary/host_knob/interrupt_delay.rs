//! `host.interrupt-delay`: how long an interrupt waits.

use super::{AdapterNumbers, AdapterPlace, BASE, HostKnob, HostPlace, KeptIn, KeptLine, TRIED};
use crate::vocabulary::{Knob, KnobKind, Tunable};

/// `host.interrupt-delay`.
pub const INTERRUPT_DELAY: HostKnob = HostKnob {
    knob: Knob {
        name: "host.interrupt-delay",
        kind: KnobKind::Count(0, 10_000),
        about: "microseconds that the adapter waits with the interrupt of what came, always alike: not by what comes",
        source: "ethtool(8), --coalesce: rx-usecs, adaptive-rx",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-interrupt-delay",
        levels: &["host.interrupt-delay=10", "host.interrupt-delay=50", "host.interrupt-delay=0"],
        gain: 0.15,
        risk: "each message comes so much later; 0 is an interrupt a packet",
        source: "Hurwitz and Feng 2005, section 3.1: the delay is some 5 us of the latency",
        ..TRIED
    }),
    place: HostPlace::Adapter(AdapterPlace {
        name: "interrupt-delay",
        numbers: AdapterNumbers::Coalescing,
        ways: &[&[("rx_usecs", None), ("adaptive_rx", Some(0))]],
    }),
    kept: &[
        KeptLine::new(KeptIn::Link, "[Link]\nRxCoalesceSec={}us\nUseAdaptiveRxCoalesce=no"),
        KeptLine::new(KeptIn::Ifupdown, "    up ethtool -C $IFACE adaptive-rx off rx-usecs {}"),
        KeptLine::new(KeptIn::NetworkManager, "[ethtool]\ncoalesce-adaptive-rx=0\ncoalesce-rx-usecs={}"),
    ],
};
