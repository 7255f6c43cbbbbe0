//! What failed on the way, and what the pattern of failures says of the path.

use super::{Context, Finding};
use crate::analysis::{Layer, Vanishing, not_measured, vanishing};
use crate::plan::Case;
use crate::record::{NotMeasured, Recording, SocketRecord};
use crate::unit::Bytes;
use crate::vocabulary::{Family, Knob, Place, ReasonKind, Rung};
use serde_json::json;

/// The headers of IPv4, and of TCP without options or of UDP; what IPv6 has more; timestamps (RFC 7323).
const HEADERS: u64 = 20 + 20;
const DATAGRAM_HEADERS: u64 = 20 + 8;
const MORE_OF_IPV6: u64 = 20;
const TIMESTAMPS: u64 = 12;

/// What makes packets smaller.
const SEGMENT: &str = "tcp.mss";

pub(super) fn of_layer(context: &Context, layer: usize) -> Vec<Finding> {
    let all = [vanish(context, layer), stalled(context, layer), path_mtu(context, layer)];
    let patterns = [one_direction(context, layer), one_family(context, layer)];
    all.into_iter().chain(patterns).flatten().collect()
}

/// Small messages pass and large ones do not.
fn vanish(context: &Context, layer: usize) -> Option<Finding> {
    let found = vanishing(context.recording);
    let vanishing = found.iter().find(|vanishing| context.layers[layer].owns(&vanishing.case))?;
    let Vanishing { case, passes, fails } = vanishing;
    let rung = Rung::named(&case.rung)?;
    let exact = vanishing.middle().is_none();
    let is_datagram = !rung.transport.reliable;
    let headers = match is_datagram {
        true => DATAGRAM_HEADERS + family_bytes(rung),
        false => headers(context.recording, case, rung),
    };
    let packet = passes + headers;
    let is_tcp = Knob::named(SEGMENT).is_some_and(|knob| knob.acts_on(rung.transport.name));
    let detail = match ((is_tcp || is_datagram) && exact, exact) {
        (true, _) => format!("{passes} B pass, {fails} B do not: packets above {packet} B vanish"),
        (_, true) => format!("{passes} B pass, {fails} B do not"),
        _ => format!("{} pass, {} do not", Bytes(*passes), Bytes(*fails)),
    };
    let evidence = json!({ "passes": passes, "fails": fails, "packet": (exact && (is_tcp || is_datagram)).then_some(packet) });
    let segment = packet.saturating_sub(HEADERS + family_bytes(rung));
    let found = Finding::new("large-vanish", Some(layer), detail, evidence);
    let hint = format!(
        "try --set {SEGMENT}={segment}; give every interface on the path the MTU {packet}, or let ICMP \"fragmentation needed\" pass"
    );
    Some(if is_tcp && exact { Finding { hint, ..found } } else { found })
}

/// What a packet has beside its part of a message: by the connection's own account, or as is usual.
fn headers(recording: &Recording, case: &Case, rung: &Rung) -> u64 {
    let steps = recording.steps.iter().filter(|step| step.case.rung == case.rung);
    let of_socket = |socket: &SocketRecord| {
        let value = |name: &str| socket.last.get(name).copied().filter(|value| *value > 0);
        value("pmtu")?.checked_sub(value("snd_mss")?)
    };
    let told = steps.flat_map(|step| &step.sockets).filter_map(of_socket).min();
    let usual = HEADERS + TIMESTAMPS + family_bytes(rung);
    told.filter(|told| (HEADERS..=usual + 60).contains(told)).unwrap_or(usual)
}

fn family_bytes(rung: &Rung) -> u64 {
    if rung.family == Family::V6 { MORE_OF_IPV6 } else { 0 }
}

/// The case that failed; of a long stream the one that it is one stream more of.
fn short(not: &NotMeasured) -> Option<Case> {
    not.case.as_deref().map(|case| Case { timeline: false, ..case.clone() })
}

/// It failed, and was measured later.
fn stalled(context: &Context, layer: usize) -> Option<Finding> {
    let left = not_measured(context.recording);
    let failed = context.recording.unavailable.iter().filter(|not| {
        let case = not.case.as_deref();
        case.is_some_and(|case| context.layers[layer].owns(case))
            && !left.iter().any(|other| short(other) == short(not) || other.session && other.rung == not.rung)
    });
    let failed: Vec<_> = failed.collect();
    let last = failed.last()?;
    let times = if failed.len() == 1 { "once".to_owned() } else { format!("{} times", failed.len()) };
    let why = last.reason.why.trim_start_matches("failed: ");
    let evidence = json!({ "failures": failed.len(), "message_bytes": last.message_bytes });
    Some(Finding::new(
        "failed-once",
        Some(layer),
        format!("{times}, at last {}: {why}", last.what()),
        evidence,
    ))
}

/// The kernel found on the way that its packets must be smaller than its interface would send them.
fn path_mtu(context: &Context, layer: usize) -> Option<Finding> {
    let of_interface = context.mtus[layer]?;
    // A case for which the links were set has another MTU by design.
    let is_set = |case: &Case| {
        case.arm > 0
            && context.recording.plan().is_some_and(|plan| plan.links_for(&case.rung, case.arm).mtu.is_some())
    };
    let owned = context.recording.steps.iter().filter(|step| context.layers[layer].owns(&step.case));
    let of_path = owned
        .filter(|step| !is_set(&step.case))
        .flat_map(|step| &step.sockets)
        .filter_map(|socket| socket.last.get("pmtu"))
        .min()?;
    (context.layers[layer].place == Place::Network && *of_path > 0 && *of_path < of_interface).then(|| {
        let detail = format!("{of_path} on the path, {of_interface} at the interfaces");
        Finding::new("path-mtu", Some(layer), detail, json!({ "path": of_path, "interfaces": of_interface }))
    })
}

/// A stream that fails in one direction and not in the other.
fn one_direction(context: &Context, layer: usize) -> Option<Finding> {
    let here = &context.layers[layer];
    let is_reverse = |other: &&Layer| {
        (&other.rung, other.flows, &other.from, &other.to) == (&here.rung, here.flows, &here.to, &here.from)
            && !other.both_ways
            && other.place == Place::Network
    };
    let other = context.layers.iter().find(is_reverse)?;
    let fails = has_failed(here) && here.throughput_bps.is_none() && other.throughput_bps.is_some();
    fails.then(|| {
        let detail = format!("{} is measured", other.direction().unwrap_or_default());
        Finding::new("one-direction", Some(layer), detail, json!({}))
    })
}

/// A rung that fails over one family and not over the other.
fn one_family(context: &Context, layer: usize) -> Option<Finding> {
    let here = &context.layers[layer];
    let rung = Rung::named(&here.rung)?;
    let is_other_family = |other: &&Layer| {
        Rung::named(&other.rung).is_some_and(|of_other| {
            (of_other.transport.name, of_other.place) == (rung.transport.name, rung.place)
                && of_other.family != rung.family
        }) && (&other.from, &other.to, other.flows) == (&here.from, &here.to, here.flows)
    };
    let other = context.layers.iter().find(is_other_family)?;
    (has_failed(here) && !is_measured(here) && is_measured(other))
        .then(|| Finding::new("one-family", Some(layer), format!("{} is measured", other.name()), json!({})))
}

fn has_failed(layer: &Layer) -> bool {
    layer.not_measured.iter().chain(&layer.unavailable).any(|not| not.reason.kind == ReasonKind::Failed)
}

fn is_measured(layer: &Layer) -> bool {
    layer.throughput_bps.is_some() || layer.polling_ns.is_some() || layer.sleeping_ns.is_some()
}
