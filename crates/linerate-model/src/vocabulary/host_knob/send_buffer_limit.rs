//! `host.send-buffer-limit`: the largest send buffer that is asked for.

use super::{BASE, BUFFER, HostKnob, HostPlace, SysctlValue};
use crate::vocabulary::Knob;

/// `host.send-buffer-limit`.
pub const SEND_BUFFER_LIMIT: HostKnob = HostKnob {
    knob: Knob {
        name: "host.send-buffer-limit",
        kind: BUFFER,
        about: "net.core.wmem_max: the largest send buffer that a program gets when it asks for one",
        source: "socket(7), wmem_max",
        ..BASE
    },
    tried: None,
    place: HostPlace::Sysctl("net/core/wmem_max", SysctlValue::Bytes),
    kept: &[],
};
