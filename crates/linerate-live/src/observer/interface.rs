//! Facts about each interface of the calling thread's network namespace.
//!
//! Link facts come by netlink and driver facts by `SIOCETHTOOL`: both follow the thread. `/sys/class/net`
//! shows the namespace of whoever mounted `/sys`, so sysfs is read only through the address on the bus,
//! where an interface of another namespace does not show.

use super::fact::{Facts, entries, file, text};
use crate::record::MOST_ADDRESSES;
use linerate_sys::ethtool::{CHANNELS, COALESCING, ERROR_CORRECTION, Ethtool, Group, PAUSE, RINGS};
use linerate_sys::link::{self, Link};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A fact of netlink: its name, and where it is found.
type LinkFact = (&'static str, fn(&Link) -> Value);

const LINK: &[LinkFact] = &[
    ("kind", |link| link.kind.clone().into()),
    ("up", |link| link.up.into()),
    ("operstate", |link| link.state.clone().into()),
    ("mtu", |link| link.mtu.into()),
    ("mtu_max", |link| link.mtu_max.into()),
    ("qdisc", |link| link.qdisc.clone().into()),
    ("tx_queue_length", |link| link.tx_queue_length.into()),
    ("tx_queues", |link| link.tx_queues.into()),
    ("rx_queues", |link| link.rx_queues.into()),
    ("gso_max_size", |link| link.gso_max_size.into()),
    ("gso_ipv4_max_size", |link| link.gso_ipv4_max_size.into()),
    ("gso_max_segments", |link| link.gso_max_segments.into()),
    ("gro_max_size", |link| link.gro_max_size.into()),
    ("gro_ipv4_max_size", |link| link.gro_ipv4_max_size.into()),
    ("tso_max_size", |link| link.tso_max_size.into()),
    ("carrier_changes", |link| link.carrier_changes.into()),
    ("xdp", |link| link.xdp.clone().unwrap_or_else(|| "none".into()).into()),
    ("addresses", |link| link.addresses.iter().take(MOST_ADDRESSES).cloned().collect()),
];

/// Groups of driver settings, by fact.
const GROUPS: &[(&str, &Group)] = &[
    ("coalescing", &COALESCING),
    ("rings", &RINGS),
    ("channels", &CHANNELS),
    ("pause", &PAUSE),
    ("error_correction", &ERROR_CORRECTION),
];

/// Offloads by the short names of `ethtool -K`: on if one of the kernel's features is on.
const OFFLOADS: &[(&str, &[&str])] = &[
    ("rx-checksum", &["rx-checksum"]),
    ("tx-checksum", &["tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6"]),
    ("sg", &["tx-scatter-gather"]),
    ("tso", &["tx-tcp-segmentation"]),
    ("tso6", &["tx-tcp6-segmentation"]),
    ("gso", &["tx-generic-segmentation"]),
    ("gso-partial", &["tx-gso-partial"]),
    ("udp-segmentation", &["tx-udp-segmentation"]),
    ("gro", &["rx-gro"]),
    ("gro-hw", &["rx-gro-hw"]),
    ("gro-list", &["rx-gro-list"]),
    ("lro", &["rx-lro"]),
    ("rx-hash", &["rx-hashing"]),
    ("ntuple", &["rx-ntuple-filter"]),
    ("tc", &["hw-tc-offload"]),
    ("tls-tx", &["tls-hw-tx-offload"]),
    ("tls-rx", &["tls-hw-rx-offload"]),
    ("nocache-copy", &["tx-nocache-copy"]),
    ("highdma", &["highdma"]),
];

/// Files of the adapter's directory on its bus.
const DEVICE: &[(&str, &str)] = &[
    ("numa_node", "numa_node"),
    ("pcie_speed", "current_link_speed"),
    ("pcie_width", "current_link_width"),
    ("pcie_speed_max", "max_link_speed"),
    ("pcie_width_max", "max_link_width"),
];

/// Files of the interface's directory under its adapter.
const NAPI: &[(&str, &str)] =
    &[("napi_defer_hard_irqs", "napi_defer_hard_irqs"), ("gro_flush_timeout", "gro_flush_timeout")];

/// Files of each queue, and the beginning of the queues' names.
const STEERING: &[(&str, &str, &str)] =
    &[("rps_cpus", "rx-", "rps_cpus"), ("rps_flows", "rx-", "rps_flow_cnt"), ("xps_cpus", "tx-", "xps_cpus")];

/// Interrupts that are kept of one interface.
const INTERRUPTS: usize = 64;

/// The facts of the most useful interfaces (up, with an address, not the loopback come first), and the
/// names of the others.
pub(super) fn facts(most: usize) -> (Vec<(String, Facts)>, Vec<String>) {
    let mut links = link::links().unwrap_or_default();
    links.sort_by_key(|link| (!link.up, link.addresses.is_empty(), link.name == "lo", link.index));
    let others = links.split_off(links.len().min(most)).into_iter().map(|link| link.name).collect();
    let ethtool = Ethtool::open().ok();
    let qdiscs = link::qdiscs().unwrap_or_default();
    let one = |link: Link| {
        let kinds = qdiscs.iter().filter(|one| one.index == link.index).map(|one| one.kind.as_str());
        let mut facts: Facts = LINK.iter().map(|(name, read)| ((*name).to_owned(), read(&link))).collect();
        facts.insert("qdiscs".into(), tally(kinds));
        let bus_address = driver_facts(ethtool.as_ref(), &link.name, &mut facts);
        device_facts(&link, &bus_address, &mut facts);
        (link.name, facts)
    };
    (links.into_iter().map(one).collect(), others)
}

/// How many of each: a tree of queues by kind.
fn tally<'k>(kinds: impl Iterator<Item = &'k str>) -> Value {
    let mut counts = Map::new();
    for kind in kinds {
        let count = counts.get(kind).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(kind.to_owned(), (count + 1).into());
    }
    Value::Object(counts)
}

