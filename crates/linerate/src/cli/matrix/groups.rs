//! What hosts are called, and which have something in common: by a file, or by their names.

use crate::plan::{HostId, HostSet, MOST_GROUPS, Target, host_name};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The longest file of groups.
const LONGEST: u64 = 1 << 20;

/// Beginnings of names make groups where there are so many, of so many hosts each.
const LEAST_GROUPS: usize = 3;
const LEAST_HOSTS: usize = 3;

/// Each host's name, in the order of the target: without user and port.
pub fn names(target: &Target) -> Vec<String> {
    match target {
        Target::Ssh(hosts) if hosts.len() > 1 => hosts.iter().map(|host| bare(host)).collect(),
        Target::Launched(launched) if !launched.names().is_empty() => {
            launched.names().iter().map(|host| bare(host)).collect()
        }
        _ => (0..target.hosts()).map(host_name).collect(),
    }
}

fn bare(host: &str) -> String {
    let without_user = host.rsplit_once('@').map_or(host, |(_, host)| host);
    // What has several colons is an IPv6 address.
    match without_user.split_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name.into(),
        _ => without_user.into(),
    }
}

/// The groups of a file, or those that names tell.
pub fn groups(file: Option<&Path>, names: &[String]) -> Result<Vec<HostSet>> {
    let Some(path) = file else { return Ok(by_name(names)) };
    let object = path.display().to_string();
    let bytes = std::fs::metadata(path).map_err(|e| Error::io("open", &object, e))?.len();
    if bytes > LONGEST {
        return Err(Error::usage(
            format!("{object} has {bytes} bytes"),
            "a file of groups has at most 1 MiB",
        ));
    }
    let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", &object, e))?;
    read(&text, names).map_err(|(what, hint)| Error::usage(format!("{object}: {what}"), hint))
}

/// A line a group: `rack1: a b c`; what follows `#` is no part of it.
fn read(text: &str, names: &[String]) -> std::result::Result<Vec<HostSet>, (String, String)> {
    let mut groups: Vec<HostSet> = Vec::new();
    let mut taken: BTreeMap<HostId, String> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let hint = || "a line is a name, a colon and its hosts: rack1: a b c".to_owned();
        let (name, hosts) =
            line.split_once(':').ok_or_else(|| (format!("line {number} has no colon"), hint()))?;
        let name = name.trim();
        if groups.len() == MOST_GROUPS || groups.iter().any(|group| group.name == name) {
            return Err((format!("line {number}: `{name}` is there twice, or one too many"), hint()));
        }
        let mut group = HostSet { name: name.into(), hosts: Vec::new() };
        for host in hosts.split([' ', ',', '\t']).filter(|host| !host.is_empty()) {
            let place = names.iter().position(|one| one == host);
            let id = place.and_then(|place| u16::try_from(place).ok()).map(HostId);
            let id = id.ok_or_else(|| {
                (
                    format!("line {number}: the target has no host {host}"),
                    "name them as the target does".into(),
                )
            })?;
            if let Some(other) = taken.insert(id, name.into()) {
                let what = format!("line {number}: {host} is in {other} already");
                return Err((what, "a host is in one group".into()));
            }
            group.hosts.push(id);
        }
        groups.push(group);
    }
    Ok(groups)
}

/// `r1n01` to `r1n16` and `r2n01` to `r2n16`: what stands before the last number.
fn by_name(names: &[String]) -> Vec<HostSet> {
    let mut groups: BTreeMap<&str, Vec<HostId>> = BTreeMap::new();
    for (name, number) in names.iter().zip(0u16..) {
        let first = name.split('.').next().unwrap_or(name);
        let beginning = first.trim_end_matches(|c: char| c.is_ascii_digit());
        if beginning.len() < first.len() {
            groups.entry(beginning).or_default().push(HostId(number));
        }
    }
    groups.retain(|_, hosts| hosts.len() >= LEAST_HOSTS);
    if groups.len() < LEAST_GROUPS {
        return Vec::new();
    }
    groups.into_iter().map(|(name, hosts)| HostSet { name: name.into(), hosts }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_says_who_belongs_together() {
        let names = named(&["a", "b", "c", "d"]);
        let groups = read("# racks\nrack1: a b\n\nrack2: c,d # and no more\n", &names).unwrap();
        let told: Vec<(&str, usize)> =
            groups.iter().map(|one| (one.name.as_str(), one.hosts.len())).collect();
        assert_eq!(told, [("rack1", 2), ("rack2", 2)]);
        for (text, part) in [
            ("rack1 a b", "line 1 has no colon"),
            ("rack1: a e", "no host e"),
            ("rack1: a\nrack2: a", "a is in rack1 already"),
            ("rack1: a\nrack1: b", "`rack1` is there twice"),
        ] {
            assert!(read(text, &names).unwrap_err().0.contains(part), "{text}");
        }
    }

    #[test]
    fn names_tell_racks_where_they_have_several_beginnings() {
        let all: Vec<String> =
            (1..4).flat_map(|rack| (1..5).map(move |node| format!("r{rack}n{node:02}.example"))).collect();
        let groups = by_name(&all);
        assert_eq!(groups.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["r1n", "r2n", "r3n"]);
        assert!(by_name(&named(&["node1", "node2", "node3"])).is_empty());
        assert!(by_name(&named(&["a", "b", "c"])).is_empty());
    }

    #[test]
    fn a_host_is_called_without_user_and_port() {
        for (given, name) in [("root@b:2222", "b"), ("node7", "node7"), ("fe80::1%eth0", "fe80::1%eth0")] {
            assert_eq!(bare(given), name);
        }
    }
}
