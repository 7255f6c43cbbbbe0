//! `host.selective-acks`: acknowledgements of single segments.

use super::{BASE, HostKnob, HostPlace, SysctlValue, TRIED};
use crate::vocabulary::{Knob, Tunable};

/// `host.selective-acks`.
pub const SELECTIVE_ACKS: HostKnob = HostKnob {
    knob: Knob {
        name: "host.selective-acks",
        about: "net.ipv4.tcp_sack: whether the receiver says which segments it has",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-selective-acks",
        levels: &["host.selective-acks=on"],
        gain: 0.1,
        risk: "work of the sender at many losses at once",
        source: "RFC 2018; tcp(7), tcp_sack",
        ..TRIED
    }),
    place: HostPlace::Sysctl("net/ipv4/tcp_sack", SysctlValue::Switch),
    kept: &[],
};
