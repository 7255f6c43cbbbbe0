//! Faults that are put into a lab's hosts: applied where they act, and read back.
//!
//! All of them are in the namespaces of the lab, or are processes that end with it, so there is
//! nothing to undo.

pub mod disk;
mod firewall;
pub mod hog;
mod initial_window;
mod mtu;
pub(super) mod offload;
pub mod rival;
pub mod socket_memory;
pub(super) mod sysctl;
mod tunnel;

use super::site::Site;
use super::{InForce, VirtualHost};
use crate::plan::{Fault, Topology, host_name};
use crate::vocabulary::FaultSite;
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::namespace;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Puts a fault into the host in whose network namespace the process is, and says what it is there.
type PutIn = fn(&Fault, &Site) -> Result<String>;

/// Every fault of a host.
const ON_HOSTS: &[(&str, PutIn)] = &[
    ("small-buffers", |fault, _| sysctl::small_buffers(fault)),
    ("window-scaling-off", |_, _| sysctl::set("net/ipv4/tcp_window_scaling", "0")),
    ("sack-off", |_, _| sysctl::set("net/ipv4/tcp_sack", "0")),
    ("timestamps-off", |_, _| sysctl::set("net/ipv4/tcp_timestamps", "0")),
    ("offload-off", |_, site| offload::switch_off(&site.interface)),
    ("small-mtu", |fault, site| mtu::set(fault, &site.interface)),
    ("small-initial-window", |fault, site| initial_window::set(fault, &site.interface)),
    ("tunnel", |_, site| tunnel::lay(site)),
    ("firewall-rules", |fault, _| firewall::rules(fault)),
    ("conntrack", |_, _| firewall::tracking()),
];

/// Puts a lab's faults into its hosts. The calling process, which has a single thread, is in the last
/// one's network namespace then.
pub(super) fn into_hosts<'n>(
    topology: &Topology,
    hosts: impl Iterator<Item = (&'n Site, &'n OwnedFd)>,
) -> Result<Vec<InForce>> {
    let mut all = Vec::new();
    for (site, network) in hosts {
        let faults: Vec<&Fault> =
            topology.faults.iter().filter(|fault| fault.is_on_host(&site.name)).collect();
        if !faults.is_empty() {
            namespace::enter(std::slice::from_ref(network))?;
        }
        for fault in faults {
            let (_, put_in) = ON_HOSTS
                .iter()
                .find(|(name, _)| *name == fault.name)
                .ok_or_else(|| Error::usage(format!("no host can have the fault {fault}"), ""))?;
            let granted = put_in(fault, site).map_err(|error| of_fault(fault, error))?;
            all.push(InForce { fault: fault.to_string(), place: site.name.clone(), granted });
        }
    }
    Ok(all)
}

/// Starts what runs beside the hosts.
pub(super) fn beside_hosts(
    topology: &Topology,
    hosts: &[VirtualHost],
    program: &Path,
) -> Result<Vec<(ChildProcess, InForce)>> {
    let all = [hogs(topology, program)?, disks(topology, hosts, program)?, rivals(topology, hosts, program)?];
    Ok(all.into_iter().flatten().collect())
}

/// Streams of nobody's from the first host to the second.
fn rivals(
    topology: &Topology,
    hosts: &[VirtualHost],
    program: &Path,
) -> Result<Vec<(ChildProcess, InForce)>> {
    let [from, to, ..] = hosts else { return Ok(Vec::new()) };
    let is_it = |fault: &&Fault| fault.entry().is_some_and(|entry| entry.site == FaultSite::Flow);
    let mut all = Vec::new();
    for fault in topology.faults.iter().filter(is_it) {
        let started = rival::start(program, (from, to), &fault.value);
        let (processes, granted) = started.map_err(|error| of_fault(fault, error))?;
        let place = format!("{}-{}", from.name, to.name);
        let in_force =
            || InForce { fault: fault.to_string(), place: place.clone(), granted: granted.clone() };
        all.extend(processes.into_iter().map(|process| (process, in_force())));
    }
    Ok(all)
}

