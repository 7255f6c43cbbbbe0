//! What a path shows besides its bounds and warnings: signs of causes, each read from the recording.

/// One kind of sign.
#[derive(Debug)]
pub struct SignalEntry {
    /// The name in tables of causes and in `linerate list`.
    pub name: &'static str,
    /// What it shows, as the object of a sentence.
    pub what: &'static str,
    /// Where it is seen.
    pub rule: &'static str,
    /// What it is read from.
    pub source: &'static str,
}

/// Every signal, by name.
pub const SIGNALS: &[SignalEntry] = &[
    SignalEntry {
        name: "cpu-busy",
        what: "a measuring thread that spends much of its time on the work",
        rule: "the rate is at least 30 % of what the CPU of one end could carry",
        source: "the bounds sender-cpu and receiver-cpu",
    },
    SignalEntry {
        name: "idle-sender",
        what: "a connection that often had nothing to send",
        rule: "data was outstanding in less than 80 % of the time that was measured",
        source: "tcpi_busy_time, include/uapi/linux/tcp.h",
    },
    SignalEntry {
        name: "no-selective-acks",
        what: "a connection without selective acknowledgements",
        rule: "the option was not agreed on",
        source: "tcpi_options, TCPI_OPT_SACK, include/uapi/linux/tcp.h; RFC 2018",
    },
    SignalEntry {
        name: "no-window-scaling",
        what: "a connection without window scaling",
        rule: "the option was not agreed on",
        source: "tcpi_options, TCPI_OPT_WSCALE, include/uapi/linux/tcp.h; RFC 7323 section 2",
    },
    SignalEntry {
        name: "offloads-off",
        what: "an interface that neither makes super-packets nor takes them",
        rule: "TSO, GSO and GRO are all off on the interface that carried most",
        source: "ethtool -k; Documentation/networking/segmentation-offloads.rst",
    },
    SignalEntry {
        name: "out-of-order",
        what: "segments that came behind later ones",
        rule: "at least one of 1,000 segments that carry data came out of order, and the sender saw reordering",
        source: "tcpi_rcv_ooopack, tcpi_reord_seen, include/uapi/linux/tcp.h; RFC 4737",
    },
    SignalEntry {
        name: "paced",
        what: "a limit of the socket's rate near the rate",
        rule: "the rate is within 15 % of the socket's limit",
        source: "tcpi_max_pacing_rate, include/uapi/linux/tcp.h; socket(7), SO_MAX_PACING_RATE",
    },
    SignalEntry {
        name: "segments-lost",
        what: "segments that were sent again",
        rule: "at least one of 10,000 segments that carry data",
        source: "tcpi_total_retrans, tcpi_data_segs_out, include/uapi/linux/tcp.h",
    },
    SignalEntry {
        name: "send-buffer-full",
        what: "as much in flight as the send buffer holds",
        rule: "rate times round trip is at least half of the buffer that was set, or else of the most that tcp_wmem allows",
        source: "tcpi_rtt, include/uapi/linux/tcp.h; SO_SNDBUF as read back; tcp(7), tcp_wmem",
    },
    SignalEntry {
        name: "small-packets",
        what: "packets that cross one by one",
        rule: "a received packet is at most 1.5 times the MTU on average",
        source: "/proc/net/dev",
    },
    SignalEntry {
        name: "small-segments",
        what: "segments smaller than the path takes",
        rule: "a segment is smaller than 80 % of the path's MTU less headers",
        source: "tcpi_snd_mss, tcpi_pmtu, include/uapi/linux/tcp.h",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_stand_in_their_order() {
        assert!(SIGNALS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
