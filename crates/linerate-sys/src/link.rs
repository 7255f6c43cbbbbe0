//! Interfaces, queueing disciplines and routes, read by netlink: of the caller's network namespace, which
//! `/sys/class/net` is not.

use crate::{Error, Result};
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkInfo, LinkMessage, LinkXdp};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteType};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcStats2};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::net::IpAddr;

/// Messages after which a dump is not read on: a router's table may have a million.
const MOST: usize = 20_000;

/// An interface; none where the kernel does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// What made it, if it is virtual: `veth`, `bridge`.
    pub kind: Option<String>,
    /// Whether it is administratively up.
    pub up: bool,
    /// Its operational state: `up`, `lowerlayerdown`.
    pub state: Option<String>,
    /// Largest packet.
    pub mtu: Option<u32>,
    /// Largest MTU that the driver allows.
    pub mtu_max: Option<u32>,
    /// The root queueing discipline.
    pub qdisc: Option<String>,
    /// Packets that the queueing discipline may hold by default.
    pub tx_queue_length: Option<u32>,
    /// Transmit queues.
    pub tx_queues: Option<u32>,
    /// Receive queues.
    pub rx_queues: Option<u32>,
    /// Largest super-packet that is sent.
    pub gso_max_size: Option<u32>,
    /// The same for IPv4, where the kernel tells them apart.
    pub gso_ipv4_max_size: Option<u32>,
    /// Segments of the largest super-packet that is sent.
    pub gso_max_segments: Option<u32>,
    /// Largest super-packet that received packets are merged to.
    pub gro_max_size: Option<u32>,
    /// The same for IPv4, where the kernel tells them apart.
    pub gro_ipv4_max_size: Option<u32>,
    /// Largest super-packet that the device can segment itself.
    pub tso_max_size: Option<u32>,
    /// Times that the carrier came or went.
    pub carrier_changes: Option<u32>,
    /// How a BPF program is attached to its receive path, if one is: `Driver`, `SocketBuffer`, `Hardware`.
    pub xdp: Option<String>,
    /// The bus that it is on: `pci`, `virtio`.
    pub bus: Option<String>,
    /// Its address there.
    pub bus_address: Option<String>,
    /// Its addresses, each with the length of its prefix.
    pub addresses: Vec<String>,
}

/// A route of the main table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// The destination with the length of its prefix; `0.0.0.0/0` is the default.
    pub destination: String,
    /// The next hop's address, if it has one.
    pub gateway: Option<String>,
    /// The index of the interface that it leaves by.
    pub interface: Option<u32>,
    /// What the route fixes for connections over it: window, initial congestion window and so on.
    pub metrics: Vec<String>,
}

/// The interfaces with their addresses, in the order of their indices.
pub fn links() -> Result<Vec<Link>> {
    let answers = dump(RouteNetlinkMessage::GetLink(LinkMessage::default()))?;
    let mut links: Vec<Link> = answers.iter().filter_map(link).collect();
    for answer in dump(RouteNetlinkMessage::GetAddress(AddressMessage::default()))? {
        let RouteNetlinkMessage::NewAddress(message) = answer else { continue };
        let owner = links.iter_mut().find(|link| link.index == message.header.index);
        if let Some((owner, address)) = owner.zip(address(&message)) {
            owner.addresses.push(address);
        }
    }
    Ok(links)
}

/// The interface that has this address; none where no interface has it.
pub fn with_address(wanted: IpAddr) -> Result<Option<Link>> {
    let has = |written: &String| {
        written.split('/').next().and_then(|text| text.parse::<IpAddr>().ok()) == Some(wanted)
    };
    Ok(links()?.into_iter().find(|link| link.addresses.iter().any(has)))
}

/// A queueing discipline, and what it has counted since it was made (`include/uapi/linux/gen_stats.h`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueingDiscipline {
    /// Its interface.
    pub index: u32,
    /// Whether it is the root of its interface; another one stands inside that and is counted by it, too.
    pub is_root: bool,
    /// What it is: `fq_codel`.
    pub kind: String,
    /// Bytes that it passed on.
    pub bytes: u64,
    /// Packets that it passed on; this counter and those below wrap at 32 bits.
    pub packets: u32,
    /// Packets that it dropped.
    pub drops: u32,
    /// Packets that the device gave back.
    pub requeues: u32,
    /// How often it held a packet for its rate or its limit.
    pub overlimits: u32,
    /// Bytes that it holds now.
    pub backlog_bytes: u32,
}

/// The queueing disciplines, the root of each interface first.
pub fn qdiscs() -> Result<Vec<QueueingDiscipline>> {
    let answers = dump(RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default()))?;
    let qdisc = |answer: &RouteNetlinkMessage| match answer {
        RouteNetlinkMessage::NewQueueDiscipline(message) => Some(qdisc(message)),
        _ => None,
    };
    Ok(answers.iter().filter_map(qdisc).filter(|qdisc| !qdisc.kind.is_empty()).collect())
}

