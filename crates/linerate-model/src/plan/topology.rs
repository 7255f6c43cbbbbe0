//! The virtual hosts of a lab and what lies between them.

use super::fault::Fault;
use super::links::Coalescing;
use super::network::Network;
use super::pair::Pair;
use super::port::PortRate;
use super::shape::Shape;
use super::switching::{SWITCHINGS, Switching};
use super::target::TargetError;
use super::word::spelt;
use crate::unit::BitRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The virtual hosts and the wire between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// How many hosts.
    pub hosts: u32,
    /// The MTU of every wire port.
    pub mtu: u32,
    /// What every link does, in each direction.
    #[serde(flatten)]
    pub shape: Shape,
    /// How the hosts' adapters hold what comes to them.
    #[serde(default, skip_serializing_if = "Coalescing::is_none")]
    pub coalescing: Coalescing,
    /// The switches between two hosts; none for what the hosts need: none for two, one for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// How the switches pass a packet on.
    #[serde(default)]
    pub switching: Switching,
    /// The switches and links, where a file describes them: then what else is said is done from end to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// What is not like the rest, in one direction between two hosts each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// The rates of single hosts' links, where they are not the lab's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortRate>,
    /// What carries the packets. Recordings that do not say it are of a time when it was the kernel.
    #[serde(default = "kernel")]
    pub wire: WireKind,
    /// The faults that were put in by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

fn kernel() -> WireKind {
    WireKind::TokenBucket
}

/// What is asked to carry the packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WireKind {
    /// A virtual cable where nothing is shaped; else the program's own wire.
    #[default]
    Auto,
    /// The program's own wire.
    User,
    /// The kernel's netem(8).
    Netem,
    /// The kernel's tbf(8), which knows nothing but a rate.
    #[serde(rename = "tbf")]
    TokenBucket,
}

/// What carries the packets of a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// The kernel's virtual cables alone.
    Cable,
    /// The program's own wire.
    User,
    /// netem at every port.
    Netem,
    /// A token bucket at every port.
    TokenBucket,
}

pub(super) const WIRES: &[(&str, WireKind)] = &[
    ("auto", WireKind::Auto),
    ("user", WireKind::User),
    ("netem", WireKind::Netem),
    ("tbf", WireKind::TokenBucket),
];

impl Default for Topology {
    fn default() -> Self {
        Topology {
            hosts: 2,
            mtu: 1500,
            shape: Shape::default(),
            coalescing: Coalescing::default(),
            hops: None,
            switching: Switching::default(),
            network: None,
            pairs: Vec::new(),
            ports: Vec::new(),
            wire: WireKind::default(),
            faults: Vec::new(),
        }
    }
}

impl Topology {
    /// The same lab with these faults beside its own.
    pub fn with_faults(mut self, faults: impl IntoIterator<Item = Fault>) -> Result<Topology, TargetError> {
        self.faults.extend(faults);
        self.check()?;
        Ok(self)
    }

    /// What carries its packets.
    pub fn carrier(&self) -> Carrier {
        match self.wire {
            WireKind::User => Carrier::User,
            WireKind::Netem => Carrier::Netem,
            WireKind::TokenBucket if self.shape.rate.is_some() || !self.ports.is_empty() => {
                Carrier::TokenBucket
            }
            WireKind::TokenBucket => Carrier::Cable,
            WireKind::Auto if self.is_plain() && !self.has_faulty_wire() => Carrier::Cable,
            // Of many hosts with a rate each the program's own wire would be the slowest.
            WireKind::Auto if self.has_port_rates_alone() => Carrier::TokenBucket,
            WireKind::Auto => Carrier::User,
        }
    }

    /// Whether nothing is said of what lies between the hosts.
    pub fn is_plain(&self) -> bool {
        let has_own = !self.pairs.is_empty() || !self.ports.is_empty();
        let has_links = self.hops.is_some() || self.network.is_some() || has_own;
        self.shape.is_plain() && self.coalescing.is_none() && !has_links
    }

