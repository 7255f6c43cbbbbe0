//! `host.metrics-save`: what a connection knows of the last one.

use super::{BASE, HostKnob, HostPlace, SysctlValue, TRIED};
use crate::vocabulary::{Knob, Tunable};

/// `host.metrics-save`.
pub const METRICS_SAVE: HostKnob = HostKnob {
    knob: Knob {
        name: "host.metrics-save",
        about: "net.ipv4.tcp_no_metrics_save, turned round: whether a connection begins with what the last one to that host had",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-metrics-save",
        levels: &["host.metrics-save=off"],
        gain: 0.02,
        risk: "each connection finds its rate anew",
        source: "tcp(7), tcp_no_metrics_save",
        ..TRIED
    }),
    place: HostPlace::Sysctl("net/ipv4/tcp_no_metrics_save", SysctlValue::Inverted),
    kept: &[],
};
