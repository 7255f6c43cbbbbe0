//! `host.slow-start-after-idle`: how a connection begins after a rest.

use super::{BASE, HostKnob, HostPlace, SysctlValue, TRIED};
use crate::vocabulary::{Knob, Tunable};

/// `host.slow-start-after-idle`.
pub const SLOW_START_AFTER_IDLE: HostKnob = HostKnob {
    knob: Knob {
        name: "host.slow-start-after-idle",
        about: "net.ipv4.tcp_slow_start_after_idle: whether a connection that rested begins slowly again",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-slow-start-after-idle",
        levels: &["host.slow-start-after-idle=off"],
        gain: 0.03,
        risk: "a burst after each rest",
        source: "RFC 5681, section 4.1; ip-sysctl.rst",
        ..TRIED
    }),
    place: HostPlace::Sysctl("net/ipv4/tcp_slow_start_after_idle", SysctlValue::Switch),
    kept: &[],
};
