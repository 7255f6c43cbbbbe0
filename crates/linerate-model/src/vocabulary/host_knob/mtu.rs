//! `link.mtu`: the largest packet, of a lab's links and of hosts' interfaces.

use super::{HostKnob, HostPlace, KeptIn, KeptLine, TRIED};
use crate::vocabulary::{Had, Knob, KnobKind, Tunable};

/// `link.mtu`.
pub const MTU: HostKnob = HostKnob {
    knob: Knob {
        name: "link.mtu",
        // IPv6 does not run over links with a smaller one (RFC 8200, section 5), and would be gone from the host.
        kind: KnobKind::Count(1280, 65_535),
        transports: &[],
        default: "the lab's, or what the hosts have",
        harmless: None,
        had: Had::Links,
        about: "the largest packet of the lab's links while a case is measured; the MTU of real hosts is not touched",
        source: "RFC 894; rtnetlink(7), IFLA_MTU",
        hint: "1500 and 9000: what a packet costs; smaller segments on real hosts are tcp.mss",
    },
    tried: Some(Tunable {
        name: "mtu",
        levels: &["link.mtu=9000"],
        gain: 0.67,
        risk: "every device of the path must carry it: else packets vanish",
        source: "Hurwitz and Feng 2005, section 4.1: 3.6 to 6.0 Gb/s; Feng et al. 2003, section 5.1: +50 %",
        ..TRIED
    }),
    place: HostPlace::Mtu,
    kept: &[
        KeptLine::new(KeptIn::NetworkManager, "[ethernet]\nmtu={}"),
        KeptLine::new(KeptIn::Link, "[Link]\nMTUBytes={}"),
        KeptLine::new(KeptIn::Ifupdown, "    mtu {}"),
    ],
};
