//! Why a case, or some of its sizes, cannot be measured truly on these hosts, and what to try.

use super::placement::{ends, share_machine};
use super::wanted::Wanted;
use super::{filter, knob};
use crate::plan::{Carrier, Case, HostId, Plan, Target};
use crate::record::{HostFacts, Reason, Recording, UnavailableTransport};
use crate::unit::{BitRate, Bytes, counted};
use crate::vocabulary::ReasonKind::{Failed, Lacking, NoTime, Unable, Untrue};
use crate::vocabulary::{ELEMENT_BYTES, Family, Pattern, Place, Rung, TRANSPORTS, TransportEntry, Wait};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Two ends that poll, and the wire between them.
const CPUS_WITH_WIRE: usize = 3;

/// What speaks against a case.
pub(super) fn of_case(plan: &Plan, recording: &Recording, rung: &Rung, one: &Wanted) -> Option<Reason> {
    left_to_longer(plan, &one.case)
        .or_else(|| uncarried(rung.transport, one))
        .or_else(|| waits_otherwise(plan, rung, &one.case))
        .or_else(|| knob::of_case(plan, recording, rung, &one.case))
        .or_else(|| filter::of_case(plan, rung, &one.case))
        .or_else(|| refused(plan, recording, rung, &one.case))
        .or_else(|| lacks_cpus(recording, &one.case).filter(|_| !gives_way(plan, rung.transport, &one.case)))
}

/// A suite that leaves it to longer profiles.
fn left_to_longer(plan: &Plan, case: &Case) -> Option<Reason> {
    let profiles = &plan.view.suites().iter().find_map(|suite| suite.case_of(&case.id))?.profiles;
    let (longer, own) = (profiles.first()?, &plan.profile.name);
    let why = format!("the plan leaves it to profile {}", profiles.join(" or "));
    let hint = format!("--profile {longer}");
    (!profiles.contains(own)).then(|| Reason::new(NoTime, why, hint))
}

/// A host that it needs is not there; which is told of the host itself.
pub(super) fn of_lost(host: HostId) -> Reason {
    Reason::new(Failed, format!("host {host}, which takes part in it, is not reached"), "")
}

/// What speaks against some of its sizes: the others are measured.
pub(super) fn of_sizes(rung: &Rung, one: &Wanted) -> Option<Reason> {
    too_small_or_large(rung.transport, one).or_else(|| not_whole(one))
}

/// Whether messages of this size go over a rung in a pattern.
pub(super) fn is_carried(rung: &Rung, pattern: Pattern, size: u64) -> bool {
    carried(rung.transport, pattern).contains(&size) && is_whole(pattern, size)
}

/// The only way in which the ends of a rung can wait in an arm; none where they can wait either way.
pub(super) fn only_wait(plan: &Plan, rung: &Rung, arm: u32) -> Option<Wait> {
    rung.transport.only_wait(rung.place, |knob| plan.value_for(rung.id, arm, knob))
}

/// What the hosts, their CPUs or the lab's link do not allow.
fn refused(plan: &Plan, recording: &Recording, rung: &Rung, case: &Case) -> Option<Reason> {
    if let Some(lack) = lacking(recording, rung, case) {
        return Some(lack.reason());
    }
    if case.pattern.is_exchange() && rung.place == Place::Network && bucket(plan).is_some() {
        let why = "unavailable: token bucket (it passes a burst at line rate, so a round trip over it would read too fast)";
        return Some(Reason::new(Untrue, why, "measure latency on a lab without rate"));
    }
    if let Some(refusal) = without_ipv6(recording, rung, case) {
        return Some(refusal);
    }
    let same_machine = rung.place == Place::InHost || share_machine(&recording.hosts);
    if case.wait == Wait::Polling && rung.place == Place::Network && !has_cpu_for_wire(plan, recording) {
        let why = "polling needs a third CPU: the wire needs a CPU of its own, and would wait for the ends'";
        let hint = "give the run three CPUs, or take the kernel's wire: lab:wire=netem";
        return Some(Reason::new(Untrue, why, hint));
    }
    if case.wait == Wait::Polling && !ends(plan, recording, case).are_apart(same_machine) {
        let why =
            "polling needs a CPU for each end: on one CPU the ends would wait for each other's time slice";
        return Some(Reason::new(Untrue, why, "give the run two CPUs, or set cpu.placement=0/1"));
    }
    None
}

