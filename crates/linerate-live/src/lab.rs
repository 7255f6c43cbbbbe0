//! Virtual hosts on this machine: topology, wire, complete removal.
//!
//! A virtual host is a network and a host name namespace, and with a slow disk a mount namespace. The hosts
//! of a [`Lab`] are wired by one virtual cable, or from three hosts on by one cable each to a bridge. Neither
//! `ip` nor `tc` is used, and an ordinary user may do it all: in a user namespace in which that user is root.
//!
//! Namespaces are held by file descriptors and nothing else. A child, the [`builder`], makes them,
//! because a user namespace takes a process with a single thread; it hands the descriptors over and
//! ends. So the lab lives as long as the [`Lab`] and the processes inside: after a crash, or `kill -9`
//! of anything, nothing is left. Nothing outside the new namespaces is changed.
//!
//! A lab may also be kept to work in: a [`holder`] has the descriptors, its [`Entry`] in the [`Register`]
//! tells other processes which, and they open those through `/proc/PID/fd`. A name under which a process
//! would be found is never trusted alone: its start time and the namespaces' own names must fit.
//!
//! What a process makes outside itself is in its [`journal`] first, and undone by the next start where it died.
//!
//! A process inside sees its own host in `/proc/net`, `/proc/sys/net` and through netlink. `/sys` is the
//! machine's own: `/sys/class/net` does not show the lab.

pub mod builder;
mod entry;
pub mod fault;
mod filter;
mod held;
pub mod holder;
mod in_force;
mod inside;
pub mod journal;
mod netem;
mod new_namespace;
mod order;
pub(crate) mod own_folder;
mod port;
pub(crate) mod process_journal;
mod program;
mod refusal;
mod register;
mod request;
mod site;
pub mod wire;
mod wiring;

pub use entry::{Entry, KeptHost, is_name};
pub use filter::{FilterOrder, HostFilter, refused as refused_filters};
pub use held::{Held, NamespaceGuard};
pub use holder::Holding;
pub use in_force::InForce;
pub use inside::Inside;
pub use order::Order;
pub use port::HostPort;
pub use register::{Gone, Look, Register};

use crate::plan::{Carrier, Coalescing, Topology};
use crate::record::WireAudit;
use crate::{Error, Result};
use fault::socket_memory::Group;
use linerate_sys::child::ChildProcess;
use linerate_sys::spawn;
use request::Request;
use serde::{Deserialize, Serialize};
use site::Site;
use std::ffi::OsStr;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use wire::Wire;

/// How many hosts a lab may have.
const HOSTS: RangeInclusive<u32> = 2..=64;

/// Virtual hosts, wired. Dropping it removes what no process inside still uses.
#[derive(Debug)]
pub struct Lab {
    hosts: Vec<VirtualHost>,
    has_user_namespace: bool,
    faults: Vec<InForce>,
    /// What runs beside the hosts for a fault, and ends with this value.
    beside: Vec<ChildProcess>,
    /// The program's own wire, where the lab has one.
    wire: Option<Wire>,
    /// The network namespace in the middle, where the bridge is, or the wire.
    _switch: Option<Arc<OwnedFd>>,
}

/// One host.
#[derive(Debug)]
pub struct VirtualHost {
    /// `a`, `b` and so on; also its host name.
    pub name: String,
    /// Its address on the wire.
    pub address: IpAddr,
    /// Its IPv6 address there; none where the kernel or the MTU allows none.
    pub address6: Option<IpAddr>,
    /// Those of its further adapters.
    pub further: Vec<IpAddr>,
    /// Its interface on the wire.
    pub interface: String,
    /// What a process joins to be on this host, in this order.
    namespaces: Vec<Arc<OwnedFd>>,
    /// The control group that its programs are in, where a fault makes one.
    group: Option<Group>,
}

/// What this machine lets this user do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// Whether a user namespace is needed: the user is not root, or a root without its capabilities.
    pub user_namespace: bool,
    /// Whether the kernel has tbf, which limits a lab's rate.
    pub token_bucket: bool,
    /// Whether the kernel has netem, which delays and drops packets.
    pub netem: bool,
}

impl Lab {
    /// Builds the hosts and waits until their wires carry packets. `program` is linerate itself:
    /// `/proc/self/exe`.
    pub fn build(topology: &Topology, program: &Path) -> Result<Lab> {
        Lab::with_adapters(topology, 1, program)
    }

