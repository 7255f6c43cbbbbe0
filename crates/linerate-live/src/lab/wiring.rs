//! The wires between the hosts: one cable between two, a cable each to a bridge for more.

use super::netem;
use super::new_namespace::NewNamespace;
use super::site::Site;
pub(super) use crate::plan::host_name as name_of;
use crate::plan::{Carrier, Topology};
use crate::unit::BitRate;
use linerate_sys::netlink::{Link, Netlink, Port, Qdisc, TokenBucket};
use linerate_sys::{Error, Result};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Every host's first interface on the wire.
pub(super) const PORT: &str = "wire0";

/// The interface of an adapter, of which the first is 0.
pub(super) fn port_of(adapter: u32) -> String {
    format!("wire{adapter}")
}

/// The MTU of the ports in the middle: hosts alone say how large a packet may be, and may change it. A host takes none
/// that is larger than its own.
const MTU_OF_SWITCH: u32 = 65_535;

/// The bridge's name, in its own namespace.
const BRIDGE: &str = "bridge0";

/// RFC 2544 sets 198.18.0.0/15 aside for benchmarks: it collides with nobody's network.
const NETWORK: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);
pub(super) const PREFIX: u8 = 24;

/// A network of unique local addresses (RFC 4193), which no router forwards.
const NETWORK6: Ipv6Addr = Ipv6Addr::new(0xfd6c, 0x696e, 0x6572, 0x6174, 0, 0, 0, 0);
pub(super) const PREFIX6: u8 = 64;

/// IPv6 does not run over ports with a smaller MTU (RFC 8200, section 5).
pub(super) const LEAST_MTU6: u32 = 1280;

/// A bucket holds at least this much, so that a super-packet of 64 KiB never has to be cut up, and at
/// least what passes in this time, so that a timer that fires late loses no rate.
const SMALLEST_BURST: f64 = (256 << 10) as f64;
const BURST_SECONDS: f64 = 0.002;

/// How long a packet may wait for tokens before the queue is full.
const QUEUE_SECONDS: f64 = 0.050;

/// Wires are up within milliseconds; this bounds the wait for one that never will be.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_micros(100);

/// The host with this number and so many adapters, as others see it.
pub(super) fn site(number: u32, adapters: u32) -> Site {
    let at = |adapter: u32| {
        IpAddr::V4(Ipv4Addr::from_bits(NETWORK.to_bits() + (adapter << (32 - PREFIX)) + number + 1))
    };
    let (address, further) = (at(0), (1..adapters).map(at).collect());
    let address6 = IpAddr::V6(Ipv6Addr::from_bits(NETWORK6.to_bits() + u128::from(number) + 1));
    let interface = PORT.into();
    let (name, hardware) = (name_of(number), Vec::new());
    Site { name, address, address6: Some(address6), further, interface, hardware, has_mounts: false }
}

/// The bucket for a rate.
pub(super) fn token_bucket(rate: BitRate) -> TokenBucket {
    let bytes_per_s = (rate.0 / 8.0).round();
    let burst = (bytes_per_s * BURST_SECONDS).max(SMALLEST_BURST);
    TokenBucket {
        bytes_per_s: bytes_per_s as u64,
        burst_bytes: burst as u32,
        limit_bytes: (burst + bytes_per_s * QUEUE_SECONDS) as u32,
    }
}

/// Wires the hosts, and waits until packets pass. Returns the hosts as others see them, and the bridge's
/// ground, if one was needed.
pub(super) fn wire(
    topology: &Topology,
    adapters: u32,
    hosts: &mut [NewNamespace],
) -> Result<(Vec<Site>, Option<NewNamespace>)> {
    let mut switch = None;
    match hosts {
        [a, b] if topology.carrier() != Carrier::User => {
            for port in (0..adapters).map(port_of) {
                lay_cable((a, &port), (b, &port), [topology.mtu; 2])?;
            }
        }
        _ => switch = Some(switch_with_cables(topology, adapters, hosts)?),
    }
    let mut sites: Vec<Site> = (0..topology.hosts).map(|number| site(number, adapters)).collect();
    for (site, host) in sites.iter_mut().zip(hosts.iter_mut()) {
        (0..adapters).try_for_each(|adapter| configure(host, site, adapter, topology))?;
    }
    for adapter in 0..adapters {
        for host in hosts.iter_mut() {
            await_carrier(&mut host.netlink, &port_of(adapter))?;
        }
        introduce(&sites, adapter, hosts)?;
    }
    if let Some(switch) = &mut switch {
        for (number, adapter) in ports_in_the_middle(topology.hosts, adapters) {
            await_carrier(&mut switch.netlink, &port_in_the_middle(number, adapter))?;
        }
        if topology.carrier() != Carrier::User {
            await_carrier(&mut switch.netlink, BRIDGE)?;
        }
    }
    Ok((sites, switch))
}

