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
        name: "acks-lost",
        what: "acknowledgements that did not come back",
        rule: "at least one of 50 segments that the receiving connection sent did not come in at the sending one, and no fewer than 50",
        source: "tcpi_segs_out of the receiver, tcpi_segs_in of the sender, include/uapi/linux/tcp.h",
    },
    SignalEntry {
        name: "congestion",
        what: "a path that is full, whatever else may bind",
        rule: "the congestion window is full, segments are lost, or a queue stands: the bound congestion-window, or one of the signals segments-lost and standing-queue",
        source: "D. Chiu and R. Jain, Computer Networks and ISDN Systems 17 (1989); include/uapi/linux/tcp.h",
    },
    SignalEntry {
        name: "cpu-busy",
        what: "a measuring thread that spends much of its time on the work",
        rule: "the rate is at least 30 % of what the CPU of one end could carry in the time that it has it",
        source: "the bounds sender-cpu and receiver-cpu",
    },
    SignalEntry {
        name: "cpu-wait",
        what: "a measuring thread that waits for its CPU, which another one has",
        rule: "of the trials of an end at least 5 % of the time, and the warning foreign-cpu or preempted; in a lab whose own wire takes CPU time, where others had the CPUs for at least half as long",
        source: "/proc/PID/task/TID/schedstat, the second number: Documentation/scheduler/sched-stats.rst",
    },
    SignalEntry {
        name: "ends-share-cpu",
        what: "two ends that were put on one CPU",
        rule: "sender and receiver are of one machine, and each was pinned to the same CPU",
        source: "cpu.placement",
    },
    SignalEntry {
        name: "filter-rules",
        what: "many packet filter rules on the way",
        rule: "a host has at least 256 rules of nftables or entries of iptables",
        source: "nft(8); iptables(8); Cope et al. 2007, section 5.5: from some hundred rules on the cost shows",
    },
    SignalEntry {
        name: "host-drops",
        what: "packets that a host dropped",
        rule: "at least one of 100,000 packets: softnet's drops, or drops and errors of the interface that carried most",
        source: "/proc/net/softnet_stat; /proc/net/dev",
    },
    SignalEntry {
        name: "idle-restarts",
        what: "a connection that rests longer than its congestion window lasts",
        rule: "between messages it had nothing outstanding for longer than its retransmission timeout, and something for at least 5 % of the time, which is all that a better window could take away; and its host has tcp_slow_start_after_idle",
        source: "tcpi_busy_time, tcpi_rto, include/uapi/linux/tcp.h; RFC 2861",
    },
    SignalEntry {
        name: "idle-sender",
        what: "a connection that often had nothing to send",
        rule: "data was outstanding in less than 80 % of the time, the warm-up included",
        source: "tcpi_busy_time, include/uapi/linux/tcp.h",
    },
    SignalEntry {
        name: "late-acks",
        what: "acknowledgements that come late, with next to nothing on its way",
        rule: "the round trip is at least three times the least one and 5 ms longer, with less than two segments in flight: that is no queue",
        source: "tcpi_rtt, tcpi_min_rtt, tcpi_snd_mss, include/uapi/linux/tcp.h; TCP_DELACK_MIN, include/net/tcp.h",
    },
    SignalEntry {
        name: "less-than-expected",
        what: "a rate below what is expected",
        rule: "the rate is less than 85 % of what --against states, or of the rung below",
        source: "--against",
    },
    SignalEntry {
        name: "low-priority",
        what: "a receiver of the priority idle",
        rule: "its threads were put there by what the run was asked for",
        source: "sched(7), SCHED_IDLE",
    },
    SignalEntry {
        name: "mtus-differ",
        what: "an MTU that is another one at each end",
        rule: "of the interfaces that carried most one has an MTU less than 95 % of the other's",
        source: "ip link",
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
        name: "nothing-passes",
        what: "a path on which no message came through",
        rule: "the path as it stands has failed each time: no byte moved within the time limit",
        source: "the failures on record",
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
        rule: "at least one of 1,000 segments that carry data came out of order, and the sender saw reordering by selective acknowledgements",
        source: "tcpi_rcv_ooopack, tcpi_reord_seen, include/uapi/linux/tcp.h; RFC 4737",
    },
    SignalEntry {
        name: "paced",
        what: "a limit of the socket's rate near the rate",
        rule: "the rate is within 15 % of the socket's limit",
        source: "tcpi_max_pacing_rate, include/uapi/linux/tcp.h; socket(7), SO_MAX_PACING_RATE",
    },
    SignalEntry {
        name: "receive-offload-off",
        what: "a receiving interface that merges no packets",
        rule: "GRO alone is off on the receiving interface that carried most",
        source: "ethtool -k; Documentation/networking/segmentation-offloads.rst",
    },
    SignalEntry {
        name: "segmentation-off",
        what: "a sending interface for which the stack makes each packet",
        rule: "TSO and GSO are off on the sending interface that carried most, and GRO is on at the other",
        source: "ethtool -k; Documentation/networking/segmentation-offloads.rst",
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
        name: "small-initial-window",
        what: "a route with a small initial window",
        rule: "a route of the sending host has initcwnd, of less than the ten segments that are usual",
        source: "ip-route(8), initcwnd; RFC 6928",
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
    SignalEntry {
        name: "socket-memory",
        what: "segments that came and found no memory",
        rule: "the receiving host dropped what had come for want of memory (TCPRcvQDrop), or TCP entered memory pressure (TCPMemoryPressures)",
        source: "/proc/net/netstat; Documentation/networking/snmp_counter.rst",
    },
    SignalEntry {
        name: "standard-mtu",
        what: "an interface whose packets have at most 1,500 B",
        rule: "the least MTU of the interfaces that carried most is 1,500 B or less",
        source: "ip link",
    },
    SignalEntry {
        name: "standing-queue",
        what: "round trips that grow with the load",
        rule: "the round trip under load is at least three times the least one, and 5 ms longer",
        source: "tcpi_rtt, tcpi_min_rtt, include/uapi/linux/tcp.h; RFC 8290",
    },
    SignalEntry {
        name: "tunnel",
        what: "an interface that wraps packets in others",
        rule: "an interface of an end is a tunnel's (vxlan, geneve, gre, ipip, sit, wireguard, tun, xfrm and their kin) and carried at least half of what the busiest one did",
        source: "IFLA_INFO_KIND, rtnetlink(7)",
    },
    SignalEntry {
        name: "tunnel-cost",
        what: "what a tunnel takes",
        rule: "the signal cpu-busy, or the rate is within 1 % of what is expected less the share that its headers take of each packet",
        source: "tcpi_snd_mss, include/uapi/linux/tcp.h; the interface's MTU, rtnetlink(7)",
    },
    SignalEntry {
        name: "unread-data",
        what: "a receiver that reads on when all has long arrived",
        rule: "nothing came any more for at least 20 % of the time that the receiver took to read: what its buffer held was left",
        source: "tcpi_last_data_recv, include/uapi/linux/tcp.h; the receiver's own clock",
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
