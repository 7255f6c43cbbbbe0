//! Which CPUs the two ends of a case run on.

use crate::plan::{Case, Placement, Plan};
use crate::record::{HostFacts, Recording};

/// The CPUs of both ends; empty for unpinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// Of the end that sends, pings or copies.
    pub from: Vec<u32>,
    /// Of the end that receives or echoes.
    pub to: Vec<u32>,
}

impl Ends {
    /// Whether the ends have CPUs of their own, so that neither's polling keeps the other one waiting.
    pub fn are_apart(&self, same_machine: bool) -> bool {
        !same_machine || (!self.from.is_empty() && !self.to.iter().any(|cpu| self.from.contains(cpu)))
    }
}

/// The CPUs of a case's ends. Hosts that share a machine share its CPUs by halves.
pub fn ends(plan: &Plan, recording: &Recording, case: &Case) -> Ends {
    match plan.value_for(&case.rung, case.arm, "cpu.placement").and_then(|value| value.parse().ok()) {
        // Which it is shows when the connection stands: each end looks.
        Some(Placement::Unpinned | Placement::Queue) => Ends { from: Vec::new(), to: Vec::new() },
        // The placement names hosts a and b (or the first and second end in one host): a case that
        // runs from b to a takes it the other way round.
        Some(Placement::Pinned(first, second)) if case.pairs.is_forward() => Ends { from: first, to: second },
        Some(Placement::Pinned(first, second)) => Ends { from: second, to: first },
        None => Ends { from: own(recording, case, true), to: own(recording, case, false) },
    }
}

fn own(recording: &Recording, case: &Case, sends: bool) -> Vec<u32> {
    // Hosts that play the same part are taken for alike.
    let pair = case.pairs.first();
    let name = if sends { pair.from } else { pair.to };
    let Some(host) = recording.hosts.iter().find(|host| host.host == name) else {
        return Vec::new();
    };
    if case.pairs.is_within_host() {
        return half(&host.cpus, sends);
    }
    if share_machine(&recording.hosts) {
        half(&host.cpus, host.host == recording.hosts[0].host)
    } else {
        host.cpus.clone()
    }
}

/// Whether the hosts are one machine.
pub fn share_machine(hosts: &[HostFacts]) -> bool {
    hosts.len() > 1 && hosts.iter().all(|host| host.machine == hosts[0].machine)
}

/// One half of the CPUs; a single one serves both.
fn half(cpus: &[u32], first: bool) -> Vec<u32> {
    if cpus.len() < 2 {
        return cpus.to_vec();
    }
    let (low, high) = cpus.split_at(cpus.len() / 2);
    if first { low.to_vec() } else { high.to_vec() }
}
