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

impl SampledMetric {
    /// Its name for one CPU or interface.
    pub fn name_for(&self, which: &str) -> String {
        self.name.replacen('*', which, 1)
    }

    /// The CPU or interface that a name of it is for, empty where it is of no single one; none where the name is
    /// another metric's.
    pub fn which<'n>(&self, name: &'n str) -> Option<&'n str> {
        match self.name.split_once('*') {
            Some((head, tail)) => {
                name.strip_prefix(head)?.strip_suffix(tail).filter(|which| !which.is_empty())
            }
            None => (name == self.name).then_some(""),
        }
    }

    /// The field of `tcp_info` that it is read from.
    pub fn field(&self) -> Option<&'static str> {
        self.source.strip_prefix("tcpi_")
    }
}

const fn sampled(
    name: &'static str,
    unit: &'static str,
    about: &'static str,
    source: &'static str,
) -> SampledMetric {
    SampledMetric { name, unit, about, source }
}

pub const CPU_BUSY: SampledMetric =
    sampled("cpu.*.busy", "1", "share of the time that this CPU was not idle", "/proc/stat");
pub const CPU_STEAL: SampledMetric =
    sampled("cpu.steal", "1", "CPU time that the hypervisor took, in CPUs", "/proc/stat, steal");
pub const CONTEXT_SWITCHES: SampledMetric =
    sampled("cpu.context-switches-per-s", "1/s", "context switches of the host", "/proc/stat, ctxt");
pub const SOFTNET_DROPPED: SampledMetric = sampled(
    "softnet.dropped",
    "packets",
    "packets dropped between driver and stack",
    "/proc/net/softnet_stat",
);
pub const SOFTNET_SQUEEZED: SampledMetric =
    sampled("softnet.squeezed", "times", "polls that ran out of budget", "/proc/net/softnet_stat");
pub const TCP_RETRANSMITTED_SEGMENTS: SampledMetric = sampled(
    "tcp.retransmitted-segments",
    "segments",
    "segments of the host that were sent again",
    "/proc/net/snmp",
);
pub const INTERFACE_RX_BPS: SampledMetric =
    sampled("interface.*.rx-bps", "b/s", "what an interface received", "/proc/net/dev");
pub const INTERFACE_TX_BPS: SampledMetric =
    sampled("interface.*.tx-bps", "b/s", "what an interface sent", "/proc/net/dev");
pub const INTERFACE_RX_PACKETS_PER_S: SampledMetric =
    sampled("interface.*.rx-packets-per-s", "1/s", "packets that an interface received", "/proc/net/dev");
pub const INTERFACE_TX_PACKETS_PER_S: SampledMetric =
    sampled("interface.*.tx-packets-per-s", "1/s", "packets that an interface sent", "/proc/net/dev");
pub const INTERFACE_DROPS: SampledMetric =
    sampled("interface.*.drops", "packets", "packets that an interface dropped", "/proc/net/dev");
pub const TCP_CONGESTION_WINDOW: SampledMetric =
    sampled("tcp.congestion-window", "segments", "the congestion window", "tcpi_snd_cwnd");
pub const TCP_SLOW_START_THRESHOLD: SampledMetric =
    sampled("tcp.slow-start-threshold", "segments", "where slow start ends", "tcpi_snd_ssthresh");
pub const TCP_IN_FLIGHT: SampledMetric =
    sampled("tcp.in-flight", "segments", "segments that are sent and not acknowledged", "tcpi_unacked");
pub const TCP_ROUND_TRIP_US: SampledMetric =
    sampled("tcp.round-trip-us", "µs", "the smoothed round-trip time, queues included", "tcpi_rtt");
pub const TCP_ROUND_TRIP_VARIATION_US: SampledMetric =
    sampled("tcp.round-trip-variation-us", "µs", "its mean deviation", "tcpi_rttvar");
pub const TCP_MINIMUM_ROUND_TRIP_US: SampledMetric = sampled(
    "tcp.minimum-round-trip-us",
    "µs",
    "the shortest round-trip time of the last minutes",
    "tcpi_min_rtt",
);
pub const TCP_RECEIVER_ROUND_TRIP_US: SampledMetric = sampled(
    "tcp.receiver-round-trip-us",
    "µs",
    "the round-trip time as the receiver sees it",
    "tcpi_rcv_rtt",
);
pub const TCP_RETRANSMITS: SampledMetric = sampled(
    "tcp.retransmits",
    "segments",
    "segments sent again since the sample before",
    "tcpi_total_retrans",
);
pub const TCP_LOST: SampledMetric =
    sampled("tcp.lost", "segments", "segments taken for lost at present", "tcpi_lost");
