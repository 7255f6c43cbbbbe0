//! Routes by way of a neighbour: made and removed.

use super::{ALL, Link, NEW, Netlink, ONE, REPLACE};
use crate::Result;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::Ipv4Addr;

impl Netlink {
    /// Sends what goes to an address to a neighbour of the link first.
    pub fn add_route(&mut self, link: &Link, to: Ipv4Addr, via: Ipv4Addr) -> Result<()> {
        let message = RouteNetlinkMessage::NewRoute(message(link, to, via));
        self.ask("RTM_NEWROUTE", &format!("{to} via {via}"), NEW, message).map(drop)
    }

    /// Removes every route that was made by hand, of IPv4.
    pub fn remove_static_routes(&mut self) -> Result<()> {
        let mut all = RouteMessage::default();
        all.header.address_family = AddressFamily::Inet;
        let answer = self.ask("RTM_GETROUTE", "all", ALL, RouteNetlinkMessage::GetRoute(all))?;
        for message in answer {
            let RouteNetlinkMessage::NewRoute(route) = message else { continue };
            if route.header.protocol == RouteProtocol::Static {
                self.ask("RTM_DELROUTE", "static", ONE, RouteNetlinkMessage::DelRoute(route))?;
            }
        }
        Ok(())
    }

    /// Lets connections over each unicast route of the link begin with so many segments; gives how many routes have it then.
    pub fn set_initial_window(&mut self, link: &Link, segments: u32) -> Result<usize> {
        let mut set = 0;
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut all = RouteMessage::default();
            all.header.address_family = family;
            let answer = self.ask("RTM_GETROUTE", "all", ALL, RouteNetlinkMessage::GetRoute(all))?;
            for message in answer {
                let RouteNetlinkMessage::NewRoute(mut route) = message else { continue };
                let is_of_link = route.attributes.contains(&RouteAttribute::Oif(link.index));
                let is_own = route.header.kind == RouteType::Unicast
                    && route.header.table == RouteHeader::RT_TABLE_MAIN
                    && is_of_link;
                if !is_own {
                    continue;
                }
                // What the kernel counts of a route is not taken back by it.
                route.attributes.retain(|attribute| {
                    !matches!(attribute, RouteAttribute::Metrics(_) | RouteAttribute::CacheInfo(_))
                });
                route.attributes.push(RouteAttribute::Metrics(vec![RouteMetric::InitCwnd(segments)]));
                self.ask("RTM_NEWROUTE", &link.name, REPLACE, RouteNetlinkMessage::NewRoute(route))?;
                set += 1;
            }
        }
        Ok(set)
    }

    /// Takes that back.
    pub fn remove_route(&mut self, link: &Link, to: Ipv4Addr, via: Ipv4Addr) -> Result<()> {
        let message = RouteNetlinkMessage::DelRoute(message(link, to, via));
        self.ask("RTM_DELROUTE", &format!("{to} via {via}"), ONE, message).map(drop)
    }
}

fn message(link: &Link, to: Ipv4Addr, via: Ipv4Addr) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.destination_prefix_length = 32;
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![
        RouteAttribute::Destination(RouteAddress::Inet(to)),
        RouteAttribute::Gateway(RouteAddress::Inet(via)),
        RouteAttribute::Oif(link.index),
    ];
    message
}
