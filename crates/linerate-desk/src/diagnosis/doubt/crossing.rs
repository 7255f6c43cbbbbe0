//! Whether the bytes that were received crossed the interfaces that they should have, and nothing else did.

use super::Context;
use crate::analysis::{self, HEADERS};
use crate::plan::HostId;
use crate::record::{HostDelta, InterfaceDelta, StepRecord};
use crate::vocabulary::{Place, Rung};

/// Fewer bytes than this prove nothing.
const ENOUGH: f64 = 1e6;

const LOOPBACK: &str = "lo";

/// The rung, when its bytes cross an interface.
fn crossing(step: &StepRecord) -> Option<&'static Rung> {
    Rung::named(&step.case.rung).filter(|rung| rung.transport.crosses_hosts)
}

/// The interfaces of a host that should have carried the step.
fn interfaces<'r>(rung: &Rung, delta: &'r HostDelta) -> impl Iterator<Item = &'r InterfaceDelta> {
    let in_host = rung.place == Place::InHost;
    delta.interfaces.iter().filter(move |interface| (interface.name == LOOPBACK) == in_host)
}

/// The payload that a host's connections received during the step, by `tcp_info`, warm-up included.
fn received(step: &StepRecord, host: HostId) -> Option<f64> {
    let sockets = step.sockets.iter().filter(|socket| socket.host == host);
    let counts = sockets.filter_map(|socket| socket.moved.get("bytes_received")).map(|bytes| *bytes as f64);
    counts.reduce(|a, b| a + b)
}

/// Received bytes and packets of a host's interfaces, and the payload that should be in them.
fn sides<'r>(step: &'r StepRecord, rung: &'r Rung) -> impl Iterator<Item = (f64, f64, f64)> + 'r {
    step.hosts.iter().filter_map(move |delta| {
        let payload = received(step, delta.host)?;
        let sum = |count: fn(&InterfaceDelta) -> u64| -> f64 {
            interfaces(rung, delta).map(|interface| count(interface) as f64).sum()
        };
        Some((sum(|interface| interface.rx_bytes), sum(|interface| interface.rx_packets), payload))
    })
}

/// The share of the payload that the interfaces did not carry.
pub(super) fn bytes_not_crossed(_: &Context, _: usize, step: &StepRecord) -> Option<f64> {
    let rung = crossing(step)?;
    let sides = sides(step, rung).filter(|(_, _, payload)| *payload > ENOUGH);
    sides.map(|(carried, _, payload)| 1.0 - carried / payload).reduce(f64::max)
}

/// What the interfaces carried beyond payload and headers, as a share of the payload.
pub(super) fn foreign_bytes(context: &Context, layer: usize, step: &StepRecord) -> Option<f64> {
    let rung = crossing(step)?;
    let mtu = context.mtus[layer].unwrap_or(1500);
    let headers_a_byte = HEADERS / (mtu as f64 - HEADERS).max(1.0);
    let seen = |delta| analysis::foreign_bytes(delta, &step.sockets, interfaces(rung, delta), headers_a_byte);
    step.hosts.iter().filter_map(seen).map(|(foreign, payload)| foreign / payload).reduce(f64::max)
}

/// Bytes a packet against the MTU, at the end that received most.
pub(super) fn super_packets(context: &Context, layer: usize, step: &StepRecord) -> Option<f64> {
    let rung = crossing(step).filter(|rung| rung.place == Place::Network)?;
    let mtu = context.mtus[layer]? as f64;
    let (carried, packets, _) = sides(step, rung).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let ratio = carried / packets / mtu;
    (ratio.is_finite() && carried > ENOUGH).then_some(ratio)
}
