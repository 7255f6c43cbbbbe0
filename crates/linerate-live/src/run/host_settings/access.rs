//! What a place of a host holds, read and written by the kernel's facility that it is of.

use super::place::{Place, adapter_place, cpu_place, offload};
use super::queue;
use crate::vocabulary::{AdapterField, AdapterNumbers, AdapterPlace};
use crate::{Error, Result};
use linerate_sys::ethtool::{CHANNELS, COALESCING, Ethtool, Group, RINGS};
use linerate_sys::netlink::{Netlink, Root};
use std::fs;
use std::path::Path;

/// An interface's own queueing discipline, which comes back where another one is removed.
pub const DEFAULT: &str = "default";

/// Where the kernel tells of the CPUs.
const CPUS: &str = "/sys/devices/system/cpu";

/// The CPUs that have a file, in their order.
pub fn cpus_with(file: &str) -> Vec<u32> {
    let entries = fs::read_dir(CPUS).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let cpus = names.filter_map(|name| name.strip_prefix("cpu")?.parse().ok());
    let mut cpus: Vec<u32> = cpus.filter(|cpu| Path::new(&file_of_cpu(*cpu, file)).exists()).collect();
    cpus.sort_unstable();
    cpus
}

fn file_of_cpu(cpu: u32, file: &str) -> String {
    format!("{CPUS}/cpu{cpu}/{file}")
}

/// Which numbers of the driver's they are.
fn group(place: AdapterPlace) -> &'static Group {
    match place.numbers {
        AdapterNumbers::Rings => &RINGS,
        AdapterNumbers::Coalescing => &COALESCING,
        AdapterNumbers::Channels => &CHANNELS,
    }
}

/// The numbers that an adapter has of these: where the driver tells how many there may be, none of what it has none of.
fn fields(place: AdapterPlace, found: &[(&str, u32)]) -> &'static [AdapterField] {
    let most = |name: &str| found.iter().find(|(known, _)| known.strip_suffix("_max") == Some(name));
    let has = |(name, _): &AdapterField| most(name).is_none_or(|(_, most)| *most > 0);
    let own = place.ways.iter().find(|fields| fields.iter().all(has));
    own.or(place.ways.last()).copied().unwrap_or_default()
}

fn unknown(what: &str) -> Error {
    Error::usage(format!("{what} is no setting that this program changes"), "")
}

fn read_file(path: String) -> Result<String> {
    let text = fs::read_to_string(&path).map_err(|error| Error::io("read", path, error))?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn write_file(path: String, value: &str) -> Result<()> {
    fs::write(&path, value).map_err(|error| Error::io("write", path, error))
}

impl Place {
    /// Where it is a file, which.
    fn file(&self) -> Option<String> {
        match self {
            Place::Sysctl(file) => Some(format!("/proc/sys/{file}")),
            Place::OfCpu(name, cpu) => cpu_place(name).map(|place| file_of_cpu(*cpu, place.file)),
            _ => None,
        }
    }

    /// What it holds, its spaces made alike.
    pub fn read(&self) -> Result<String> {
        match self {
            Place::Numbers(name, interface) => {
                let place = adapter_place(name).ok_or_else(|| unknown(name))?;
                let found = Ethtool::open()?.numbers(interface, group(place))?;
                let fields = fields(place, &found);
                let shown = found.iter().filter(|(name, _)| fields.iter().any(|field| field.0 == *name));
                Ok(shown.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
            }
            Place::Queueing(interface) => {
                let mut netlink = Netlink::open()?;
                let link = netlink.link(interface)?;
                Ok(match netlink.root_qdisc(&link)? {
                    Root::Default => DEFAULT.into(),
                    Root::Own(kind) => kind,
                    Root::Others(kind) => format!("{kind}, somebody's own"),
                })
            }
            Place::Mtu(interface) => Ok(Netlink::open()?.link(interface)?.mtu.to_string()),
            Place::Offload(name, interface) => {
                let offload = offload(name).ok_or_else(|| unknown(name))?;
                Ok(if Ethtool::open()?.offload(interface, offload)? { "on" } else { "off" }.into())
            }
            Place::OfQueue(file, queue, interface) => queue::read(file, *queue, interface),
            Place::Sysctl(name) | Place::OfCpu(name, _) => {
                read_file(self.file().ok_or_else(|| unknown(name))?)
            }
        }
    }

    /// Makes it hold this.
    pub fn write(&self, value: &str) -> Result<()> {
        match self {
            Place::Numbers(name, interface) => {
                let place = adapter_place(name).ok_or_else(|| unknown(name))?;
                let read = |field: &str| {
                    let (name, number) = field.split_once('=')?;
                    Some((name.to_owned(), number.parse::<u32>().ok()?))
                };
                let values: Vec<(String, u32)> = value.split(' ').filter_map(read).collect();
                let values: Vec<(&str, u32)> = values.iter().map(|(name, value)| (&**name, *value)).collect();
                Ok(Ethtool::open()?.set_numbers(interface, group(place), &values)?)
            }
            Place::Queueing(interface) => {
                let mut netlink = Netlink::open()?;
                let link = netlink.link(interface)?;
                match value {
                    DEFAULT => Ok(netlink.remove_qdisc(&link)?),
                    kind => Ok(netlink.set_own_qdisc(&link, kind)?),
                }
            }
            Place::Mtu(interface) => {
                let mtu = value.parse().map_err(|_| Error::usage(format!("{value} is no MTU"), ""))?;
                let mut netlink = Netlink::open()?;
                let link = netlink.link(interface)?;
                Ok(netlink.set_mtu(&link, mtu)?)
            }
            Place::Offload(name, interface) => {
                let offload = offload(name).ok_or_else(|| unknown(name))?;
                Ok(Ethtool::open()?.set_offload(interface, offload, value == "on")?)
            }
            Place::OfQueue(file, queue, interface) => queue::write(file, *queue, interface, value),
            Place::Sysctl(name) | Place::OfCpu(name, _) => {
                write_file(self.file().ok_or_else(|| unknown(name))?, value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_has_its_queues_in_one_of_two_ways() {
        const BOTH: &[AdapterField] = &[("combined", None)];
        const APART: &[AdapterField] = &[("rx", None), ("tx", None)];
        let ways: &'static [&'static [AdapterField]] = &[BOTH, APART];
        let place = AdapterPlace { name: "queues", numbers: AdapterNumbers::Channels, ways };
        let of = |rx, tx, combined| {
            fields(place, &[("rx_max", rx), ("tx_max", tx), ("combined_max", combined), ("rx", 1)])
        };
        assert_eq!((of(0, 0, 8), of(4, 4, 0), of(37, 37, 74)), (BOTH, APART, BOTH));
        // What has no maxima, as the delay of interrupts, has them all.
        assert_eq!(fields(place, &[("combined", 1)]), BOTH);
    }
}
