//! Where a setting of a host is kept, how it is read and written, and what a knob asks of it.

use crate::plan::{HostAddress, Setting};
use crate::unit::Bytes;
use crate::vocabulary::{LINK_MTU, LINK_OFFLOAD};
use crate::{Error, Result};
use linerate_sys::ethtool::{COALESCING, Ethtool, Group, OFFLOADS, Offload, RINGS};
use linerate_sys::link;
use linerate_sys::netlink::{Netlink, Root};
use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

/// One setting of a host: a file below `/proc/sys`, or a property of an interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// `net/ipv4/tcp_rmem`.
    Sysctl(String),
    /// The largest packet of an interface.
    Mtu(String),
    /// An offload of an interface: its name, and the interface.
    Offload(&'static str, String),
    /// Numbers of an adapter: which, and its interface.
    Numbers(&'static str, String),
    /// The queueing discipline at the root of an interface.
    Queueing(String),
    /// What chooses the clock of a CPU.
    Governor(u32),
}

/// Numbers of an adapter that are set together: how a place is called, and which they are.
struct Numbers {
    name: &'static str,
    knob: &'static str,
    group: &'static Group,
    /// Each with its value; none is the one that is asked for.
    fields: &'static [(&'static str, Option<u32>)],
}

const NUMBERS: &[Numbers] = &[
    Numbers { name: "rings", knob: "host.ring-size", group: &RINGS, fields: &[("rx", None), ("tx", None)] },
    Numbers {
        name: "interrupt-delay",
        knob: "host.interrupt-delay",
        group: &COALESCING,
        fields: &[("rx_usecs", None), ("adaptive_rx", Some(0))],
    },
];

/// An interface's own queueing discipline, which comes back where another one is removed.
const DEFAULT: &str = "default";

/// Where the kernel tells of the CPUs.
const CPUS: &str = "/sys/devices/system/cpu";

/// What a knob asks of one file: of what was there, and the value that is asked for.
type Value = fn(before: &str, asked: &str) -> Option<String>;

/// The files behind knobs, with what is written into them.
const FILES: &[(&str, &str, Value)] = &[
    ("host.tcp-receive-buffer", "net/ipv4/tcp_rmem", third),
    ("host.tcp-send-buffer", "net/ipv4/tcp_wmem", third),
    ("host.receive-buffer-limit", "net/core/rmem_max", bytes),
    ("host.send-buffer-limit", "net/core/wmem_max", bytes),
    ("host.slow-start-after-idle", "net/ipv4/tcp_slow_start_after_idle", switch),
    ("host.mtu-probing", "net/ipv4/tcp_mtu_probing", plain),
    ("host.metrics-save", "net/ipv4/tcp_no_metrics_save", switched_off),
    ("host.window-scaling", "net/ipv4/tcp_window_scaling", switch),
    ("host.selective-acks", "net/ipv4/tcp_sack", switch),
    ("host.busy-read", "net/core/busy_read", plain),
];

fn bytes(_: &str, asked: &str) -> Option<String> {
    asked.parse::<Bytes>().ok().map(|size| size.0.to_string())
}

/// The third of three numbers; the second is no larger.
fn third(before: &str, asked: &str) -> Option<String> {
    let most = asked.parse::<Bytes>().ok()?.0;
    let [least, usual, _] = before.split(' ').collect::<Vec<_>>()[..] else { return None };
    let [least, usual] = [least.parse::<u64>().ok()?, usual.parse::<u64>().ok()?];
    Some(format!("{} {} {most}", least.min(most), usual.min(most)))
}

fn plain(_: &str, asked: &str) -> Option<String> {
    Some(asked.into())
}

fn switch(_: &str, asked: &str) -> Option<String> {
    Some(u8::from(asked == "on").to_string())
}

fn switched_off(_: &str, asked: &str) -> Option<String> {
    Some(u8::from(asked != "on").to_string())
}

