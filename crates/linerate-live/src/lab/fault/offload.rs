//! A wire port without super-packets.

use crate::{Error, Result};
use linerate_sys::ethtool::{Ethtool, OFFLOADS};

/// Switches every offload off that makes or merges super-packets, and reads it back.
pub(super) fn switch_off(interface: &str) -> Result<String> {
    let ethtool = Ethtool::open()?;
    let mut found = Vec::new();
    for offload in &OFFLOADS {
        let why = |error: linerate_sys::Error| {
            let what = format!("{} of {interface} stays on ({error}: {})", offload.name, error.source);
            Error::unavailable(what, "this kernel's virtual cables know no such switch")
        };
        ethtool.set_offload(interface, offload, false).map_err(why)?;
        if ethtool.offload(interface, offload).map_err(why)? {
            let what = format!("{} of {interface} stays on", offload.name);
            return Err(Error::unavailable(what, "this kernel's virtual cables have it always"));
        }
        found.push(format!("{} off", offload.name));
    }
    Ok(found.join(", "))
}