/// What the driver tells; returns the address on the bus that it gives.
fn driver_facts(ethtool: Option<&Ethtool>, name: &str, facts: &mut Facts) -> String {
    let driver = ethtool.and_then(|device| device.driver(name).ok()).unwrap_or_default();
    let link = ethtool.and_then(|device| device.link(name).ok());
    let features = ethtool.and_then(|device| device.features(name).ok());
    let told = |text: &str| Some(text.to_owned()).filter(|text| is_told(text)).into();
    let mut add = |name: &str, value: Value| facts.insert(name.to_owned(), value);
    add("driver", told(&driver.name));
    add("driver_version", told(&driver.version));
    add("firmware", told(&driver.firmware));
    add("speed_mbps", link.and_then(|link| link.speed_mbps).into());
    add("duplex", link.and_then(|link| link.duplex).into());
    add("autonegotiation", link.map(|link| link.autonegotiation).into());
    add("offloads", features.map_or(Value::Null, |features| offloads(&features)));
    for (group, command) in GROUPS {
        let numbers = ethtool.and_then(|device| device.numbers(name, command).ok());
        let map = |numbers: Vec<(&str, u32)>| {
            Value::Object(
                numbers.into_iter().map(|(name, number)| (name.to_owned(), number.into())).collect(),
            )
        };
        add(group, numbers.map_or(Value::Null, map));
    }
    if is_told(&driver.bus_address) { driver.bus_address } else { String::new() }
}

/// Drivers without something say nothing, or that it is not applicable.
fn is_told(text: &str) -> bool {
    !text.is_empty() && text != "N/A"
}

/// Whether each offload is on; null where the kernel does not know it.
fn offloads(features: &[(String, bool)]) -> Value {
    let state = |names: &[&str]| {
        let known = features.iter().filter(|(name, _)| names.contains(&name.as_str()));
        known.map(|(_, on)| *on).reduce(|a, b| a || b)
    };
    Value::Object(OFFLOADS.iter().map(|(short, names)| ((*short).to_owned(), state(names).into())).collect())
}

