//! A traced stream as numbers: for each host what its thread, its kernel and its connection did, block by block, and all of it over
//! time on one axis.

mod line;

pub use line::{StreamLine, StreamLines};

use crate::plan::HostId;
use crate::record::{StreamBlock, StreamSide, StreamTrace};
use crate::statistic::Estimate;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How a figure is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamUnit {
    /// A share of the time, or of packets.
    Share,
    /// Nanoseconds of CPU for a byte.
    NanosecondsPerByte,
    /// Bytes.
    Bytes,
    /// Times a second.
    PerSecond,
    /// Times in a block.
    PerBlock,
}

use StreamUnit::{Bytes, NanosecondsPerByte, PerBlock, PerSecond, Share};

/// A number of a host in one block.
pub struct StreamFigure {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How it is told.
    pub unit: StreamUnit,
    of: fn(&StreamSide) -> Option<f64>,
}

const fn figure(
    name: &'static str,
    unit: StreamUnit,
    about: &'static str,
    of: fn(&StreamSide) -> Option<f64>,
) -> StreamFigure {
    StreamFigure { name, about, unit, of }
}

/// Every figure, in the order in which they are shown.
pub const STREAM_FIGURES: &[StreamFigure] = &[
    figure(
        "thread.cpu",
        Share,
        "share of the time that the thread of the stream had a CPU, softirqs in its time included unless the kernel accounts for them apart (CONFIG_IRQ_TIME_ACCOUNTING)",
        |side| of_time(side, side.thread_ns),
    ),
    figure(
        "thread.run-queue",
        Share,
        "share of the time that it could run and another thread had its CPU",
        |side| of_time(side, side.run_delay_ns?),
    ),
    figure("thread.asleep", Share, "the rest: it waited for data, for room or for the other end", |side| {
        Some((1.0 - of_time(side, side.thread_ns)? - of_time(side, side.run_delay_ns?)?).max(0.0))
    }),
    figure("thread.ns-per-byte", NanosecondsPerByte, "CPU time of the thread for a byte", |side| {
        ratio(side.thread_ns as f64, side.bytes as f64)
    }),
    figure("thread.wake-ups", PerSecond, "times a second that it slept and was woken", |side| {
        per_second(side, side.sleeps)
    }),
    figure("thread.preempted", PerSecond, "times a second that another thread took its CPU", |side| {
        per_second(side, side.preempted)
    }),
    figure(
        "softirq.in-thread",
        Share,
        "share of the time that softirqs of the network ran in the thread's own time",
        |side| of_time(side, counted(side, "softirq-in-thread-ns")?),
    ),
    figure(
        "softirq.beside",
        Share,
        "share of the time that they ran on its CPU and not in its time",
        |side| of_time(side, counted(side, "softirq-beside-ns")?),
    ),
    figure(
        "softirq.elsewhere",
        Share,
        "CPU time of softirqs of the network on the machine's other CPUs, in CPUs",
        |side| of_time(side, counted(side, "softirq-elsewhere-ns")?),
    ),
    figure(
        "softirq.threads",
        Share,
        "CPU time of ksoftirqd and of NAPI's threads, of the machine, in CPUs",
        |side| of_time(side, side.packet_threads_ns.values().sum()),
    ),
    figure("call.bytes", Bytes, "bytes that a call sent or received", |side| {
        ratio(side.bytes as f64, side.calls as f64)
    }),
    figure(
        "packet.out-bytes",
        Bytes,
        "data of a packet that the stack gave to the queue: many segments where they are cut later",
        |side| of_packet(side, "out-bytes", "out-packets"),
    ),
    figure(
        "packet.in-bytes",
        Bytes,
        "data of a packet that TCP was given: many segments where they were merged",
        |side| of_packet(side, "in-bytes", "in-packets"),
    ),
    figure("interface.packets-out", PerSecond, "packets a second that the interface sent", |side| {
        per_second(side, side.interface.as_ref()?.tx_packets)
    }),
    figure("interface.packets-in", PerSecond, "packets a second that it received", |side| {
        per_second(side, side.interface.as_ref()?.rx_packets)
    }),
    figure(
        "socket.held",
        Share,
        "share of the packets, acknowledgements too, that found the socket held by the thread, which took them when it let go",
        |side| ratio(counted(side, "taken-held")? as f64, counted(side, "taken")? as f64),
    ),
    figure(
        "tcp.receive-window-limited",
        Share,
        "share of the time that the other end's window held the sender",
        |side| of_sender(side, "rwnd_limited"),
    ),
    figure("tcp.send-buffer-limited", Share, "share of the time that the send buffer held it", |side| {
        of_sender(side, "sndbuf_limited")
    }),
    figure(
        "tcp.peer-window",
        Bytes,
        "the window that the other end offered: the median of the samples",
        |side| of_series(side, "tcp.peer-window-bytes"),
    ),
    figure("tcp.not-sent", Bytes, "bytes in the send buffer that were not sent yet, likewise", |side| {
        of_series(side, "tcp.not-sent-bytes")
    }),
    figure("queue.backlog", Bytes, "bytes in the queueing discipline of the interface, likewise", |side| {
        of_series(side, "queue.backlog-bytes")
    }),
    figure("tcp.retransmitted", PerBlock, "segments that were sent again", |side| {
        Some(moved(side, "total_retrans"))
    }),
    figure("tcp.out-of-order", PerBlock, "segments that came out of order", |side| {
        Some(moved(side, "rcv_ooopack"))
    }),
    figure("drops", PerBlock, "packets of the connection that this host dropped", |side| {
        Some(counted(side, "dropped")? as f64)
    }),
    figure(
        "freed",
        PerBlock,
        "packets of the connection that this host freed without the reason of a drop, as some drivers free what they have sent",
        |side| Some(counted(side, "freed")? as f64),
    ),
    figure("interface.drops", PerBlock, "packets that the interface counts as dropped", |side| {
        Some(side.interface.as_ref()?.drops as f64)
    }),
    figure("softnet.dropped", PerBlock, "packets that the machine dropped before its stack", |side| {
        Some(side.softnet[1] as f64)
    }),
];

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn of_time(side: &StreamSide, ns: u64) -> Option<f64> {
    ratio(ns as f64, side.elapsed_ns as f64)
}

