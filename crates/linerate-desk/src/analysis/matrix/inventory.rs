//! What a host has that most of the others have not, and where its bus is narrower than its link.
//!
//! It may be the cause of a slow host, and proves nothing: it is told beside the matrix.

use crate::plan::HostId;
use crate::record::{HostFacts, Recording};
use serde_json::Value;
use std::collections::BTreeMap;

/// Facts of a host that matter, where its environment has them: the name there, and what it is called.
const OF_HOST: &[(&str, &str)] = &[
    ("cpu.model", "CPU"),
    ("cpu.layout", "sockets, cores and threads"),
    ("cpu.numa_nodes", "NUMA nodes"),
    ("cpu.governor", "CPU governor"),
    ("cpu.no_turbo", "turbo switched off"),
    ("cpu.boost", "CPU boost"),
    ("cpu.microcode", "microcode"),
    ("cpu.mitigations", "mitigations"),
    ("memory.total_bytes", "memory"),
    ("memory.transparent_huge_pages", "transparent huge pages"),
    ("kernel.release", "kernel"),
    ("kernel.preemption", "preemption"),
    ("kernel.hz", "timer interrupts a second"),
    ("clock.source", "clock source"),
    ("cgroup.cpus", "CPU quota"),
    ("dmi.product", "product"),
];

/// Facts of the interface between the hosts.
const OF_INTERFACE: &[(&str, &str)] = &[
    ("mtu", "MTU"),
    ("driver", "driver"),
    ("firmware", "firmware"),
    ("speed_mbps", "link speed in Mb/s"),
    ("duplex", "duplex"),
    ("qdisc", "queueing discipline"),
    ("qdiscs", "queueing disciplines"),
    ("offloads", "offloads"),
    ("rings", "rings"),
    ("coalescing", "interrupt coalescing"),
    ("channels", "queues"),
    ("pause", "pause frames"),
    ("error_correction", "error correction"),
    ("tx_queue_length", "transmit queue length"),
    ("gso_max_size", "largest segment to send"),
    ("gro_max_size", "largest segment to receive"),
    ("pcie_speed", "PCIe rate of a lane"),
    ("pcie_width", "PCIe lanes"),
    ("xdp", "XDP program"),
];

/// Beginnings of settings of the network stack that are compared, and those that count what happens.
const OF_STACK: &[&str] = &["net.", "netfilter."];
const COUNTERS: &[&str] = &["net.netfilter.nf_conntrack_count"];

/// Memory is the same within this: the firmware takes some of it.
const MEMORY_STEP: f64 = 1.05;

/// Fewer hosts have no majority.
const LEAST: usize = 3;

/// Longest value that is told.
const LONGEST: usize = 60;

/// What sets a host apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The host.
    pub host: HostId,
    /// What it is.
    pub what: String,
    /// What it has.
    pub value: String,
    /// What most of the others have; empty of what is found at the host alone.
    pub usual: String,
    /// How many of them.
    pub others: usize,
}

/// Everything that sets a host apart.
pub fn differences(recording: &Recording) -> Vec<Difference> {
    let facts: Vec<(HostId, BTreeMap<String, String>)> =
        recording.hosts.iter().map(|host| (host.host, facts_of(host))).collect();
    let names: std::collections::BTreeSet<&String> =
        facts.iter().flat_map(|(_, facts)| facts.keys()).collect();
    let mut all: Vec<Difference> = names.into_iter().flat_map(|name| of_fact(name, &facts)).collect();
    all.extend(recording.hosts.iter().flat_map(of_bus));
    all.sort();
    all
}

