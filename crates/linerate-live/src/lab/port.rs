//! The interface of a lab's host, as a process of that host sets it: for a case, and back.

use super::fault::offload;
use super::wiring::PORT;
use crate::plan::LinkSettings;
use crate::record::Granted;
use crate::vocabulary::{LINK_MTU, LINK_OFFLOAD};
use crate::{Error, Result};
use linerate_sys::ethtool::{Ethtool, OFFLOADS};
use linerate_sys::netlink::Netlink;

/// The interface on the wire of the host in which the process is, and what it was before it was set.
#[derive(Debug)]
pub struct HostPort {
    mtu: u32,
    offloads: Vec<bool>,
}

impl HostPort {
    /// The interface as it is now.
    pub fn find() -> Result<HostPort> {
        let mtu = Netlink::open()?.link(PORT)?.mtu;
        Ok(HostPort { mtu, offloads: states(&Ethtool::open()?)? })
    }

    /// Makes it what is asked for, and what it was where nothing is; tells what of it was read back.
    pub fn set(&self, wanted: &LinkSettings) -> Result<Vec<Granted>> {
        let mut netlink = Netlink::open()?;
        let link = netlink.link(PORT)?;
        let mtu = wanted.mtu.unwrap_or(self.mtu);
        if link.mtu != mtu {
            netlink.set_mtu(&link, mtu)?;
        }
        let ethtool = Ethtool::open()?;
        let offloads = wanted.offload.map_or(self.offloads.clone(), |on| vec![on; OFFLOADS.len()]);
        if states(&ethtool)? != offloads {
            for (offload, on) in OFFLOADS.iter().zip(&offloads) {
                offload::switch(&ethtool, PORT, offload, *on)?;
            }
        }
        let told = |knob: &str, asked: Option<String>, granted: String| {
            Some(Granted { knob: knob.into(), asked: Some(asked?), granted: Some(granted) })
        };
        let is_on = states(&ethtool)?.iter().all(|on| *on);
        let word = |on: bool| if on { "on" } else { "off" }.to_owned();
        let of_mtu =
            told(LINK_MTU.name, wanted.mtu.map(|mtu| mtu.to_string()), netlink.link(PORT)?.mtu.to_string());
        let of_offload = told(LINK_OFFLOAD.name, wanted.offload.map(word), word(is_on));
        Ok([of_mtu, of_offload].into_iter().flatten().collect())
    }
}

/// Whether each of the offloads is on.
fn states(ethtool: &Ethtool) -> Result<Vec<bool>> {
    let each = OFFLOADS.iter().map(|offload| ethtool.offload(PORT, offload));
    each.collect::<linerate_sys::Result<_>>().map_err(Error::from)
}
