//! The numbers that TCP keeps of a connection.

use super::Part::Named;
use super::{BASE, Metric, WHOLE, bound, fault};

pub const ROUND_TRIPS_A_MINUTE: Metric = Metric {
    name: "round-trips-a-minute",
    unit: "1/min",
    parts: &[WHOLE],
    more_is_better: Some(true),
    about: "how many exchanges, one after the other, a minute has room for; under load it is what users feel",
    formula: "60 s / (2 * half-round-trip)",
    source: "draft-ietf-ippm-responsiveness, round trips a minute",
    hint: "much less under load than alone: a queue that fills; fq, or a pace below the narrowest link, keeps it short",
    page: "half-round-trip.md",
    ..BASE
};

pub const WINDOW_RATE: Metric = Metric {
    name: "window-rate",
    unit: "b/s",
    parts: &[WHOLE],
    bounds: &[bound("receive-window"), bound("congestion-window")],
    faults: &[fault("small-buffers"), fault("window-scaling-off")],
    about: "what the windows let through at the end of the trial: the receiver's or the congestion window a round trip",
    formula: "8 * min(snd_wnd, snd_cwnd * snd_mss) / rtt, over all connections",
    source: "RFC 9293, section 3.8; tcp_info of the sending end",
    hint: "where throughput is near it the window binds: socket.receive-buffer, tcp.congestion-control",
    page: "connections.md",
    ..BASE
};

pub const ALIGNED_WINDOW_RATE: Metric = Metric {
    name: "aligned-window-rate",
    unit: "b/s",
    parts: &[WHOLE],
    bounds: &[bound("receive-window")],
    about: "the same of a receiver's window of whole segments: a sender that avoids silly windows sends no others",
    formula: "8 * min(floor(snd_wnd / snd_mss) * snd_mss, snd_cwnd * snd_mss) / rtt, over all connections",
    source: "W. Feng et al., Optimizing 10-Gigabit Ethernet, SC 2003, section 5.4",
    hint: "far below window-rate: few large segments fit; a smaller tcp.mss or a larger buffer fills the window",
    page: "connections.md",
    ..BASE
};

pub const TCP_EFFICIENCY: Metric = Metric {
    name: "tcp-efficiency",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(true),
    faults: &[fault("loss"), fault("burst-loss"), fault("policer")],
    about: "the share of the bytes sent that were not sent again",
    formula: "1 - bytes_retrans / bytes_sent, over all connections",
    source: "RFC 6349, section 4.2",
    hint: "what is lost is sent twice: look for drops on the way, and pace below the narrowest link",
    page: "connections.md",
    ..BASE
};

pub const BUFFER_DELAY: Metric = Metric {
    name: "buffer-delay",
    unit: "1",
    parts: &[WHOLE],
    more_is_better: Some(false),
    about: "how much longer round trips were during a long stream than the shortest one, as a share of that",
    formula: "mean rtt / least min_rtt - 1; the median over connections",
    source: "RFC 6349, section 4.3",
    hint: "above 1 queues hold more than the path does: fq_codel at the narrowest link, or a congestion control that keeps queues short",
    page: "connections.md",
    ..BASE
};

pub const LIMITED_BY: Metric = Metric {
    name: "limited-by",
    unit: "1",
    parts: &[Named("application"), Named("receive-window"), Named("send-buffer"), Named("network")],
    bounds: &[bound("sender-cpu"), bound("receive-window"), bound("send-buffer"), bound("congestion-window")],
    faults: &[fault("small-buffers"), fault("slow-reader")],
    about: "the share of the senders' time in which the application, the receiver's window, the send buffer or the network held them",
    formula: "(time - busy_time, rwnd_limited, sndbuf_limited, the rest of busy_time) / time",
    source: "linux/uapi/tcp.h, tcpi_busy_time and the two after it; enum tcp_chrono in net/tcp.h",
    hint: "the largest share says which to widen: more CPU or larger writes, socket.receive-buffer, socket.send-buffer, the path",
    page: "connections.md",
    ..BASE
};
