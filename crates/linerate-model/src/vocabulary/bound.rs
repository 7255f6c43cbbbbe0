//! What can bind a layer: rates that it cannot pass, each with its formula and what to try.

/// A kind of bound.
#[derive(Debug)]
pub struct BoundEntry {
    /// The name in reports.
    pub name: &'static str,
    /// How the answer begins where it binds: `The link binds`.
    pub what: &'static str,
    /// What stands behind it.
    pub meaning: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// Where that comes from.
    pub source: &'static str,
    /// The knob that moves it, where there is one.
    pub knob: Option<&'static str>,
    /// What to try against it.
    pub hint: &'static str,
    /// Among bounds that explain a rate the lowest rank is named: causes before their symptoms.
    pub rank: u8,
    /// Whether it moves by itself when another bound is lifted, so that it is never named as the next.
    pub gives_way: bool,
    /// Whether its time a byte is work of its own, so that the times of several add where nothing overlaps.
    pub serial: bool,
}

/// Every kind of bound.
pub const BOUNDS: &[BoundEntry] = &[
    BoundEntry {
        name: "link",
        what: "The link binds",
        meaning: "the rate of the line or token bucket, less headers and gaps",
        formula: "line rate * (MTU - headers) / (MTU + 38); headers 52 B for TCP over IPv4 with timestamps",
        source: "IEEE 802.3; RFC 791, RFC 9293, RFC 7323",
        knob: None,
        hint: "a larger MTU leaves more of the line for payload; beyond that only a faster line helps",
        rank: 0,
        gives_way: false,
        serial: true,
    },
    BoundEntry {
        name: "sender-cpu",
        what: "The sender's CPU binds",
        meaning: "the CPU time that the sending threads spend on a byte",
        formula: "CPUs of the senders * 8 / (CPU seconds a byte)",
        source: "CLOCK_THREAD_CPUTIME_ID of each thread, clock_gettime(2)",
        knob: None,
        hint: "larger messages, segmentation offload, a larger MTU; or several flows on CPUs of their own",
        rank: 0,
        gives_way: false,
        serial: true,
    },
    BoundEntry {
        name: "receiver-cpu",
        what: "The receiver's CPU binds",
        meaning: "the CPU time that the receiving threads spend on a byte",
        formula: "CPUs of the receivers * 8 / (CPU seconds a byte)",
        source: "CLOCK_THREAD_CPUTIME_ID of each thread, clock_gettime(2)",
        knob: None,
        hint: "receive offload, a larger MTU; or several flows on CPUs of their own",
        rank: 0,
        gives_way: false,
        serial: true,
    },
    BoundEntry {
        name: "interrupt-cpu",
        what: "A CPU that takes the interrupts binds",
        meaning: "a CPU without a measuring thread that was busy throughout",
        formula: "measured rate / busy share of that CPU",
        source: "/proc/stat, proc(5)",
        knob: None,
        hint: "spread the interrupts over several queues and CPUs, or put them beside the receiving thread",
        rank: 0,
        gives_way: false,
        serial: false,
    },
    BoundEntry {
        name: "send-buffer",
        what: "The send buffer binds",
        meaning: "the share of its busy time that the sender waited for room in its buffer",
        formula: "measured rate / share of the busy time that was limited by the send buffer",
        source: "tcpi_sndbuf_limited and tcpi_busy_time, include/uapi/linux/tcp.h",
        knob: Some("socket.send-buffer"),
        hint: "a larger buffer; without a set size the kernel sizes it up to net.ipv4.tcp_wmem",
        rank: 1,
        gives_way: true,
        serial: false,
    },
    BoundEntry {
        name: "receive-window",
        what: "The receive window binds",
        meaning: "the window that the receiver offers, a round trip; and how long the sender waited for it",
        formula: "flows * receive window * 8 / round-trip time",
        source: "RFC 9293 section 3.8.6; tcpi_rwnd_limited, tcpi_snd_wnd, include/uapi/linux/tcp.h",
        knob: Some("socket.receive-buffer"),
        hint: "a larger buffer; without a set size the kernel sizes it up to net.ipv4.tcp_rmem",
        rank: 2,
        gives_way: false,
        serial: false,
    },
    BoundEntry {
        name: "memory",
        what: "The memory copy binds",
        meaning: "one memcpy in the same host: every byte is copied at least once at each end",
        formula: "rate of memory.copy in cache * CPUs of an end / copies that an end makes of a byte",
        source: "the rung memory.copy of the same run",
        knob: None,
        hint: "fewer copies: zero-copy sending, shared buffers; or more CPUs at each end",
        rank: 3,
        gives_way: false,
        serial: false,
    },
    BoundEntry {
        name: "dram",
        what: "The memory bandwidth binds",
        meaning: "what one thread reads and writes in memory, where messages come from memory and not from a cache",
        formula: "rate of memory.triad * 4/3 (its stores read first) * CPUs of an end / memory traffic a byte",
        source: "J. D. McCalpin, Memory Bandwidth and Machine Balance, IEEE TCCA Newsletter, December 1995",
        knob: Some("cache.mode"),
        hint: "send from a buffer that stays in cache: --set cache.mode=hot shows what that gives",
        rank: 3,
        gives_way: false,
        serial: false,
    },
    BoundEntry {
        name: "congestion-window",
        what: "The congestion window binds",
        meaning: "the congestion window a round trip",
        formula: "flows * segments in the window * segment size * 8 / round-trip time",
        source: "RFC 5681; tcpi_snd_cwnd, tcpi_snd_mss, tcpi_rtt, include/uapi/linux/tcp.h",
        knob: Some("tcp.congestion-control"),
        hint: "look for loss, which keeps the window small; on long paths another congestion control",
        rank: 3,
        gives_way: true,
        serial: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::KNOBS;

    #[test]
    fn a_bound_names_only_knobs_that_exist() {
        for knob in BOUNDS.iter().filter_map(|bound| bound.knob) {
            assert!(KNOBS.iter().any(|known| known.name == knob), "{knob}");
        }
    }
}
