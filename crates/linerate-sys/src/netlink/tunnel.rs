//! Tunnels: Ethernet frames in UDP.

use super::{Link, NEW, Netlink};
use crate::Result;
use netlink_packet_route::link::{InfoData, InfoKind, InfoVxlan, LinkAttribute, LinkInfo, LinkMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::Ipv4Addr;

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
}
