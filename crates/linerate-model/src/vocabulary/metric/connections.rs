//! The numbers that TCP keeps of a connection.

use super::Metric;

pub(super) const ROUND_TRIPS_A_MINUTE: Metric = Metric {
    name: "round-trips-a-minute",
    unit: "1/min",
    keys: &[],
    about: "how many exchanges, one after the other, a minute has room for; under load it is what users feel",
    formula: "60 s / (2 * half-round-trip)",
    source: "draft-ietf-ippm-responsiveness, round trips a minute",
    hint: "much less under load than alone: a queue that fills; fq, or a pace below the narrowest link, keeps it short",
    page: "half-round-trip.md",
};

pub(super) const WINDOW_RATE: Metric = Metric {
    name: "window-rate",
    unit: "b/s",
    keys: &[],
    about: "what the windows let through at the end of the trial: the receiver's or the congestion window a round trip",
    formula: "8 * min(snd_wnd, snd_cwnd * snd_mss) / rtt, over all connections",
    source: "RFC 9293, section 3.8; tcp_info of the sending end",
    hint: "where throughput is near it the window binds: socket.receive-buffer, tcp.congestion-control",
    page: "connections.md",
};

pub(super) const ALIGNED_WINDOW_RATE: Metric = Metric {
    name: "aligned-window-rate",
    unit: "b/s",
    keys: &[],
    about: "the same of a receiver's window of whole segments: a sender that avoids silly windows sends no others",
    formula: "8 * min(floor(snd_wnd / snd_mss) * snd_mss, snd_cwnd * snd_mss) / rtt, over all connections",
    source: "W. Feng et al., Optimizing 10-Gigabit Ethernet, SC 2003, section 5.4",
    hint: "far below window-rate: few large segments fit; a smaller tcp.mss or a larger buffer fills the window",
    page: "connections.md",
};

pub(super) const TCP_EFFICIENCY: Metric = Metric {
    name: "tcp-efficiency",
    unit: "1",
    keys: &[],
    about: "the share of the bytes sent that were not sent again",
    formula: "1 - bytes_retrans / bytes_sent, over all connections",
    source: "RFC 6349, section 4.2",
    hint: "what is lost is sent twice: look for drops on the way, and pace below the narrowest link",
    page: "connections.md",
};

pub(super) const BUFFER_DELAY: Metric = Metric {
    name: "buffer-delay",
    unit: "1",
    keys: &[],
    about: "how much longer round trips were during a long stream than the shortest one, as a share of that",
    formula: "mean rtt / least min_rtt - 1; the median over connections",
    source: "RFC 6349, section 4.3",
    hint: "above 1 queues hold more than the path does: fq_codel at the narrowest link, or a congestion control that keeps queues short",
    page: "connections.md",
};

pub(super) const LIMITED_BY: Metric = Metric {
    name: "limited-by",
    unit: "1",
    keys: &[],
    about: "the share of the senders' time in which the application, the receiver's window, the send buffer or the network held them",
    formula: "(time - busy_time, rwnd_limited, sndbuf_limited, the rest of busy_time) / time",
    source: "linux/uapi/tcp.h, tcpi_busy_time and the two after it; enum tcp_chrono in net/tcp.h",
    hint: "the largest share says which to widen: more CPU or larger writes, socket.receive-buffer, socket.send-buffer, the path",
    page: "connections.md",
};
