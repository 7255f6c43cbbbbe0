//! `host.mtu-probing`: whether the largest segment that passes is looked for.

use super::{BASE, HostKnob, HostPlace, SysctlValue, TRIED};
use crate::vocabulary::{Knob, KnobKind, Tunable};

/// `host.mtu-probing`.
pub const MTU_PROBING: HostKnob = HostKnob {
    knob: Knob {
        name: "host.mtu-probing",
        kind: KnobKind::Count(0, 2),
        about: "net.ipv4.tcp_mtu_probing: never, where packets vanish, or always look for the largest segment that passes",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-mtu-probing",
        levels: &["host.mtu-probing=1"],
        gain: 0.02,
        risk: "smaller segments after losses of another kind",
        source: "RFC 4821; ip-sysctl.rst",
        ..TRIED
    }),
    place: HostPlace::Sysctl("net/ipv4/tcp_mtu_probing", SysctlValue::Same),
    kept: &[],
};
