//! What a pass visits of a plan file: its cases on these hosts, with what each can do.

use super::entries::{Entry, LOAD_LEAD_NS, are_apart, only_wait, refused, warm_up_ns};
use super::placement::ends;
use super::road::Road;
use super::roles;
use crate::plan::{Beside, Case, Expanded, HostId, Plan};
use crate::record::{Recording, Unavailable};
use crate::unit::Bytes;
use crate::vocabulary::{ELEMENT_BYTES, Pattern, Place, RUNGS, Rung, TRANSPORTS, TransportEntry, Wait};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// How long a search lasts where nothing else is said (RFC 9097, section 8.1).
const SEARCH_NS: u64 = 10_000_000_000;

/// A stream of one size has paid for its warm-up with nothing else: it lasts this many trials.
const SINGLE_TRIALS: u64 = 3;

/// Every entry of a pass, and what cannot be measured.
pub(super) fn entries(plan: &Plan, recording: &Recording) -> (Vec<Entry>, Vec<Unavailable>) {
    let hosts: Vec<HostId> = recording.host_ids().collect();
    let (mut entries, mut unavailable) = (Vec::new(), Vec::new());
    for one in plan.suites.iter().flat_map(|suite| suite.expand(plan, &hosts)) {
        let rung = RUNGS.iter().find(|rung| rung.id == one.case.rung);
        let transport = rung.and_then(|rung| TRANSPORTS.iter().find(|entry| entry.name == rung.transport));
        let (Some(rung), Some(transport)) = (rung, transport) else { continue };
        let refusal = uncarried(transport, &one)
            .or_else(|| waits_otherwise(plan, rung, &one.case))
            .or_else(|| refused(plan, recording, rung, &one.case))
            .or_else(|| crowded(recording, &one.case).filter(|_| !gives_way(plan, transport, &one.case)));
        let not = refusal.clone().or_else(|| too_small_or_large(transport, &one)).or_else(|| not_whole(&one));
        let not = not.map(|why| unavailable_of(rung, &one.case, why));
        unavailable.extend(not.filter(|not| !unavailable.contains(not)));
        if refusal.is_none() {
            entries.extend(of_case(plan, (rung, transport), one));
        }
    }
    (entries, unavailable)
}

fn unavailable_of(rung: &Rung, case: &Case, (why, hint): (String, String)) -> Unavailable {
    Unavailable {
        rung: rung.id.into(),
        pattern: Some(case.pattern),
        wait: Some(case.wait),
        host: (rung.place == Place::InHost).then(|| case.pairs.from_names()),
        why,
        hint,
        ..Unavailable::default()
    }
}

/// What the case's transport, or that of its load, cannot do on any host.
fn uncarried(transport: &TransportEntry, one: &Expanded) -> Option<(String, String)> {
    let pattern = one.case.pattern;
    if !transport.patterns.contains(&pattern) {
        let why = format!("unavailable: {} carries no {pattern}", transport.name);
        return Some((why, format!("take {}", names(|entry| entry.patterns.contains(&pattern)))));
    }
    let flows = one.case.pairs.len() * one.case.flows as usize;
    if pattern.searches() && flows > 1 {
        let why = format!("unavailable: {pattern} searches over one flow, not over {flows}");
        return Some((why, "one pair of hosts, flows = [1]".into()));
    }
    if let Some(most) = transport.most_flows.filter(|most| one.case.flows > *most) {
        let why = format!("unavailable: {} flows of {}, which has {most}", one.case.flows, transport.name);
        return Some((why, format!("flows = [{most}]")));
    }
    let cases = one.load.iter().flat_map(|load| &load.cases);
    let rungs = cases.filter_map(|case| RUNGS.iter().find(|rung| rung.id == case.rung));
    let loads = rungs.filter_map(|rung| TRANSPORTS.iter().find(|entry| entry.name == rung.transport));
    let not = loads.into_iter().find(|entry| !entry.loads)?;
    let why = format!("unavailable: {} cannot run beside a measurement", not.name);
    Some((why, format!("load with {}", names(|entry| entry.loads))))
}

/// Ends that cannot wait as the case has it.
fn waits_otherwise(plan: &Plan, rung: &Rung, case: &Case) -> Option<(String, String)> {
    let only = only_wait(plan, rung, case.arm).filter(|only| *only != case.wait)?;
    let only_does = match only {
        Wait::Polling => "only polls",
        Wait::Sleeping => "only sleeps by this library",
    };
    Some((format!("unavailable: {} {only_does}", rung.transport), format!("wait = \"{only}\"")))
}

/// The sizes that a transport carries in a pattern.
fn carried(transport: &TransportEntry, pattern: Pattern) -> RangeInclusive<u64> {
    let least = pattern.search().map_or(0, |search| search.least_bytes);
    transport.least_bytes.max(least)..=transport.most_bytes.unwrap_or(u64::MAX)
}

