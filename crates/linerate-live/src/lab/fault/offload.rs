//! A wire port without super-packets.

use crate::{Error, Result};
use linerate_sys::ethtool::{Ethtool, OFFLOADS, Offload};

/// Switches every offload off that makes or merges super-packets, and reads it back.
pub(super) fn switch_off(interface: &str) -> Result<String> {
    let ethtool = Ethtool::open()?;
    OFFLOADS.iter().try_for_each(|offload| switch(&ethtool, interface, offload, false))?;
    let found: Vec<String> = OFFLOADS.iter().map(|offload| format!("{} off", offload.name)).collect();
    Ok(found.join(", "))
}

/// Switches one on or off, and reads it back.
pub(in crate::lab) fn switch(ethtool: &Ethtool, interface: &str, offload: &Offload, on: bool) -> Result<()> {
    let what = || format!("{} of {interface} stays {}", offload.name, if on { "off" } else { "on" });
    let why = |error: linerate_sys::Error| {
        let what = format!("{} ({error}: {})", what(), error.source);
        Error::unavailable(what, "this kernel's virtual cables know no such switch")
    };
    ethtool.set_offload(interface, offload, on).map_err(why)?;
    match ethtool.offload(interface, offload).map_err(why)? == on {
        true => Ok(()),
        false => Err(Error::unavailable(what(), "this kernel's virtual cables have it always, or never")),
    }
}
