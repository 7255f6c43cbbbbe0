//! Where ends listen and connect: the address with its zone, the port out of those that are allowed, and what speaks
//! against it in words.

use crate::plan::{HostAddress, PortRange};
use crate::transport::{Address, Spec};
use crate::{Error, Result};
use linerate_sys::link::{self, Link};
use linerate_sys::port_holder;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// What listens on ports: TCP and its kin, or UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Connections, also those of MPTCP and SMC, whose ports are TCP's.
    Tcp,
    /// Associations.
    Sctp,
    /// Datagrams.
    Udp,
}

impl Protocol {
    fn name(self) -> &'static str {
        match self {
            Protocol::Tcp => "TCP",
            Protocol::Sctp => "SCTP",
            Protocol::Udp => "UDP",
        }
    }
}

/// Of so many ports that cannot be had, each is told.
const MOST_TOLD: usize = 3;

impl Spec {
    /// This end's address, with a port of the kernel's choice.
    pub fn own_place(&self) -> Result<SocketAddr> {
        match &self.address {
            None => Ok((Ipv4Addr::LOCALHOST, 0).into()),
            // What is reached at several addresses listens at all.
            Some(_) if self.passive && !self.adapters.is_empty() => Ok((Ipv4Addr::UNSPECIFIED, 0).into()),
            Some(address) => with_scope(address),
        }
    }

    /// Binds at this end's address to the first port that can be had, by a call that is given the place.
    pub fn bind<T>(
        &self,
        protocol: Protocol,
        call: impl Fn(SocketAddr) -> linerate_sys::Result<T>,
    ) -> Result<T> {
        let own = self.own_place()?;
        match self.bind_at(own, protocol, &call) {
            // Who is reached at a translated address has it at no interface: the port is what counts.
            Err(Error::System(error)) if is_translated(&error, own.ip()) => {
                let any: IpAddr =
                    if own.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
                self.bind_at(SocketAddr::new(any, 0), protocol, &call)
            }
            bound => bound,
        }
    }

    /// The same at another place than this end's address.
    pub fn bind_at<T>(
        &self,
        own: SocketAddr,
        protocol: Protocol,
        call: impl Fn(SocketAddr) -> linerate_sys::Result<T>,
    ) -> Result<T> {
        let Some(ports) = self.ports.filter(|_| self.passive) else { return Ok(call(own)?) };
        let mut taken = Vec::new();
        for port in ports.iter() {
            let mut place = own;
            place.set_port(port);
            match call(place) {
                Err(error) if is_taken(&error) => taken.push((place, error)),
                bound => return Ok(bound?),
            }
        }
        Err(none_free(ports, protocol, &taken))
    }

    /// What the other end is told of the place where this one listens.
    pub fn announced(&self, bound: SocketAddr) -> Address {
        let translated = self.address.as_ref().filter(|_| bound.ip().is_unspecified());
        Address::Internet(translated.map_or(bound, |said| SocketAddr::new(said.ip, bound.port())))
    }

    /// The place at which a flow reaches the other end: that of the adapter whose turn it is.
    pub fn place_of(&self, flow: u32, reached: &Address) -> Address {
        match (self.adapters.get(flow as usize % self.adapters.len().max(1)), reached) {
            (Some(adapter), Address::Internet(place)) => {
                Address::Internet(SocketAddr::new(adapter.ip, place.port()))
            }
            _ => reached.clone(),
        }
    }

    /// The place that the other end told of, as it is reached from here.
    pub fn reached(&self, told: &Address) -> Result<Address> {
        match told {
            Address::Internet(SocketAddr::V6(place)) if place.ip().is_unicast_link_local() => {
                let scope = self.scope_towards(*place.ip())?;
                Ok(Address::Internet(SocketAddrV6::new(*place.ip(), place.port(), 0, scope).into()))
            }
            told => Ok(told.clone()),
        }
    }

    /// The interface through which a link-local address is reached: that of this end's own link-local address, or else
    /// the only one there is.
    fn scope_towards(&self, other: Ipv6Addr) -> Result<u32> {
        if let Some(own) = self.address.as_ref().filter(|own| own.is_link_local()) {
            return scope(own);
        }
        let is_wire = |link: &Link| link.up && link.name != "lo";
        let links = link::links()?;
        let on: Vec<&Link> =
            links.iter().filter(|link| is_wire(link) && has(link, IpAddr::is_link_local)).collect();
        match on[..] {
            [one] => Ok(one.index),
            [] => Err(Error::unavailable(
                format!("{other} is a link-local address, and no interface here has one"),
                "give addresses that both ends have: --address a=… --address b=…",
            )),
            _ => Err(Error::unavailable(
                format!(
                    "{other} is a link-local address, and it is not known on which of {} it is",
                    names(&on)
                ),
                format!("say this end's own one with its interface: --address HOST=fe80::…%{}", on[0].name),
            )),
        }
    }
}

/// A link-local address, of IPv6.
trait LinkLocal {
    fn is_link_local(&self) -> bool;
}

impl LinkLocal for IpAddr {
    fn is_link_local(&self) -> bool {
        matches!(self, IpAddr::V6(ip) if ip.is_unicast_link_local())
    }
}

