//! The interfaces of a lab's host, as a process of that host sets them: for a case, and back.

use super::fault::offload;
use super::wiring::{PORT, port_of};
use crate::Result;
use crate::plan::LinkSettings;
use crate::record::Granted;
use crate::vocabulary::{LINK_MTU, LINK_OFFLOAD};
use linerate_sys::ethtool::{Ethtool, OFFLOADS};
use linerate_sys::netlink::Netlink;

/// The interfaces on the wire of the host in which the process is, one an adapter, and what each was before it was set.
#[derive(Debug)]
pub struct HostPort {
    ports: Vec<Port>,
}

/// One of them.
#[derive(Debug)]
struct Port {
    name: String,
    mtu: u32,
    offloads: Vec<bool>,
}

impl HostPort {
    /// The interfaces as they are now.
    pub fn find() -> Result<HostPort> {
        let (mut netlink, ethtool) = (Netlink::open()?, Ethtool::open()?);
        let mut ports = vec![Port::read(PORT.into(), &mut netlink, &ethtool)?];
        while let Ok(next) = Port::read(port_of(ports.len() as u32), &mut netlink, &ethtool) {
            ports.push(next);
        }
        Ok(HostPort { ports })
    }

    /// Makes them what is asked for, and what they were where nothing is; tells what of it was read back.
    pub fn set(&self, wanted: &LinkSettings) -> Result<Vec<Granted>> {
        let (mut netlink, ethtool) = (Netlink::open()?, Ethtool::open()?);
        for port in &self.ports {
            port.set(wanted, &mut netlink, &ethtool)?;
        }
        let read = |port: &Port| Port::read(port.name.clone(), &mut netlink, &ethtool);
        let now: Vec<Port> = self.ports.iter().map(read).collect::<Result<_>>()?;
        let told = |knob: &str, asked: Option<String>, granted: String| {
            Some(Granted { knob: knob.into(), asked: Some(asked?), granted: Some(granted) })
        };
        let is_on = now.iter().all(|port| port.offloads.iter().all(|on| *on));
        let mtu = now.iter().map(|port| port.mtu).min().unwrap_or(0);
        let word = |on: bool| if on { "on" } else { "off" }.to_owned();
        let of_mtu = told(LINK_MTU.name, wanted.mtu.map(|mtu| mtu.to_string()), mtu.to_string());
        let of_offload = told(LINK_OFFLOAD.name, wanted.offload.map(word), word(is_on));
        Ok([of_mtu, of_offload].into_iter().flatten().collect())
    }
}

impl Port {
    fn read(name: String, netlink: &mut Netlink, ethtool: &Ethtool) -> Result<Port> {
        let mtu = netlink.link(&name)?.mtu;
        let each = OFFLOADS.iter().map(|offload| ethtool.offload(&name, offload));
        let offloads = each.collect::<linerate_sys::Result<_>>()?;
        Ok(Port { name, mtu, offloads })
    }

    fn set(&self, wanted: &LinkSettings, netlink: &mut Netlink, ethtool: &Ethtool) -> Result<()> {
        let now = Port::read(self.name.clone(), netlink, ethtool)?;
        let mtu = wanted.mtu.unwrap_or(self.mtu);
        if now.mtu != mtu {
            let link = netlink.link(&self.name)?;
            netlink.set_mtu(&link, mtu)?;
        }
        let offloads = wanted.offload.map_or(self.offloads.clone(), |on| vec![on; OFFLOADS.len()]);
        if now.offloads != offloads {
            for (offload, on) in OFFLOADS.iter().zip(&offloads) {
                offload::switch(ethtool, &self.name, offload, *on)?;
            }
        }
        Ok(())
    }
}