fn lay_cable(near: (&mut NewNamespace, &str), far: (&NewNamespace, &str), mtus: [u32; 2]) -> Result<()> {
    let (near, near_name) = near;
    let (far, far_name) = far;
    let near_port = Port { name: near_name, namespace: near.network.as_fd() };
    let far_port = Port { name: far_name, namespace: far.network.as_fd() };
    near.netlink.add_cable(&near_port, &far_port, mtus)
}

/// The adapters of all hosts, each by its host's number and its own.
fn ports_in_the_middle(hosts: u32, adapters: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..hosts).flat_map(move |number| (0..adapters).map(move |adapter| (number, adapter)))
}

/// The port in the middle is named as the host, and for a further adapter with its number.
fn port_in_the_middle(number: u32, adapter: u32) -> String {
    let name = name_of(number);
    if adapter == 0 { name } else { format!("{name}.{adapter}") }
}

/// A place in the middle with a port for each adapter of each host. A bridge joins the ports, unless the program's own
/// wire is to.
fn switch_with_cables(
    topology: &Topology,
    adapters: u32,
    hosts: &mut [NewNamespace],
) -> Result<NewNamespace> {
    let mut switch = NewNamespace::new("switch")?;
    let bridge = (topology.carrier() != Carrier::User).then(|| add_bridge(&mut switch)).transpose()?;
    for (number, adapter) in ports_in_the_middle(topology.hosts, adapters) {
        let (host, name) = (&mut hosts[number as usize], port_in_the_middle(number, adapter));
        lay_cable((host, &port_of(adapter)), (&switch, &name), [topology.mtu, MTU_OF_SWITCH])?;
        let port = quiet(&mut switch.netlink, &name)?;
        if let Some(bridge) = &bridge {
            switch.netlink.enslave(&port, bridge)?;
        }
        if let Some(netem) = netem::at_switch(topology).filter(|_| topology.carrier() == Carrier::Netem) {
            switch.netlink.add_qdisc(&port, &Qdisc::Netem(netem))?;
        }
        // What a host receives at, where that is not what the others send at.
        let own = topology.ports.iter().find(|own| own.host == name_of(number) && !own.sends);
        if let Some(own) = own.filter(|_| topology.carrier() == Carrier::TokenBucket) {
            switch.netlink.add_qdisc(&port, &Qdisc::TokenBucket(token_bucket(own.rate)))?;
        }
        switch.netlink.set_up(&port)?;
    }
    if let Some(bridge) = &bridge {
        switch.netlink.set_up(bridge)?;
    }
    Ok(switch)
}

fn add_bridge(switch: &mut NewNamespace) -> Result<Link> {
    switch.netlink.add_bridge(BRIDGE)?;
    quiet(&mut switch.netlink, BRIDGE)
}

/// A host's own end at an adapter: addresses, rate, up. IPv6 is at the first one alone.
fn configure(host: &mut NewNamespace, site: &mut Site, adapter: u32, topology: &Topology) -> Result<()> {
    let port = port_of(adapter);
    let link = quiet(&mut host.netlink, &port)?;
    if link.mtu != topology.mtu {
        let what = format!("{port}: MTU {} instead of {}", link.mtu, topology.mtu);
        return Err(Error::new("RTM_NEWLINK", what, ErrorKind::InvalidInput));
    }
    // Before it has an address, for which it would join a group and report that.
    host.netlink.set_no_resolution(&link)?;
    host.netlink.add_address(&link, site.at(adapter), PREFIX)?;
    if adapter > 0 {
        shape(host, &link, site, topology)?;
        return host.netlink.set_up(&link);
    }
    site.address6 = site.address6.filter(|_| topology.mtu >= LEAST_MTU6);
    if let Some(address) = site.address6
        && !host.netlink.add_address_if_possible(&link, address, PREFIX6)?
    {
        site.address6 = None;
    }
    site.hardware = link.hardware_address.clone();
    shape(host, &link, site, topology)?;
    host.netlink.set_up(&link)
}