/// The place with the number of its zone on this host.
fn with_scope(address: &HostAddress) -> Result<SocketAddr> {
    match address.ip {
        IpAddr::V6(ip) => Ok(SocketAddrV6::new(ip, 0, 0, scope(address)?).into()),
        IpAddr::V4(_) => Ok(SocketAddr::new(address.ip, 0)),
    }
}

/// The number of the interface of this host that has a link-local address; 0 of all others, which need none.
pub fn scope(address: &HostAddress) -> Result<u32> {
    if !address.is_link_local() {
        return Ok(0);
    }
    let links = link::links()?;
    let on: Vec<&Link> = links.iter().filter(|link| has(link, |ip| *ip == address.ip)).collect();
    let is_named = |link: &&&Link| {
        address.zone.as_ref().is_none_or(|zone| link.name == *zone || link.index.to_string() == *zone)
    };
    let named: Vec<&&Link> = on.iter().filter(is_named).collect();
    match (named[..].len(), on[..].first()) {
        (1, _) => Ok(named[0].index),
        (0, None) => Err(Error::unavailable(
            format!("no interface of this host has {address}"),
            "`ip -6 address` there shows what it has: --address HOST=fe80::…%INTERFACE",
        )),
        (0, Some(first)) => Err(Error::unavailable(
            format!("{address}: on this host it is {} that has this address", names(&on)),
            format!("the zone is an interface of the host with the address: {}%{}", address.ip, first.name),
        )),
        (_, first) => Err(Error::unavailable(
            format!("{address} is on {} of this host", names(&on)),
            format!("say which one: {}%{}", address.ip, first.map_or("eth0", |first| &first.name)),
        )),
    }
}

fn has(link: &Link, wanted: impl Fn(&IpAddr) -> bool) -> bool {
    let ip = |written: &String| written.split('/').next().and_then(|text| text.parse().ok());
    link.addresses.iter().filter_map(ip).any(|ip| wanted(&ip))
}

fn names(links: &[&Link]) -> String {
    links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>().join(" and ")
}

fn is_translated(error: &linerate_sys::Error, own: IpAddr) -> bool {
    error.source.kind() == ErrorKind::AddrNotAvailable && !own.is_link_local() && !own.is_loopback()
}

fn is_taken(error: &linerate_sys::Error) -> bool {
    matches!(error.source.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied)
}

fn none_free(ports: PortRange, protocol: Protocol, taken: &[(SocketAddr, linerate_sys::Error)]) -> Error {
    let told: Vec<String> =
        taken.iter().take(MOST_TOLD).map(|(at, error)| why(*at, protocol, error)).collect();
    let all_privileged = taken.iter().all(|(_, error)| error.source.kind() == ErrorKind::PermissionDenied);
    let hint = if all_privileged {
        "ports from 1024 on need no privilege: --ports 5201; or sysctl net.ipv4.ip_unprivileged_port_start there"
    } else {
        "end what has it, or name ports that are free: --ports FROM-TO; `ss -ltunp` there shows those in use"
    };
    let at = taken.first().map_or(String::new(), |(at, _)| format!(" of {}", at.ip()));
    let name = protocol.name();
    let what = match ports.is_single() {
        true => format!("{name} port {ports}{at}: {}", told.join("")),
        false => {
            let more = taken.len().saturating_sub(MOST_TOLD);
            let more = if more > 0 { format!(", and {more} more are taken") } else { String::new() };
            let each = taken.iter().zip(&told).map(|((at, _), why)| format!("{} {why}", at.port()));
            format!(
                "none of the {name} ports {ports}{at} is free: {}{more}",
                each.collect::<Vec<_>>().join(", ")
            )
        }
    };
    Error::unavailable(what, hint)
}

/// Why one port cannot be had.
fn why(at: SocketAddr, protocol: Protocol, error: &linerate_sys::Error) -> String {
    if error.source.kind() == ErrorKind::PermissionDenied {
        return "is privileged, and this user may not listen on it".into();
    }
    let holder = port_holder::holder_of(at, protocol == Protocol::Udp);
    match holder {
        Some(holder) => format!("is in use by {} (process {})", holder.name, holder.process),
        None => "is in use, and by what this user may not see".into(),
    }
}

/// Why a connection to a place where the other end surely listens did not come to be.
pub fn not_reached(place: &Address, protocol: Protocol, error: &linerate_sys::Error) -> Option<Error> {
    let Address::Internet(place) = place else { return None };
    if error.call != "connect" {
        return None;
    }
    refusal(*place, protocol, error.source.kind())
}

/// What a firewall does with packets, by what their sender hears of it.
pub fn refusal(place: SocketAddr, protocol: Protocol, kind: ErrorKind) -> Option<Error> {
    let what = match kind {
        ErrorKind::TimedOut => {
            "gave no answer: a firewall drops what is sent there, or the address is no way to that host"
        }
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => {
            "refuses, though linerate listens on that host: a firewall rejects what is sent there, or it is the address of another host"
        }
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
            "cannot be reached: a firewall rejects what is sent there, or there is no route"
        }
        ErrorKind::PermissionDenied => "may not be reached: a firewall of the host that connects forbids it",
        _ => return None,
    };
    let (name, port) = (protocol.name(), place.port());
    let hint = format!(
        "open {name} port {port} there, or name one that is open, as with --ports 5201; --connect lets the other host \
         connect, and --address b=ADDRESS takes another way"
    );
    Some(Error::peer(format!("{name} port {port} of {}", place.ip()), what, hint))
}
