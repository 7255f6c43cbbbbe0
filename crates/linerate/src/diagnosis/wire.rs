//! The wire under a layer: its MTU, and the most TCP payload that it carries.

use super::facts::{busiest_interface, interface_fact};
use crate::analysis::Layer;
use crate::analysis::model::{Framing, Path};
use crate::plan::Target;
use crate::record::Recording;
use crate::unit::BitRate;
use crate::vocabulary::Place;
use serde_json::Value;

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
    /// The way of a single message; none where a token bucket stands for the line, which lets one pass
    /// at once.
    pub path: Option<Path>,
    /// The interfaces at both ends, where they are known: name and driver.
    pub interfaces: Vec<(String, Option<String>)>,
}

/// The wire that a network layer runs over; nothing is known of it for other layers.
pub fn wire(recording: &Recording, layer: &Layer) -> Wire {
    let (Place::Network, Some(from), Some(to)) = (layer.place, &layer.from, &layer.to) else {
        return Wire::default();
    };
    let ends: Vec<(&str, &str)> = [from, to]
        .into_iter()
        .filter_map(|host| {
            let steps = recording.steps.iter().filter(|step| layer.owns(&step.case));
            Some((host.as_str(), busiest_interface(steps, host)?))
        })
        .collect();
    let least = |name: &str| {
        let facts =
            ends.iter().filter_map(|(host, interface)| interface_fact(recording, host, interface, name));
        facts.filter_map(Value::as_f64).filter(|value| *value > 0.0).min_by(f64::total_cmp)
    };
    let interfaces: Vec<(String, Option<String>)> = ends
        .iter()
        .map(|(host, interface)| {
            let driver = interface_fact(recording, host, interface, "driver").and_then(Value::as_str);
            ((*interface).to_owned(), driver.map(String::from))
        })
        .collect();
    let is_nominal = |driver: &String| NOMINAL_DRIVERS.contains(&driver.as_str());
    let nominal = interfaces.iter().any(|(_, driver)| driver.as_ref().is_some_and(is_nominal));
    let framing = Framing::TCP_V4_TIMESTAMPS;
    let (mtu, line_bps, framing) = match recording.plan().map(|plan| &plan.target) {
        Some(Target::Lab(lab)) => {
            (Some(f64::from(lab.mtu)), lab.rate.map(|BitRate(rate)| rate), framing.as_the_stack_sees_it())
        }
        _ => (least("mtu"), least("speed_mbps").filter(|_| !nominal).map(|speed| speed * 1e6), framing),
    };
    let efficiency = mtu.and_then(|mtu| framing.efficiency(mtu));
    let is_line = framing == Framing::TCP_V4_TIMESTAMPS;
    let path = line_bps.zip(mtu).filter(|_| is_line).map(|(line, mtu)| Path::direct(line, mtu, framing));
    Wire {
        path,
        mtu: mtu.map(|mtu| mtu as u64),
        line_bps,
        payload_bps: line_bps.zip(efficiency).map(|(line, efficiency)| line * efficiency),
        interfaces,
    }
}
