//! The numbers of single messages: requests at set moments, exchanges, datagrams.

use super::Part::Named;
use super::layers::CURVE_THROUGHPUT;
use super::{BASE, Metric, P50, P90, P95, P99, P99_9, WHOLE, fault};

pub const EXCHANGE_TIME: Metric = Metric {
    name: "exchange-time",
    unit: "ns",
    parts: &[WHOLE, P99],
    more_is_better: Some(false),
    about: "the time until both ends have sent a message and received the other's, all at once",
    formula: "time of a slice / messages in it, over both ends",
    source: "Intel MPI Benchmarks, PingPing",
    hint: "compare it with half a round trip: what is more is what one direction costs the other",
    page: "ping-ping.md",
    ..BASE
};

pub const DELIVERY_TIME: Metric = Metric {
    name: "delivery-time",
    unit: "ns",
    parts: &[WHOLE, P99],
    more_is_better: Some(false),
    about: "the time until a message has been sent and a byte has come back that says that all of it came",
    formula: "time of a slice / messages in it",
    source: "netperf, TCP_RR with -r SIZE,1",
    hint: "compare it with a round trip of the same size: what is less is the way back of the message",
    page: "stop-and-wait.md",
    ..BASE
};

pub const EXCHANGE_THROUGHPUT: Metric = Metric {
    name: "exchange-throughput",
    unit: "b/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "what an exchange carries of each direction: its message over its time",
    formula: "message bits / exchange-time",
    source: "Intel MPI Benchmarks, PingPing: Mbytes/sec",
    hint: "compare it with ping-pong-throughput: what is less is what one direction costs the other",
    page: "ping-ping.md",
    ..BASE
};

pub const PING_PONG_THROUGHPUT: Metric = Metric {
    name: "ping-pong-throughput",
    unit: "b/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    key: "throughput_bps",
    is_column: true,
    curve: Some(CURVE_THROUGHPUT),
    about: "what one message after the other carries, each sent when the one before has come back",
    formula: "message bits / half-round-trip",
    source: "Q. O. Snell, A. R. Mikler, J. L. Gustafson: NetPIPE, 1996: its throughput; Intel MPI Benchmarks, PingPong",
    hint: "below throughput by what is idle while a message is under way: small messages are all latency",
    page: "half-round-trip.md",
    ..BASE
};

pub const ROUND_TRIP: Metric = Metric {
    name: "round-trip",
    unit: "ns",
    parts: &[WHOLE],
    more_is_better: Some(false),
    about: "the time until a message has come back, by the pinger's clock: both ways",
    formula: "2 * half-round-trip",
    source: "netperf, TCP_RR: what it tells as a time",
    hint: "the same as half-round-trip: what holds that holds this",
    page: "half-round-trip.md",
    ..BASE
};

pub const ROUND_TRIP_RATE: Metric = Metric {
    name: "round-trip-rate",
    unit: "1/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "round trips, one after the other, that a second has room for",
    formula: "1 / (2 * half-round-trip)",
    source: "P. J. Mucci, K. London: The MPBench Report, 1998: what its latency test tells",
    hint: "the same as half-round-trip: what holds that holds this",
    page: "half-round-trip.md",
    ..BASE
};

pub const COLLECTIVE_TIME: Metric = Metric {
    name: "collective-time",
    unit: "ns",
    parts: &[WHOLE, P99],
    more_is_better: Some(false),
    about: "the time of an operation of all ranks together, of many without a pause between them",
    formula: "time of a slice / operations in it; the median over an end's ranks and slices; the larger of both ends'",
    source: "Intel MPI Benchmarks, t_max of Bcast, Reduce, Allreduce, Alltoall, Barrier",
    hint: "compare it with half a round trip: a good barrier of two ranks takes one exchange",
    page: "collectives.md",
    ..BASE
};

pub const OVERLAP: Metric = Metric {
    name: "overlap",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "the share of an exchange that goes on while its ends compute, with as much work as an exchange takes",
    formula: "1 - (both at once - work alone) / exchange alone; medians of a trial's slices, over both ends",
    source: "W. Lawry, C. Wilson, A. B. Maccabe, R. Brightwell: COMB, IEEE Cluster 2002; osu_ibarrier and its like",
    hint: "near 0 messages move only inside of calls: a progress thread, --set mpi.progress-thread=on; copies are work of a CPU and never hidden on the same one",
    page: "overlap.md",
    ..BASE
};

pub const OVERLAP_TIME: Metric = Metric {
    name: "overlap-time",
    unit: "ns",
    parts: &[Named("alone"), Named("work"), Named("both")],
    about: "the times that overlap is taken of: exchanges alone, work alone, both at once",
    formula: "the median of the slices' means, over both ends",
    source: "W. Lawry, C. Wilson, A. B. Maccabe, R. Brightwell: COMB, IEEE Cluster 2002",
    hint: "work that takes longer alone than the exchange was not long enough to hide it: see overlap",
    page: "overlap.md",
    ..BASE
};

pub const RESPONSE_TIME: Metric = Metric {
    name: "response-time",
    unit: "ns",
    parts: &[P50, P90, P95, P99, P99_9],
    more_is_better: Some(false),
    about: "from the moment at which a request should have gone until its answer was back; an open loop",
    formula: "the percentile of return - intended moment, over all requests of a trial",
    source: "G. Tene, How NOT to Measure Latency; HdrHistogram",
    hint: "far above service-time: requests waited to be sent, or sent-late says that the generator could not keep up",
    page: "request-response.md",
    ..BASE
};

