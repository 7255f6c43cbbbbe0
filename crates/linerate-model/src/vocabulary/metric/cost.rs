//! What a byte and a message cost the ends, and what a comparison of arms watches besides.

use super::Part::Named;
use super::{BASE, Family, Metric, WHOLE, bound, fault};

const CPU_PER_BYTE: Family =
    Family { name: "cpu_per_byte", help: "CPU time of an end's threads for each byte." };

pub const CPU_SENDER: Metric = Metric {
    name: "cpu.sender",
    unit: "ns/B",
    parts: &[WHOLE],
    more_is_better: Some(false),
    key: "sender_cpu_ns_per_byte",
    is_column: true,
    layer: Some(CPU_PER_BYTE),
    bounds: &[bound("sender-cpu")],
    keys: &["cpu_ns_per_byte", "sender"],
    about: "CPU time of the sending threads for each byte that arrived",
    formula: "CPU time of the side's threads during the block / bytes received",
    source: "clock_gettime(2), CLOCK_THREAD_CPUTIME_ID",
    hint: "larger messages, segmentation offload, a larger MTU",
    page: "cpu-per-byte.md",
    ..BASE
};

pub const CPU_RECEIVER: Metric = Metric {
    name: "cpu.receiver",
    unit: "ns/B",
    parts: &[WHOLE],
    more_is_better: Some(false),
    key: "receiver_cpu_ns_per_byte",
    is_column: true,
    layer: Some(CPU_PER_BYTE),
    bounds: &[bound("receiver-cpu")],
    keys: &["cpu_ns_per_byte", "receiver"],
    about: "CPU time of the receiving threads for each byte that arrived",
    formula: "CPU time of the side's threads during the block / bytes received",
    source: "clock_gettime(2), CLOCK_THREAD_CPUTIME_ID",
    hint: "receive offload, a larger MTU, reads of at least 64 KiB",
    page: "cpu-per-byte.md",
    ..BASE
};

pub const CPU_BOTH: Metric = Metric {
    name: "cpu.both",
    title: "CPU time of both ends a byte",
    unit: "ns/B",
    parts: &[WHOLE],
    more_is_better: Some(false),
    margin: Some(0.10),
    key: "cpu_ns_per_byte",
    bounds: &[bound("sender-cpu"), bound("receiver-cpu")],
    faults: &[fault("offload-off")],
    about: "CPU time of the sending and the receiving threads together for each byte that arrived",
    formula: "cpu.sender + cpu.receiver",
    source: "clock_gettime(2), CLOCK_THREAD_CPUTIME_ID",
    hint: "larger messages, segmentation and receive offload, a larger MTU",
    page: "cpu-per-byte.md",
    ..BASE
};

pub const CPU_SHARE: Metric = Metric {
    name: "cpu-share",
    unit: "1",
    parts: &[Named("sender"), Named("receiver")],
    more_is_better: Some(false),
    bounds: &[bound("sender-cpu"), bound("receiver-cpu")],
    faults: &[fault("offload-off")],
    about: "CPU time of an end's threads as a share of the time: 100 % is a whole CPU, several threads can take more",
    formula: "CPU time of the side's threads during the block / the time of its longest flow",
    source: "clock_gettime(2), CLOCK_THREAD_CPUTIME_ID",
    hint: "near 100 % that end's CPU is full; an end that polls is always full and says nothing",
    page: "cpu-per-byte.md",
    ..BASE
};

pub const CPU_PER_MESSAGE: Metric = Metric {
    name: "cpu.per-message",
    unit: "ns",
    more_is_better: Some(false),
    bounds: &[bound("sender-cpu"), bound("receiver-cpu")],
    keys: &["cpu_model", "message_ns"],
    about: "CPU time that each message costs its end, whatever its size: the calls",
    formula: "t(s) = message + bytes * per byte, least squares with weights 1/t^2, neither below zero",
    source: "CLOCK_THREAD_CPUTIME_ID over the sizes of a stream, clock_gettime(2)",
    hint: "several messages a call; the rate of small messages cannot pass 1 / this",
    page: "bounds.md",
    ..BASE
};

pub const SERVICE_DEMAND: Metric = Metric {
    name: "service-demand",
    unit: "ns",
    parts: &[WHOLE],
    more_is_better: Some(false),
    key: "service_demand_ns",
    is_column: true,
    curve: Some(Family {
        name: "curve_service_demand",
        help: "CPU time of both ends for each message against its size; of a ping-pong for each exchange.",
    }),
    bounds: &[bound("sender-cpu"), bound("receiver-cpu")],
    faults: &[fault("offload-off"), fault("firewall-rules"), fault("conntrack")],
    about: "CPU time of both ends' threads for each message that arrived, of a ping-pong for each exchange",
    formula: "CPU time of all threads during the block / messages that arrived, or came back",
    source: "R. Jones, Care and Feeding of Netperf 2.7, CPU utilization; clock_gettime(2), CLOCK_THREAD_CPUTIME_ID",
    hint: "of small messages it is the calls and wake-ups: several messages a call; beside cpu.both it shows what a byte adds",
    page: "cpu-per-byte.md",
    ..BASE
};

pub const ROUND_TRIP_P99: Metric = Metric {
    name: "round-trip-p99",
    title: "99 % of round trips below",
    unit: "ns",
    more_is_better: Some(false),
    margin: Some(0.10),
    key: "round_trip_ns_p99",
    about: "the round trip that one exchange in a hundred exceeds, as a comparison of arms watches it",
    formula: "the 99th percentile of a trial's slices / exchanges in one; the median over a block's trials",
    source: "G. Tene, HdrHistogram, for keeping all of them",
    hint: "worse while the median stays: a wait, look for foreign-cpu and preempted",
    page: "ab.md",
    ..BASE
};

pub const RETRANSMIT_SHARE: Metric = Metric {
    name: "retransmit-share",
    title: "segments sent again",
    unit: "1",
    more_is_better: Some(false),
    margin: Some(0.001),
    key: "retransmit_share",
    bounds: &[bound("congestion-window")],
    faults: &[fault("loss"), fault("burst-loss"), fault("policer")],
    about: "the share of the segments with data that were sent again, as a comparison of arms watches it",
    formula: "sum of total_retrans / sum of data_segs_out, over the connections of a block's streams",
    source: "include/uapi/linux/tcp.h; RFC 4898",
    hint: "look for where packets are dropped: interface drops, softnet-drops, a small queue",
    page: "ab.md",
    ..BASE
};

pub const NEIGHBOURS_SHARE: Metric = Metric {
    name: "neighbours-share",
    title: "what neighbours keep of the path",
    unit: "1",
    more_is_better: Some(true),
    margin: Some(0.1),
    key: "neighbours_share",
    bounds: &[bound("congestion-window")],
    faults: &[fault("competing-flow")],
    about: "the share of the path that flows of others keep, up to the half that is theirs, as a comparison of arms watches it",
    formula: "(bytes that the receiving interfaces took in - those of the test's connections with their headers) / both, at most 1/2",
    source: "/proc/net/dev; tcpi_bytes_received, include/uapi/linux/tcp.h; RFC 5033 section 3.2",
    hint: "worse: the setting gains by taking from others; look at its congestion control and its buffers",
    page: "ab.md",
    ..BASE
};
