//! What is asked of links, held against what they are: links of a lab are set, those of other hosts are not.

use crate::plan::{Case, Plan, Setting, Target};
use crate::record::{HostFacts, Reason, Recording};
use crate::unit::{Bytes, counted};
use crate::vocabulary::ReasonKind::{Lacking, Unable};
use crate::vocabulary::{
    Family, Had, Knob, LINK_ADAPTERS, LINK_COALESCE, LINK_COALESCE_FRAMES, LINK_MTU, Place, Rung,
};
use serde_json::Value;

/// What is wrong, and what to try.
pub(super) type Wrong = (String, String);

const SEGMENT: &str = "tcp.mss";
/// IP and TCP without options (RFC 9293, section 3.7.1): what of a packet is no segment.
const HEADERS: u64 = 40;
const HEADERS6: u64 = 60;

const UNCHANGED: &str =
    "it is a factor of a lab's links: run it on `lab`; here change it by hand, and measure anew";

/// Why a setting of links is not to be had on a target.
pub(super) fn lacking(plan: &Plan, setting: &Setting, hosts: &[HostFacts]) -> Option<Wrong> {
    if setting.knob == LINK_ADAPTERS.name {
        return lacking_adapters(plan, setting);
    }
    let holds = [LINK_COALESCE.name, LINK_COALESCE_FRAMES.name].contains(&setting.knob.as_str());
    let what = format!("{}={}", setting.knob, setting.value);
    match &plan.target {
        // What they have already need not be changed.
        Target::Ssh(_) | Target::Launched(_) if plan.may_change_hosts() && !holds => None,
        Target::Ssh(_) | Target::Launched(_) if setting.knob == LINK_MTU.name => {
            let other = hosts.iter().map(mtu).find(|known| !is_mtu(known.as_ref(), &setting.value))?;
            let found = other.map_or(String::new(), |(mtu, of)| format!(", and the MTU of {of} is {mtu}"));
            Some((format!("{what}: host settings are not changed{found}"), UNCHANGED.into()))
        }
        Target::Ssh(_) | Target::Launched(_) => {
            Some((format!("{what}: host settings are not changed"), UNCHANGED.into()))
        }
        Target::Lab(_) if holds && !plan.target.has_own_wire() => {
            let why = format!("{what}: what carries this lab's packets holds none back");
            Some((why, "take the program's own wire: lab:wire=user".into()))
        }
        Target::Lab(_) | Target::Simulated(_) => None,
    }
}

/// Why connections do not go by so many adapters: who has one alone, and a wire that ends at one.
fn lacking_adapters(plan: &Plan, setting: &Setting) -> Option<Wrong> {
    let what = |why: &str| format!("{}={}: {why}", setting.knob, setting.value);
    let wrong = match &plan.target {
        _ if setting.value.parse() == Ok(1) => return None,
        Target::Simulated(_) => return None,
        Target::Ssh(_) | Target::Launched(_) => (
            "a host is measured at one address, so by one adapter",
            "it is a factor of a lab's hosts: run it on `lab`",
        ),
        Target::Lab(_) if plan.target.has_own_wire() => (
            "the program's own wire has one port a host",
            "take the kernel's: lab, or lab:rate=1Gb/s,wire=tbf",
        ),
        Target::Lab(topology) if !topology.faults.is_empty() => {
            ("the faults of this lab are of the first adapter alone", "leave out the faults")
        }
        Target::Lab(_) => return None,
    };
    Some((what(wrong.0), wrong.1.into()))
}

/// Why a host's own setting is not changed for a case.
pub(super) fn unchanged(plan: &Plan, setting: &Setting) -> Option<Wrong> {
    let what = format!("{}={}: host settings are not changed", setting.knob, setting.value);
    (!plan.may_change_hosts()).then(|| (what, "linerate tune --allow host tries it and puts it back".into()))
}

