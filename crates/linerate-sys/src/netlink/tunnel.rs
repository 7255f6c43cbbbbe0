//! Tunnels: Ethernet frames in UDP.

use super::link::family_of;
use super::{ALL, Link, NEW, Netlink, ONE};
use crate::Result;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{InfoData, InfoKind, InfoVxlan, LinkAttribute, LinkInfo, LinkMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::{IpAddr, Ipv4Addr};

/// The port of VXLAN (RFC 7348, section 5).
const PORT: u16 = 4789;

/// The only network in it.
const NETWORK: u32 = 1;

impl Netlink {
    /// Makes an end of a VXLAN (RFC 7348) over `link`, from that address of the link. It learns no addresses: where frames go is
    /// what [`add_forwarding`](Self::add_forwarding) says. Its MTU is 50 bytes below the link's.
    pub fn add_vxlan(&mut self, name: &str, link: &Link, local: Ipv4Addr, hardware: &[u8]) -> Result<()> {
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.into()),
            LinkAttribute::Address(hardware.to_vec()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Vxlan),
                LinkInfo::Data(InfoData::Vxlan(vec![
                    InfoVxlan::Id(NETWORK),
                    InfoVxlan::Link(link.index),
                    InfoVxlan::Local(local),
                    InfoVxlan::Port(PORT),
                    InfoVxlan::Learning(false),
                ])),
            ]),
        ];
        self.new_link(&format!("vxlan {name}"), message)
    }

    /// Sends frames for that hardware address to the tunnel's end at this one.
    pub fn add_forwarding(&mut self, tunnel: &Link, hardware: &[u8], to: Ipv4Addr) -> Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Bridge;
        message.header.ifindex = tunnel.index;
        message.header.state = NeighbourState::Permanent;
        message.header.flags = NeighbourFlags::Own;
        message.attributes = vec![
            NeighbourAttribute::LinkLayerAddress(hardware.to_vec()),
            NeighbourAttribute::Destination(NeighbourAddress::Inet(to)),
        ];
        let object = format!("{} {to}", tunnel.name);
        self.ask("RTM_NEWNEIGH", &object, NEW, RouteNetlinkMessage::NewNeighbour(message)).map(drop)
    }

    /// The neighbours of a link that were said for ever, with their hardware addresses.
    pub fn permanent_neighbours(&mut self, link: &Link) -> Result<Vec<(IpAddr, Vec<u8>)>> {
        let message = RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default());
        let answer = self.ask("RTM_GETNEIGH", &link.name, ALL, message)?;
        let of_link = |message| {
            let RouteNetlinkMessage::NewNeighbour(found) = message else { return None };
            let is_its =
                found.header.ifindex == link.index && found.header.state == NeighbourState::Permanent;
            let mut address = None;
            let mut hardware = None;
            for attribute in found.attributes.into_iter().filter(|_| is_its) {
                match attribute {
                    NeighbourAttribute::Destination(NeighbourAddress::Inet(v4)) => address = Some(v4.into()),
                    NeighbourAttribute::Destination(NeighbourAddress::Inet6(v6)) => {
                        address = Some(v6.into());
                    }
                    NeighbourAttribute::LinkLayerAddress(bytes) => hardware = Some(bytes),
                    _ => {}
                }
            }
            Some((address?, hardware?))
        };
        Ok(answer.into_iter().filter_map(of_link).collect())
    }

    /// Takes an address from a link, and the route to its network with it.
    pub fn remove_address(&mut self, link: &Link, address: IpAddr, prefix: u8) -> Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family_of(address);
        message.header.prefix_len = prefix;
        message.header.index = link.index;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        let object = format!("{} {address}/{prefix}", link.name);
        self.ask("RTM_DELADDR", &object, ONE, RouteNetlinkMessage::DelAddress(message)).map(drop)
    }
}
