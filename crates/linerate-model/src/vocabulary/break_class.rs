//! What can stand behind a break in a curve: a size at which the time of a message jumps or bends.

/// A kind of break.
#[derive(Debug)]
pub struct BreakClass {
    /// The name in reports.
    pub name: &'static str,
    /// What happens there.
    pub meaning: &'static str,
    /// What of the curve shows it.
    pub rule: &'static str,
    /// Where that comes from.
    pub source: &'static str,
    /// What to try.
    pub hint: &'static str,
}

/// Every kind of break, the more particular ones first.
pub const BREAKS: &[BreakClass] = &[
    BreakClass {
        name: "retransmission-timeout",
        meaning: "messages from this size on wait for a retransmission timer: the last segment of a message is lost",
        rule: "the time jumps by 200 ms, give or take a quarter",
        source: "RFC 6298; TCP_RTO_MIN, include/net/tcp.h",
        hint: "look for loss at this size: a small queue, a small receive buffer, the warnings retransmits and softnet-drops",
    },
    BreakClass {
        name: "delayed-ack",
        meaning: "the sender waits for an acknowledgement that the receiver holds back",
        rule: "the time jumps by 40 ms, give or take a quarter; or down by as much, where smaller messages waited",
        source: "RFC 1122 section 4.2.3.2; RFC 896; TCP_DELACK_MIN, include/net/tcp.h",
        hint: "--set tcp.no-delay=on, and write a message with one call",
    },
    BreakClass {
        name: "rendezvous-handshake",
        meaning: "from this size on a message is announced and waits for permission before its data goes",
        rule: "the time jumps by 0.5 to 1.5 round trips of a small message, of a layer that passes whole messages or a planted relay",
        source: "OpenUCX, UCX_RNDV_THRESH; Open MPI, btl_tcp_eager_limit; MPICH, MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE",
        hint: "raise the library's rendezvous threshold and watch whether the break moves with it",
    },
    BreakClass {
        name: "protocol-switch",
        meaning: "another way of sending begins here: every message from this size on pays a step",
        rule: "the time of a layer that passes whole messages, or of a planted relay, jumps by neither a round trip nor a timer's time; where the slope after it is smaller, the best threshold is where both lines meet",
        source: "D. Turner, X. Chen: Protocol-Dependent Message-Passing Performance on Linux Clusters, CLUSTER 2002",
        hint: "set the threshold to where the two lines meet: difference of the constants over difference of the slopes",
    },
    BreakClass {
        name: "cache",
        meaning: "messages from this size on no longer fit into a cache",
        rule: "no jump, a larger slope after it, and the copy curve of the same host bends within one size of it; on a memory rung, a jump or bend at a cache's size or a part of it",
        source: "J. D. McCalpin, Memory Bandwidth and Machine Balance, IEEE TCCA Newsletter, December 1995",
        hint: "send in parts that fit, or compare --set cache.mode=hot with --set cache.mode=cold",
    },
    BreakClass {
        name: "buffer",
        meaning: "messages from this size on no longer fit into a socket buffer, so each waits for the other end",
        rule: "a larger slope within one size of the granted send or receive buffer, or of half of it",
        source: "socket(7), SO_SNDBUF and SO_RCVBUF; tcp(7)",
        hint: "--set socket.send-buffer=4MiB --set socket.receive-buffer=4MiB, or leave both to the kernel",
    },
    BreakClass {
        name: "segmentation",
        meaning: "a message of this size needs one packet more",
        rule: "the break lies within one size of a whole multiple of the segment size",
        source: "RFC 9293 section 3.7.1",
        hint: "a larger MTU, or messages of whole segments; segmentation offload hides it",
    },
    BreakClass {
        name: "unexplained",
        meaning: "the curve breaks here and none of the known causes fits",
        rule: "none of the other rules holds: also a step of what has no second way of sending, as plain TCP",
        source: "the program's own rule: what is not known is not guessed",
        hint: "change one thing at a time (MTU, buffers, placement, cache mode) and watch whether the break moves",
    },
];
