//! What is known of the path between two hosts before anything is sent.

use super::pair::host_number;
use super::switching::Switching;
use super::topology::{Carrier, Topology};
use super::wiring::Wiring;
use super::{HostId, Target, host_name};
use crate::unit::BitRate;

/// One direction between two hosts, summed up. Where nothing is known it is nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OneWayPath {
    /// The links that take a packet's time, in their order: rate, and how what stands at the far end passes
    /// packets on.
    pub stages: Vec<(BitRate, Switching)>,
    /// What each packet takes besides.
    pub delay_ns: f64,
    /// The share of packets that is lost.
    pub loss: f64,
}

impl OneWayPath {
    /// The rate of the slowest link.
    pub fn slowest(&self) -> Option<BitRate> {
        self.stages.iter().map(|(rate, _)| *rate).min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

impl Wiring {
    /// The path from one host to another.
    pub fn path(&self, from: usize, to: usize) -> OneWayPath {
        let links = || self.route(from, to).iter().filter_map(|link| self.links.get(*link));
        let passes: f64 = links().map(|link| 1.0 - link.shape.loss).product();
        OneWayPath {
            stages: links().filter_map(|link| Some((link.shape.rate?, link.switching))).collect(),
            delay_ns: links().map(|link| link.shape.delay_ns).sum(),
            loss: 1.0 - passes,
        }
    }
}

impl Topology {
    fn wired(&self) -> Wiring {
        self.wiring(|host| host_name(host as u32))
    }

    /// The rate at which a host's packets come to another one at most: the least and the most of them all;
    /// none where some have no limit.
    pub fn rates(&self, from: &str) -> Option<(BitRate, BitRate)> {
        let (wiring, from) = (self.wired(), host_number(from)? as usize);
        let others = (0..wiring.hosts).filter(|to| *to != from);
        let rates: Option<Vec<f64>> =
            others.map(|to| wiring.path(from, to).slowest().map(|rate| rate.0)).collect();
        let rates = rates.filter(|rates| !rates.is_empty())?;
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        Some((BitRate(least), BitRate(rates.into_iter().fold(0.0, f64::max))))
    }
}

impl Target {
    /// The path from one host to another, as far as it is known: nothing of real hosts, nor within one.
    pub fn path(&self, from: HostId, to: HostId) -> OneWayPath {
        match self {
            _ if from == to => OneWayPath::default(),
            Target::Lab(topology) if u32::from(from.max(to).0) < topology.hosts => {
                topology.wired().path(from.0.into(), to.0.into())
            }
            Target::Lab(_) => OneWayPath::default(),
            Target::Simulated(world) => OneWayPath { delay_ns: world.delay_ns, ..OneWayPath::default() },
            Target::Ssh(_) | Target::Launched(_) => OneWayPath::default(),
        }
    }

    /// Whether the program's own wire lies between the hosts, which has a CPU to itself while packets pass.
    pub fn has_own_wire(&self) -> bool {
        matches!(self, Target::Lab(topology) if topology.carrier() == Carrier::User)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(target: &str, from: &str, to: &str) -> OneWayPath {
        target.parse::<Target>().unwrap().path(from.parse().unwrap(), to.parse().unwrap())
    }

    #[test]
    fn a_way_sums_up_its_links() {
        let metro = path("lab:metro,a-b.loss=1%", "a", "b");
        assert_eq!((metro.stages.len(), metro.delay_ns, metro.slowest()), (3, 1e5, Some(BitRate(1e10))));
        assert!((metro.loss - 0.01).abs() < 1e-12);
        assert_eq!(path("lab:metro,a-b.loss=1%", "b", "a").loss, 0.0);
        let three = "lab:hosts=3,rate=1Gb/s,c-a.rate=10Mb/s";
        assert_eq!(path(three, "c", "a").slowest(), Some(BitRate(1e7)));
        for (target, from, to) in
            [("lab", "a", "b"), ("ssh://h", "a", "b"), ("lab:metro", "a", "a"), ("lab:metro", "a", "c")]
        {
            assert_eq!(path(target, from, to), OneWayPath::default(), "{target}");
        }
        assert_eq!(path("simulated:delay=10ms", "b", "a").delay_ns, 1e7);
    }

    #[test]
    fn rates_of_a_host_are_those_to_all_others() {
        let Ok(Target::Lab(lab)) = "lab:hosts=3,rate=1Gb/s,a-c.rate=10Mb/s".parse() else { panic!("no lab") };
        assert_eq!(lab.rates("a"), Some((BitRate(1e7), BitRate(1e9))));
        assert_eq!(lab.rates("b"), Some((BitRate(1e9), BitRate(1e9))));
        assert_eq!(Topology::default().rates("a"), None);
    }
}