/// What the bus tells about the adapter, and sysfs about its queues.
fn device_facts(link: &Link, bus_address: &str, facts: &mut Facts) {
    let device = device(link, bus_address);
    // A virtio device is the child of the PCI function that has the link and the interrupts.
    let function = device.as_deref().map(|device| match device.join("msi_irqs").is_dir() {
        true => device,
        false => device.parent().unwrap_or(device),
    });
    let interface = device.as_deref().map(|device| device.join("net").join(&link.name));
    let in_directory = |directory: Option<&Path>, name: &str| {
        directory.and_then(|path| path.join(name).to_str().map(file)).unwrap_or(Value::Null)
    };
    let address = link.bus_address.clone().or_else(|| Some(bus_address.to_owned()));
    let mut add = |name: &str, value: Value| facts.insert(name.to_owned(), value);
    add("bus_address", address.filter(|address| !address.is_empty()).into());
    for (name, path) in DEVICE {
        add(name, in_directory(function, path));
    }
    for (name, path) in NAPI {
        add(name, in_directory(interface.as_deref(), path));
    }
    for (name, queue, path) in STEERING {
        add(name, interface.as_deref().map_or(Value::Null, |interface| queues(interface, queue, path)));
    }
    add("interrupts", function.map_or(Value::Null, interrupts));
}

/// The adapter's directory, by its address on the bus.
fn device(link: &Link, bus_address: &str) -> Option<PathBuf> {
    let by_link = link.bus.as_deref().zip(link.bus_address.as_deref());
    let (bus, address) = by_link.or(Some(("pci", bus_address)).filter(|(_, address)| !address.is_empty()))?;
    if [bus, address].iter().any(|part| part.contains('/')) {
        return None;
    }
    std::fs::canonicalize(format!("/sys/bus/{bus}/devices/{address}")).ok()
}

/// The different values that the queues have for one setting.
fn queues(interface: &Path, queue: &str, setting: &str) -> Value {
    let Some(root) = interface.join("queues").to_str().map(str::to_owned) else { return Value::Null };
    let names = entries(&root).into_iter().filter(|name| name.starts_with(queue));
    let values: BTreeSet<String> =
        names.filter_map(|name| text(&format!("{root}/{name}/{setting}"))).collect();
    if values.is_empty() { Value::Null } else { values.into_iter().collect() }
}

/// The adapter's interrupts, each with the CPUs that serve it.
fn interrupts(function: &Path) -> Value {
    let Some(root) = function.join("msi_irqs").to_str().map(str::to_owned) else { return Value::Null };
    let cpus = |number: &String| {
        let list = |name| text(&format!("/proc/irq/{number}/{name}"));
        list("effective_affinity_list").or_else(|| list("smp_affinity_list"))
    };
    let served: Map<String, Value> = entries(&root)
        .into_iter()
        .take(INTERRUPTS)
        .filter_map(|number| cpus(&number).map(|cpus| (number, cpus.into())))
        .collect();
    if served.is_empty() { Value::Null } else { Value::Object(served) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_offload_is_on_if_one_of_its_features_is() {
        let features = [("tx-checksum-ipv4", false), ("tx-checksum-ip-generic", true), ("rx-lro", false)];
        let state = offloads(&features.map(|(name, on)| (name.to_owned(), on)));
        assert_eq!(
            (&state["tx-checksum"], &state["lro"], &state["tso"]),
            (&json!(true), &json!(false), &json!(null))
        );
        assert_eq!(state.as_object().map(Map::len), Some(OFFLOADS.len()));
    }

    #[test]
    fn queues_are_counted_by_kind() {
        assert_eq!(tally(["mq", "fq", "fq"].into_iter()), json!({ "mq": 1, "fq": 2 }));
    }

    #[test]
    fn the_loopback_interface_has_every_name() {
        let (facts, others) = facts(100);
        assert!(others.is_empty());
        let (_, lo) = facts.iter().find(|(name, _)| name == "lo").unwrap();
        for name in ["mtu", "qdisc", "gso_max_size", "offloads"] {
            assert!(!lo[name].is_null(), "{name}");
        }
        for name in ["firmware", "rings", "pcie_speed", "interrupts", "xps_cpus", "speed_mbps"] {
            assert!(lo[name].is_null(), "{name}");
        }
        assert!(facts.iter().all(|(_, other)| other.keys().eq(lo.keys())), "all have the same names");
    }

    #[test]
    fn an_address_that_is_a_path_leads_nowhere() {
        assert_eq!(device(&Link::default(), "../../../etc"), None);
        assert_eq!(device(&Link::default(), ""), None);
    }
}
