//! The rates that a layer cannot pass, each with its evidence.

use super::wire::wire;
use crate::analysis::{Analysis, Layer, Load, Values};
use crate::record::{Recording, SocketRecord, StepRecord};
use crate::statistic::median;
use crate::unit::{BitRate, Nanoseconds, significant};
use crate::vocabulary::{Cache, Does, Pattern, RUNGS, TRANSPORTS, Wait};

/// A bound explains a rate that reaches this share of it (method 3.1, P1).
const EXPLAINS: f64 = 0.85;
/// A CPU that is busier than this has no time left.
const BUSY: f64 = 0.9;
/// A limit that holds for more than this share of a sender's busy time is what it mostly waits for.
const MOSTLY: f64 = 0.5;

/// A kind of bound in the listing.
#[derive(Debug)]
pub struct BoundEntry {
    /// The name in reports.
    pub name: &'static str,
    /// What stands behind it, and how it is computed.
    pub about: &'static str,
    /// Among bounds that explain a rate, the lowest rank is named: causes before their symptoms.
    rank: u8,
}

/// Every kind of bound.
pub const BOUNDS: &[BoundEntry] = &[
    entry("link", 0, "the line's or token bucket's rate, less headers and gaps"),
    entry("sender-cpu", 0, "the CPU time that the sending threads spend on a byte"),
    entry("receiver-cpu", 0, "the CPU time that the receiving threads spend on a byte"),
    entry("interrupt-cpu", 0, "a CPU without a measuring thread that was busy throughout"),
    entry("send-buffer", 1, "the share of its time that the sender waited for room in its buffer"),
    entry("receive-window", 2, "the share of its time that the sender waited for the receiver's window"),
    entry("memory", 3, "one memcpy in the same host: every byte is copied at least once at each end"),
    entry("congestion-window", 3, "the congestion window a round trip"),
];

const fn entry(name: &'static str, rank: u8, about: &'static str) -> BoundEntry {
    BoundEntry { name, about, rank }
}

/// A rate that cannot be passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Which kind, by name.
    pub name: &'static str,
    /// The rate.
    pub bps: f64,
    /// What it was computed from.
    pub evidence: String,
    /// Whether it explains the rate that was measured.
    pub explains: bool,
}

/// The bound to name: causes before symptoms, then the lowest.
pub(super) fn binding(bounds: &[Bound]) -> Option<&Bound> {
    let rank = |bound: &Bound| BOUNDS.iter().find(|entry| entry.name == bound.name).map(|entry| entry.rank);
    let explaining = bounds.iter().filter(|bound| bound.explains);
    explaining.min_by(|a, b| rank(a).cmp(&rank(b)).then(a.bps.total_cmp(&b.bps)))
}

/// Every bound that the recording gives for a layer's stream.
pub(super) fn bounds(recording: &Recording, analysis: &Analysis, index: usize) -> Vec<Bound> {
    let layer = &analysis.layers[index];
    let Some(measured) = layer.throughput_bps.map(|estimate| estimate.median) else {
        return Vec::new();
    };
    let steps = stream_steps(recording, layer);
    let mut bounds: Vec<Bound> = Vec::new();
    bounds.extend(link(recording, layer, measured));
    bounds.extend(cpu(analysis, layer, measured, true));
    bounds.extend(cpu(analysis, layer, measured, false));
    bounds.extend(interrupt_cpu(&steps, layer, measured));
    bounds.extend(limited(&steps, layer, measured));
    bounds.extend(memory(analysis, layer, measured));
    bounds.extend(congestion_window(&steps, layer, measured));
    bounds.retain(|bound| bound.bps.is_finite() && bound.bps > 0.0);
    bounds
}

/// The steps of a layer's streams: the long one where there is one, because its shares are finer.
fn stream_steps<'r>(recording: &'r Recording, layer: &Layer) -> Vec<&'r StepRecord> {
    let streams = recording
        .steps
        .iter()
        .filter(|step| layer.owns(&step.case) && step.pass > 0 && step.case.pattern != Pattern::PingPong);
    let (long, short): (Vec<_>, Vec<_>) = streams.partition(|step| step.case.timeline);
    if long.is_empty() { short } else { long }
}

fn link(recording: &Recording, layer: &Layer, measured: f64) -> Option<Bound> {
    let wire = wire(recording, layer);
    let (line, payload) = (wire.line_bps?, wire.payload_bps?);
    let directions = if layer.both_ways { 2.0 } else { 1.0 };
    let evidence = format!(
        "{} at MTU {} leaves {} for payload{}",
        BitRate(line),
        wire.mtu.unwrap_or(0),
        BitRate(payload),
        if layer.both_ways { " each way" } else { "" },
    );
    let bps = payload * directions;
    Some(Bound { name: "link", bps, evidence, explains: measured >= EXPLAINS * bps })
}

/// Threads that sleep while they wait spend CPU time only on work, so a busy CPU is at its limit. Of
/// threads that poll nothing can be said.
fn cpu(analysis: &Analysis, layer: &Layer, measured: f64, sends: bool) -> Option<Bound> {
    let curve = layer.stream(&analysis.curves)?;
    if curve.case.wait != Wait::Sleeping {
        return None;
    }
    let point = curve.at(analysis.ladder_bytes)?;
    let load = |values: &Values| if sends { values.sender } else { values.receiver };
    let middle =
        |number: fn(&Load) -> f64| median(point.passes.values().filter_map(load).map(|l| number(&l)));
    let (cost, busy, cpus) = (middle(|l| l.cpu_ns_per_byte)?, middle(|l| l.busy)?, middle(|l| l.cpus)?);
    // Both ways, a CPU may serve a sender and a receiver: then only its busy share says how far it goes.
    let bps = if layer.both_ways { measured / busy } else { cpus * 8e9 / cost };
    let side = if sends { "sender" } else { "receiver" };
    let evidence = format!(
        "the {side} spends {} ns on a byte and its CPU was {} % busy",
        significant(cost, 2),
        significant(100.0 * busy.min(1.0), 2),
    );
    let name = if sends { "sender-cpu" } else { "receiver-cpu" };
    Some(Bound { name, bps, evidence, explains: busy >= BUSY })
}

