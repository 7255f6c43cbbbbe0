//! A namespace under construction, with a socket that speaks for it.

use linerate_sys::Result;
use linerate_sys::namespace::{self, Kind};
use linerate_sys::netlink::Netlink;
use std::fs;
use std::os::fd::OwnedFd;

/// Congestion controls that a host should start with, the better one first: a new namespace inherits the
/// machine's, and BBR without its pacing queue is several times slower on a lab's wire. The kernel takes
/// only those of `net.ipv4.tcp_allowed_congestion_control` here; a socket may still ask for another.
const CONGESTION_CONTROLS: [&str; 2] = ["cubic", "reno"];

/// A network and a host name namespace.
pub(super) struct NewNamespace {
    /// What a process joins to use its interfaces.
    pub network: OwnedFd,
    /// What a process joins to have its name.
    pub host_name: OwnedFd,
    /// Acts in it from anywhere.
    pub netlink: Netlink,
}

impl NewNamespace {
    /// Makes both namespaces and moves the calling process into them.
    pub fn new(name: &str) -> Result<NewNamespace> {
        namespace::become_another_host()?;
        namespace::set_host_name(name)?;
        let mut netlink = Netlink::open()?;
        let loopback = netlink.link("lo")?;
        netlink.set_up(&loopback)?;
        choose_congestion_control();
        Ok(NewNamespace {
            network: namespace::current(Kind::Network)?,
            host_name: namespace::current(Kind::HostName)?,
            netlink,
        })
    }
}

/// Best effort: where none is allowed, or `/proc/sys` is read-only, sockets still choose their own.
fn choose_congestion_control() {
    for name in CONGESTION_CONTROLS {
        if fs::write("/proc/sys/net/ipv4/tcp_congestion_control", name).is_ok() {
            return;
        }
    }
}