fn disks(topology: &Topology, hosts: &[VirtualHost], program: &Path) -> Result<Vec<(ChildProcess, InForce)>> {
    let pairs = hosts.iter().flat_map(|host| topology.faults.iter().map(move |fault| (host, fault)));
    let start = |(host, fault): (&VirtualHost, &Fault)| {
        let started = disk::start(program, host, &fault.value).map_err(|error| of_fault(fault, error));
        let (disk, granted) = started?;
        Ok((disk, InForce { fault: fault.to_string(), place: host.name.clone(), granted }))
    };
    pairs.filter(|(host, fault)| fault.is_disk_of(&host.name)).map(start).collect()
}

/// Gives the programs of hosts control groups of their own.
pub(super) fn around_programs(
    topology: &Topology,
    hosts: &mut [VirtualHost],
    program: &Path,
) -> Result<Vec<(ChildProcess, InForce)>> {
    let mut all = Vec::new();
    for host in hosts {
        for fault in topology.faults.iter().filter(|fault| fault.is_of_programs_on(&host.name)) {
            let made = socket_memory::start(program, &host.name, &fault.value);
            let (process, group, granted) = made.map_err(|error| of_fault(fault, error))?;
            host.group = Some(group);
            all.push((process, InForce { fault: fault.to_string(), place: host.name.clone(), granted }));
        }
    }
    Ok(all)
}

fn hogs(topology: &Topology, program: &Path) -> Result<Vec<(ChildProcess, InForce)>> {
    let processes = topology.faults.iter().filter_map(|fault| Some((fault, fault.cpu()?)));
    let start = |(fault, (cpu, share)): (&Fault, (u32, f64))| {
        let hog = hog::start(program, cpu, share).map_err(|error| of_fault(fault, error))?;
        let granted = format!("process {} on CPU {cpu}", hog.pid());
        Ok((hog, InForce { fault: fault.to_string(), place: format!("CPU {cpu}"), granted }))
    };
    processes.map(start).collect()
}

/// What the wire does in each direction that has a fault.
pub(super) fn of_wire(topology: &Topology) -> Vec<InForce> {
    let hosts = 0..topology.hosts as usize;
    let ways = hosts.clone().flat_map(|from| hosts.clone().map(move |to| (from, to)));
    let ways = ways.filter(|(from, to)| from != to);
    let of_way = |(from, to): (usize, usize)| {
        let (a, b) = (host_name(from as u32), host_name(to as u32));
        let on_way = topology.faults.iter().filter(|fault| fault.is_on_way(&a, &b, to == 0));
        let place = format!("{a}-{b}");
        on_way.map(|fault| (fault.to_string(), place.clone())).collect::<Vec<_>>()
    };
    let granted = || "by the wire".to_owned();
    ways.flat_map(of_way).map(|(fault, place)| InForce { fault, place, granted: granted() }).collect()
}

/// The first fault that is of a run's programs alone: hosts that are kept cannot have it.
pub fn of_runs_alone(topology: &Topology) -> Option<&Fault> {
    let is_of_run = |site| matches!(site, FaultSite::Knobs(_) | FaultSite::Programs);
    let of_run = |fault: &&Fault| fault.entry().is_some_and(|entry| is_of_run(entry.site));
    topology.faults.iter().find(of_run)
}

/// Says which fault it was that this machine does not allow.
fn of_fault(fault: &Fault, error: Error) -> Error {
    match error {
        Error::Unavailable { what, hint } => {
            Error::unavailable(format!("the fault {fault} cannot be put in: {what}"), hint)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::FAULTS;

    #[test]
    fn each_fault_of_a_host_has_one_function() {
        let of_table = FAULTS
            .iter()
            .filter(|entry| [FaultSite::Host, FaultSite::Hosts].contains(&entry.site))
            .map(|entry| entry.name);
        let mut of_table: Vec<&str> = of_table.collect();
        let mut here: Vec<&str> = ON_HOSTS.iter().map(|(name, _)| *name).collect();
        of_table.sort_unstable();
        here.sort_unstable();
        assert_eq!(of_table, here);
    }

    #[test]
    fn wire_faults_are_listed_by_direction() {
        let faults = ["loss=1%", "asymmetric-delay=2ms", "b:sack-off"].map(|text| text.parse().unwrap());
        let topology = Topology { faults: faults.into(), ..Topology::default() };
        let names = of_wire(&topology);
        let names: Vec<String> = names.iter().map(|one| format!("{} {}", one.place, one.fault)).collect();
        assert_eq!(names, ["a-b loss=1%", "b-a loss=1%", "b-a asymmetric-delay=2ms"]);
    }
}