/// Work that the kernel does for the connection on a CPU of its own, such as taking interrupts.
fn interrupt_cpu(steps: &[&StepRecord], layer: &Layer, measured: f64) -> Option<Bound> {
    let mut worst: Option<(f64, u32, &str)> = None;
    for delta in steps.iter().flat_map(|step| &step.hosts) {
        for (cpu, busy_ns) in delta.busy_ns.iter().filter(|(cpu, _)| !layer.placement.contains(cpu)) {
            let busy = *busy_ns as f64 / delta.wall_ns as f64;
            if busy.is_finite() && worst.is_none_or(|(most, ..)| busy > most) {
                worst = Some((busy, *cpu, &delta.host));
            }
        }
    }
    let (busy, cpu, host) = worst.filter(|(busy, ..)| *busy >= BUSY && !layer.placement.is_empty())?;
    let share = significant(100.0 * busy.min(1.0), 2);
    let evidence = format!("CPU {cpu} of {host} ran no measuring thread and was {share} % busy");
    Some(Bound { name: "interrupt-cpu", bps: measured / busy.min(1.0), evidence, explains: true })
}

/// What a sending connection waited for, from `tcp_info` (include/uapi/linux/tcp.h): the busy time holds the others.
fn limited(steps: &[&StepRecord], layer: &Layer, measured: f64) -> Vec<Bound> {
    let senders: Vec<&SocketRecord> = steps.iter().flat_map(|step| senders(step)).collect();
    let last = |name: &str| last(&senders, name);
    let sum = |name: &str| -> f64 {
        senders.iter().filter_map(|socket| socket.moved.get(name)).map(|count| *count as f64).sum()
    };
    let busy = sum("busy_time");
    let window = last("snd_wnd").zip(last("rtt")).map(|(wnd, rtt)| f64::from(layer.flows) * wnd * 8e6 / rtt);
    let kinds = [
        ("send-buffer", "sndbuf_limited", "room in its send buffer", None),
        ("receive-window", "rwnd_limited", "the receiver's window", window),
    ];
    let bound = |(name, counter, what, bps): (&'static str, &str, &str, Option<f64>)| {
        let share = sum(counter) / busy;
        let bps = bps.unwrap_or(measured / share.min(1.0));
        let evidence =
            format!("the sender waited for {what} {} % of its busy time", significant(100.0 * share, 2));
        (share > 0.0).then_some(Bound { name, bps, evidence, explains: share >= MOSTLY })
    };
    kinds.into_iter().filter_map(bound).collect()
}

/// The connections of a step at the ends that send.
fn senders(step: &StepRecord) -> impl Iterator<Item = &SocketRecord> {
    step.sockets.iter().filter(|socket| {
        let sends = |role: &&crate::plan::Role| role.does == Does::Sends;
        step.roles.iter().filter(sends).any(|role| role.host == socket.host && role.worker == socket.worker)
    })
}

/// The median of a value at the end.
fn last(sockets: &[&SocketRecord], name: &str) -> Option<f64> {
    median(sockets.iter().filter_map(|socket| socket.last.get(name)).map(|value| *value as f64))
}

/// The copy out of the nearest cache, on the host that sends.
fn memory(analysis: &Analysis, layer: &Layer, measured: f64) -> Option<Bound> {
    if is_copy(layer) || layer.both_ways || layer.flows > 1 {
        return None;
    }
    let copies: Vec<&Layer> = analysis.layers.iter().filter(|other| is_copy(other)).collect();
    let here = copies.iter().find(|copy| copy.from == layer.from).or(copies.first())?;
    let bps = here.throughput_bps?.median;
    let evidence = format!("{} moves {}", here.rung, BitRate(bps));
    Some(Bound { name: "memory", bps, evidence, explains: measured >= EXPLAINS * bps })
}

/// Whether this is the rung of one thread that copies within a cache.
fn is_copy(layer: &Layer) -> bool {
    let alone = |name| TRANSPORTS.iter().any(|transport| transport.name == name && transport.ends == 1);
    let rung = RUNGS.iter().find(|rung| rung.id == layer.rung);
    rung.is_some_and(|rung| rung.cache == Some(Cache::Hot) && alone(rung.transport))
}

/// Window over round trip, where that is what the connections had at the end.
fn congestion_window(steps: &[&StepRecord], layer: &Layer, measured: f64) -> Option<Bound> {
    let sockets: Vec<&SocketRecord> = steps.iter().flat_map(|step| senders(step)).collect();
    let last = |name: &str| last(&sockets, name);
    let (segments, mss, rtt_us) = (last("snd_cwnd")?, last("snd_mss")?, last("rtt")?);
    let bps = f64::from(layer.flows) * segments * mss * 8e6 / rtt_us;
    let evidence = format!(
        "{} segments of {} B a round trip of {}",
        significant(segments, 2),
        mss,
        Nanoseconds(rtt_us * 1e3).rounded(2),
    );
    let explains = measured >= EXPLAINS * bps;
    // A rate far above it shows that the last values were not those of the stream.
    let holds = measured * EXPLAINS <= bps;
    holds.then_some(Bound { name: "congestion-window", bps, evidence, explains })
}
