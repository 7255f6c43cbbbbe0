//! The hosts of a run.

use super::pair::host_name;
use super::{HostAddress, PortRange};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A host of a run, by its number: `a` is 0, `z` 25, `aa` 26.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostId(pub u16);

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&host_name(self.0.into()))
    }
}

/// No host has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoHost(String);

impl fmt::Display for NoHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no host is called `{}`: they are `a` to `z`, then `aa`, `ab` and so on", self.0)
    }
}

impl std::error::Error for NoHost {}

impl FromStr for HostId {
    type Err = NoHost;

    fn from_str(name: &str) -> Result<HostId, NoHost> {
        let no_host = || NoHost(name.chars().take(LONGEST_SHOWN).collect());
        let digit = |letter: u8| letter.is_ascii_lowercase().then(|| u32::from(letter - b'a') + 1);
        let number = name.bytes().try_fold(0u32, |number, letter| {
            number.checked_mul(26)?.checked_add(digit(letter)?).filter(|number| *number <= MOST_NUMBER)
        });
        let number = number.and_then(|number| number.checked_sub(1)).ok_or_else(no_host)?;
        u16::try_from(number).map(HostId).map_err(|_| no_host())
    }
}

/// One more than the largest number of a host.
const MOST_NUMBER: u32 = 1 << u16::BITS;

/// So much of a wrong name is repeated.
const LONGEST_SHOWN: usize = 40;

impl TryFrom<String> for HostId {
    type Error = NoHost;

    fn try_from(name: String) -> Result<HostId, NoHost> {
        name.parse()
    }
}

impl From<HostId> for String {
    fn from(host: HostId) -> String {
        host.to_string()
    }
}

impl PartialEq<str> for HostId {
    fn eq(&self, name: &str) -> bool {
        name.parse() == Ok(*self)
    }
}

impl PartialEq<&str> for HostId {
    fn eq(&self, name: &&str) -> bool {
        *self == **name
    }
}

impl JsonSchema for HostId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HostId".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// A host that takes part, and what the user says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlannedHost {
    /// Its name.
    pub id: HostId,
    /// The address that its peer sends to, where it is not the one that the host was reached at.
    pub address: Option<HostAddress>,
    /// Its IPv6 address, where that is not known otherwise.
    pub address6: Option<HostAddress>,
    /// The ports that its ends may listen on; any where none are said.
    pub ports: Option<PortRange>,
    /// Whether it listens and the other hosts connect to it, whatever they are called.
    pub listens: bool,
}

impl PlannedHost {
    /// The first so many hosts of a target, nothing being said of them.
    pub fn first(count: u32) -> Vec<PlannedHost> {
        let host = |number| PlannedHost { id: HostId(number), ..PlannedHost::default() };
        (0..count as u16).map(host).collect()
    }
}

/// Hosts that play the same part at once, written `a+b`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostGroup(pub(super) Vec<HostId>);

/// What joins the names of several hosts that play the same part.
const JOINED: char = '+';

impl HostGroup {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a host is one of them.
    pub fn has(&self, host: HostId) -> bool {
        self.0.contains(&host)
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = HostId> {
        self.0.iter().copied()
    }

    /// The host that is alone in it.
    pub fn single(&self) -> Option<HostId> {
        match self.0[..] {
            [one] => Some(one),
            _ => None,
        }
    }
}

impl From<HostId> for HostGroup {
    fn from(host: HostId) -> HostGroup {
        HostGroup(vec![host])
    }
}

impl FromIterator<HostId> for HostGroup {
    fn from_iter<I: IntoIterator<Item = HostId>>(hosts: I) -> HostGroup {
        HostGroup(hosts.into_iter().collect())
    }
}

impl fmt::Display for HostGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.iter().map(HostId::to_string).collect::<Vec<_>>().join(&JOINED.to_string()))
    }
}

impl TryFrom<String> for HostGroup {
    type Error = NoHost;

    fn try_from(names: String) -> Result<HostGroup, NoHost> {
        names.split(JOINED).filter(|name| !name.is_empty()).map(str::parse::<HostId>).collect()
    }
}

impl From<HostGroup> for String {
    fn from(hosts: HostGroup) -> String {
        hosts.to_string()
    }
}

impl JsonSchema for HostGroup {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HostGroup".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts() {
        for (number, name) in [(0, "a"), (25, "z"), (26, "aa"), (63, "bl"), (u16::MAX, "crxp")] {
            assert_eq!((HostId(number).to_string().as_str(), name.parse()), (name, Ok(HostId(number))));
        }
        for name in ["", "A", "a1", "crxq", "zzzzzzzzzzzzzzzz", "ä"] {
            assert!(name.parse::<HostId>().is_err(), "{name}");
        }
    }
}