/// Why a suite's case is not measured for what it asks of links, or of segments that they do not carry: it would be
/// called by a value that nothing has.
pub(super) fn of_case(plan: &Plan, recording: &Recording, rung: &Rung, case: &Case) -> Option<Reason> {
    let arm = case.arm;
    let asked = plan.arms.get((arm as usize).checked_sub(1)?)?;
    let is_of_links =
        |setting: &&Setting| Knob::named(&setting.knob).is_some_and(|knob| knob.had == Had::Links);
    if rung.place == Place::InHost {
        let setting = asked.settings.iter().find(is_of_links)?;
        let why = format!("{}={}: within a host there is no link", setting.knob, setting.value);
        return Some(Reason::new(Unable, why, "a rung of the network"));
    }
    let links = plan.links_for(rung.id, arm);
    if links.coalescing.is_some_and(|held| held.delay_ns == 0.0 && held.frames.is_some()) {
        let why = format!("{} says nothing without {}", LINK_COALESCE_FRAMES.name, LINK_COALESCE.name);
        return Some(Reason::new(Unable, why, format!("set both: {}=64us", LINK_COALESCE.name)));
    }
    too_few_connections(plan, rung, case).or_else(|| too_large_segments(plan, recording, rung, arm))
}

/// A connection goes by one adapter: with fewer of them, or with those that a pattern makes by itself, the value would be
/// a name that nothing has.
fn too_few_connections(plan: &Plan, rung: &Rung, case: &Case) -> Option<Reason> {
    let adapters = plan.adapters_for(rung.id, case.arm);
    let why = match adapters {
        1 => return None,
        _ if rung.family == Family::V6 => "the further adapters have IPv4 addresses".to_owned(),
        _ if case.pattern.calls() => format!("{} makes its connections at one address", case.pattern),
        _ if plan.filter_for(rung.id, case.arm).is_some() => {
            "the rules of a packet filter are those of the first adapter".to_owned()
        }
        // Of each pair of hosts: what several pairs have together may all go by the same adapter of each.
        _ if case.flows < adapters => {
            format!("{} by {adapters} adapters", counted(case.flows as usize, "connection"))
        }
        _ => return None,
    };
    let why = format!("{}={adapters}: {why}", LINK_ADAPTERS.name);
    Some(Reason::new(Unable, why, format!("streams over IPv4, {adapters} connections at least")))
}

/// Segments that are larger than what the links carry: the kernel would grant what they do.
fn too_large_segments(plan: &Plan, recording: &Recording, rung: &Rung, arm: u32) -> Option<Reason> {
    let text = plan.value_for(rung.id, arm, SEGMENT)?;
    let asked = text.parse::<Bytes>().ok()?;
    let (mtu, of) = match plan.links_for(rung.id, arm).mtu {
        Some(mtu) => (u64::from(mtu), "the links".to_owned()),
        None => recording.hosts.iter().filter_map(mtu).min_by_key(|(mtu, _)| *mtu)?,
    };
    let most = mtu - if rung.family == Family::V6 { HEADERS6 } else { HEADERS }.min(mtu);
    (asked.0 > most).then(|| {
        let why = format!("{SEGMENT}={text}: the MTU of {of} is {mtu}, which leaves {}", Bytes(most));
        Reason::new(Lacking, why, "in the lab beside link.mtu=9000; else on hosts whose path has such an MTU")
    })
}

fn is_mtu(known: Option<&(u64, String)>, asked: &str) -> bool {
    known.is_some_and(|(mtu, _)| mtu.to_string() == asked)
}

/// The MTU of the interface at whose address a host is measured.
fn mtu(host: &HostFacts) -> Option<(u64, String)> {
    let address = host.address.as_ref()?;
    let has = |listed: &Value| {
        let text = listed.as_str().unwrap_or_default();
        text.split('/').next() == Some(address.as_str())
    };
    let (name, facts) = host.environment.interfaces.iter().find(|(_, facts)| {
        facts.get("addresses").and_then(Value::as_array).is_some_and(|all| all.iter().any(has))
    })?;
    Some((facts.get("mtu")?.as_u64()?, format!("{name} of host {}", host.host)))
}
