//! `host.tcp-send-buffer`: how far a send buffer grows.

use super::{BASE, BUFFER, HostKnob, HostPlace, SysctlValue};
use crate::vocabulary::Knob;

/// `host.tcp-send-buffer`.
pub const TCP_SEND_BUFFER: HostKnob = HostKnob {
    knob: Knob {
        name: "host.tcp-send-buffer",
        kind: BUFFER,
        about: "net.ipv4.tcp_wmem, the third number: how far a socket's send buffer grows by itself",
        ..BASE
    },
    tried: None,
    place: HostPlace::Sysctl("net/ipv4/tcp_wmem", SysctlValue::ThirdOf("4096 16384 4194304")),
    kept: &[],
};