/// What one of the case's hosts said that it has not.
fn lacking<'r>(recording: &'r Recording, rung: &Rung, case: &Case) -> Option<&'r UnavailableTransport> {
    let ends = recording.hosts.iter().filter(|host| case.pairs.has(host.host));
    ends.flat_map(|host| &host.lacks).find(|lack| lack.transport == rung.transport.name)
}

/// Whether the program's own wire, where there is one, has a CPU beside those of two ends that poll.
fn has_cpu_for_wire(plan: &Plan, recording: &Recording) -> bool {
    let cpus: BTreeSet<u32> = recording.hosts.iter().flat_map(|host| &host.cpus).copied().collect();
    !plan.target.has_own_wire() || cpus.len() >= CPUS_WITH_WIRE
}

/// A rung of IPv6 needs an address on both hosts, or on the loopback interface.
fn without_ipv6(recording: &Recording, rung: &Rung, case: &Case) -> Option<Reason> {
    if rung.family != Family::V6 || !rung.transport.crosses_hosts {
        return None;
    }
    let ends = recording.hosts.iter().filter(|host| case.pairs.has(host.host));
    let lacks = |host: &&HostFacts| match rung.place {
        Place::InHost => !host.loopback6,
        Place::Network => host.address6.is_none(),
    };
    let host = ends.into_iter().find(lacks)?.host;
    let (why, hint) = match rung.place {
        Place::InHost => {
            (format!("no IPv6 address is on the loopback interface of host {host}"), String::new())
        }
        Place::Network => (
            format!("no IPv6 address is known for host {host}"),
            format!("say both: --address {host}=192.0.2.1 --address {host}=2001:db8::1"),
        ),
    };
    Some(Reason::new(Lacking, why, hint))
}

/// The rate of the lab's token bucket.
pub(super) fn bucket(plan: &Plan) -> Option<BitRate> {
    match &plan.target {
        Target::Lab(topology) if topology.carrier() == Carrier::TokenBucket => {
            topology.shape.rate.or(topology.ports.first().map(|port| port.rate))
        }
        Target::Lab(_) | Target::Ssh(_) | Target::Launched(_) | Target::Simulated(_) => None,
    }
}

/// What the case's transport, or that of its load, cannot do on any host.
fn uncarried(transport: &TransportEntry, one: &Wanted) -> Option<Reason> {
    let pattern = one.case.pattern;
    if !transport.carries(pattern) {
        let why = format!("unavailable: {} carries no {pattern}", transport.name);
        let hint = format!("take {}", names(|entry| entry.carries(pattern)));
        return Some(Reason::new(Unable, why, hint));
    }
    let flows = one.case.pairs.len() * one.case.flows as usize;
    if pattern.searches() && flows > 1 {
        let why = format!("unavailable: {pattern} searches over one flow, not over {flows}");
        return Some(Reason::new(Unable, why, "one pair of hosts, flows = [1]"));
    }
    if let Some(most) = transport.most_flows.filter(|most| one.case.flows > *most) {
        let why = format!("unavailable: {} flows of {}, which has {most}", one.case.flows, transport.name);
        return Some(Reason::new(Unable, why, format!("flows = [{most}]")));
    }
    let cases = one.load.iter().flat_map(|load| &load.cases);
    let mut loads = cases.filter_map(|case| Rung::named(&case.rung)).map(|rung| rung.transport);
    let not = loads.find(|entry| !entry.loads)?;
    let why = format!("unavailable: {} cannot run beside a measurement", not.name);
    Some(Reason::new(Unable, why, format!("load with {}", names(|entry| entry.loads))))
}