    /// Whether hosts have rates of their own, and nothing but rates is said.
    fn has_port_rates_alone(&self) -> bool {
        let rate = Shape { rate: self.shape.rate, ..Shape::default() };
        let has_links = self.hops.is_some() || self.network.is_some() || !self.pairs.is_empty();
        let is_rate =
            self.shape == rate && self.coalescing.is_none() && !has_links && !self.has_faulty_wire();
        !self.ports.is_empty() && is_rate
    }

    /// The rate of what a host sends or receives: its own, or the lab's.
    pub fn port_rate(&self, host: &str, sends: bool) -> Option<BitRate> {
        let own = self.ports.iter().find(|port| (port.host.as_str(), port.sends) == (host, sends));
        own.map(|port| port.rate).or(self.shape.rate)
    }

    /// The switches between two hosts.
    pub fn switches(&self) -> u32 {
        self.hops.unwrap_or(u32::from(self.hosts > 2))
    }

    /// Whether packets cross other links before the last one, which is their pair of hosts' own.
    pub(super) fn has_links_before(&self) -> bool {
        self.network.is_some() || self.switches() > 0
    }

    /// What is done to packets from one host to another, from end to end.
    pub fn shape_between(&self, from: &str, to: &str) -> &Shape {
        let pair = self.pairs.iter().find(|pair| (&*pair.from, &*pair.to) == (from, to));
        pair.map_or(&self.shape, |pair| &pair.shape)
    }
}

impl fmt::Display for Topology {
    /// What was left out is not printed, but for hosts and MTU.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.network {
            Some(network) => write!(f, "{},mtu={}", network.file, self.mtu)?,
            None => write!(f, "hosts={},mtu={}", self.hosts, self.mtu)?,
        }
        self.shape.as_written().try_for_each(|said| write!(f, ",{said}"))?;
        let pairs = self.pairs.iter().flat_map(|pair| pair.as_written(&self.shape));
        pairs.into_iter().try_for_each(|said| write!(f, ",{said}"))?;
        self.ports.iter().try_for_each(|port| write!(f, ",{}", port.as_written()))?;
        self.coalescing.as_written().try_for_each(|said| write!(f, ",{said}"))?;
        if let Some(hops) = self.hops {
            write!(f, ",hops={hops}")?;
        }
        if self.switching != Switching::default() {
            write!(f, ",switch={}", spelt(SWITCHINGS, self.switching))?;
        }
        if self.wire != WireKind::default() {
            write!(f, ",wire={}", spelt(WIRES, self.wire))?;
        }
        self.faults.iter().try_for_each(|fault| write!(f, ",fault={fault}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::TargetError;

    fn read(text: &str) -> Result<Topology, TargetError> {
        Topology::read(text, &|name| Err(TargetError { what: name.into(), hint: String::new() }))
    }

    #[test]
    fn a_description_says_what_carries() {
        let carrier = |text: &str| read(text).unwrap().carrier();
        assert_eq!(carrier("hosts=3"), Carrier::Cable);
        assert_eq!(carrier("rate=1Gb/s"), Carrier::User);
        assert_eq!(carrier("hops=1"), Carrier::User);
        assert_eq!(carrier("wire=user"), Carrier::User);
        assert_eq!(carrier("coalesce=64us"), Carrier::User);
        assert_eq!(carrier("fault=loss"), Carrier::User);
        assert_eq!(carrier("fault=sack-off"), Carrier::Cable);
        assert_eq!(carrier("rate=1Gb/s,wire=tbf"), Carrier::TokenBucket);
        assert_eq!(carrier("delay=1ms,wire=netem"), Carrier::Netem);
        assert_eq!(carrier("b-a.loss=1%"), Carrier::User);
    }

    #[test]
    fn an_earlier_topology_was_the_kernels() {
        let old = r#"{"hosts":2,"mtu":1500,"rate":1e9}"#;
        let read: Topology = serde_json::from_str(old).unwrap();
        assert_eq!(read.carrier(), Carrier::TokenBucket);
        let plain: Topology = serde_json::from_str(r#"{"hosts":2,"mtu":1500,"rate":null}"#).unwrap();
        assert_eq!(plain.carrier(), Carrier::Cable);
    }
}
