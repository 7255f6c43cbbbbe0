//! A host of a lab, as others see it.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A host.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Site {
    pub name: String,
    pub address: IpAddr,
    pub address6: Option<IpAddr>,
    pub interface: String,
    /// Its hardware address.
    pub hardware: Vec<u8>,
    /// Whether it has a mount namespace of its own.
    pub has_mounts: bool,
}
