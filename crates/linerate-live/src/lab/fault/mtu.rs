//! The MTU of a host's wire port.

use crate::plan::Fault;
use crate::{Error, Result};
use linerate_sys::netlink::Netlink;

/// Sets it, and reads it back.
pub(super) fn set(fault: &Fault, interface: &str) -> Result<String> {
    let refused =
        |why: String| Error::unavailable(format!("the MTU of {interface}: {why}"), "try another one");
    let mtu = fault.value.parse().map_err(|_| refused(format!("{} is none", fault.value)))?;
    let mut netlink = Netlink::open()?;
    let link = netlink.link(interface)?;
    netlink.set_mtu(&link, mtu).map_err(|error| refused(error.to_string()))?;
    match netlink.link(interface)?.mtu {
        found if found == mtu => Ok(format!("mtu {found}")),
        found => Err(refused(format!("it reads {found}"))),
    }
}
