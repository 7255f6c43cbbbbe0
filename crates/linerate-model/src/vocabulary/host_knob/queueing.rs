//! `host.queueing`: the queueing discipline.

use super::{BASE, HostKnob, HostPlace, KeptIn, KeptLine, TRIED};
use crate::vocabulary::{Knob, KnobKind, Tunable};

/// `host.queueing`.
pub const QUEUEING: HostKnob = HostKnob {
    knob: Knob {
        name: "host.queueing",
        kind: KnobKind::OneOf(&["fq", "fq_codel", "pfifo"]),
        about: "the queueing discipline of the interface, where it has the kernel's default, which is there again afterwards",
        source: "tc-fq(8); tc-fq_codel(8); RFC 8290",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-queueing",
        levels: &["host.queueing=fq", "host.queueing=fq_codel", "host.queueing=pfifo"],
        gain: 0.05,
        risk: "all that the host sends passes it; of an adapter with several queues one is left",
        source: "tc-fq(8); RFC 8290",
        ..TRIED
    }),
    place: HostPlace::Queueing,
    kept: &[
        // As systemd.network(5) calls the section of each.
        KeptLine {
            file: KeptIn::Network,
            text: "[{}]\nParent=root",
            words: &[("fq", "FairQueueing"), ("fq_codel", "FairQueueingControlledDelay"), ("pfifo", "PFIFO")],
        },
        KeptLine::new(KeptIn::NetworkManager, "[tc]\nqdisc.root={}"),
        KeptLine::new(KeptIn::Ifupdown, "    up tc qdisc replace dev $IFACE root {}"),
    ],
};
