//! `host.receive-buffer-limit`: the largest receive buffer that is asked for.

use super::{BASE, BUFFER, HostKnob, HostPlace, SysctlValue};
use crate::vocabulary::Knob;

/// `host.receive-buffer-limit`.
pub const RECEIVE_BUFFER_LIMIT: HostKnob = HostKnob {
    knob: Knob {
        name: "host.receive-buffer-limit",
        kind: BUFFER,
        about: "net.core.rmem_max: the largest receive buffer that a program gets when it asks for one",
        source: "socket(7), rmem_max",
        ..BASE
    },
    tried: None,
    place: HostPlace::Sysctl("net/core/rmem_max", SysctlValue::Bytes),
    kept: &[],
};
