//! The numbers of a layer: its rate, its round trip, its cost.

use super::Part::Named;
use super::{BASE, Family, Metric, P50, P90, P99, P99_9, WHOLE, bound, fault};

/// Of what has no stream, the rate of its round trips.
pub(super) const CURVE_THROUGHPUT: Family = Family {
    name: "curve_throughput",
    help: "Throughput against message size; of a ping-pong, the message over half of its round trip.",
};

pub const THROUGHPUT: Metric = Metric {
    name: "throughput",
    title: "throughput",
    unit: "b/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    margin: Some(0.10),
    key: "throughput_bps",
    is_column: true,
    layer: Some(Family {
        name: "throughput",
        help: "Throughput of a layer: the receiver's bytes over its clock, at the size at which layers are compared.",
    }),
    curve: Some(CURVE_THROUGHPUT),
    bounds: &[bound("link"), bound("sender-cpu"), bound("receiver-cpu")],
    keys: &["throughput_bps"],
    about: "the application's bytes that arrived, over the time in which they arrived, by the receiver's clock",
    formula: "8 * bytes / (last stamp - go); the median over passes",
    source: "RFC 6349; RFC 9097: the receiver counts",
    hint: "the bound of the layer says what holds it: linerate explain link, sender-cpu, receive-window",
    page: "throughput.md",
    ..BASE
};

pub const HALF_ROUND_TRIP: Metric = Metric {
    name: "half-round-trip",
    title: "half round trip",
    unit: "ns",
    parts: &[WHOLE, Named("mean"), P50, P90, P99, P99_9],
    more_is_better: Some(false),
    margin: Some(0.10),
    key: "half_round_trip_ns",
    is_column: true,
    layer: Some(Family {
        name: "half_round_trip",
        help: "Half of a round trip of a layer. It is no one-way delay.",
    }),
    curve: Some(Family { name: "curve_half_round_trip", help: "Half of a round trip against message size." }),
    faults: &[
        fault("delay"),
        fault("asymmetric-delay"),
        fault("firewall-rules"),
        fault("conntrack"),
        fault("delayed-ack"),
    ],
    keys: &["half_round_trip_ns"],
    about: "half of the time until a message has come back, by the pinger's clock; no one-way delay",
    formula: "time of a slice / (2 * messages in it); the median of slices, then over passes",
    source: "Q. Snell, A. Mikler, J. Gustafson: NetPIPE, 1996",
    hint: "compare polling with sleeping: the difference is the wake-up; then look at cost.constant",
    page: "half-round-trip.md",
    ..BASE
};

pub const DISTRIBUTION: Metric = Metric {
    name: "distribution",
    unit: "ns",
    more_is_better: Some(false),
    keys: &["distributions", "percentiles"],
    about: "half round trips that a share of the exchanges does not exceed: the 50th to the 99.99th percentile",
    formula: "the percentile of each connection; its median and interval over the connections; told where ten exchanges lie beyond",
    source: "percentiles of one connection resemble each other: G. Tene, HdrHistogram, for keeping all of them",
    hint: "a tail far above the median is a wait: compare polling with sleeping, look for foreign-cpu and preempted",
    page: "half-round-trip.md",
    ..BASE
};

pub const MESSAGE_RATE: Metric = Metric {
    name: "message-rate",
    unit: "1/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "messages that arrived in a second",
    formula: "throughput / (8 * message bytes)",
    source: "derived from throughput",
    hint: "at small sizes it is held by the calls: send several messages a call",
    page: "throughput.md",
    ..BASE
};

pub const KEPT_OF_BELOW: Metric = Metric {
    name: "kept-of-below",
    unit: "1",
    more_is_better: Some(true),
    layer: Some(Family {
        name: "kept_of_below",
        help: "Throughput as a share of the layer below, paired within passes.",
    }),
    keys: &["kept_of_below"],
    about: "throughput as a share of the rung below, at the same size, flows and directions",
    formula: "median over passes of throughput / throughput of the rung below in the same pass",
    source: "the ratio of paired observations; R. W. Hockney, Parallel Computing 20 (1994), for the layers' times",
    hint: "the rung with the smallest share is where the rate goes; its bound says why",
    page: "kept-and-cost.md",
    ..BASE
};

pub const EFFICIENCY: Metric = Metric {
    name: "efficiency",
    unit: "1",
    more_is_better: Some(true),
    keys: &["efficiencies"],
    about: "throughput as a share of the rung below, at every message size",
    formula: "as kept-of-below, size by size",
    source: "paired observations, as kept-of-below",
    hint: "where it is small at small sizes, what a message costs takes it; at large ones, what a byte costs",
    page: "kept-and-cost.md",
    ..BASE
};

pub const LOSS: Metric = Metric {
    name: "loss",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(false),
    layer: Some(Family { name: "lost", help: "The share of a stream's datagrams that did not arrive." }),
    faults: &[fault("loss"), fault("burst-loss"), fault("policer")],
    keys: &["lost_share"],
    about: "the share of what was sent that did not arrive, of a transport that does not send again",
    formula: "1 - messages received / messages sent",
    source: "RFC 7680; ITU-T Y.1540 (IPLR)",
    hint: "lower the rate until it is gone; what drops is then full: a queue, a receive buffer, a CPU",
    page: "throughput.md",
    ..BASE
};

pub const COST_CONSTANT: Metric = Metric {
    name: "cost.constant",
    unit: "ns",
    more_is_better: Some(false),
    layer: Some(Family { name: "cost_constant", help: "What a layer adds to the time of each message." }),
    keys: &["cost", "constant_ns"],
    about: "what each message pays over the rung below: calls, wake-ups, handshakes, headers",
    formula: "median over passes of alpha - alpha of the rung below in the same pass",
    source: "R. W. Hockney, The communication challenge for MPP, Parallel Computing 20 (1994)",
    hint: "worth a look above a fifth of the alpha below: wake-ups, interrupt coalescing, sleep states",
    page: "kept-and-cost.md",
    ..BASE
};

pub const COST_PER_BYTE: Metric = Metric {
    name: "cost.per-byte",
    unit: "ns/B",
    more_is_better: Some(false),
    layer: Some(Family { name: "cost_per_byte", help: "What a layer adds for each byte." }),
    keys: &["cost", "ns_per_byte"],
    about: "what each byte pays over the rung below: copies, checksums, packets",
    formula: "median over passes of beta - beta of the rung below in the same pass",
    source: "R. W. Hockney, The communication challenge for MPP, Parallel Computing 20 (1994)",
    hint: "worth a look above a tenth of the beta below: a copy more, offloads, the MTU",
    page: "kept-and-cost.md",
    ..BASE
};

pub const RETRANSMITS: Metric = Metric {
    name: "retransmits",
    unit: "segments",
    more_is_better: Some(false),
    layer: Some(Family {
        name: "retransmits",
        help: "Segments that were sent again during the streams of a layer.",
    }),
    bounds: &[bound("congestion-window")],
    faults: &[fault("loss"), fault("burst-loss"), fault("policer")],
    keys: &["retransmits"],
    about: "segments that TCP sent again during the streams of a layer",
    formula: "sum over connections of tcpi_total_retrans at the end less that at the beginning",
    source: "include/uapi/linux/tcp.h; RFC 4898",
    hint: "look for where packets are dropped: interface drops, softnet-drops, a small queue",
    page: "bounds.md",
    ..BASE
};
