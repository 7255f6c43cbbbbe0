//! Where a setting of a host is, and how it is called where it is told of and written down.

use crate::vocabulary::{AdapterPlace, CpuPlace, HOST_KNOBS, HostPlace};
use linerate_sys::ethtool::{OFFLOADS, Offload};
use std::fmt;
use std::str::FromStr;

/// One setting of a host: a file, or a property of an interface. Names are those of the table of hosts' knobs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A file below `/proc/sys`: `net/ipv4/tcp_rmem`.
    Sysctl(&'static str),
    /// The largest packet of an interface.
    Mtu(String),
    /// An offload of an interface: its name, and the interface.
    Offload(&'static str, String),
    /// Numbers of an adapter: which, and its interface.
    Numbers(&'static str, String),
    /// The queueing discipline at the root of an interface.
    Queueing(String),
    /// A file of a CPU: which, and of which one.
    OfCpu(&'static str, u32),
    /// A file of a receive queue: which, of which one, and its interface.
    OfQueue(&'static str, u32, String),
}

/// What the table has of a file of each CPU.
pub fn cpu_place(name: &str) -> Option<CpuPlace> {
    HOST_KNOBS.iter().find_map(|one| match one.place {
        HostPlace::EachCpu(place) => Some(place).filter(|place| place.name == name),
        _ => None,
    })
}

/// What the table has of an adapter's numbers.
pub fn adapter_place(name: &str) -> Option<AdapterPlace> {
    HOST_KNOBS.iter().find_map(|one| match one.place {
        HostPlace::Adapter(place) => Some(place).filter(|place| place.name == name),
        _ => None,
    })
}

/// A file of each receive queue, as the table has it.
fn queue_file(name: &str) -> Option<&'static str> {
    HOST_KNOBS.iter().find_map(|one| match one.place {
        HostPlace::EachReceiveQueue(file) => Some(file).filter(|file| *file == name),
        _ => None,
    })
}

/// The offload of this name.
pub fn offload(name: &str) -> Option<&'static Offload> {
    OFFLOADS.iter().find(|offload| offload.name == name)
}

/// The file as the table has it, of its name with dots.
fn sysctl(text: &str) -> Option<&'static str> {
    HOST_KNOBS.iter().find_map(|one| match one.place {
        HostPlace::Sysctl(file, _) => Some(file).filter(|file| file.replace('/', ".") == text),
        _ => None,
    })
}

impl Place {
    /// Whether it is of the whole machine, whatever the network namespace.
    pub fn is_of_machine(&self) -> bool {
        matches!(self, Place::OfCpu(..))
    }

    /// The place of this name on an interface.
    fn on_interface(what: &str, interface: &str) -> Option<Place> {
        match what {
            _ if !is_name(interface) => None,
            "mtu" => Some(Place::Mtu(interface.into())),
            "queueing" => Some(Place::Queueing(interface.into())),
            _ => {
                let numbers = || Some(Place::Numbers(adapter_place(what)?.name, interface.into()));
                offload(what).map(|known| Place::Offload(known.name, interface.into())).or_else(numbers)
            }
        }
    }
}

/// Whether an interface can be called so: what is read here becomes part of a path.
fn is_name(interface: &str) -> bool {
    !interface.is_empty()
        && interface.len() < 16
        && !interface.contains(['/', ' '])
        && ![".", ".."].contains(&interface)
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
            Place::OfCpu(name, cpu) => write!(f, "{name} of cpu{cpu}"),
            Place::OfQueue(file, queue, interface) => write!(f, "{file} of rx-{queue} of {interface}"),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    /// Only what this program changes is read: a journal can name nothing else.
    fn from_str(text: &str) -> Result<Place, String> {
        let of_cpu = |what: &str, owner: &str| {
            let cpu = owner.strip_prefix("cpu")?.parse().ok()?;
            Some(Place::OfCpu(cpu_place(what)?.name, cpu))
        };
        let of_queue = |what: &str, owner: &str| {
            let (queue, interface) = owner.strip_prefix("rx-")?.split_once(" of ")?;
            let queue = queue.parse().ok().filter(|_| is_name(interface))?;
            Some(Place::OfQueue(queue_file(what)?, queue, interface.into()))
        };
        let named = || {
            let (what, owner) = text.split_once(" of ")?;
            let of_part = of_cpu(what, owner).or_else(|| of_queue(what, owner));
            of_part.or_else(|| Place::on_interface(what, owner))
        };
        let place = sysctl(text).map(Place::Sysctl).or_else(named);
        place.ok_or_else(|| format!("`{text}` is no setting that this program changes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let interface = || "enp1s0f1".to_owned();
        for one in HOST_KNOBS {
            let place = match one.place {
                HostPlace::Sysctl(file, _) => Place::Sysctl(file),
                HostPlace::Mtu => Place::Mtu(interface()),
                HostPlace::Offloads => Place::Offload("gro", interface()),
                HostPlace::Queueing => Place::Queueing(interface()),
                HostPlace::Adapter(place) => Place::Numbers(place.name, interface()),
                HostPlace::EachCpu(place) => Place::OfCpu(place.name, 7),
                HostPlace::EachReceiveQueue(file) => Place::OfQueue(file, 3, interface()),
            };
            assert_eq!(place.to_string().parse(), Ok(place));
        }
    }

    /// Journals of earlier versions name them so.
    #[test]
    fn a_place_is_called_as_ever() {
        for text in [
            "net.ipv4.tcp_rmem",
            "net.core.busy_read",
            "mtu of eth0",
            "tso of eth0",
            "rings of eth0",
            "interrupt-delay of eth0",
            "queueing of eth0",
            "governor of cpu7",
        ] {
            assert_eq!(text.parse::<Place>().map(|place| place.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn nothing_else_is_a_place() {
        for text in [
            "kernel.core_pattern",
            "mtu of ../x",
            "mtu of ",
            "tx of eth0",
            "governor of eth0",
            "governor of cpu../x",
            "queueing of a/b",
            "net.ipv4.tcp_rmem/x",
            "mtu of ..",
            "rps_cpus of rx-0 of ../../eth0",
            "rps_cpus of rx-0/.. of eth0",
            "rps_cpus of eth0",
            "",
        ] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
