//! A lab's shape in netem's terms.

use crate::plan::{Shape, Topology};
use linerate_sys::netlink::{Netem, NetemLoss, netem_probability};

/// What an interface without a rate may carry meanwhile: more than any.
const UNLIMITED_BPS: f64 = 1e11;

/// The Ethernet header.
const HEADER_BYTES: f64 = 14.0;

/// Packets that may be held at least, as `tc` sets it.
const LEAST_PACKETS: f64 = 1000.0;

/// What is done to all that leaves a host.
pub(super) fn at_host(topology: &Topology, host: &str) -> Netem {
    // Where pairs of hosts differ there are two, and all that leaves one goes to the other.
    let peer = if host == "a" { "b" } else { "a" };
    netem_of(topology.shape_between(host, peer), topology.mtu)
}

/// What is done to all that a switch sends to a host: its own rate, and nothing that was done before.
pub(super) fn at_switch(topology: &Topology) -> Option<Netem> {
    let line = Shape { rate: topology.shape.rate, queue_bytes: topology.shape.queue(), ..Shape::default() };
    line.rate.map(|_| netem_of(&line, topology.mtu))
}

/// Whether what is done is done to packets, and so must not be done to super-packets.
pub(super) fn is_of_packets(netem: &Netem) -> bool {
    netem.loss != NetemLoss::None || netem.duplicate > 0
}

fn netem_of(shape: &Shape, mtu: u32) -> Netem {
    Netem {
        latency_ns: shape.delay_ns.round() as u64,
        jitter_ns: shape.jitter_ns.round() as u64,
        loss: loss(shape),
        duplicate: netem_probability(shape.duplicate),
        bytes_per_s: shape.rate.map(|rate| (rate.0 / 8.0).round() as u64),
        limit_packets: limit_packets(shape, mtu),
    }
}

/// Losses that know nothing of each other, or Gilbert's bursts: the share of time in the bad state is what is
/// lost.
fn loss(shape: &Shape) -> NetemLoss {
    if shape.loss == 0.0 {
        return NetemLoss::None;
    }
    if shape.burst <= 1.0 {
        return NetemLoss::Each(netem_probability(shape.loss));
    }
    let leaves = 1.0 / shape.burst;
    let enters = leaves * shape.loss / (1.0 - shape.loss);
    NetemLoss::Bursts { enters: netem_probability(enters), leaves: netem_probability(leaves) }
}

/// What is under way and what may wait, in the largest packets. netem counts no bytes.
fn limit_packets(shape: &Shape, mtu: u32) -> u32 {
    let rate = shape.rate.map_or(UNLIMITED_BPS, |rate| rate.0);
    let under_way = rate / 8e9 * (shape.delay_ns + shape.jitter_ns);
    let waiting = shape.queue().unwrap_or(0) as f64;
    ((under_way + waiting) / (f64::from(mtu) + HEADER_BYTES)).ceil().max(LEAST_PACKETS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Target;

    fn lab(text: &str) -> Topology {
        match format!("lab:wire=netem,{text}").parse() {
            Ok(Target::Lab(topology)) => topology,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_shape_is_told_in_netems_terms() {
        let topology =
            lab("rate=1Gb/s,delay=10ms,jitter=1ms,loss=1%,b-a.delay=20ms,b-a.burst=8,duplicate=0.1%");
        let there = at_host(&topology, "a");
        assert_eq!((there.latency_ns, there.jitter_ns), (10_000_000, 1_000_000));
        assert_eq!((there.loss, there.bytes_per_s), (NetemLoss::Each(42_949_673), Some(125_000_000)));
        assert!(is_of_packets(&there));
        let back = at_host(&topology, "b");
        let bursts = NetemLoss::Bursts { enters: netem_probability(0.00125 / 0.99), leaves: 1 << 29 };
        assert_eq!((back.latency_ns, back.loss), (20_000_000, bursts));
        let plain = at_host(&lab("delay=1ms"), "a");
        assert!(!is_of_packets(&plain) && plain.bytes_per_s.is_none());
    }

    #[test]
    fn what_is_under_way_and_what_waits_is_held() {
        // 11 ms and 50 ms of 125 MB/s, in packets of 1514 B.
        let held = at_host(&lab("rate=1Gb/s,delay=10ms,jitter=1ms"), "a").limit_packets;
        assert_eq!(held, (0.061 * 125e6 / 1514.0f64).ceil() as u32);
        assert_eq!(at_host(&lab("rate=1Mb/s"), "a").limit_packets, 1000);
        assert!(at_host(&lab("delay=100ms"), "a").limit_packets > 800_000);
        let switch = at_switch(&lab("hosts=3,rate=1Gb/s,delay=10ms")).unwrap();
        assert_eq!((switch.latency_ns, switch.bytes_per_s), (0, Some(125_000_000)));
        assert_eq!(at_switch(&lab("hosts=3,delay=10ms")), None);
    }
}