/// What a knob asks of which places; `before` reads what was there.
pub fn wanted(
    setting: &Setting,
    address: Option<&HostAddress>,
    before: &dyn Fn(&Place) -> Result<String>,
) -> Result<Vec<(Place, String)>> {
    if let Some((_, file, value)) = FILES.iter().find(|(knob, ..)| *knob == setting.knob) {
        let place = Place::Sysctl((*file).into());
        let asked = value(&before(&place)?, &setting.value);
        let odd = format!("{place} is not what this program knows");
        let asked = asked.ok_or_else(|| Error::unavailable(odd, "leave it out: --knob names others"))?;
        return Ok(vec![(place, asked)]);
    }
    if setting.knob == "host.governor" {
        let governed = governed();
        let none = || Error::unavailable("its CPUs' clock is governed elsewhere", "leave host.governor out");
        let one = |cpu: &u32| (Place::Governor(*cpu), setting.value.clone());
        return if governed.is_empty() { Err(none()) } else { Ok(governed.iter().map(one).collect()) };
    }
    let interface = interface(address)?;
    if setting.knob == "host.queueing" {
        let place = Place::Queueing(interface);
        return match before(&place)? {
            own if own == DEFAULT => Ok(vec![(place, setting.value.clone())]),
            found => Err(Error::unavailable(format!("{place} is {found}, which nobody could put back"), "")),
        };
    }
    if let Some(numbers) = NUMBERS.iter().find(|numbers| numbers.knob == setting.knob) {
        let asked =
            setting.value.parse::<u32>().map_err(|_| Error::usage(format!("{setting} is no number"), ""))?;
        let values = numbers.fields.iter().map(|(name, value)| format!("{name}={}", value.unwrap_or(asked)));
        let values = values.collect::<Vec<_>>().join(" ");
        return Ok(vec![(Place::Numbers(numbers.name, interface), values)]);
    }
    if setting.knob == LINK_MTU.name {
        return Ok(vec![(Place::Mtu(interface), setting.value.clone())]);
    }
    if setting.knob == LINK_OFFLOAD.name {
        let one =
            |offload: &Offload| (Place::Offload(offload.name, interface.clone()), setting.value.clone());
        return Ok(OFFLOADS.iter().map(one).collect());
    }
    Err(Error::usage(format!("{} is no setting of a host", setting.knob), "see `linerate list knobs`"))
}

/// The CPUs whose clock is chosen by a governor that can be set.
fn governed() -> Vec<u32> {
    let entries = fs::read_dir(CPUS).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let cpus = names.filter_map(|name| name.strip_prefix("cpu")?.parse().ok());
    let mut cpus: Vec<u32> = cpus.filter(|cpu| Path::new(&governor_of(*cpu)).exists()).collect();
    cpus.sort_unstable();
    cpus
}

fn governor_of(cpu: u32) -> String {
    format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor")
}

fn numbers(name: &str) -> Result<&'static Numbers> {
    let known = NUMBERS.iter().find(|numbers| numbers.name == name);
    known.ok_or_else(|| Error::usage(format!("no numbers are called {name}"), ""))
}

/// The interface that has the address at which the host is measured.
fn interface(address: Option<&HostAddress>) -> Result<String> {
    let none = || Error::unavailable("no interface has the address of this host", "say it: --address");
    let address = address.ok_or_else(none)?;
    let found = link::with_address(address.ip).map_err(Error::from)?;
    found.map(|link| link.name).ok_or_else(none)
}

impl Place {
    /// Whether it is of the whole machine, whatever the network namespace.
    pub fn is_of_machine(&self) -> bool {
        matches!(self, Place::Governor(_))
    }

