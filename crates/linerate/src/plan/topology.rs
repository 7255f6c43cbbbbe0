//! The virtual hosts of a lab and what lies between them.

use super::fault::{self, Fault};
use super::shape::{KEYS, Shape};
use super::target::TargetError;
use crate::unit::Bytes;
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
    /// The switches between two hosts; none for what the hosts need: none for two, one for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// How the switches pass a packet on.
    #[serde(default)]
    pub switching: Switching,
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

/// How a switch passes a packet on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Switching {
    /// Once all of it has come.
    #[default]
    StoreAndForward,
    /// Once its header has come.
    CutThrough,
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

/// Bytes of a packet after which a cut-through switch begins to pass it on: the shortest frame.
pub const CUT_THROUGH_BYTES: f64 = 64.0;

/// The most switches in a row.
const MOST_HOPS: u32 = 16;

/// Keys of a lab's description that are no part of a link's shape.
const OTHERS: &[&str] = &["hosts", "mtu", "hops", "switch", "wire", "fault"];

const SWITCHINGS: &[(&str, Switching)] =
    &[("store-and-forward", Switching::StoreAndForward), ("cut-through", Switching::CutThrough)];

const WIRES: &[(&str, WireKind)] = &[
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
            hops: None,
            switching: Switching::default(),
            wire: WireKind::default(),
            faults: Vec::new(),
        }
    }
}

impl Topology {
    /// The topology of a description: `hosts=5,rate=1Gb/s,delay=10ms`.
    pub(super) fn read(text: &str) -> Result<Topology, TargetError> {
        let mut topology = Topology::default();
        for pair in text.split(',') {
            let (key, value) = pair.split_once('=').ok_or_else(|| {
                let what = format!("`{pair}` in the lab's description has no `=`");
                TargetError::new(what, "try lab:mtu=9000,rate=1Gb/s")
            })?;
            topology.set(key, value)?;
        }
        topology.check()?;
        Ok(topology)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), TargetError> {
        let bad = |wanted: &str| {
            let what = format!("lab:{key}={value}: not {wanted}");
            TargetError::new(what, "try lab:hosts=2,mtu=9000,rate=1Gb/s")
        };
        match key {
            "hosts" => self.hosts = in_range(value, 2, 64).ok_or_else(|| bad("2 to 64 hosts"))?,
            "mtu" => self.mtu = in_range(value, 576, 65535).ok_or_else(|| bad("an MTU of 576 to 65535"))?,
            "hops" => self.hops = Some(in_range(value, 0, MOST_HOPS).ok_or_else(|| bad("0 to 16 switches"))?),
            "switch" => {
                self.switching =
                    word(SWITCHINGS, value).ok_or_else(|| bad("store-and-forward or cut-through"))?
            }
            "wire" => self.wire = word(WIRES, value).ok_or_else(|| bad("auto, user, netem or tbf"))?,
            "fault" => self.faults.push(value.parse()?),
            _ => self.shape.set(key, value, OTHERS)?,
        }
        Ok(())
    }

    /// What cannot go together.
    pub(crate) fn check(&self) -> Result<(), TargetError> {
        let shape = &self.shape;
        let rate_alone = Shape { rate: shape.rate, ..Shape::default() };
        let cases = [
            (shape.jitter_ns > shape.delay_ns, "jitter is larger than delay", "give it a delay as large"),
            (
                shape.burst > 0.0 && shape.loss == 0.0,
                "burst says nothing without loss",
                "try loss=1%,burst=8",
            ),
            (
                shape.queue_bytes.is_some() && shape.rate.is_none(),
                "queue says nothing without rate",
                "try rate=1Gb/s,queue=1MiB",
            ),
            (
                self.wire == WireKind::TokenBucket && (*shape != rate_alone || self.hops.is_some()),
                "wire=tbf knows nothing but a rate",
                "leave out wire=",
            ),
            (
                self.wire == WireKind::Netem && self.hops.is_some(),
                "wire=netem has no switches",
                "leave out wire= or hops=",
            ),
            (self.hosts > 2 && self.hops == Some(0), "more than two hosts need a switch", "leave out hops=0"),
        ];
        match cases.iter().find(|(holds, ..)| *holds) {
            Some((_, what, hint)) => Err(TargetError::new(format!("lab: {what}"), *hint)),
            None => fault::check(self),
        }
    }

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
            WireKind::TokenBucket if self.shape.rate.is_some() => Carrier::TokenBucket,
            WireKind::TokenBucket => Carrier::Cable,
            WireKind::Auto if self.is_bare() => Carrier::Cable,
            WireKind::Auto => Carrier::User,
        }
    }
}

impl Topology {
    /// Whether nothing is between two hosts that would take a wire of our own.
    fn is_bare(&self) -> bool {
        self.shape.is_plain() && self.hops.is_none() && !self.has_faulty_wire()
    }
}

fn in_range(text: &str, low: u32, high: u32) -> Option<u32> {
    let value = text.parse::<Bytes>().ok()?.0;
    u32::try_from(value).ok().filter(|value| (low..=high).contains(value))
}

fn word<T: Copy>(words: &[(&str, T)], text: &str) -> Option<T> {
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
}

fn spelt<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word)
}

impl fmt::Display for Topology {
    /// What was left out is not printed, but for hosts and MTU.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hosts={},mtu={}", self.hosts, self.mtu)?;
        self.shape.said().try_for_each(|said| write!(f, ",{said}"))?;
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

/// Every key of a lab's description.
pub fn keys() -> Vec<&'static str> {
    OTHERS.iter().copied().chain(KEYS.iter().map(|key| key.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_says_what_carries() {
        let carrier = |text: &str| Topology::read(text).unwrap().carrier();
        assert_eq!(carrier("hosts=3"), Carrier::Cable);
        assert_eq!(carrier("rate=1Gb/s"), Carrier::User);
        assert_eq!(carrier("hops=1"), Carrier::User);
        assert_eq!(carrier("wire=user"), Carrier::User);
        assert_eq!(carrier("fault=loss"), Carrier::User);
        assert_eq!(carrier("fault=sack-off"), Carrier::Cable);
        assert_eq!(carrier("rate=1Gb/s,wire=tbf"), Carrier::TokenBucket);
        assert_eq!(carrier("delay=1ms,wire=netem"), Carrier::Netem);
    }

    #[test]
    fn what_cannot_go_together_is_refused() {
        for text in [
            "jitter=1ms",
            "burst=3",
            "queue=1MiB",
            "rate=1Gb/s,delay=1ms,wire=tbf",
            "hops=1,wire=netem",
            "hosts=3,hops=0",
        ] {
            assert!(Topology::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_topology_of_an_earlier_version_was_the_kernels() {
        let old = r#"{"hosts":2,"mtu":1500,"rate":1e9}"#;
        let read: Topology = serde_json::from_str(old).unwrap();
        assert_eq!(read.carrier(), Carrier::TokenBucket);
        let plain: Topology = serde_json::from_str(r#"{"hosts":2,"mtu":1500,"rate":null}"#).unwrap();
        assert_eq!(plain.carrier(), Carrier::Cable);
    }
}