fn qdisc(message: &TcMessage) -> QueueingDiscipline {
    let is_root = message.header.parent == TcHandle::ROOT;
    let mut qdisc = QueueingDiscipline { index: message.header.index as u32, is_root, ..Default::default() };
    for attribute in &message.attributes {
        match attribute {
            TcAttribute::Kind(kind) => qdisc.kind.clone_from(kind),
            TcAttribute::Stats2(statistics) => {
                statistics.iter().for_each(|one| add_statistics(&mut qdisc, one))
            }
            _ => {}
        }
    }
    qdisc
}

fn add_statistics(qdisc: &mut QueueingDiscipline, statistics: &TcStats2) {
    match statistics {
        TcStats2::Basic(basic) => (qdisc.bytes, qdisc.packets) = (basic.bytes, basic.packets),
        TcStats2::Queue(queue) => {
            (qdisc.drops, qdisc.requeues, qdisc.overlimits) = (queue.drops, queue.requeues, queue.overlimits);
            qdisc.backlog_bytes = queue.backlog;
        }
        _ => {}
    }
}

/// The routes to other hosts in the main tables of IPv4 and IPv6.
pub fn routes() -> Result<Vec<Route>> {
    let mut routes = Vec::new();
    for family in [AddressFamily::Inet, AddressFamily::Inet6] {
        let mut message = RouteMessage::default();
        message.header.address_family = family;
        routes.extend(dump(RouteNetlinkMessage::GetRoute(message))?.iter().filter_map(route));
    }
    Ok(routes)
}

/// Asks for all of a kind and collects what can be understood.
fn dump(request: RouteNetlinkMessage) -> Result<Vec<RouteNetlinkMessage>> {
    let object = format!("{request:?}").split('(').next().unwrap_or_default().to_owned();
    let fail = |call: &'static str| {
        let object = object.clone();
        move |source| Error::new(call, object, source)
    };
    let socket = Socket::new(NETLINK_ROUTE).map_err(fail("socket(NETLINK_ROUTE)"))?;
    socket.connect(&SocketAddr::new(0, 0)).map_err(fail("connect(NETLINK_ROUTE)"))?;
    let mut packet = NetlinkMessage::from(request);
    packet.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    packet.finalize();
    let mut bytes = vec![0; packet.buffer_len()];
    packet.serialize(&mut bytes);
    socket.send(&bytes, 0).map_err(fail("send(NETLINK_ROUTE)"))?;

    let mut answers = Vec::new();
    loop {
        let (datagram, _) = socket.recv_from_full().map_err(fail("recv(NETLINK_ROUTE)"))?;
        match collect(&datagram, &mut answers) {
            Err(errno) => return Err(fail("recv(NETLINK_ROUTE)")(std::io::Error::from_raw_os_error(errno))),
            Ok(true) => return Ok(answers),
            Ok(false) if answers.len() >= MOST => return Ok(answers),
            Ok(false) => {}
        }
    }
}

