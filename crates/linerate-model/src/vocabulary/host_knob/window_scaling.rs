//! `host.window-scaling`: windows beyond 64 KiB.

use super::{BASE, HostKnob, HostPlace, SysctlValue, TRIED};
use crate::vocabulary::{Knob, Tunable};

/// `host.window-scaling`.
pub const WINDOW_SCALING: HostKnob = HostKnob {
    knob: Knob {
        name: "host.window-scaling",
        about: "net.ipv4.tcp_window_scaling: whether a window may be larger than 64 KiB",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-window-scaling",
        levels: &["host.window-scaling=on"],
        gain: 0.3,
        risk: "none that is known today",
        source: "RFC 7323 section 2; tcp(7), tcp_window_scaling",
        ..TRIED
    }),
    place: HostPlace::Sysctl("net/ipv4/tcp_window_scaling", SysctlValue::Switch),
    kept: &[],
};
