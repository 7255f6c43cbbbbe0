//! Why a curve breaks at a size: each class has a name, a meaning and something to try.

/// A class of breaks.
#[derive(Debug)]
pub struct BreakClass {
    /// The name in reports.
    pub name: &'static str,
    /// What happens at such a size.
    pub meaning: &'static str,
    /// What to try.
    pub hint: &'static str,
}

/// Every class of breaks.
pub const BREAKS: &[BreakClass] = &[
    BreakClass {
        name: "delayed-ack",
        meaning: "a message waits for an acknowledgement that the receiver holds back, about 40 ms",
        hint: "--set tcp.no-delay=on, or write each message at once",
    },
    BreakClass {
        name: "retransmission-timeout",
        meaning: "a message waits for a retransmission timer, about 200 ms: its last segments are lost",
        hint: "look for drops at a small queue or buffer",
    },
    BreakClass {
        name: "rendezvous-handshake",
        meaning: "from this size on the ends agree by a round trip before the bytes are sent",
        hint: "raise the threshold of the rendezvous",
    },
    BreakClass {
        name: "segmentation",
        meaning: "a message needs one more segment",
        hint: "a larger MTU, or segmentation offload",
    },
    BreakClass {
        name: "protocol-switch",
        meaning: "another way of sending begins at this size",
        hint: "move the threshold and see whether the break moves with it",
    },
    BreakClass {
        name: "cache",
        meaning: "the bytes no longer fit into a cache",
        hint: "messages, or fewer buffers in turn, that fit",
    },
    BreakClass {
        name: "buffer",
        meaning: "a message no longer fits into a socket's buffer",
        hint: "--set socket.send-buffer=... and socket.receive-buffer=...",
    },
    BreakClass {
        name: "unexplained",
        meaning: "nothing that is known of the hosts explains it",
        hint: "measure the sizes around it again, and change one setting at a time",
    },
];
