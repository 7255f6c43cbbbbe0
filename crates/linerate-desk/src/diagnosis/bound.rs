//! The rates that a layer cannot pass, each with its evidence.

mod cpu;
mod link;
mod memory;
#[cfg(test)]
mod tests;
mod window;

use crate::analysis::model::serial_rest_ns_per_byte;
use crate::analysis::{Analysis, Layer};
use crate::record::{Recording, SocketRecord, StepRecord};
use crate::statistic::Estimate;
use crate::vocabulary::{BOUNDS, BoundEntry, Does, Pattern};

/// A bound explains a rate that comes this near to it, from below or from above.
pub(super) const NEAR: f64 = 0.15;
/// A limit that holds for more than this share of a sender's busy time is what it mostly waits for.
pub(super) const MOSTLY: f64 = 0.5;

/// How each bound is computed; one for each entry of [`BOUNDS`], in its order.
const COMPUTED: &[(&str, Computation)] = &[
    ("link", link::link),
    ("sender-cpu", cpu::sender),
    ("receiver-cpu", cpu::receiver),
    ("interrupt-cpu", cpu::interrupts),
    ("send-buffer", window::send_buffer),
    ("receive-window", window::receive_window),
    ("memory", memory::copies),
    ("dram", memory::bandwidth),
    ("congestion-window", window::congestion_window),
];

type Computation = fn(&Inputs) -> Option<Limit>;

/// A rate that cannot be passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Which kind, by its name in [`BOUNDS`].
    pub name: &'static str,
    /// The rate: the median over the passes or connections that it was computed from.
    pub bps: f64,
    /// The 95 % interval of that median, where it varies and there are enough.
    pub interval: Option<(f64, f64)>,
    /// The rate that nothing beats unless the measurement is wrong, where there is one.
    pub ceiling_bps: Option<f64>,
    /// What it was computed from.
    pub evidence: String,
    /// Whether it explains the rate that was measured.
    pub explains: bool,
}

impl Bound {
    /// Its entry in the vocabulary.
    pub(super) fn entry(&self) -> Option<&'static BoundEntry> {
        BOUNDS.iter().find(|entry| entry.name == self.name)
    }
}

/// A bound before it is compared with what was measured.
struct Limit {
    bps: f64,
    interval: Option<(f64, f64)>,
    ceiling_bps: Option<f64>,
    evidence: String,
    /// What its own evidence says; without a word, whether the rate comes near.
    explains: Option<bool>,
}

impl Limit {
    fn new(estimate: Estimate, evidence: String) -> Limit {
        let interval = estimate.low.zip(estimate.high);
        Limit { interval, ..Limit::exact(estimate.median, evidence) }
    }

    fn exact(bps: f64, evidence: String) -> Limit {
        Limit { bps, interval: None, ceiling_bps: None, evidence, explains: None }
    }
}

/// What the bounds of a layer are computed from.
struct Inputs<'r> {
    recording: &'r Recording,
    analysis: &'r Analysis,
    layer: &'r Layer,
    /// The rate at the ladder's size.
    measured: f64,
    steps: Vec<&'r StepRecord>,
    /// The connections at the ends that send.
    senders: Vec<&'r SocketRecord>,
}

/// Every bound that the recording gives for a layer's stream.
pub(super) fn bounds(recording: &Recording, analysis: &Analysis, index: usize) -> Vec<Bound> {
    let layer = &analysis.layers[index];
    let Some(measured) = layer.throughput_bps.map(|estimate| estimate.median) else {
        return Vec::new();
    };
    let steps = stream_steps(recording, layer);
    let senders = steps.iter().flat_map(|step| senders(step)).collect();
    let inputs = Inputs { recording, analysis, layer, measured, steps, senders };
    let bound = |(name, compute): &(&'static str, Computation)| {
        let limit = compute(&inputs).filter(|limit| limit.bps.is_finite() && limit.bps > 0.0)?;
        let near = (measured / limit.bps - 1.0).abs() <= NEAR;
        Some(Bound {
            name,
            bps: limit.bps,
            interval: limit.interval,
            ceiling_bps: limit.ceiling_bps,
            evidence: limit.evidence,
            explains: limit.explains.unwrap_or(near),
        })
    };
    COMPUTED.iter().filter_map(bound).collect()
}

/// The bound to name: causes before symptoms, then the lowest.
pub(super) fn binding(bounds: &[Bound]) -> Option<&Bound> {
    let rank = |bound: &Bound| bound.entry().map(|entry| entry.rank);
    let explaining = bounds.iter().filter(|bound| bound.explains);
    explaining.min_by(|a, b| rank(a).cmp(&rank(b)).then(a.bps.total_cmp(&b.bps)))
}

/// The bound that a perfect fix of the binding one runs into: the lowest of the others that do not move
/// by themselves.
pub(super) fn next(bounds: &[Bound]) -> Option<&Bound> {
    let binding = binding(bounds)?;
    let stays =
        |bound: &&Bound| bound.name != binding.name && bound.entry().is_some_and(|entry| !entry.gives_way);
    bounds.iter().filter(stays).min_by(|a, b| a.bps.total_cmp(&b.bps))
}

/// The time a byte that stays unexplained even if all work were done one after the other; none where a
/// bound explains the rate, or where work in sequence would take as long.
pub(super) fn rest_ns_per_byte(layer: &Layer, bounds: &[Bound]) -> Option<f64> {
    if binding(bounds).is_some() {
        return None;
    }
    let works = |bound: &&Bound| bound.entry().is_some_and(|entry| entry.serial);
    serial_rest_ns_per_byte(layer.throughput_bps?.median, bounds.iter().filter(works).map(|bound| bound.bps))
}

/// The steps of a layer's streams: the long one where there is one, because its shares are finer.
pub(super) fn stream_steps<'r>(recording: &'r Recording, layer: &Layer) -> Vec<&'r StepRecord> {
    let streams = recording
        .steps
        .iter()
        .filter(|step| layer.owns(&step.case) && step.pass > 0 && step.case.pattern != Pattern::PingPong);
    let (long, short): (Vec<_>, Vec<_>) = streams.partition(|step| step.case.timeline);
    if long.is_empty() { short } else { long }
}

/// The connections of a step at the ends that send.
pub(super) fn senders(step: &StepRecord) -> impl Iterator<Item = &SocketRecord> {
    of_ends(step, Does::Sends)
}

/// Those at the ends that do so.
pub(super) fn of_ends(step: &StepRecord, does: Does) -> impl Iterator<Item = &SocketRecord> {
    step.sockets.iter().filter(move |socket| {
        let mut meant = step.roles.iter().filter(|role| role.does == does);
        meant.any(|role| role.host == socket.host && role.worker == socket.worker)
    })
}
