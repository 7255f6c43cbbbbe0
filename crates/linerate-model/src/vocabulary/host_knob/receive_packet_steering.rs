//! `host.receive-packet-steering`: packets of one queue on several CPUs.

use super::{BASE, HostKnob, HostPlace, KeptIn, KeptLine, TRIED};
use crate::vocabulary::{Knob, Tunable};

/// `host.receive-packet-steering`.
pub const RECEIVE_PACKET_STEERING: HostKnob = HostKnob {
    knob: Knob {
        name: "host.receive-packet-steering",
        about: "rps_cpus of each receive queue: whether all CPUs take packets of it, each flow's the same one, or the one with its interrupt alone",
        source: "Documentation/networking/scaling.rst, RPS",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-receive-packet-steering",
        levels: &["host.receive-packet-steering=on"],
        gain: 0.1,
        risk: "an interrupt between CPUs for what is handed on; CPUs with other work take part",
        source: "Documentation/networking/scaling.rst, RPS: where queues are fewer than CPUs",
        ..TRIED
    }),
    place: HostPlace::EachReceiveQueue("rps_cpus"),
    kept: &[
        // Of systemd.link(5) since version 257.
        KeptLine {
            file: KeptIn::Link,
            text: "[Link]\nReceivePacketSteeringCPUMask={}",
            words: &[("on", "all")],
        },
    ],
};
