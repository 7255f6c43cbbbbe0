//! A tunnel that a host reaches the others through: its addresses move from the wire into a VXLAN over it.

use crate::lab::site::Site;
use crate::lab::wiring::{LEAST_MTU6, PREFIX, PREFIX6};
use crate::{Error, Result};
use linerate_sys::netlink::Netlink;
use std::net::{IpAddr, Ipv4Addr};

/// The interface of the tunnel.
const TUNNEL: &str = "tunnel0";

/// The other half of what RFC 2544 sets aside: what a host is called on the wire below, where the lab's addresses are in the tunnel.
const BELOW: u32 = 1 << 16;

/// Headers of Ethernet, VXLAN, UDP and IPv4 (RFC 7348, section 5).
const HEADERS: u32 = 50;

/// Lays this host's end. Every host has one, and all of them call each other by the same rule, so none has to ask.
pub(super) fn lay(site: &Site) -> Result<String> {
    let refused =
        |why: String| Error::unavailable(format!("a tunnel over {}: {why}", site.interface), "leave it out");
    let IpAddr::V4(own) = site.address else { return Err(refused("it has no IPv4".into())) };
    let mut netlink = Netlink::open()?;
    let link = netlink.link(&site.interface)?;
    if site.address6.is_some() && link.mtu < LEAST_MTU6 + HEADERS {
        return Err(refused(format!(
            "IPv6 needs an MTU of {LEAST_MTU6}: give the lab one of {}",
            LEAST_MTU6 + HEADERS
        )));
    }
    let others = netlink.permanent_neighbours(&link)?;
    netlink
        .add_vxlan(TUNNEL, &link, below(own), &hardware(site.address))
        .map_err(|error| refused(format!("this kernel makes none: {}", error.source)))?;
    let tunnel = netlink.link(TUNNEL)?;
    netlink.set_no_automatic_ipv6(&tunnel)?;
    netlink.set_no_resolution(&tunnel)?;
    // A packet socket cannot say of a super-packet that it is in a tunnel (struct virtio_net_hdr), and the kernel drops it there: the
    // stack makes single packets before the wire, as for an adapter that knows no tunnels.
    netlink.set_single_segments(&link)?;
    netlink.add_address(&link, below(own).into(), PREFIX)?;
    for (address, prefix) in [(Some(site.address), PREFIX), (site.address6, PREFIX6)] {
        if let Some(address) = address {
            netlink.remove_address(&link, address, prefix)?;
            netlink.add_address(&tunnel, address, prefix)?;
        }
    }
    netlink.set_up(&tunnel)?;
    for (address, wired) in others {
        netlink.add_neighbour(&tunnel, address, &hardware(address))?;
        if let IpAddr::V4(address) = address {
            netlink.add_neighbour(&link, below(address).into(), &wired)?;
            netlink.add_forwarding(&tunnel, &hardware(address.into()), below(address))?;
        }
    }
    Ok(format!("{TUNNEL} over {}, MTU {}", site.interface, netlink.link(TUNNEL)?.mtu))
}

/// What a host is called on the wire.
fn below(address: Ipv4Addr) -> Ipv4Addr {
    Ipv4Addr::from_bits(address.to_bits() ^ BELOW)
}

/// The hardware address of a host's end, which follows from its number, as its addresses do: a local one (IEEE 802, bit 2).
fn hardware(address: IpAddr) -> [u8; 6] {
    let number = match address {
        IpAddr::V4(v4) => v4.octets()[3],
        IpAddr::V6(v6) => v6.octets()[15],
    };
    [0x02, 0, 0, 0, 0, number]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_end_by_each_of_its_addresses() {
        let [v4, v6] = ["198.18.0.7", "fd6c:696e:6572:6174::7"].map(|text| text.parse::<IpAddr>().unwrap());
        assert_eq!(hardware(v4), hardware(v6));
        assert_eq!(below(Ipv4Addr::new(198, 18, 0, 7)), Ipv4Addr::new(198, 19, 0, 7));
    }
}
