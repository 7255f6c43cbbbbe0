//! How many segments connections over a host's routes begin with.

use crate::plan::Fault;
use crate::{Error, Result};
use linerate_sys::netlink::Netlink;

/// Sets it on each route of the interface, and reads it back.
pub(super) fn set(fault: &Fault, interface: &str) -> Result<String> {
    let refused = |why: String| {
        Error::unavailable(format!("the initial window over {interface}: {why}"), "leave it out")
    };
    let segments: u32 = fault.value.parse().map_err(|_| refused(format!("{} is none", fault.value)))?;
    let mut netlink = Netlink::open()?;
    let link = netlink.link(interface)?;
    let routes = netlink.set_initial_window(&link, segments).map_err(|error| refused(error.to_string()))?;
    match routes {
        0 => Err(refused("no route has it".into())),
        routes => Ok(format!("initcwnd {segments} on {routes} routes")),
    }
}