/// Adds the messages of one datagram; tells whether the dump has ended, or the kernel's refusal.
fn collect(datagram: &[u8], answers: &mut Vec<RouteNetlinkMessage>) -> std::result::Result<bool, i32> {
    const HEADER: usize = 16;
    let mut rest = datagram;
    while let Some(length) = rest.first_chunk::<4>().map(|bytes| u32::from_ne_bytes(*bytes) as usize) {
        let Some(message) = rest.get(..length).filter(|_| length >= HEADER) else { return Ok(true) };
        // A message that the crate does not understand costs that message only.
        match NetlinkMessage::<RouteNetlinkMessage>::deserialize(message).map(|message| message.payload) {
            Ok(NetlinkPayload::InnerMessage(answer)) => answers.push(answer),
            Ok(NetlinkPayload::Done(_)) => return Ok(true),
            Ok(NetlinkPayload::Error(error)) if error.raw_code() != 0 => return Err(-error.raw_code()),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(datagram.is_empty())
}

fn link(answer: &RouteNetlinkMessage) -> Option<Link> {
    let RouteNetlinkMessage::NewLink(message) = answer else { return None };
    let mut link = Link {
        index: message.header.index,
        up: message.header.flags.contains(LinkFlags::Up),
        ..Link::default()
    };
    for attribute in &message.attributes {
        take(&mut link, attribute);
    }
    Some(link).filter(|link| !link.name.is_empty())
}

/// Keeps one attribute, if it is one of those that are wanted.
fn take(link: &mut Link, attribute: &LinkAttribute) {
    match attribute {
        LinkAttribute::IfName(name) => link.name = name.clone(),
        LinkAttribute::OperState(state) => link.state = Some(state.to_string().to_lowercase()),
        LinkAttribute::Mtu(bytes) => link.mtu = Some(*bytes),
        LinkAttribute::MaxMtu(bytes) => link.mtu_max = Some(*bytes).filter(|bytes| *bytes > 0),
        LinkAttribute::Qdisc(kind) => link.qdisc = Some(kind.clone()),
        LinkAttribute::TxQueueLen(packets) => link.tx_queue_length = Some(*packets),
        LinkAttribute::NumTxQueues(queues) => link.tx_queues = Some(*queues),
        LinkAttribute::NumRxQueues(queues) => link.rx_queues = Some(*queues),
        LinkAttribute::GsoMaxSize(bytes) => link.gso_max_size = Some(*bytes),
        LinkAttribute::GsoIpv4MaxSize(bytes) => link.gso_ipv4_max_size = Some(*bytes),
        LinkAttribute::GsoMaxSegs(segments) => link.gso_max_segments = Some(*segments),
        LinkAttribute::GroMaxSize(bytes) => link.gro_max_size = Some(*bytes),
        LinkAttribute::GroIpv4MaxSize(bytes) => link.gro_ipv4_max_size = Some(*bytes),
        LinkAttribute::TsoMaxSize(bytes) => link.tso_max_size = Some(*bytes),
        LinkAttribute::CarrierChanges(times) => link.carrier_changes = Some(*times),
        LinkAttribute::ParentDevBusName(bus) => link.bus = Some(bus.clone()),
        LinkAttribute::ParentDevName(address) => link.bus_address = Some(address.clone()),
        LinkAttribute::LinkInfo(infos) => {
            link.kind = infos.iter().find_map(|info| match info {
                LinkInfo::Kind(kind) => Some(kind.to_string()),
                _ => None,
            });
        }
        LinkAttribute::Xdp(attributes) => {
            let attached = |xdp: &LinkXdp| match xdp {
                LinkXdp::Attached(how) => Some(format!("{how:?}")),
                _ => None,
            };
            link.xdp = attributes.iter().find_map(attached).filter(|how| how != "None");
        }
        _ => {}
    }
}

/// The interface's own address: of a point-to-point interface, `IFA_ADDRESS` would be the peer's.
fn address(message: &AddressMessage) -> Option<String> {
    let local = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(address) => Some(address),
        _ => None,
    });
    let any = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Address(address) => Some(address),
        _ => None,
    });
    Some(format!("{}/{}", local.or(any)?, message.header.prefix_len))
}

fn route(answer: &RouteNetlinkMessage) -> Option<Route> {
    let RouteNetlinkMessage::NewRoute(message) = answer else { return None };
    let header = &message.header;
    if header.table != RouteHeader::RT_TABLE_MAIN || header.kind != RouteType::Unicast {
        return None;
    }
    let everything = if header.address_family == AddressFamily::Inet6 { "::" } else { "0.0.0.0" };
    let mut route = Route::default();
    let mut destination = everything.to_owned();
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Destination(address) => destination = text(address),
            RouteAttribute::Gateway(address) => route.gateway = Some(text(address)),
            RouteAttribute::Oif(index) => route.interface = Some(*index),
            RouteAttribute::Metrics(metrics) => {
                route.metrics = metrics.iter().map(|metric| format!("{metric:?}")).collect();
            }
            _ => {}
        }
    }
    route.destination = format!("{destination}/{}", header.destination_prefix_length);
    Some(route)
}

fn text(address: &RouteAddress) -> String {
    match address {
        RouteAddress::Inet(address) => address.to_string(),
        RouteAddress::Inet6(address) => address.to_string(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_found_with_its_facts() {
        let links = links().unwrap();
        let lo = links.iter().find(|link| link.name == "lo").unwrap();
        assert_eq!(lo.index, 1);
        assert!(lo.mtu.is_some() && lo.qdisc.is_some() && lo.gso_max_size.is_some(), "{lo:?}");
        if lo.up {
            assert!(lo.addresses.iter().any(|address| address == "127.0.0.1/8"), "{lo:?}");
        }
    }

    #[test]
    fn routes_and_qdiscs_belong_to_interfaces() {
        let known: Vec<u32> = links().unwrap().iter().map(|link| link.index).collect();
        assert!(qdiscs().unwrap().iter().all(|one| known.contains(&one.index) && !one.kind.is_empty()));
        for route in routes().unwrap() {
            assert!(route.interface.is_none_or(|index| known.contains(&index)), "{route:?}");
            assert!(route.destination.contains('/'), "{route:?}");
        }
    }

    #[test]
    fn garbage_ends_a_dump_without_a_message() {
        for garbage in [&[][..], &[0; 64], &[255; 64], &[20, 0, 0, 0, 16, 0]] {
            let mut answers = Vec::new();
            assert_eq!(collect(garbage, &mut answers), Ok(true));
            assert!(answers.is_empty());
        }
        assert_eq!(collect(&[1, 2], &mut Vec::new()), Ok(false));
    }
}