fn per_second(side: &StreamSide, count: u64) -> Option<f64> {
    ratio(1e9 * count as f64, side.elapsed_ns as f64)
}

fn counted(side: &StreamSide, name: &str) -> Option<u64> {
    side.counted.get(name).copied()
}

/// Of the way that the stream goes: the other way go the bytes by which its ends begin and end a block.
fn of_packet(side: &StreamSide, bytes: &str, packets: &str) -> Option<f64> {
    let bytes = counted(side, bytes).filter(|bytes| bytes.saturating_mul(2) > side.bytes)?;
    ratio(bytes as f64, counted(side, packets)? as f64)
}

fn moved(side: &StreamSide, field: &str) -> f64 {
    side.tcp.get(field).copied().unwrap_or_default() as f64
}

/// Microseconds that TCP counts while it has something to send: of who sends.
fn of_sender(side: &StreamSide, field: &str) -> Option<f64> {
    (moved(side, "bytes_sent") > 0.0 && moved(side, "busy_time") > 0.0)
        .then(|| of_time(side, 1000 * moved(side, field) as u64))
        .flatten()
        .map(|share| share.min(1.0))
}

fn of_series(side: &StreamSide, name: &str) -> Option<f64> {
    let ended = side.begun_ns.saturating_add(side.elapsed_ns);
    let within = side.series.iter().filter_map(|series| Some((series, series.values.get(name)?))).flat_map(
        |(series, values)| {
            series.at_ns.iter().zip(values).filter(|(at, _)| **at >= side.begun_ns && **at <= ended)
        },
    );
    crate::statistic::median(within.map(|(_, value)| *value))
}

/// One figure of a host.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamValue {
    /// The figure.
    pub name: &'static str,
    /// How it is told.
    pub unit: StreamUnit,
    /// What it is.
    pub about: &'static str,
    /// Over the traced blocks.
    pub of_blocks: Estimate,
}

/// Packets of one class of sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StreamSizes {
    /// From so many bytes of data on, to less than twice as many.
    pub from_bytes: u64,
    /// Packets that went out.
    pub out_packets: u64,
    /// Packets that came in.
    pub in_packets: u64,
}

