//! `host.busy-read`: receivers that ask again and again.

use super::{BASE, HostKnob, HostPlace, SysctlValue, TRIED};
use crate::vocabulary::{Knob, KnobKind, Tunable};

/// `host.busy-read`.
pub const BUSY_READ: HostKnob = HostKnob {
    knob: Knob {
        name: "host.busy-read",
        kind: KnobKind::Count(0, 1000),
        about: "net.core.busy_read: microseconds that a receiver that finds nothing asks its adapter again and again",
        source: "Documentation/admin-guide/sysctl/net.rst, busy_read",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-busy-read",
        levels: &["host.busy-read=50"],
        gain: 0.05,
        risk: "a CPU that finds nothing is at work; adapters without it have no gain",
        source: "Documentation/admin-guide/sysctl/net.rst, busy_read",
        ..TRIED
    }),
    place: HostPlace::Sysctl("net/core/busy_read", SysctlValue::Same),
    kept: &[],
};
