//! The wire under a layer: its MTU, and the most TCP payload that it carries.

use super::facts::{busiest_interface, interface_fact};
use crate::analysis::Layer;
use crate::analysis::model::{Framing, Path};
use crate::plan::{Carrier, HostGroup, HostId, OneWayPath, Target, Topology};
use crate::record::Recording;
use crate::vocabulary::{Family, Place, Rung};
use serde_json::Value;

/// The headers of IPv4 and of IPv6 (RFC 791, 8200).
const IP: [f64; 2] = [20.0, 40.0];

/// Drivers that report a speed that nothing enforces (drivers/net/veth.c and tun.c set a constant).
const NOMINAL_DRIVERS: &[&str] = &["veth", "tun", "tap", "bridge", "dummy"];

/// What is known of the wire.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wire {
    /// The largest packet.
    pub mtu: Option<u64>,
    /// The rate of the line or of the token bucket.
    pub line_bps: Option<f64>,
    /// The most payload of one direction.
    pub payload_bps: Option<f64>,
    /// The ways of a single message, there and back; none where a token bucket stands for the line, which lets
    /// one pass at once, and where nothing is known.
    pub paths: Option<[Path; 2]>,
    /// The interfaces at both ends, where they are known: name and driver.
    pub interfaces: Vec<(String, Option<String>)>,
}

/// The wire that a network layer runs over; nothing is known of it for other layers.
pub fn wire(recording: &Recording, layer: &Layer) -> Wire {
    let (Place::Network, Some(from), Some(to)) = (layer.place, &layer.from, &layer.to) else {
        return Wire::default();
    };
    let ends: Vec<(HostId, &str)> = [from, to]
        .into_iter()
        .filter_map(|group| {
            let steps = recording.steps.iter().filter(|step| layer.owns(&step.case));
            let host = group.single()?;
            Some((host, busiest_interface(steps, host)?))
        })
        .collect();
    let least = |name: &str| {
        let facts =
            ends.iter().filter_map(|(host, interface)| interface_fact(recording, *host, interface, name));
        facts.filter_map(Value::as_f64).filter(|value| *value > 0.0).min_by(f64::total_cmp)
    };
    let interfaces: Vec<(String, Option<String>)> = ends
        .iter()
        .map(|(host, interface)| {
            let driver = interface_fact(recording, *host, interface, "driver").and_then(Value::as_str);
            ((*interface).to_owned(), driver.map(String::from))
        })
        .collect();
    let is_nominal = |driver: &String| NOMINAL_DRIVERS.contains(&driver.as_str());
    let nominal = interfaces.iter().any(|(_, driver)| driver.as_ref().is_some_and(is_nominal));
    let framing = framing(layer);
    let line = Line { mtu: least("mtu"), bps: least("speed_mbps").filter(|_| !nominal).map(|it| it * 1e6) };
    let (line, framing, paths) = match recording.plan().map(|plan| &plan.target) {
        Some(target @ Target::Lab(lab)) => {
            let seen = framing.map(Framing::as_the_stack_sees_it);
            let way = |from: &HostGroup, to: &HostGroup| {
                from.single()
                    .zip(to.single())
                    .map_or_else(OneWayPath::default, |(from, to)| target.path(from, to))
            };
            let ways = [way(from, to), way(to, from)];
            let set = recording.plan().and_then(|plan| plan.links_for(&layer.rung, 0).mtu);
            let mtu = f64::from(set.unwrap_or(lab.mtu));
            let line = Line { mtu: Some(mtu), bps: ways[0].slowest().map(|rate| rate.0) };
            (line, seen, seen.filter(|_| is_told(lab)).map(|seen| ways.map(|way| built(&way, mtu, seen))))
        }
        _ => {
            let direct = line.bps.zip(line.mtu).zip(framing);
            (line, framing, direct.map(|((bps, mtu), framing)| [Path::direct(bps, mtu, framing); 2]))
        }
    };
    let efficiency = framing.zip(line.mtu).and_then(|(framing, mtu)| efficiency(layer, mtu, framing));
    Wire {
        paths,
        mtu: line.mtu.map(|mtu| mtu as u64),
        line_bps: line.bps,
        payload_bps: line.bps.zip(efficiency).map(|(line, efficiency)| line * efficiency),
        interfaces,
    }
}

/// The largest packet, and the rate.
struct Line {
    mtu: Option<f64>,
    bps: Option<f64>,
}

/// Whether a lab does to a single packet what was said of its links.
fn is_told(lab: &Topology) -> bool {
    matches!(lab.carrier(), Carrier::User | Carrier::Netem)
}

/// The way that a lab was built with.
fn built(way: &OneWayPath, mtu: f64, framing: Framing) -> Path {
    Path { propagation_ns: way.delay_ns, ..Path::over(&way.stages, mtu, framing) }
}

impl Wire {
    /// Half of a message's round trip if nothing but the wire took any time.
    pub fn ideal_ns(&self, message_bytes: f64) -> Option<f64> {
        let [there, back] = self.paths?;
        Some((there.ideal_ns(message_bytes)? + back.ideal_ns(message_bytes)?) / 2.0)
    }
}

/// What surrounds the payload of a layer's packets.
fn framing(layer: &Layer) -> Option<Framing> {
    let rung = Rung::named(&layer.rung)?;
    let headers = IP[usize::from(rung.family == Family::V6)] + rung.transport.header_bytes as f64;
    Some(Framing { headers, ..Framing::TCP_V4 })
}

/// The share of a line that payload can have: packets are full, but for datagrams that are smaller.
fn efficiency(layer: &Layer, mtu: f64, framing: Framing) -> Option<f64> {
    let transport = Rung::named(&layer.rung)?.transport;
    let whole = framing.headers + layer.ladder_bytes as f64;
    framing.efficiency(if transport.most_bytes.is_some() { mtu.min(whole) } else { mtu })
}
