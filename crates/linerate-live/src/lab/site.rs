//! A host of a lab, as others see it.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A host.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Site {
    pub name: String,
    pub address: IpAddr,
    pub address6: Option<IpAddr>,
    /// Those of its further adapters, each in a network of its own.
    pub further: Vec<IpAddr>,
    pub interface: String,
    /// Its hardware address.
    pub hardware: Vec<u8>,
    /// Whether it has a mount namespace of its own.
    pub has_mounts: bool,
}

impl Site {
    /// Its address at an adapter, of which the first is 0.
    pub fn at(&self, adapter: u32) -> IpAddr {
        let further = (adapter as usize).checked_sub(1).and_then(|nth| self.further.get(nth));
        further.copied().unwrap_or(self.address)
    }
}