    /// What it holds, its spaces made alike.
    pub fn read(&self) -> Result<String> {
        match self {
            Place::Numbers(name, interface) => {
                let numbers = numbers(name)?;
                let found = Ethtool::open()?.numbers(interface, numbers.group)?;
                let shown =
                    found.iter().filter(|(name, _)| numbers.fields.iter().any(|field| field.0 == *name));
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
            Place::Governor(cpu) => {
                let path = governor_of(*cpu);
                let text = fs::read_to_string(&path).map_err(|error| Error::io("read", path, error))?;
                Ok(text.trim().to_owned())
            }
            Place::Sysctl(file) => {
                let path = format!("/proc/sys/{file}");
                let text = fs::read_to_string(&path).map_err(|error| Error::io("read", path, error))?;
                Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            Place::Mtu(interface) => Ok(Netlink::open()?.link(interface)?.mtu.to_string()),
            Place::Offload(name, interface) => {
                let on = Ethtool::open()?.offload(interface, offload(name)?)?;
                Ok(if on { "on" } else { "off" }.into())
            }
        }
    }

    /// Makes it hold this.
    pub fn write(&self, value: &str) -> Result<()> {
        match self {
            Place::Numbers(name, interface) => {
                let read = |field: &str| {
                    let (name, number) = field.split_once('=')?;
                    Some((name.to_owned(), number.parse::<u32>().ok()?))
                };
                let values: Vec<(String, u32)> = value.split(' ').filter_map(read).collect();
                let values: Vec<(&str, u32)> = values.iter().map(|(name, value)| (&**name, *value)).collect();
                Ok(Ethtool::open()?.set_numbers(interface, numbers(name)?.group, &values)?)
            }
            Place::Queueing(interface) => {
                let mut netlink = Netlink::open()?;
                let link = netlink.link(interface)?;
                match value {
                    DEFAULT => Ok(netlink.remove_qdisc(&link)?),
                    kind => Ok(netlink.set_own_qdisc(&link, kind)?),
                }
            }
            Place::Governor(cpu) => {
                let path = governor_of(*cpu);
                fs::write(&path, value).map_err(|error| Error::io("write", path, error))
            }
            Place::Sysctl(file) => {
                let path = format!("/proc/sys/{file}");
                fs::write(&path, value).map_err(|error| Error::io("write", path, error))
            }
            Place::Mtu(interface) => {
                let mtu = value.parse().map_err(|_| Error::usage(format!("{value} is no MTU"), ""))?;
                let mut netlink = Netlink::open()?;
                let link = netlink.link(interface)?;
                Ok(netlink.set_mtu(&link, mtu)?)
            }
            Place::Offload(name, interface) => {
                Ok(Ethtool::open()?.set_offload(interface, offload(name)?, value == "on")?)
            }
        }
    }
}

fn offload(name: &str) -> Result<&'static Offload> {
    let known = OFFLOADS.iter().find(|offload| offload.name == name);
    known.ok_or_else(|| Error::usage(format!("no offload is called {name}"), ""))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Sysctl(file) => f.write_str(&file.replace('/', ".")),
            Place::Mtu(interface) => write!(f, "mtu of {interface}"),
            Place::Offload(name, interface) | Place::Numbers(name, interface) => {
                write!(f, "{name} of {interface}")
            }
            Place::Queueing(interface) => write!(f, "queueing of {interface}"),
            Place::Governor(cpu) => write!(f, "governor of cpu{cpu}"),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    /// Only what this program changes is read: a journal can name nothing else.
    fn from_str(text: &str) -> std::result::Result<Place, String> {
        let unknown = || format!("`{text}` is no setting that this program changes");
        if let Some((_, file, _)) = FILES.iter().find(|(_, file, _)| file.replace('/', ".") == text) {
            return Ok(Place::Sysctl((*file).into()));
        }
        let (what, interface) = text.split_once(" of ").ok_or_else(unknown)?;
        if let Some(cpu) = interface.strip_prefix("cpu").filter(|_| what == "governor") {
            return cpu.parse::<u32>().map(Place::Governor).map_err(|_| unknown());
        }
        let numbers = NUMBERS.iter().find(|numbers| numbers.name == what);
        let is_name = !interface.is_empty() && interface.len() < 16 && !interface.contains(['/', ' ']);
        match OFFLOADS.iter().find(|offload| offload.name == what) {
            Some(offload) if is_name => Ok(Place::Offload(offload.name, interface.into())),
            None if is_name && what == "mtu" => Ok(Place::Mtu(interface.into())),
            None if is_name && what == "queueing" => Ok(Place::Queueing(interface.into())),
            None if is_name && numbers.is_some() => {
                Ok(Place::Numbers(numbers.map_or("", |numbers| numbers.name), interface.into()))
            }
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for (_, file, _) in FILES {
            let place = Place::Sysctl((*file).into());
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        let eth0 = || "eth0".to_owned();
        for place in [
            Place::Mtu(eth0()),
            Place::Offload("gro", "enp1s0f1".into()),
            Place::Numbers("rings", eth0()),
            Place::Numbers("interrupt-delay", eth0()),
            Place::Queueing(eth0()),
            Place::Governor(7),
        ] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for text in [
            "kernel.core_pattern",
            "mtu of ../x",
            "mtu of ",
            "tx of eth0",
            "governor of eth0",
            "governor of cpu../x",
            "queueing of a/b",
            "net.ipv4.tcp_rmem/x",
            "",
        ] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_third_number_leads_the_others() {
        assert_eq!(third("4096 131072 6291456", "16MiB").as_deref(), Some("4096 131072 16777216"));
        assert_eq!(third("4096 131072 6291456", "64KiB").as_deref(), Some("4096 65536 65536"));
        assert_eq!(third("4096 131072", "64KiB"), None);
        assert_eq!((switch("", "on").as_deref(), switched_off("", "on").as_deref()), (Some("1"), Some("0")));
    }
}