/// Those hosts that have another value than more than half of all.
fn of_fact(name: &str, facts: &[(HostId, BTreeMap<String, String>)]) -> Vec<Difference> {
    let values: Vec<(HostId, &String)> =
        facts.iter().filter_map(|(host, facts)| Some((*host, facts.get(name)?))).collect();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    values.iter().for_each(|(_, value)| *counts.entry(value).or_default() += 1);
    let Some((usual, others)) = counts.into_iter().max_by_key(|(_, count)| *count) else { return Vec::new() };
    if values.len() < LEAST || 2 * others <= values.len() {
        return Vec::new();
    }
    let differs = values.into_iter().filter(|(_, value)| *value != usual);
    let told = |(host, value): (HostId, &String)| Difference {
        host,
        what: name.into(),
        value: value.clone(),
        usual: usual.clone(),
        others,
    };
    differs.map(told).collect()
}

/// Every fact of a host that is compared, as it is told; parts of a group each by themselves.
fn facts_of(host: &HostFacts) -> BTreeMap<String, String> {
    let environment = &host.environment;
    let mut all = BTreeMap::new();
    for (key, what) in OF_HOST {
        put(&mut all, what, environment.host.get(*key));
    }
    if let Some(facts) = interface(host) {
        for (key, what) in OF_INTERFACE {
            put(&mut all, what, facts.get(*key));
        }
    }
    let is_setting = |key: &str| OF_STACK.iter().any(|of| key.starts_with(of)) && !COUNTERS.contains(&key);
    for (key, value) in environment.stack.iter().filter(|(key, _)| is_setting(key)) {
        put(&mut all, key, Some(value));
    }
    all.insert("linerate".into(), host.version.clone());
    all
}

fn put(all: &mut BTreeMap<String, String>, what: &str, value: Option<&Value>) {
    match value {
        None | Some(Value::Null) => {}
        Some(Value::Object(parts)) => {
            parts.iter().for_each(|(part, value)| put(all, &format!("{what}: {part}"), Some(value)));
        }
        Some(value) => {
            all.insert(what.into(), written(what, value));
        }
    }
}

fn written(what: &str, value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if what == "memory" => {
            let bytes = number.as_f64().unwrap_or(0.0).max(1.0);
            let steps = (bytes.ln() / MEMORY_STEP.ln()).round();
            let gib = MEMORY_STEP.powf(steps) / f64::from(1 << 30);
            format!("about {gib:.1} GiB")
        }
        other => other.to_string(),
    };
    text.chars().take(LONGEST).collect()
}

/// The interface with the address that the others send to.
fn interface(host: &HostFacts) -> Option<&BTreeMap<String, Value>> {
    let address = host.address.as_deref()?;
    let has = |facts: &&BTreeMap<String, Value>| {
        let addresses = facts.get("addresses").and_then(Value::as_array);
        addresses
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .any(|one| one.split('/').next() == Some(address))
    };
    host.environment.interfaces.values().find(has)
}

/// What a bus does not let through, or could: of the adapter's lanes and their rate.
fn of_bus(host: &HostFacts) -> Vec<Difference> {
    let Some(facts) = interface(host) else { return Vec::new() };
    let text = |key: &str| facts.get(key).and_then(Value::as_str).map(str::to_owned);
    let number = |key: &str| facts.get(key).and_then(Value::as_f64);
    let lanes = |key: &str| number(key).or_else(|| text(key)?.parse().ok());
    let bus = |speed: &str, width: &str| Some(bus_bps(gigatransfers(&text(speed)?)?, lanes(width)?));
    let (now, most) = (bus("pcie_speed", "pcie_width"), bus("pcie_speed_max", "pcie_width_max"));
    let link = number("speed_mbps").filter(|mbps| *mbps > 0.0).map(|mbps| mbps * 1e6);
    let told = |what: &str, value: f64, against: f64, of: &str| Difference {
        host: host.host,
        what: what.into(),
        value: crate::unit::BitRate(value).to_string(),
        usual: format!("{} {of}", crate::unit::BitRate(against)),
        others: 0,
    };
    let narrow = now.zip(link).filter(|(now, link)| now < link);
    let lowered = now.zip(most).filter(|(now, most)| now < most);
    let narrow = narrow.map(|(now, link)| told("bus", now, link, "is the link"));
    let lowered = lowered.map(|(now, most)| told("bus", now, most, "is what the adapter could have"));
    narrow.into_iter().chain(lowered).collect()
}

