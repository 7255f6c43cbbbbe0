//! Network interfaces: made, changed and read.

use super::{ALL, NEW, Netlink, ONE};
use crate::{Error, Result};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, In6AddrGenMode, InfoBridge, InfoData, InfoKind, InfoVeth, LinkAttribute,
    LinkFlags, LinkInfo, LinkMessage, State, Stats64,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

/// One end of a virtual cable that is to be made.
pub struct Port<'n> {
    /// The interface's name.
    pub name: &'n str,
    /// Where it appears: a network namespace.
    pub namespace: BorrowedFd<'n>,
}

/// What the kernel says about an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Its number in its namespace.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its hardware address.
    pub hardware_address: Vec<u8>,
    /// The largest packet, without the link's own header.
    pub mtu: u32,
    /// Whether it is switched on (`IFF_UP`).
    pub up: bool,
    /// Its state by RFC 2863, as sysfs spells it: `up`, `down`, `unknown`, `lowerlayerdown`.
    pub state: String,
    /// The root queueing discipline.
    pub qdisc: String,
    /// The largest super-packet that the stack hands to it.
    pub gso_max_bytes: Option<u32>,
    /// The most segments of a super-packet that the stack hands to it.
    pub gso_max_segments: Option<u32>,
    /// The largest super-packet that it may put together on receipt.
    pub gro_max_bytes: Option<u32>,
    /// Whether the kernel gives it an IPv6 address of its own accord; none without IPv6.
    pub ipv6_automatic: Option<bool>,
    /// What it has carried.
    pub counters: Counters,
}

/// What an interface has carried since it was made. A super-packet counts as one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets received damaged.
    pub rx_errors: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
    /// Packets dropped on receipt.
    pub rx_dropped: u64,
    /// Packets dropped before they were sent.
    pub tx_dropped: u64,
    /// Packets that the receiver had no room for.
    pub rx_missed: u64,
}

impl Netlink {
    /// Makes a virtual cable with an end in each of two namespaces, each with an MTU of its own.
    pub fn add_cable(&mut self, near: &Port<'_>, far: &Port<'_>, mtus: [u32; 2]) -> Result<()> {
        let [near_mtu, far_mtu] = mtus;
        let mut peer = LinkMessage::default();
        peer.attributes = end_of_cable(far, far_mtu);
        let mut message = LinkMessage::default();
        message.attributes = end_of_cable(near, near_mtu);
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        self.new_link(&format!("veth {}", near.name), message)
    }