/// What the kernel does to packets that leave a host.
fn shape(host: &mut NewNamespace, link: &Link, site: &Site, topology: &Topology) -> Result<()> {
    match (topology.carrier(), topology.port_rate(&site.name, true)) {
        (Carrier::TokenBucket, Some(rate)) => {
            host.netlink.add_qdisc(link, &Qdisc::TokenBucket(token_bucket(rate)))
        }
        (Carrier::Netem, _) => {
            let netem = netem::at_host(topology, &site.name);
            if netem::is_of_packets(&netem) {
                host.netlink.set_single_segments(link)?;
            }
            host.netlink.add_qdisc(link, &Qdisc::Netem(netem))
        }
        _ => Ok(()),
    }
}

/// Tells every host where the others are: nobody has to ask, so nothing but what is measured crosses.
fn introduce(sites: &[Site], adapter: u32, hosts: &mut [NewNamespace]) -> Result<()> {
    let port = port_of(adapter);
    let links: Vec<Link> = hosts.iter_mut().map(|host| host.netlink.link(&port)).collect::<Result<_>>()?;
    for ((host, link), own) in hosts.iter_mut().zip(&links).zip(sites) {
        for (site, peer) in sites.iter().zip(&links).filter(|(site, _)| *site != own) {
            let address6 = site.address6.filter(|_| own.address6.is_some() && adapter == 0);
            let addresses = [Some(site.at(adapter)), address6];
            for address in addresses.into_iter().flatten() {
                host.netlink.add_neighbour(link, address, &peer.hardware_address)?;
            }
        }
    }
    Ok(())
}

/// The link with this name, which from now on sends nothing of its own accord.
fn quiet(netlink: &mut Netlink, name: &str) -> Result<Link> {
    let link = netlink.link(name)?;
    netlink.set_no_automatic_ipv6(&link)?;
    Ok(link)
}

/// The kernel may bring a carrier up in a work queue of its own; it drops what is sent before.
fn await_carrier(netlink: &mut Netlink, name: &str) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while netlink.link(name)?.state != "up" {
        if Instant::now() > deadline {
            return Err(Error::new("await the carrier of", name, ErrorKind::TimedOut));
        }
        sleep(PAUSE);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_unlike() {
        let sites: Vec<_> = (0..64).map(|number| site(number, 1 + number % 2)).collect();
        assert_eq!(sites[0].name, "a");
        assert_eq!(sites[25].name, "z");
        assert_eq!(sites[26].name, "aa");
        assert_eq!(sites[63].name, "bl");
        assert_eq!(sites[63].address.to_string(), "198.18.0.64");
        assert_eq!((sites[63].at(0), sites[63].at(1).to_string()), (sites[63].address, "198.18.1.64".into()));
        assert!(sites[62].further.is_empty());
        assert_eq!(sites[63].address6.unwrap().to_string(), "fd6c:696e:6572:6174::40");
    }

    #[test]
    fn a_bucket_holds_enough_for_its_rate() {
        let cases = [(1e6, 262_144), (1e9, 262_144), (1e10, 2_500_000), (4e11, 100_000_000)];
        for (rate, burst_bytes) in cases {
            let bucket = token_bucket(BitRate(rate));
            assert_eq!(bucket.burst_bytes, burst_bytes, "{rate}");
            assert_eq!(bucket.bytes_per_s as f64 * 8.0, rate);
            assert_eq!(f64::from(bucket.limit_bytes - burst_bytes), rate / 8.0 * 0.05, "{rate}");
        }
    }
}