    /// The same, each host with so many adapters, of which each has a link of the same kind.
    pub fn with_adapters(topology: &Topology, adapters: u32, program: &Path) -> Result<Lab> {
        if !HOSTS.contains(&topology.hosts) {
            let what = format!("a lab of {} hosts", topology.hosts);
            return Err(Error::usage(what, "a lab has 2 to 64 hosts"));
        }
        topology.check().map_err(|error| Error::usage(error.what, error.hint))?;
        let (layout, descriptors) = {
            let topology = Box::new(topology.clone());
            request::send(program, &Request::Build { topology, adapters })?
        };
        let lost = || request::broken(program, "did not hand over what it announced");
        let mut descriptors = descriptors.into_iter();
        let mut next = || descriptors.next().map(Arc::new).ok_or_else(lost);
        let user_namespace = layout.user_namespace.then(&mut next).transpose()?;
        let (mut hosts, mut ports) = (Vec::new(), Vec::new());
        let has_mounts: Vec<bool> = layout.hosts.iter().map(|site| site.has_mounts).collect();
        for Site { name, address, address6, further, interface, hardware, .. } in layout.hosts {
            ports.extend(hardware.try_into().map(|hardware: [u8; 6]| (name.clone(), hardware)));
            let namespaces = user_namespace.iter().cloned().chain([next()?, next()?]).collect();
            let group = None;
            hosts.push(VirtualHost { name, address, address6, further, interface, namespaces, group });
        }
        for (host, _) in hosts.iter_mut().zip(has_mounts).filter(|(_, has_mounts)| *has_mounts) {
            host.namespaces.push(next()?);
        }
        let switch = descriptors.next().map(Arc::new);
        let wire = match &switch {
            Some(switch) if topology.carrier() == Carrier::User => {
                let inside = user_namespace.into_iter().chain([switch.clone()]).collect();
                let wiring = topology.wiring(|host| wiring::name_of(host as u32));
                Some(Wire::start(program, inside, ports, wiring)?)
            }
            _ => None,
        };
        let (mut beside, mut of_beside): (Vec<ChildProcess>, Vec<InForce>) =
            fault::beside_hosts(topology, &hosts, program)?.into_iter().unzip();
        for (process, in_force) in fault::around_programs(topology, &mut hosts, program)? {
            beside.push(process);
            of_beside.push(in_force);
        }
        let of_wire = fault::of_wire(topology);
        let faults = layout.faults.into_iter().chain(of_wire).chain(of_beside).collect();
        let has_user_namespace = layout.user_namespace;
        Ok(Lab { hosts, has_user_namespace, faults, beside, wire, _switch: switch })
    }

    /// The hosts, in the order of their names.
    pub fn hosts(&self) -> &[VirtualHost] {
        &self.hosts
    }

    /// What the wire did since it was last asked; none where the kernel alone carries the packets.
    pub fn audit(&mut self) -> Result<Option<WireAudit>> {
        self.wire.as_mut().map(Wire::audit).transpose()
    }

    /// Has the wire hold what comes to the hosts so from now on. What carries no packets of its own holds none.
    pub fn hold(&mut self, coalescing: Coalescing) -> Result<()> {
        match &mut self.wire {
            Some(wire) => wire.hold(coalescing).map(drop),
            None if coalescing.is_none() => Ok(()),
            None => Err(Error::unavailable("this lab has no wire that holds frames", "take lab:wire=user")),
        }
    }

    /// The processes without which it is another lab: its wire, and what runs for its faults.
    pub fn processes(&self) -> impl Iterator<Item = &ChildProcess> {
        self.wire.as_ref().map(Wire::process).into_iter().chain(&self.beside)
    }

    /// The faults that are in force.
    pub fn faults(&self) -> &[InForce] {
        &self.faults
    }

    /// Whether the hosts are in a user namespace of their own.
    pub fn has_user_namespace(&self) -> bool {
        self.has_user_namespace
    }
}

impl VirtualHost {
    /// A command that runs on this host, with its standard input and output piped to the caller.
    ///
    /// The process is killed when the thread that spawned it ends, and it does not hear the terminal's
    /// Ctrl-C: its end is the caller's business. It carries the journal's mark, where one was begun.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Its files are those of the machine, and not of the host.
        if let Some(group) = &self.group {
            spawn::join_group(&mut command, group.members.clone());
        }
        spawn::join_namespaces(&mut command, self.namespaces.clone());
        spawn::tie_to_parent(&mut command);
        journal::mark(&mut command);
        command
    }
}

/// Finds out what is possible, by building a scratch lab; the error says why none can be built.
pub fn probe(program: &Path) -> Result<Abilities> {
    let (layout, _) = request::send(program, &Request::Probe)?;
    layout.abilities.ok_or_else(|| request::broken(program, "did not say what it can do"))
}
