//! What the recording says about hosts and interfaces.

use crate::plan::{Case, HostId};
use crate::record::{HostDelta, HostFacts, MOST_ADDRESSES, NotMeasured, Recording, StepRecord};
use crate::vocabulary::{Pattern, Place, Rung};
use core::net::{IpAddr, SocketAddr};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A fact of a host's environment: CPU, memory, kernel.
pub fn fact<'r>(host: &'r HostFacts, name: &str) -> Option<&'r Value> {
    host.environment.host.get(name).filter(|value| !value.is_null())
}

/// The addresses of a host's interfaces, as far as they are on record.
pub(super) fn addresses(host: &HostFacts) -> BTreeSet<IpAddr> {
    let lists = host.environment.interfaces.values().filter_map(|facts| facts.get("addresses")?.as_array());
    let texts = lists.flatten().filter_map(Value::as_str);
    texts.filter_map(|text| text.split('/').next()?.parse().ok()).collect()
}

/// Whether none of a host's addresses was left out for want of room.
pub(super) fn are_all_addresses(host: &HostFacts) -> bool {
    let list =
        |facts: &BTreeMap<String, Value>, name| facts.get(name).and_then(Value::as_array).map_or(0, Vec::len);
    let environment = &host.environment;
    list(&environment.stack, "interfaces.left_out") == 0
        && environment.interfaces.values().all(|facts| list(facts, "addresses") < MOST_ADDRESSES)
}

/// The address that a host's end of the first connection in the network had; none without one.
pub fn used_address(recording: &Recording, host: HostId) -> Option<IpAddr> {
    let in_network = |rung: &str| Rung::named(rung).is_some_and(|rung| rung.place == Place::Network);
    recording.sessions.iter().find_map(|session| {
        let is_here = session.host == host && in_network(&session.rung);
        let ends = session.endpoints.first().filter(|_| is_here)?;
        Some(ends.split(' ').next()?.parse::<SocketAddr>().ok()?.ip())
    })
}

/// A host's entry.
pub(super) fn host(recording: &Recording, id: HostId) -> Option<&HostFacts> {
    recording.hosts.iter().find(|host| host.host == id)
}

/// A fact of one interface of a host.
pub(super) fn interface_fact<'r>(
    recording: &'r Recording,
    host: HostId,
    interface: &str,
    name: &str,
) -> Option<&'r Value> {
    let facts = self::host(recording, host)?.environment.interfaces.get(interface)?;
    facts.get(name).filter(|value| !value.is_null())
}

/// Busy time of the CPUs of hosts of one machine that is not this program's: both see the same CPUs.
pub(super) fn foreign_ns<'r>(deltas: impl Iterator<Item = &'r HostDelta> + Clone) -> f64 {
    let busy = |delta: &HostDelta| delta.busy_ns.values().map(|ns| *ns as f64).sum();
    let own: f64 = deltas.clone().map(|delta| delta.own_ns as f64).sum();
    deltas.map(busy).fold(0.0, f64::max) - own
}

/// What each interface of a host carried during some steps.
pub(super) fn carried<'r>(
    steps: impl Iterator<Item = &'r StepRecord>,
    host: HostId,
) -> BTreeMap<&'r str, u64> {
    let mut carried: BTreeMap<&str, u64> = BTreeMap::new();
    for delta in steps.flat_map(|step| &step.hosts).filter(|delta| delta.host == host) {
        for interface in &delta.interfaces {
            let bytes = interface.rx_bytes.saturating_add(interface.tx_bytes);
            let sum = carried.entry(&interface.name).or_default();
            *sum = sum.saturating_add(bytes);
        }
    }
    carried
}

/// The interface of a host that carried most during some steps.
pub(super) fn busiest_interface<'r>(
    steps: impl Iterator<Item = &'r StepRecord>,
    host: HostId,
) -> Option<&'r str> {
    carried(steps, host).into_iter().max_by_key(|(_, bytes)| *bytes).map(|(name, _)| name)
}

/// What failed of the path as it stands, where that never passed anything.
pub(super) fn failed_as_it_stands(recording: &Recording) -> Option<&NotMeasured> {
    let is_base = |case: &Case| case.arm == 0 && case.pattern == Pattern::Stream;
    let has_passed = recording.trials.iter().any(|trial| trial.pass > 0 && is_base(&trial.case));
    let mut failed = recording.unavailable.iter().filter(|not| not.case.as_deref().is_some_and(is_base));
    failed.next().filter(|_| !has_passed)
}