    /// Makes a bridge: a switch that sends nothing of its own accord. It has no spanning tree, and no
    /// multicast snooping, for which it would report itself to every port. Its MTU follows the smallest
    /// of its ports.
    pub fn add_bridge(&mut self, name: &str) -> Result<()> {
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.into()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Bridge),
                LinkInfo::Data(InfoData::Bridge(vec![InfoBridge::MulticastSnooping(false)])),
            ]),
        ];
        self.new_link(&format!("bridge {name}"), message)
    }

    /// Makes `link` a port of `bridge`.
    pub fn enslave(&mut self, link: &Link, bridge: &Link) -> Result<()> {
        self.set_link(link, vec![LinkAttribute::Controller(bridge.index)], LinkFlags::empty())
    }

    /// Changes the largest packet.
    pub fn set_mtu(&mut self, link: &Link, mtu: u32) -> Result<()> {
        self.set_link(link, vec![LinkAttribute::Mtu(mtu)], LinkFlags::empty())
    }

    /// Makes the stack hand it packets alone, and no super-packets of several segments.
    pub fn set_single_segments(&mut self, link: &Link) -> Result<()> {
        self.set_link(link, vec![LinkAttribute::GsoMaxSegs(1)], LinkFlags::empty())
    }

    /// Switches it on.
    pub fn set_up(&mut self, link: &Link) -> Result<()> {
        self.set_link(link, Vec::new(), LinkFlags::Up)
    }

    /// Keeps the kernel from giving it an IPv6 address, and so from sending neighbour and listener
    /// messages of its own accord. A kernel without IPv6 has nothing to switch off.
    pub fn set_no_automatic_ipv6(&mut self, link: &Link) -> Result<()> {
        let mode = AfSpecInet6::AddrGenMode(In6AddrGenMode::None);
        let attribute = LinkAttribute::AfSpecUnspec(vec![AfSpecUnspec::Inet6(vec![mode])]);
        match self.set_link(link, vec![attribute], LinkFlags::empty()) {
            Err(error) if is_without_ipv6(&error) => Ok(()),
            result => result,
        }
    }

    /// Keeps it from asking who has which address, and from answering: neighbours are then those of
    /// [`add_neighbour`](Self::add_neighbour). It joins no group of listeners for IPv6 either, of which it
    /// would tell others.
    pub fn set_no_resolution(&mut self, link: &Link) -> Result<()> {
        self.set_link(link, Vec::new(), LinkFlags::Noarp)
    }

    /// Says for ever which hardware address has this one.
    pub fn add_neighbour(&mut self, link: &Link, address: IpAddr, hardware: &[u8]) -> Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = family_of(address);
        message.header.ifindex = link.index;
        message.header.state = NeighbourState::Permanent;
        let destination = match address {
            IpAddr::V4(v4) => NeighbourAddress::Inet(v4),
            IpAddr::V6(v6) => NeighbourAddress::Inet6(v6),
        };
        message.attributes = vec![
            NeighbourAttribute::Destination(destination),
            NeighbourAttribute::LinkLayerAddress(hardware.to_vec()),
        ];
        let object = format!("{} {address}", link.name);
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

    /// Gives it an address and the route to the network of `prefix` bits around it. An IPv6 address is
    /// used at once, without asking whether somebody else has it.
    pub fn add_address(&mut self, link: &Link, address: IpAddr, prefix: u8) -> Result<()> {
        let mut message = address_message(link, address, prefix);
        if let (IpAddr::V4(v4), 1..=30) = (address, prefix) {
            let broadcast = Ipv4Addr::from_bits(v4.to_bits() | u32::MAX >> prefix);
            message.attributes.push(AddressAttribute::Broadcast(broadcast));
        }
        if address.is_ipv6() {
            message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
        }
        let object = format!("{} {address}/{prefix}", link.name);
        self.ask("RTM_NEWADDR", &object, NEW, RouteNetlinkMessage::NewAddress(message)).map(drop)
    }

    /// Takes an address from it, and the route to its network with it.
    pub fn remove_address(&mut self, link: &Link, address: IpAddr, prefix: u8) -> Result<()> {
        let message = address_message(link, address, prefix);
        let object = format!("{} {address}/{prefix}", link.name);
        self.ask("RTM_DELADDR", &object, ONE, RouteNetlinkMessage::DelAddress(message)).map(drop)
    }

    /// Gives it an IPv6 address; false where the kernel has no IPv6 or has it switched off.
    pub fn add_address_if_possible(&mut self, link: &Link, address: IpAddr, prefix: u8) -> Result<bool> {
        match self.add_address(link, address, prefix) {
            Err(error) if is_without_ipv6(&error) => Ok(false),
            result => result.map(|()| true),
        }
    }

    /// Every interface of the namespace.
    pub fn links(&mut self) -> Result<Vec<Link>> {
        let message = RouteNetlinkMessage::GetLink(LinkMessage::default());
        Ok(self.ask("RTM_GETLINK", "all", ALL, message)?.into_iter().filter_map(parse_link).collect())
    }

    /// The interface with this name.
    pub fn link(&mut self, name: &str) -> Result<Link> {
        let mut message = LinkMessage::default();
        message.attributes = vec![LinkAttribute::IfName(name.into())];
        let answer = self.ask("RTM_GETLINK", name, ONE, RouteNetlinkMessage::GetLink(message))?;
        let missing = || Error::new("RTM_GETLINK", name, io::ErrorKind::NotFound);
        answer.into_iter().find_map(parse_link).ok_or_else(missing)
    }

    pub(super) fn new_link(&mut self, object: &str, message: LinkMessage) -> Result<()> {
        self.ask("RTM_NEWLINK", object, NEW, RouteNetlinkMessage::NewLink(message)).map(drop)
    }

    fn set_link(&mut self, link: &Link, attributes: Vec<LinkAttribute>, flags: LinkFlags) -> Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = link.index;
        message.header.flags = flags;
        message.header.change_mask = flags;
        message.attributes = attributes;
        self.ask("RTM_SETLINK", &link.name, ONE, RouteNetlinkMessage::SetLink(message)).map(drop)
    }
}

