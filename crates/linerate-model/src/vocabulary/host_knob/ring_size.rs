//! `host.ring-size`: descriptors of the adapter's queues.

use super::{AdapterNumbers, AdapterPlace, BASE, HostKnob, HostPlace, KeptIn, KeptLine, TRIED};
use crate::vocabulary::{Knob, KnobKind, Tunable};

/// `host.ring-size`.
pub const RING_SIZE: HostKnob = HostKnob {
    knob: Knob {
        name: "host.ring-size",
        kind: KnobKind::Count(16, 65_535),
        about: "descriptors of each of the adapter's queues, to send and to receive; the driver may have its own limits",
        source: "ethtool(8), --set-ring",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-ring-size",
        levels: &["host.ring-size=1024", "host.ring-size=4096"],
        gain: 0.1,
        risk: "memory of each queue, and what does not fit into the cache; some adapters are down for a moment",
        source: "ethtool(8), --set-ring",
        ..TRIED
    }),
    place: HostPlace::Adapter(AdapterPlace {
        name: "rings",
        numbers: AdapterNumbers::Rings,
        ways: &[&[("rx", None), ("tx", None)]],
    }),
    kept: &[
        KeptLine::new(KeptIn::Link, "[Link]\nRxBufferSize={}\nTxBufferSize={}"),
        KeptLine::new(KeptIn::Ifupdown, "    up ethtool -G $IFACE rx {} tx {}"),
        KeptLine::new(KeptIn::NetworkManager, "[ethtool]\nring-rx={}\nring-tx={}"),
    ],
};
