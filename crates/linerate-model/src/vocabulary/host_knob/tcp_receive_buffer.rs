//! `host.tcp-receive-buffer`: how far a receive buffer grows.

use super::{BASE, BUFFER, HostKnob, HostPlace, SysctlValue, TRIED};
use crate::vocabulary::{Knob, Tunable};

/// `host.tcp-receive-buffer`.
pub const TCP_RECEIVE_BUFFER: HostKnob = HostKnob {
    knob: Knob {
        name: "host.tcp-receive-buffer",
        kind: BUFFER,
        about: "net.ipv4.tcp_rmem, the third number: how far a socket's receive buffer grows by itself",
        ..BASE
    },
    tried: Some(Tunable {
        name: "host-buffers",
        levels: &[
            "host.tcp-receive-buffer=16MiB+host.tcp-send-buffer=16MiB",
            "host.tcp-receive-buffer=64MiB+host.tcp-send-buffer=64MiB",
        ],
        gain: 0.5,
        risk: "memory of each connection; what lies beyond the last cache costs more to copy",
        source: "tcp(7), tcp_rmem and tcp_wmem; Turner and Chen 2002, section 4",
        ..TRIED
    }),
    place: HostPlace::Sysctl("net/ipv4/tcp_rmem", SysctlValue::ThirdOf("4096 131072 6291456")),
    kept: &[],
};
