//! What is written down of a lab that is kept: who holds it, and where its hosts are.
//!
//! It is a file that anything of the same user could have written, so nothing in it is believed: the
//! process is told by its start time, and each namespace by the kernel's name for it.

use super::inside::id_of;
use super::journal::is_mark;
use super::order::Order;
use super::process_journal::start_of;
use super::{HOSTS, InForce, Lab};
use crate::plan::Topology;
use crate::{Error, Result};
use linerate_sys::process::effective_user;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// The version of the file.
const SCHEMA: &str = "linerate.lab/1";

/// The longest name.
const LONGEST_NAME: usize = 32;

/// Kinds of namespaces that a process on a host joins, as the kernel calls them.
const KINDS: [&str; 4] = ["user", "net", "uts", "mnt"];

/// A lab that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// `linerate.lab/1`.
    pub schema: String,
    /// The lab's name.
    pub name: String,
    /// The process that holds it.
    pub pid: u32,
    /// That process's start, in clock ticks since the machine's.
    pub start_ticks: u64,
    /// The user it belongs to.
    pub user: u32,
    /// When it was put up.
    pub utc: String,
    /// What was asked for.
    pub topology: Topology,
    /// What is run on its hosts carries this, so that it is found when the holder has died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// Its hosts.
    pub hosts: Vec<KeptHost>,
    /// The faults in force.
    #[serde(default)]
    pub faults: Vec<InForce>,
}

/// A host of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptHost {
    /// `a`, `b` and so on.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
    /// Its IPv6 address.
    pub address6: Option<IpAddr>,
    /// Its interface.
    pub interface: String,
    /// What a process joins, in this order.
    pub namespaces: Vec<KeptNamespace>,
}

/// A namespace that the holder has open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptNamespace {
    /// The holder's descriptor.
    pub descriptor: i32,
    /// What the kernel calls it: `net:[4026532000]`.
    pub id: String,
}

impl Entry {
    /// This process's entry for a lab that it holds.
    pub(super) fn for_lab(lab: &Lab, order: &Order, mark: Option<String>) -> Result<Entry> {
        let pid = std::process::id();
        let start = start_of(pid)?;
        let lost = || Error::peer("this process", "has no start time", "is /proc mounted?");
        let hosts = lab.hosts().iter().map(|host| {
            let namespaces = host.namespaces.iter().map(|held| KeptNamespace::from_descriptor(held));
            Ok(KeptHost {
                name: host.name.clone(),
                address: host.address,
                address6: host.address6,
                interface: host.interface.clone(),
                namespaces: namespaces.collect::<Result<_>>()?,
            })
        });
        Ok(Entry {
            schema: SCHEMA.into(),
            name: order.name.clone(),
            pid,
            start_ticks: start.ok_or_else(lost)?,
            user: effective_user(),
            utc: order.utc.clone(),
            topology: order.topology.clone(),
            mark,
            hosts: hosts.collect::<Result<_>>()?,
            faults: lab.faults().to_vec(),
        })
    }

    /// The entry in a file that should be about this lab; the error says what it is not.
    pub(super) fn parse(bytes: &[u8], name: &str) -> std::result::Result<Entry, String> {
        let entry: Entry =
            serde_json::from_slice(bytes).map_err(|error| format!("not a lab's record ({error})"))?;
        let names = || entry.hosts.iter().flat_map(|host| [&host.name, &host.interface]);
        let namespaces = || entry.hosts.iter().flat_map(|host| &host.namespaces);
        let faults = [
            (entry.schema != SCHEMA, "of another version of linerate"),
            (entry.name != name, "of a lab with another name"),
            (entry.user != effective_user(), "of another user's lab (a host of a lab has users of its own)"),
            (entry.pid <= 1, "without a holder"),
            (!entry.mark.iter().all(|mark| is_mark(mark)), "with an impossible mark"),
            (!HOSTS.contains(&(entry.hosts.len() as u32)), "of an impossible number of hosts"),
            (!names().all(|name| is_name(name)), "with an impossible name"),
            (!namespaces().all(KeptNamespace::is_sound), "with an impossible namespace"),
        ];
        match faults.iter().find(|(holds, _)| *holds) {
            Some((_, fault)) => Err(format!("a record {fault}")),
            None => Ok(entry),
        }
    }

    /// The host with this name.
    pub fn host(&self, name: &str) -> Result<&KeptHost> {
        let names: Vec<&str> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        self.hosts.iter().find(|host| host.name == name).ok_or_else(|| {
            let what = format!("the lab `{}` has no host `{name}`", self.name);
            Error::usage(what, format!("its hosts are {}", names.join(", ")))
        })
    }
}

impl KeptNamespace {
    fn from_descriptor(held: &OwnedFd) -> Result<KeptNamespace> {
        let descriptor = held.as_raw_fd();
        Ok(KeptNamespace { descriptor, id: id_of(&format!("/proc/self/fd/{descriptor}"))? })
    }

    fn is_sound(&self) -> bool {
        let number = |rest: &str| rest.strip_suffix(']').is_some_and(|n| n.parse::<u64>().is_ok());
        let parts = self.id.split_once(":[");
        self.descriptor >= 0 && parts.is_some_and(|(kind, rest)| KINDS.contains(&kind) && number(rest))
    }
}

/// Whether a lab may be called so: its name becomes a file's.
pub fn is_name(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    text.len() <= LONGEST_NAME
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn entry() -> Value {
        let host = |name: &str| {
            json!({
                "name": name, "address": "198.18.0.1", "address6": null, "interface": "wire0",
                "namespaces": [{ "descriptor": 3, "id": "net:[4026532000]" }],
            })
        };
        json!({
            "schema": SCHEMA, "name": "x", "pid": 77, "start_ticks": 1, "user": effective_user(), "utc": "",
            "topology": Topology::default(), "mark": "0123456789abcdef0123456789abcdef", "hosts": [host("a"), host("b")],
        })
    }

    #[test]
    fn a_record_that_cannot_be_is_not_believed() {
        let parse = |value: &Value| Entry::parse(value.to_string().as_bytes(), "x");
        assert!(parse(&entry()).is_ok());
        let cases = [
            ("/schema", json!("linerate.lab/9"), "version"),
            ("/name", json!("y"), "another name"),
            ("/user", json!(effective_user() + 1), "another user"),
            ("/pid", json!(1), "without a holder"),
            ("/mark", json!("LD_PRELOAD=x"), "impossible mark"),
            ("/pid", json!(-1), "not a lab's record"),
            ("/hosts", json!([]), "number of hosts"),
            ("/hosts/0/name", json!("\u{1b}[2J"), "impossible name"),
            ("/hosts/0/interface", json!("../x"), "impossible name"),
            ("/hosts/1/namespaces/0/descriptor", json!(-1), "impossible namespace"),
            ("/hosts/1/namespaces/0/id", json!("/dev/sda"), "impossible namespace"),
            ("/hosts/1/namespaces/0/id", json!("pipe:[1]"), "impossible namespace"),
        ];
        for (place, value, part) in cases {
            let mut forged = entry();
            *forged.pointer_mut(place).unwrap() = value;
            let fault = parse(&forged).unwrap_err();
            assert!(fault.contains(part), "{place}: {fault}");
        }
        assert!(Entry::parse(b"", "x").is_err());
    }

    #[test]
    fn a_name_is_a_file_name() {
        for (name, legal) in
            [("lab", true), ("slow-2", true), ("", false), (".x", false), ("a/b", false), ("-x", false)]
        {
            assert_eq!(is_name(name), legal, "{name}");
        }
        assert!(!is_name(&"x".repeat(33)));
    }
}
