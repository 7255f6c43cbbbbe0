//! Which hosts: the virtual lab, hosts reached by ssh, or a machine that is made up.

use super::World;
use crate::unit::{BitRate, Bytes};
use crate::vocabulary::meant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The hosts of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Virtual hosts on this machine.
    Lab(Topology),
    /// Hosts reached by ssh, as `[user@]host[:port]`; one means from this host to that one.
    Ssh(Vec<String>),
    /// No hosts at all: a made-up machine in virtual time.
    Simulated(World),
}

/// The virtual hosts and the wire between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// How many hosts.
    pub hosts: u32,
    /// The MTU of every wire port.
    pub mtu: u32,
    /// The rate of every wire port, by a token bucket; none for as fast as the CPUs go.
    pub rate: Option<BitRate>,
}

impl Default for Topology {
    fn default() -> Self {
        Topology { hosts: 2, mtu: 1500, rate: None }
    }
}

/// Why a target cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TargetError {
    /// What is wrong with which part.
    pub what: String,
    /// What to try.
    pub hint: String,
}

impl TargetError {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        TargetError { what: what.into(), hint: hint.into() }
    }
}

impl Target {
    /// What kind of hosts: `lab`, `ssh`, `simulated`.
    pub fn kind(&self) -> &'static str {
        match self {
            Target::Lab(_) => "lab",
            Target::Ssh(_) => "ssh",
            Target::Simulated(_) => "simulated",
        }
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        match text.split_once("://") {
            Some(("ssh", _)) => ssh_hosts(text).map(Target::Ssh),
            Some((scheme, _)) => Err(TargetError::new(
                format!("`{scheme}://` is not a kind of target"),
                "a target is `lab`, `lab:rate=1Gb/s` or `ssh://HOST[,ssh://HOST]`",
            )),
            None if text == "simulated" => Ok(Target::Simulated(World::quiet())),
            None if text.starts_with("simulated:") => {
                world(&text["simulated:".len()..]).map(Target::Simulated)
            }
            None if text == "lab" => Ok(Target::Lab(Topology::default())),
            None if text.starts_with("lab:") => topology(&text[4..]).map(Target::Lab),
            None => Err(not_a_target(text)),
        }
    }
}

fn not_a_target(text: &str) -> TargetError {
    let what = format!("`{text}` is not a target");
    let (kind, rest) = text.split_once([':', '/']).unwrap_or((text, ""));
    let host = rest.trim_start_matches(['/', ':']);
    if kind == "ssh" {
        return TargetError::new(what, format!("did you mean `ssh://{host}`?"));
    }
    let by_ssh = format!("a host is reached by ssh: try ssh://{text}");
    TargetError::new(what, meant(["lab", "simulated"], kind, &by_ssh))
}

/// The keys on top of a quiet machine.
fn world(text: &str) -> Result<World, TargetError> {
    let hint = "try simulated:noise=2%,step=64KiB/3ms";
    let mut world = World::quiet();
    for pair in text.split(',') {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| TargetError::new(format!("`{pair}` in the simulation has no `=`"), hint))?;
        world.set(key, value).map_err(|what| TargetError::new(what, hint))?;
    }
    Ok(world)
}

fn ssh_hosts(text: &str) -> Result<Vec<String>, TargetError> {
    let hosts: Option<Vec<_>> = text
        .split(',')
        .map(|part| part.strip_prefix("ssh://").filter(|host| is_host(host)).map(String::from))
        .collect();
    let hosts = hosts.ok_or_else(|| {
        TargetError::new(format!("`{text}` is not a list of ssh hosts"), "try ssh://a,ssh://user@b:2222")
    })?;
    if hosts.len() > 2 {
        let what = format!("{} hosts are given, and a ladder stands between two hosts", hosts.len());
        return Err(TargetError::new(what, "try ssh://a,ssh://b"));
    }
    Ok(hosts)
}