pub const TCP_REORDERED: SampledMetric =
    sampled("tcp.reordered", "times", "reorderings seen since the sample before", "tcpi_reord_seen");
pub const TCP_OUT_OF_ORDER: SampledMetric = sampled(
    "tcp.out-of-order",
    "packets",
    "packets received out of order since the sample before",
    "tcpi_rcv_ooopack",
);
pub const TCP_DELIVERY_RATE: SampledMetric =
    sampled("tcp.delivery-rate", "b/s", "the last rate of delivery", "tcpi_delivery_rate");
pub const TCP_PACING_RATE: SampledMetric =
    sampled("tcp.pacing-rate", "b/s", "the rate at which the sender may send", "tcpi_pacing_rate");
pub const TCP_ACKNOWLEDGED_BPS: SampledMetric =
    sampled("tcp.acknowledged-bps", "b/s", "what was acknowledged", "tcpi_bytes_acked");
pub const TCP_RECEIVED_BPS: SampledMetric =
    sampled("tcp.received-bps", "b/s", "what was received", "tcpi_bytes_received");
pub const TCP_BUSY: SampledMetric =
    sampled("tcp.busy", "1", "share of the time with data to send", "tcpi_busy_time");
pub const TCP_RECEIVE_WINDOW_LIMITED: SampledMetric = sampled(
    "tcp.receive-window-limited",
    "1",
    "share of the time held by the receiver's window",
    "tcpi_rwnd_limited",
);
pub const TCP_SEND_BUFFER_LIMITED: SampledMetric = sampled(
    "tcp.send-buffer-limited",
    "1",
    "share of the time held by the send buffer",
    "tcpi_sndbuf_limited",
);
pub const TCP_NOT_SENT_BYTES: SampledMetric =
    sampled("tcp.not-sent-bytes", "B", "bytes in the send buffer that were never sent", "tcpi_notsent_bytes");
pub const TCP_PEER_WINDOW_BYTES: SampledMetric =
    sampled("tcp.peer-window-bytes", "B", "the window that the peer offers", "tcpi_snd_wnd");
pub const TCP_RECEIVE_WINDOW_BYTES: SampledMetric =
    sampled("tcp.receive-window-bytes", "B", "the window that this end offers", "tcpi_rcv_wnd");
pub const TCP_RECEIVE_SPACE_BYTES: SampledMetric =
    sampled("tcp.receive-space-bytes", "B", "what the receiver read in a round trip", "tcpi_rcv_space");
pub const THREAD_BUSY: SampledMetric =
    sampled("thread.busy", "1", "share of the time that the stream's thread had a CPU", "schedstat");
pub const THREAD_WAITING: SampledMetric = sampled(
    "thread.waiting",
    "1",
    "share of the time that it could run and another thread had its CPU",
    "schedstat",
);
pub const QUEUE_BACKLOG_BYTES: SampledMetric = sampled(
    "queue.backlog-bytes",
    "B",
    "bytes in the queueing discipline of the stream's interface",
    "rtnetlink, TCA_STATS2",
);

/// Every number of the time line.
pub const SAMPLED: &[SampledMetric] = &[
    CPU_BUSY,
    CPU_STEAL,
    CONTEXT_SWITCHES,
    SOFTNET_DROPPED,
    SOFTNET_SQUEEZED,
    TCP_RETRANSMITTED_SEGMENTS,
    INTERFACE_RX_BPS,
    INTERFACE_TX_BPS,
    INTERFACE_RX_PACKETS_PER_S,
    INTERFACE_TX_PACKETS_PER_S,
    INTERFACE_DROPS,
    TCP_CONGESTION_WINDOW,
    TCP_SLOW_START_THRESHOLD,
    TCP_IN_FLIGHT,
    TCP_ROUND_TRIP_US,
    TCP_ROUND_TRIP_VARIATION_US,
    TCP_MINIMUM_ROUND_TRIP_US,
    TCP_RECEIVER_ROUND_TRIP_US,
    TCP_RETRANSMITS,
    TCP_LOST,
    TCP_REORDERED,
    TCP_OUT_OF_ORDER,
    TCP_DELIVERY_RATE,
    TCP_PACING_RATE,
    TCP_ACKNOWLEDGED_BPS,
    TCP_RECEIVED_BPS,
    TCP_BUSY,
    TCP_RECEIVE_WINDOW_LIMITED,
    TCP_SEND_BUFFER_LIMITED,
    TCP_NOT_SENT_BYTES,
    TCP_PEER_WINDOW_BYTES,
    TCP_RECEIVE_WINDOW_BYTES,
    TCP_RECEIVE_SPACE_BYTES,
    THREAD_BUSY,
    THREAD_WAITING,
    QUEUE_BACKLOG_BYTES,
];