/// One end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamEnd {
    /// The host.
    pub host: HostId,
    /// Whether it sent; the other one received.
    pub sends: bool,
    /// What is known of it.
    pub figures: Vec<StreamValue>,
    /// Packets of all traced blocks by their size; nothing at level 0.
    pub sizes: Vec<StreamSizes>,
    /// Packets of the connection that it dropped, by the kernel's reason, of all traced blocks.
    pub drops: BTreeMap<String, u64>,
    /// What TCP of this network namespace counted, by the kernel's names, likewise.
    pub protocol: BTreeMap<String, u64>,
    /// CPU time of the kernel's threads that work on packets, likewise.
    pub packet_threads_ns: BTreeMap<String, u64>,
}

/// What a traced stream says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamAnalysis {
    /// What the receiver received while it was watched.
    pub throughput_bps: Option<Estimate>,
    /// The same while nothing was.
    pub untraced_bps: Option<Estimate>,
    /// How much faster it was then: a share, of pairs of blocks.
    pub tax: Option<Estimate>,
    /// The sender, and the receiver.
    pub ends: Vec<StreamEnd>,
    /// All over time.
    pub lines: StreamLines,
}

/// Analyses a traced stream.
pub fn analyse_stream(trace: &StreamTrace) -> StreamAnalysis {
    let bps = |(bytes, ns): (u64, u64)| ratio(8e9 * bytes as f64, ns as f64).filter(|bps| *bps > 0.0);
    let traced = |block: &StreamBlock| bps((block.receiving.bytes, block.receiving.elapsed_ns));
    let tax = |block: &StreamBlock| Some(bps(block.untraced)? / traced(block)? - 1.0);
    let host = |at: usize| trace.hosts.get(at).map_or(HostId(at as u16), |host| host.host);
    StreamAnalysis {
        throughput_bps: Estimate::from_values(trace.blocks.iter().filter_map(traced)),
        untraced_bps: Estimate::from_values(trace.blocks.iter().filter_map(|block| bps(block.untraced))),
        tax: Estimate::from_values(trace.blocks.iter().filter_map(tax)),
        ends: vec![
            end(host(0), true, trace.blocks.iter().map(|block| &block.sending).collect()),
            end(host(1), false, trace.blocks.iter().map(|block| &block.receiving).collect()),
        ],
        lines: line::lines(trace, [host(0), host(1)]),
    }
}

fn end(host: HostId, sends: bool, sides: Vec<&StreamSide>) -> StreamEnd {
    let value = |figure: &StreamFigure| {
        let of_blocks = Estimate::from_values(sides.iter().filter_map(|side| (figure.of)(side)))?;
        Some(StreamValue { name: figure.name, unit: figure.unit, about: figure.about, of_blocks })
    };
    let sum = |of: fn(&StreamSide) -> &BTreeMap<String, u64>| {
        let mut sum: BTreeMap<String, u64> = BTreeMap::new();
        for (name, count) in sides.iter().flat_map(|side| of(side)) {
            *sum.entry(name.clone()).or_default() += count;
        }
        sum
    };
    let at = |sizes: &[u64], power: usize| sizes.get(power).copied().unwrap_or_default();
    let class = |power: usize| StreamSizes {
        from_bytes: 1 << power,
        out_packets: sides.iter().map(|side| at(&side.out_sizes, power)).sum(),
        in_packets: sides.iter().map(|side| at(&side.in_sizes, power)).sum(),
    };
    let classes = sides.iter().map(|side| side.out_sizes.len().max(side.in_sizes.len())).max().unwrap_or(0);
    StreamEnd {
        host,
        sends,
        figures: STREAM_FIGURES.iter().filter_map(value).collect(),
        // A packet of a single byte begins or ends a block.
        sizes: (1..classes.min(63))
            .map(class)
            .filter(|class| class.out_packets + class.in_packets > 0)
            .collect(),
        drops: sum(|side| &side.drops),
        protocol: sum(|side| &side.protocol),
        packet_threads_ns: sum(|side| &side.packet_threads_ns),
    }
}

impl StreamEnd {
    /// One of its figures.
    pub fn figure(&self, name: &str) -> Option<&StreamValue> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

#[cfg(test)]
mod tests;
