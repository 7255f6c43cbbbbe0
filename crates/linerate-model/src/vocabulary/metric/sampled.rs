//! What is sampled at each end during a long stream: the host's counters and `tcp_info`.

/// A number of the time line.
#[derive(Debug)]
pub struct SampledMetric {
    /// The name; `*` stands for the number of a CPU or the name of an interface.
    pub name: &'static str,
    /// Its unit; `1` of a share.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The counter that it is read from.
    pub source: &'static str,
}

const fn sampled(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    source: &'static str,
) -> SampledMetric {
    SampledMetric { name, unit, about, source }
}

/// Every number of the time line.
pub const SAMPLED: &[SampledMetric] = &[
    sampled("cpu.*.busy", "1", "share of the time that this CPU was not idle", "/proc/stat"),
    sampled("cpu.steal", "1", "CPU time that the hypervisor took, in CPUs", "/proc/stat, steal"),
    sampled("cpu.context-switches-per-s", "1/s", "context switches of the host", "/proc/stat, ctxt"),
    sampled(
        "softnet.dropped",
        "packets",
        "packets dropped between driver and stack",
        "/proc/net/softnet_stat",
    ),
    sampled("softnet.squeezed", "times", "polls that ran out of budget", "/proc/net/softnet_stat"),
    sampled(
        "tcp.retransmitted-segments",
        "segments",
        "segments of the host that were sent again",
        "/proc/net/snmp",
    ),
    sampled("interface.*.rx-bps", "b/s", "what an interface received", "/proc/net/dev"),
    sampled("interface.*.tx-bps", "b/s", "what an interface sent", "/proc/net/dev"),
    sampled("interface.*.rx-packets-per-s", "1/s", "packets that an interface received", "/proc/net/dev"),
    sampled("interface.*.tx-packets-per-s", "1/s", "packets that an interface sent", "/proc/net/dev"),
    sampled("interface.*.drops", "packets", "packets that an interface dropped", "/proc/net/dev"),
    sampled("tcp.congestion-window", "segments", "the congestion window", "tcpi_snd_cwnd"),
    sampled("tcp.slow-start-threshold", "segments", "where slow start ends", "tcpi_snd_ssthresh"),
    sampled("tcp.in-flight", "segments", "segments that are sent and not acknowledged", "tcpi_unacked"),
    sampled("tcp.round-trip-us", "µs", "the smoothed round-trip time, queues included", "tcpi_rtt"),
    sampled("tcp.round-trip-variation-us", "µs", "its mean deviation", "tcpi_rttvar"),
    sampled(
        "tcp.minimum-round-trip-us",
        "µs",
        "the shortest round-trip time of the last minutes",
        "tcpi_min_rtt",
    ),
    sampled(
        "tcp.receiver-round-trip-us",
        "µs",
        "the round-trip time as the receiver sees it",
        "tcpi_rcv_rtt",
    ),
    sampled(
        "tcp.retransmits",
        "segments",
        "segments sent again since the sample before",
        "tcpi_total_retrans",
    ),
    sampled("tcp.lost", "segments", "segments taken for lost at present", "tcpi_lost"),
    sampled("tcp.reordered", "times", "reorderings seen since the sample before", "tcpi_reord_seen"),
    sampled(
        "tcp.out-of-order",
        "packets",
        "packets received out of order since the sample before",
        "tcpi_rcv_ooopack",
    ),
    sampled("tcp.delivery-rate", "b/s", "the last rate of delivery", "tcpi_delivery_rate"),
    sampled("tcp.pacing-rate", "b/s", "the rate at which the sender may send", "tcpi_pacing_rate"),
    sampled("tcp.acknowledged-bps", "b/s", "what was acknowledged", "tcpi_bytes_acked"),
    sampled("tcp.received-bps", "b/s", "what was received", "tcpi_bytes_received"),
    sampled("tcp.busy", "1", "share of the time with data to send", "tcpi_busy_time"),
    sampled(
        "tcp.receive-window-limited",
        "1",
        "share of the time held by the receiver's window",
        "tcpi_rwnd_limited",
    ),
    sampled(
        "tcp.send-buffer-limited",
        "1",
        "share of the time held by the send buffer",
        "tcpi_sndbuf_limited",
    ),
    sampled("tcp.not-sent-bytes", "B", "bytes in the send buffer that were never sent", "tcpi_notsent_bytes"),
    sampled("tcp.peer-window-bytes", "B", "the window that the peer offers", "tcpi_snd_wnd"),
    sampled("tcp.receive-window-bytes", "B", "the window that this end offers", "tcpi_rcv_wnd"),
    sampled("tcp.receive-space-bytes", "B", "what the receiver read in a round trip", "tcpi_rcv_space"),
];
