//! What concerns the whole run.

use super::{Context, Finding};
use crate::diagnosis::facts::{addresses, are_all_addresses, fact, used_address};
use crate::diagnosis::planted::lab_faults;
use crate::plan::HostId;
use crate::record::{HostFacts, StepRecord};
use crate::unit::Nanoseconds;
use crate::vocabulary::Place;
use core::net::IpAddr;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn findings(context: &Context) -> Vec<Finding> {
    [
        shared_cpus(context),
        one_cpu(context),
        other_address(context),
        reached_through(context),
        interposed(context),
        fault(context),
        restarted(context),
        clock_set(context),
        interrupted(context),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Who was started anew, and in which pass.
fn restarted(context: &Context) -> Option<Finding> {
    let steps = context.recording.steps.iter();
    let of_step = |step: &StepRecord| {
        let again = step.hosts.iter().filter(|delta| delta.counted("host.restarts", "") > 0);
        again.map(|delta| (delta.host, step.pass)).collect::<Vec<_>>()
    };
    let all: Vec<(HostId, u32)> = steps.flat_map(of_step).collect();
    let said: Vec<String> =
        all.iter().map(|(host, pass)| format!("host {host} before or in pass {pass}")).collect();
    let evidence = json!({ "hosts": all.iter().map(|(host, pass)| json!({ "host": host, "pass": pass })).collect::<Vec<_>>() });
    (!all.is_empty()).then(|| Finding::new("host-restarted", None, said.join(", "), evidence))
}

/// Whose time of day moved, and by how much at most.
fn clock_set(context: &Context) -> Option<Finding> {
    const WAYS: [(&str, &str); 2] = [("clock.forward_ns", "forward"), ("clock.back_ns", "back")];
    let mut worst: BTreeMap<HostId, (u64, &str)> = BTreeMap::new();
    for delta in context.recording.steps.iter().flat_map(|step| &step.hosts) {
        for (counter, way) in WAYS {
            let ns = delta.counted(counter, "");
            let known = worst.entry(delta.host).or_insert((0, way));
            if ns > known.0 {
                *known = (ns, way);
            }
        }
    }
    worst.retain(|_, (ns, _)| *ns > 0);
    let said = worst
        .iter()
        .map(|(host, (ns, way))| format!("that of host {host} by {} {way}", Nanoseconds(*ns as f64)));
    let said: Vec<String> = said.collect();
    let hosts: Vec<Value> =
        worst.iter().map(|(host, (ns, way))| json!({ "host": host, "ns": ns, "way": way })).collect();
    (!said.is_empty()).then(|| Finding::new("clock-set", None, said.join(", "), json!({ "hosts": hosts })))
}

/// Two hosts on one machine, where something was measured between them.
fn shared_cpus(context: &Context) -> Option<Finding> {
    let hosts = &context.recording.hosts;
    let shares = |host: &&HostFacts| {
        hosts.iter().any(|other| other.host != host.host && other.machine == host.machine)
    };
    let sharing: Vec<String> = hosts.iter().filter(shares).map(|host| host.host.to_string()).collect();
    let network =
        context.layers.iter().any(|layer| layer.place == Place::Network && layer.unavailable.is_none());
    (network && !sharing.is_empty())
        .then(|| Finding::new("shared-cpus", None, "", json!({ "hosts": sharing })))
}

/// A machine of which one CPU may be used, where ends met.
fn one_cpu(context: &Context) -> Option<Finding> {
    let recording = context.recording;
    let of_machine = |host: &&HostFacts| {
        let all = recording.hosts.iter().filter(|other| other.machine == host.machine);
        all.collect::<Vec<_>>()
    };
    let has_one = |hosts: &Vec<&HostFacts>| {
        let cpus: BTreeSet<u32> = hosts.iter().flat_map(|host| &host.cpus).copied().collect();
        let here = |id: HostId| hosts.iter().any(|host| host.host == id);
        let meet = |step: &StepRecord| step.roles.iter().filter(|role| here(role.host)).count() > 1;
        cpus.len() == 1 && recording.steps.iter().any(meet)
    };
    let hosts = recording.hosts.iter().map(|host| of_machine(&host)).find(has_one)?;
    let host = hosts.first()?;
    let told = |name| fact(host, name).and_then(Value::as_str).unwrap_or_default();
    let by = Some(told("cpu.narrowed_by")).filter(|by| !by.is_empty());
    let by = by.map_or(String::new(), |by| format!(" of {}, by {by}", told("cpu.online").trim()));
    let detail = format!("host {} may use CPU {}{by}", host.host, host.cpus.first()?);
    Some(Finding::new("one-cpu", None, detail, json!({ "host": host.host, "cpus": host.cpus })))
}

/// A host that connects does so from the address that its routes choose, and not from the one that was named for it.
fn other_address(context: &Context) -> Option<Finding> {
    let plan = context.recording.plan()?;
    let connecting = plan.hosts.iter().filter(|host| !plan.listens(host.id));
    let mut told = connecting.filter_map(|host| {
        let (asked, used) = (host.address.as_ref()?.ip, used_address(context.recording, host.id)?);
        (asked.is_ipv4() == used.is_ipv4() && asked != used).then_some((host.id, asked, used))
    });
    let (host, asked, used) = told.next()?;
    let detail = format!("host {host} was to use {asked}, and its bytes left from {used}");
    let evidence = json!({ "host": host, "asked": asked.to_string(), "used": used.to_string() });
    Some(Finding::new("other-address", None, detail, evidence))
}

/// A host that ssh reached from where the other one is not: data goes straight between them, and that may be another way.
fn reached_through(context: &Context) -> Option<Finding> {
    let recording = context.recording;
    let is_said = |id: HostId| {
        let plan = recording.plan();
        plan.is_some_and(|plan| plan.hosts.iter().any(|host| host.id == id && host.address.is_some()))
    };
    let [caller, host] = recording.hosts.as_slice() else { return None };
    let from = fact(host, "ssh.reached_from")?.as_str()?;
    let ip: IpAddr = from.split('%').next()?.parse().ok()?;
    let own = addresses(caller);
    // What is not on record may be the one.
    let is_known = !own.is_empty() && are_all_addresses(caller);
    if caller.reached != "local" || !is_known || own.contains(&ip) || is_said(host.host) {
        return None;
    }
    let detail =
        format!("ssh came to host {} from {from}, which is no address of host {}", host.host, caller.host);
    Some(Finding::new("reached-through", None, detail, json!({ "host": host.host, "from": from })))
}

/// Hosts on which another library answers what the kernel's sockets are asked.
fn interposed(context: &Context) -> Option<Finding> {
    let files = |host: &HostFacts| {
        let files = fact(host, "process.interposers").and_then(Value::as_array).cloned().unwrap_or_default();
        let files: Vec<String> = files.iter().filter_map(Value::as_str).map(String::from).collect();
        (!files.is_empty()).then_some((host.host, files))
    };
    let all: Vec<(HostId, Vec<String>)> = context.recording.hosts.iter().filter_map(files).collect();
    let said: Vec<String> =
        all.iter().map(|(host, files)| format!("{} on host {host}", files.join(", "))).collect();
    let hosts: Vec<Value> = all.iter().map(|(host, files)| json!({ "host": host, "files": files })).collect();
    (!said.is_empty()).then(|| Finding::new("interposed", None, said.join("; "), json!({ "hosts": hosts })))
}

fn fault(context: &Context) -> Option<Finding> {
    let faults = lab_faults(context.recording.plan());
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    (!said.is_empty()).then(|| Finding::new("fault", None, said.join(", "), json!({ "faults": said })))
}

fn interrupted(context: &Context) -> Option<Finding> {
    let planned = context.recording.plan().map_or(0, |plan| plan.profile.passes);
    let passes = context.recording.steps.iter().map(|step| step.pass).max().unwrap_or(0);
    let (reason, why) = match &context.recording.end {
        Some(end) if end.reason == "completed" => return None,
        Some(end) => (end.reason.as_str(), end.error.as_deref()),
        None => ("cut off", None),
    };
    let why = why.map_or(String::new(), |why| format!(" ({why})"));
    // Passes beyond those that were planned are for what was unsure.
    let place = match passes {
        0 => "before the first pass".to_owned(),
        _ if passes > planned => format!("in pass {passes}, after the {planned} that were planned"),
        _ => format!("in pass {passes} of {planned}"),
    };
    let detail = format!("{reason} {place}{why}");
    Some(Finding::new(
        "interrupted",
        None,
        detail,
        json!({ "reason": reason, "pass": passes, "of": planned }),
    ))
}
