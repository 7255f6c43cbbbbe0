//! The hosts of a plan, as the arguments have them.

use super::args::Hosts;
use crate::plan::{HostAddress, HostId, PlannedHost};
use crate::{Error, Result};

/// A ladder stands between two hosts.
pub fn two_hosts(args: &Hosts) -> Result<Vec<PlannedHost>> {
    first_hosts(args, 2)
}

/// So many hosts. Where one was given both kinds of address, its peer sends to the IPv4 one: IPv6 has rungs of its own.
pub fn first_hosts(args: &Hosts, count: u32) -> Result<Vec<PlannedHost>> {
    let all = args.target.hosts();
    if let Some((id, address)) = args.reach.addresses.iter().find(|(id, _)| u32::from(id.0) >= all) {
        let what = format!("--address {id}={address}: there is no host {id}");
        let last = PlannedHost::first(all).pop().map_or(String::new(), |host| host.id.to_string());
        return Err(Error::usage(what, format!("the hosts are a to {last}, in the order of the target")));
    }
    let mut hosts = PlannedHost::first(count);
    for host in &mut hosts {
        let given = args.reach.addresses.iter().filter(|(id, _)| *id == host.id).map(|(_, address)| address);
        let (v6, v4): (Vec<&HostAddress>, Vec<&HostAddress>) = given.partition(|address| address.is_ipv6());
        let [v4, v6] = [("IPv4", v4), ("IPv6", v6)].map(|(family, all)| only(host.id, family, &all));
        let (v4, v6) = (v4?, v6?);
        host.address = v4.or_else(|| v6.clone());
        host.address6 = v6;
        host.ports = args.reach.ports;
        host.listens = args.reach.connect == Some(host.id);
    }
    Ok(hosts)
}

/// The one address of a family: a rung goes to one.
fn only(host: HostId, family: &str, all: &[&HostAddress]) -> Result<Option<HostAddress>> {
    match all.iter().find(|address| **address != all[0]) {
        Some(other) => Err(Error::usage(
            format!("host {host} is given two {family} addresses: {} and {other}", all[0]),
            "give one of IPv4 and one of IPv6; measure each network in a run of its own, and compare the reports",
        )),
        None => Ok(all.first().map(|address| (*address).clone())),
    }
}