fn end_of_cable(port: &Port<'_>, mtu: u32) -> Vec<LinkAttribute> {
    vec![
        LinkAttribute::IfName(port.name.into()),
        LinkAttribute::Mtu(mtu),
        LinkAttribute::NetNsFd(port.namespace.as_raw_fd()),
    ]
}

/// Whether the kernel has no IPv6, or none here: EACCES is its word for `disable_ipv6` (addrconf.c).
fn is_without_ipv6(error: &Error) -> bool {
    let without = [libc::EAFNOSUPPORT, libc::EOPNOTSUPP, libc::EACCES];
    without.map(Some).contains(&error.source.raw_os_error())
}

fn address_message(link: &Link, address: IpAddr, prefix: u8) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family_of(address);
    message.header.prefix_len = prefix;
    message.header.index = link.index;
    message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
    message
}

fn family_of(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// The link in a message, if there is one.
fn parse_link(message: RouteNetlinkMessage) -> Option<Link> {
    let RouteNetlinkMessage::NewLink(message) = message else { return None };
    let mut link = Link {
        index: message.header.index,
        up: message.header.flags.contains(LinkFlags::Up),
        state: spelt(State::Unknown),
        ..Link::default()
    };
    for attribute in message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name = name,
            LinkAttribute::Mtu(mtu) => link.mtu = mtu,
            LinkAttribute::Address(address) => link.hardware_address = address,
            LinkAttribute::OperState(state) => link.state = spelt(state),
            LinkAttribute::Qdisc(qdisc) => link.qdisc = qdisc,
            LinkAttribute::GsoMaxSize(bytes) => link.gso_max_bytes = Some(bytes),
            LinkAttribute::GsoMaxSegs(segments) => link.gso_max_segments = Some(segments),
            LinkAttribute::GroMaxSize(bytes) => link.gro_max_bytes = Some(bytes),
            LinkAttribute::AfSpecUnspec(families) => link.ipv6_automatic = ipv6_automatic(&families),
            LinkAttribute::Stats64(stats) => link.counters = counters(&stats),
            _ => {}
        }
    }
    Some(link)
}

fn spelt(state: State) -> String {
    state.to_string().to_lowercase()
}

fn ipv6_automatic(families: &[AfSpecUnspec]) -> Option<bool> {
    families.iter().find_map(|family| match family {
        AfSpecUnspec::Inet6(facts) => facts.iter().find_map(|fact| match fact {
            AfSpecInet6::AddrGenMode(mode) => Some(*mode != In6AddrGenMode::None),
            _ => None,
        }),
        _ => None,
    })
}

fn counters(stats: &Stats64) -> Counters {
    Counters {
        rx_bytes: stats.rx_bytes,
        tx_bytes: stats.tx_bytes,
        rx_packets: stats.rx_packets,
        tx_packets: stats.tx_packets,
        rx_errors: stats.rx_errors,
        tx_errors: stats.tx_errors,
        rx_dropped: stats.rx_dropped,
        tx_dropped: stats.tx_dropped,
        rx_missed: stats.rx_missed_errors,
    }
}
