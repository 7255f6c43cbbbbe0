//! Where a setting of a host is kept, how it is read and written, and what a knob asks of it.

use crate::plan::{HostAddress, Setting};
use crate::unit::Bytes;
use crate::vocabulary::{LINK_MTU, LINK_OFFLOAD};
use crate::{Error, Result};
use linerate_sys::ethtool::{Ethtool, OFFLOADS, Offload};
use linerate_sys::link;
use linerate_sys::netlink::Netlink;
use std::fmt;
use std::fs;
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
}

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
    let interface = interface(address)?;
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

/// The interface that has the address at which the host is measured.
fn interface(address: Option<&HostAddress>) -> Result<String> {
    let none = || Error::unavailable("no interface has the address of this host", "say it: --address");
    let address = address.ok_or_else(none)?;
    let found = link::with_address(address.ip).map_err(Error::from)?;
    found.map(|link| link.name).ok_or_else(none)
}

impl Place {
    /// What it holds, its spaces made alike.
    pub fn read(&self) -> Result<String> {
        match self {
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
            Place::Offload(name, interface) => write!(f, "{name} of {interface}"),
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
        let is_name = !interface.is_empty() && interface.len() < 16 && !interface.contains(['/', ' ']);
        match OFFLOADS.iter().find(|offload| offload.name == what) {
            Some(offload) if is_name => Ok(Place::Offload(offload.name, interface.into())),
            None if is_name && what == "mtu" => Ok(Place::Mtu(interface.into())),
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
        for place in [Place::Mtu("eth0".into()), Place::Offload("gro", "enp1s0f1".into())] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for text in ["kernel.core_pattern", "mtu of ../x", "mtu of ", "tx of eth0", "net.ipv4.tcp_rmem/x", ""]
        {
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