/// Ends that cannot wait as the case has it.
fn waits_otherwise(plan: &Plan, rung: &Rung, case: &Case) -> Option<Reason> {
    let only = only_wait(plan, rung, case.arm).filter(|only| *only != case.wait)?;
    let only_does = match only {
        Wait::Polling => "only polls",
        Wait::Sleeping => "only sleeps by this library",
    };
    let why = format!("unavailable: {} {only_does}", rung.transport.name);
    Some(Reason::new(Unable, why, format!("wait = \"{only}\"")))
}

/// The sizes that a transport carries in a pattern.
fn carried(transport: &TransportEntry, pattern: Pattern) -> RangeInclusive<u64> {
    let least = pattern.search().map_or(0, |search| search.least_bytes);
    transport.least_bytes.max(least)..=transport.most_bytes.unwrap_or(u64::MAX)
}

/// The sizes that it does not carry are left out, and the others measured.
fn too_small_or_large(transport: &TransportEntry, one: &Wanted) -> Option<Reason> {
    let range = carried(transport, one.case.pattern);
    let outside: Vec<String> =
        one.sizes.iter().filter(|size| !range.contains(size)).map(|size| Bytes(*size).to_string()).collect();
    let most = transport.most_bytes.map_or("any size".into(), |most| Bytes(most).to_string());
    let least = Bytes(*range.start());
    let carries = match one.case.pattern {
        pattern if pattern.searches() => {
            format!("{pattern} over {} takes messages of {least} to {most}", transport.name)
        }
        _ => format!("{} carries messages of {least} to {most}", transport.name),
    };
    let why = format!("unavailable: {}", outside.join(", "));
    (!outside.is_empty()).then(|| Reason::new(Unable, why, carries))
}

/// Reductions add floats: of other sizes a part would be left over.
fn not_whole(one: &Wanted) -> Option<Reason> {
    let pattern = one.case.pattern;
    let other = one.sizes.iter().filter(|size| !is_whole(pattern, **size));
    let other: Vec<String> = other.map(|size| Bytes(*size).to_string()).collect();
    let why = format!("unavailable: {}: {pattern} adds floats", other.join(", "));
    (!other.is_empty()).then(|| Reason::new(Unable, why, format!("take multiples of {ELEMENT_BYTES} B")))
}

/// Whether a message of this size holds whole elements of what the pattern works on.
fn is_whole(pattern: Pattern, size: u64) -> bool {
    !pattern.collective().is_some_and(|together| together.adds) || size.is_multiple_of(ELEMENT_BYTES)
}

/// The transports that can do this.
fn names(can: impl Fn(&TransportEntry) -> bool) -> String {
    let names: Vec<&str> = TRANSPORTS.iter().filter(|entry| can(entry)).map(|entry| entry.name).collect();
    names.join(", ")
}

/// Ends that poll must each have a CPU.
fn lacks_cpus(recording: &Recording, case: &Case) -> Option<Reason> {
    let machines: BTreeSet<(&str, &[u32])> =
        recording.hosts.iter().map(|host| (host.machine.as_str(), host.cpus.as_slice())).collect();
    let cpus: usize = machines.iter().map(|(_, cpus)| cpus.len()).sum();
    let ends = 2 * case.pairs.len() * case.flows as usize;
    (case.wait == Wait::Polling && ends > cpus.max(2)).then(|| {
        let why = format!("polling needs a CPU for each end: {ends} ends, {}", counted(cpus, "CPU"));
        Reason::new(Untrue, why, "let them wait: wait = \"sleeping\"")
    })
}

/// Whether ends that poll were told to give way to others.
fn gives_way(plan: &Plan, transport: &TransportEntry, case: &Case) -> bool {
    transport.yields_by.is_some_and(|knob| plan.value_for(&case.rung, case.arm, knob) == Some("on"))
}