/// The sizes that it does not carry are left out, and the others measured.
fn too_small_or_large(transport: &TransportEntry, one: &Expanded) -> Option<(String, String)> {
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
    (!outside.is_empty()).then(|| (format!("unavailable: {}", outside.join(", ")), carries))
}

/// Reductions add floats: of other sizes a part would be left over.
fn not_whole(one: &Expanded) -> Option<(String, String)> {
    let pattern = one.case.pattern;
    let other = one.sizes.iter().filter(|size| !is_whole(pattern, **size));
    let other: Vec<String> = other.map(|size| Bytes(*size).to_string()).collect();
    let why = format!("unavailable: {}: {pattern} adds floats", other.join(", "));
    (!other.is_empty()).then(|| (why, format!("take multiples of {ELEMENT_BYTES} B")))
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
fn crowded(recording: &Recording, case: &Case) -> Option<(String, String)> {
    let machines: BTreeSet<(&str, &[u32])> =
        recording.hosts.iter().map(|host| (host.machine.as_str(), host.cpus.as_slice())).collect();
    let cpus: usize = machines.iter().map(|(_, cpus)| cpus.len()).sum();
    let ends = 2 * case.pairs.len() * case.flows as usize;
    (case.wait == Wait::Polling && ends > cpus.max(2)).then(|| {
        let why = format!("polling needs a CPU for each end: {ends} ends, {cpus} CPUs");
        (why, "let them wait: wait = \"sleeping\"".into())
    })
}

/// Whether ends that poll were told to give way to others.
fn gives_way(plan: &Plan, transport: &TransportEntry, case: &Case) -> bool {
    transport.yields_by.is_some_and(|knob| plan.value_for(&case.rung, case.arm, knob) == Some("on"))
}

/// The entries of one case, as those of the ladder.
fn of_case(plan: &Plan, (rung, transport): (&'static Rung, &TransportEntry), one: Expanded) -> Vec<Entry> {
    let Expanded { case, sizes, trial_ns, load } = one;
    let road = match rung.place {
        Place::Network => Road::between(plan, case.pairs.first()),
        Place::InHost => Road::default(),
    };
    let sizes: Vec<u64> = sizes
        .into_iter()
        .filter(|size| carried(transport, case.pattern).contains(size))
        .filter(|size| is_whole(case.pattern, *size))
        .collect();
    let apart = are_apart(&case, rung, transport);
    let warm_up_ns = if case.timeline { 0 } else { warm_up_ns(plan, rung, transport, &case, &road) };
    let usual_ns = match sizes.len() {
        _ if case.pattern.searches() => SEARCH_NS,
        _ if case.timeline => plan.profile.timeline_ns.max(SINGLE_TRIALS * plan.profile.trial_ns),
        1 if !apart => SINGLE_TRIALS * plan.profile.trial_ns,
        _ => plan.profile.trial_ns,
    };
    let wanted_ns = trial_ns.unwrap_or(usual_ns);
    let trial_ns = if case.pattern.is_exchange() {
        road.exchange_trial_ns(wanted_ns)
    } else {
        road.stream_trial_ns(wanted_ns)
    };
    let ends = transport.ends;
    let entry = |sizes: Vec<u64>| {
        let (case, place, rung, load) = (case.clone(), rung.place, rung.id, load.clone());
        Entry { case, place, ends, rung, sizes, trial_ns, warm_up_ns, nominal_ns: 0, road, load }.priced()
    };
    match sizes.is_empty() {
        true => Vec::new(),
        false if apart => sizes.into_iter().map(|size| entry(vec![size])).collect(),
        false => vec![entry(sizes)],
    }
}

/// What runs beside an entry: a session a way, each with roles of its own.
pub(super) fn beside(plan: &Plan, entry: &Entry, recording: &Recording) -> Option<Box<Beside>> {
    let load = entry.load.as_ref()?;
    let of_way = |(pair, case): (u32, &Case)| {
        let rung = RUNGS.iter().find(|rung| rung.id == case.rung)?;
        let one_way =
            Entry { case: case.clone(), place: rung.place, ends: 2, rung: rung.id, ..entry.clone() };
        let roles = roles(&one_way, &ends(plan, recording, case));
        Some(roles.into_iter().map(move |role| crate::plan::Role { pair, ..role }).collect::<Vec<_>>())
    };
    let roles = (0..).zip(&load.cases).filter_map(of_way).flatten().collect();
    let case = load.cases.first()?.clone();
    Some(Box::new(Beside { case, roles, message_bytes: load.message_bytes, lead_ns: LOAD_LEAD_NS }))
}