pub const SERVICE_TIME: Metric = Metric {
    name: "service-time",
    unit: "ns",
    parts: &[P50, P99, P99_9],
    more_is_better: Some(false),
    about: "from the moment at which a request went until its answer was back",
    formula: "the percentile of return - sending, over all requests of a trial",
    source: "G. Tene, How NOT to Measure Latency; HdrHistogram",
    hint: "the tail of the path and the server; response-time is what a user waits",
    page: "request-response.md",
    ..BASE
};

pub const CONNECT_TIME: Metric = Metric {
    name: "connect-time",
    unit: "ns",
    parts: &[P50, P99],
    more_is_better: Some(false),
    about: "from the making of a socket until its connection stood, by the calling end",
    formula: "the percentile over all connections of a trial",
    source: "RFC 2647, connection establishment time; netperf, TCP_CRR",
    hint: "one round trip and two calls at least; above it look for a firewall that follows connections",
    page: "connect.md",
    ..BASE
};

pub const TRANSACTION_TIME: Metric = Metric {
    name: "transaction-time",
    unit: "ns",
    parts: &[P50, P99],
    more_is_better: Some(false),
    about: "from the making of a socket until the last byte of the answer had come over its connection",
    formula: "the percentile over all connections of a trial",
    source: "netperf, TCP_CRR",
    hint: "keep connections open: compare it with a round trip of the same size",
    page: "connect.md",
    ..BASE
};

pub const TRANSACTION_RATE: Metric = Metric {
    name: "transaction-rate",
    unit: "1/s",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "connections that were made, used for one request and closed, in a second",
    formula: "connections / time of the block, by the calling end; the sum over all flows",
    source: "netperf, TCP_CRR",
    hint: "more flows, until a CPU is full: each flow makes one connection at a time",
    page: "connect.md",
    ..BASE
};

pub const SENT_LATE: Metric = Metric {
    name: "sent-late",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(false),
    faults: &[fault("cpu-hog")],
    about: "the share of requests or datagrams that went later than by the mean time between two",
    formula: "late / intended",
    source: "the pacer's own account",
    hint: "lower the rate, or give the sender a CPU of its own: what is late is charged to the path",
    page: "request-response.md",
    ..BASE
};

pub const PACING_ERROR: Metric = Metric {
    name: "pacing-error",
    unit: "ns",
    parts: &[P50, P99],
    more_is_better: Some(false),
    faults: &[fault("cpu-hog")],
    about: "how late a paced message went, by the sender's clock",
    formula: "the percentile of sending - intended moment",
    source: "the pacer's own account",
    hint: "a large one is a CPU that was taken: pin the sender, keep its CPU free",
    page: "datagram-streams.md",
    ..BASE
};

pub const SENDER_RATE: Metric = Metric {
    name: "sender-rate",
    unit: "b/s",
    parts: &[WHOLE],
    about: "what a sender of datagrams sent, by its own clock; what arrived is throughput",
    formula: "8 * bytes sent / (end of the last - begin of the first)",
    source: "RFC 9097: both ends are told",
    hint: "above throughput by the share that was lost: compare loss",
    page: "datagram-streams.md",
    ..BASE
};

pub const DUPLICATED: Metric = Metric {
    name: "duplicated",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(false),
    faults: &[fault("duplicate")],
    about: "the share of the datagrams that came which came once more",
    formula: "duplicates / datagrams that came",
    source: "RFC 5560",
    hint: "a path that sends twice: a bridge loop, a link that sends again what had come",
    page: "datagram-streams.md",
    ..BASE
};

pub const REORDERED: Metric = Metric {
    name: "reordered",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(false),
    faults: &[fault("reorder")],
    about: "the share of the datagrams that came after one that was sent later",
    formula: "datagrams with a number below the largest so far / datagrams that came",
    source: "RFC 4737, Type-P-Reordered",
    hint: "parallel paths by packet, or queues of unequal length: hash by flow",
    page: "datagram-streams.md",
    ..BASE
};

pub const DELAY_VARIATION: Metric = Metric {
    name: "delay-variation",
    unit: "ns",
    parts: &[P50, P99, P99_9],
    more_is_better: Some(false),
    faults: &[fault("jitter")],
    about: "how far the delay of a datagram lies above the least one of its block; no clocks are compared",
    formula: "the percentile of D - min D, with D = arrival - sending",
    source: "RFC 5481, PDV",
    hint: "queues that fill: lower the rate, and look which queue it is",
    page: "datagram-streams.md",
    ..BASE
};

pub const PACKET_TO_PACKET: Metric = Metric {
    name: "packet-to-packet",
    unit: "ns",
    parts: &[P50, P99],
    more_is_better: Some(false),
    faults: &[fault("jitter")],
    about: "how far the delays of two datagrams that were sent one after the other differ",
    formula: "the percentile of |D(n + 1) - D(n)|",
    source: "RFC 3393, IPDV",
    hint: "large beside a small delay-variation: bursts, as of interrupt coalescing",
    page: "datagram-streams.md",
    ..BASE
};

pub const JITTER: Metric = Metric {
    name: "jitter",
    unit: "ns",
    parts: &[WHOLE],
    more_is_better: Some(false),
    faults: &[fault("jitter")],
    about: "the smoothed difference of delays of datagrams that came one after the other",
    formula: "J = J + (|D - D before| - J) / 16, at the block's end",
    source: "RFC 3550, section 6.4.1",
    hint: "for comparison with other programs: delay-variation says more",
    page: "datagram-streams.md",
    ..BASE
};