/// No blank and no leading dash, so that a host can never be read as an option of ssh.
fn is_host(host: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || "@.:-_[]%".contains(c);
    !host.is_empty() && !host.starts_with('-') && host.len() < 256 && host.chars().all(legal)
}

fn topology(text: &str) -> Result<Topology, TargetError> {
    let mut topology = Topology::default();
    for pair in text.split(',') {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            TargetError::new(
                format!("`{pair}` in the lab's description has no `=`"),
                "try lab:mtu=9000,rate=1Gb/s",
            )
        })?;
        let bad = |wanted: &str| {
            TargetError::new(
                format!("lab:{key}={value}: not {wanted}"),
                "try lab:hosts=2,mtu=9000,rate=1Gb/s",
            )
        };
        match key {
            "hosts" => topology.hosts = in_range(value, 2, 64).ok_or_else(|| bad("2 to 64 hosts"))?,
            "mtu" => {
                topology.mtu = in_range(value, 576, 65535).ok_or_else(|| bad("an MTU of 576 to 65535"))?
            }
            "rate" => topology.rate = Some(rate(value).ok_or_else(|| bad("a rate of 1Mb/s to 400Gb/s"))?),
            _ => {
                let hint = meant(["hosts", "mtu", "rate"], key, "it knows hosts, mtu and rate");
                return Err(TargetError::new(format!("the lab knows no `{key}`"), hint));
            }
        }
    }
    Ok(topology)
}

fn in_range(text: &str, low: u32, high: u32) -> Option<u32> {
    let value = text.parse::<Bytes>().ok()?.0;
    u32::try_from(value).ok().filter(|value| (low..=high).contains(value))
}

fn rate(text: &str) -> Option<BitRate> {
    text.parse().ok().filter(|rate: &BitRate| (1e6..=4e11).contains(&rate.0))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Simulated(world) if *world == World::quiet() => write!(f, "simulated"),
            Target::Simulated(world) => write!(f, "simulated:{world}"),
            Target::Ssh(hosts) => {
                let hosts: Vec<_> = hosts.iter().map(|host| format!("ssh://{host}")).collect();
                write!(f, "{}", hosts.join(","))
            }
            Target::Lab(topology) => {
                write!(f, "lab:hosts={},mtu={}", topology.hosts, topology.mtu)?;
                match topology.rate {
                    Some(rate) => write!(f, ",rate={}b/s", rate.0),
                    None => Ok(()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_and_printed() {
        for text in ["lab:hosts=2,mtu=9000,rate=1000000000b/s", "ssh://root@b:2222", "ssh://a,ssh://b"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for text in ["simulated", "simulated:noise=0%", "simulated:step=64KiB/3ms,loss=1%"] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        assert_eq!("lab".parse(), Ok(Target::Lab(Topology::default())));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cases = [
            ("lob", "did you mean `lab`?"),
            ("lab:mtu=12", "576"),
            ("lab:speed=1", "hosts, mtu and rate"),
            ("node7", "try ssh://node7"),
            ("ssh:node7", "did you mean `ssh://node7`"),
            ("simulatd:noise=1%", "did you mean `simulated`"),
            ("ssh://-oProxyCommand=x", "try ssh://a"),
            ("ssh://a,ssh://b,ssh://c", "two hosts"),
            ("ftp://a", "a target is"),
            ("simulated:noise=much", "such as 2%"),
            ("simulated:noises=1%", "autocorrelation"),
        ];
        for (text, part) in cases {
            let error = text.parse::<Target>().unwrap_err();
            assert!(format!("{} {}", error.what, error.hint).contains(part), "{text}: {error:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_read_is_printed_and_read_again(text in "(lab:?|ssh://|simulated:)?[a-z0-9.,:=/@ MGKib-]{0,40}") {
            if let Ok(target) = text.parse::<Target>() {
                proptest::prop_assert_eq!(target.to_string().parse(), Ok(target));
            }
        }
    }
}