/// `8.0 GT/s PCIe`.
fn gigatransfers(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok().filter(|rate: &f64| *rate > 0.0)
}

/// What lanes carry: 8 bits of 10 up to 5 GT/s, 128 of 130 above (PCI Express Base Specification 3.0, section 4.2.2). What
/// packets of the bus add is not taken off: it is a bound.
fn bus_bps(gigatransfers: f64, lanes: f64) -> f64 {
    let share = if gigatransfers > 5.0 { 128.0 / 130.0 } else { 0.8 };
    gigatransfers * 1e9 * share * lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::synthetic::Synthetic;

    fn hosts(count: u16, change: impl Fn(u16, &mut BTreeMap<String, Value>)) -> Recording {
        let mut recording = Synthetic { passes: 1, sizes: vec![64], ..Synthetic::default() }.recording();
        let host = recording.hosts[0].clone();
        let one = |number: u16| {
            let mut host =
                HostFacts { host: HostId(number), address: Some("192.0.2.1".into()), ..host.clone() };
            let mut facts = BTreeMap::from([
                ("addresses".to_owned(), serde_json::json!(["192.0.2.1/24"])),
                ("mtu".to_owned(), 9000.into()),
                ("offloads".to_owned(), serde_json::json!({"tso": true})),
            ]);
            change(number, &mut facts);
            host.environment.interfaces = BTreeMap::from([("eth0".into(), facts)]);
            host
        };
        recording.hosts = (0..count).map(one).collect();
        recording
    }

    #[test]
    fn what_most_have_not_is_told() {
        let recording = hosts(8, |host, facts| {
            if host == 6 {
                facts.insert("mtu".into(), 1500.into());
                facts.insert("offloads".into(), serde_json::json!({"tso": false}));
            }
        });
        let told = differences(&recording);
        let of = |what: &str, value: &str, usual: &str| Difference {
            host: HostId(6),
            what: what.into(),
            value: value.into(),
            usual: usual.into(),
            others: 7,
        };
        assert_eq!(told, [of("MTU", "1500", "9000"), of("offloads: tso", "false", "true")]);
        assert_eq!(differences(&hosts(8, |_, _| ())), []);
    }

    #[test]
    fn two_halves_have_no_majority() {
        let recording = hosts(8, |host, facts| {
            facts.insert("mtu".into(), (1500 + 7500 * (host % 2)).into());
        });
        assert_eq!(differences(&recording), []);
        assert_eq!(differences(&hosts(2, |host, facts| drop(facts.insert("mtu".into(), host.into())))), []);
    }

    #[test]
    fn a_bus_that_is_narrower_than_the_link_is_told() {
        let recording = hosts(3, |host, facts| {
            let lanes = if host == 1 { 1 } else { 8 };
            for (key, value) in [
                ("pcie_speed", Value::from("5.0 GT/s PCIe")),
                ("pcie_speed_max", "5.0 GT/s PCIe".into()),
                ("pcie_width", lanes.into()),
                ("pcie_width_max", 8.into()),
                ("speed_mbps", 10_000.into()),
            ] {
                facts.insert(key.into(), value);
            }
        });
        let told = differences(&recording);
        assert!(told.iter().all(|one| one.host == HostId(1)), "{told:?}");
        let bus: Vec<(&str, &str)> = told
            .iter()
            .filter(|one| one.what == "bus")
            .map(|one| (one.value.as_str(), one.usual.as_str()))
            .collect();
        let expected = [
            ("4.00 Gb/s", "10.0 Gb/s is the link"),
            ("4.00 Gb/s", "32.0 Gb/s is what the adapter could have"),
        ];
        assert_eq!(bus, expected);
    }
}
