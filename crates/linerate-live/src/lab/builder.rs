//! The child that makes a lab's namespaces, hands them to the controller, and ends.
//!
//! It is the program itself, started anew, so that it has a single thread: a user namespace cannot be
//! entered otherwise. One message comes on standard input, a Unix socket; one goes back.

use super::new_namespace::NewNamespace;
use super::request::{Answer, Layout, Request, encode, stranger};
use super::site::Site;
use super::{Abilities, fault, refusal, wiring};
use crate::Result;
use crate::plan::Topology;
use crate::unit::BitRate;
use linerate_sys::handover;
use linerate_sys::mount;
use linerate_sys::namespace::{self, Kind};
use linerate_sys::netlink::{Netem, Qdisc};
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::slice;

/// The hidden subcommand under which [`main`] is reached.
pub use super::request::BUILDER as SUBCOMMAND;

/// A lab before it is handed over. The descriptors are the user namespace's if there is one, then each
/// host's network and host name namespace, then the mount namespaces of the hosts that have one, then the switch's
/// network namespace if there is one.
struct Building {
    layout: Layout,
    descriptors: Vec<OwnedFd>,
}

/// Reads a request from `socket`, builds, answers. What cannot be built is an answer; an error means
/// that nobody is there to hear one.
pub fn main(socket: impl AsFd) -> Result<()> {
    let (message, _) = handover::receive(&socket).map_err(|error| stranger(&error.to_string()))?;
    let request = serde_json::from_slice(&message).map_err(|error| stranger(&error.to_string()))?;
    let (answer, descriptors) = match build(&request) {
        Ok(building) => (Answer::Built(building.layout), building.descriptors),
        Err(error) => (Answer::from(error), Vec::new()),
    };
    let descriptors: Vec<_> = descriptors.iter().map(OwnedFd::as_fd).collect();
    Ok(handover::send(&socket, &encode(&answer)?, &descriptors)?)
}

fn build(request: &Request) -> Result<Building> {
    let ordinary = !namespace::may_administer()?;
    let built = match request {
        Request::Build { topology, adapters } => raise(topology, *adapters, ordinary),
        Request::Probe => try_out(ordinary),
    };
    let mut building = built.map_err(|error| refusal::explain(error, ordinary))?;
    if let Request::Build { topology, .. } = request {
        building.layout.faults = fault::into_hosts(topology, building.networks())?;
    }
    Ok(building)
}

impl Building {
    /// Each host with its network namespace.
    fn networks(&self) -> impl Iterator<Item = (&Site, &OwnedFd)> {
        let of_hosts = self.descriptors.iter().skip(usize::from(self.layout.user_namespace));
        self.layout.hosts.iter().zip(of_hosts.step_by(2))
    }
}

/// Makes the namespaces, and wires them.
fn raise(topology: &Topology, adapters: u32, ordinary: bool) -> linerate_sys::Result<Building> {
    let mut descriptors = Vec::new();
    if ordinary {
        namespace::become_root_of_new_user_namespace()?;
        descriptors.push(namespace::current(Kind::User)?);
    }
    let mut hosts = Vec::new();
    for number in 0..topology.hosts {
        hosts.push(NewNamespace::new(&wiring::name_of(number))?);
    }
    let (mut sites, switch) = wiring::wire(topology, adapters, &mut hosts)?;
    let mounts = own_mounts(topology, &hosts, &mut sites)?;
    let layout = Layout { hosts: sites, user_namespace: ordinary, faults: Vec::new(), abilities: None };
    for ground in hosts {
        descriptors.extend([ground.network, ground.host_name]);
    }
    descriptors.extend(mounts);
    descriptors.extend(switch.map(|switch| switch.network));
    Ok(Building { layout, descriptors })
}

/// A mount namespace for each host, in which `/sys` has its interfaces: message libraries look for them there. Where the
/// system allows none, a host has the machine's, but for one that has a fault in its own.
fn own_mounts(
    topology: &Topology,
    hosts: &[NewNamespace],
    sites: &mut [Site],
) -> linerate_sys::Result<Vec<OwnedFd>> {
    let mut mounts = Vec::new();
    let must = |site: &Site| topology.faults.iter().any(|fault| fault.is_disk_of(&site.name));
    let musts: Vec<bool> = sites.iter().map(must).collect();
    for ((host, site), must) in hosts.iter().zip(sites.iter_mut()).zip(musts.iter().copied()) {
        let own =
            namespace::enter(slice::from_ref(&host.network)).and_then(|()| namespace::take_own_mounts());
        let shown = own.is_ok().then(mount::show_own_interfaces);
        match own {
            Ok(own) if must || shown.is_some_and(|shown| shown.is_ok()) => {
                site.has_mounts = true;
                mounts.push(own);
            }
            // The next host would get what was refused to this one: one that must have its own says so.
            Err(_) if !musts.iter().any(|must| *must) => break,
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Ok(mounts)
}

/// Builds the smallest lab, and tries elsewhere what a larger one may need.
fn try_out(ordinary: bool) -> linerate_sys::Result<Building> {
    let mut building = raise(&Topology::default(), 1, ordinary)?;
    building.descriptors.clear();
    building.layout.abilities = Some(Abilities {
        user_namespace: ordinary,
        token_bucket: is_known(&Qdisc::TokenBucket(wiring::token_bucket(BitRate(1e9))))?,
        netem: is_known(&Qdisc::Netem(Netem::default()))?,
    });
    Ok(building)
}

/// Whether the kernel has this queueing discipline.
fn is_known(qdisc: &Qdisc) -> linerate_sys::Result<bool> {
    let mut scratch = NewNamespace::new("scratch")?;
    let loopback = scratch.netlink.link("lo")?;
    match scratch.netlink.add_qdisc(&loopback, qdisc) {
        Ok(()) => Ok(true),
        Err(error) if error.source.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
