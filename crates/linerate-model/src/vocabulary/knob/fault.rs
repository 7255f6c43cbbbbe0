//! Knobs that plant a known fault, to see that it is found where it is, and what shapes such a fault.

use super::{Had, Knob, KnobKind, SHIMMED, TCP};

/// The largest message that can be asked for.
const LONGEST_MESSAGE: u64 = 1 << 30;

/// No time at all, as it may be written.
const NO_TIME: &[&str] = &["0ns"];

/// `shim.spin`.
pub const SHIM_SPIN: Knob = Knob {
    name: "shim.spin",
    kind: KnobKind::Duration,
    transports: SHIMMED,
    default: "0ns",
    harmless: Some(NO_TIME),
    had: Had::Always,
    about: "a known fault: the sender wastes this time before each message",
    source: "the program's own sender",
    hint: "1us: the rung's constant must grow by as much",
};

/// `shim.copies`.
pub const SHIM_COPIES: Knob = Knob {
    name: "shim.copies",
    kind: KnobKind::Count(0, 1000),
    transports: SHIMMED,
    default: "0",
    harmless: Some(&["0"]),
    had: Had::Always,
    about: "a known fault: the sender copies each message this many times before it goes",
    source: "the program's own sender",
    hint: "1: the rung's time a byte must grow by one memory copy",
};

/// `shim.write-size`.
pub const SHIM_WRITE_SIZE: Knob = Knob {
    name: "shim.write-size",
    kind: KnobKind::Bytes(1, LONGEST_MESSAGE),
    transports: SHIMMED,
    default: "none: the message at once",
    harmless: Some(&[]),
    had: Had::Always,
    about: "a known fault: the sender of a stream sends no more than this with each call",
    source: "the program's own sender",
    hint: "64: a message is paid for call by call",
};

/// `shim.pause`.
pub const SHIM_PAUSE: Knob = Knob {
    name: "shim.pause",
    kind: KnobKind::Duration,
    transports: SHIMMED,
    default: "0ns",
    harmless: Some(NO_TIME),
    had: Had::Always,
    about: "a known fault: the sender of a stream rests this long before each message, asleep",
    source: "the program's own sender",
    hint: "600ms over a long way: the congestion window shrinks meanwhile",
};

/// `shim.receiver-priority`.
pub const SHIM_RECEIVER_PRIORITY: Knob = Knob {
    name: "shim.receiver-priority",
    kind: KnobKind::OneOf(&["normal", "idle"]),
    transports: SHIMMED,
    default: "normal",
    harmless: Some(&["normal"]),
    had: Had::Always,
    about: "a known fault: the receiver's threads get a CPU only when nothing else wants it",
    source: "sched(7), SCHED_IDLE",
    hint: "idle with --fault cpu-hog=1 and cpu.placement=0/1",
};

/// `shim.answered`.
pub const SHIM_ANSWERED: Knob = Knob {
    name: "shim.answered",
    kind: KnobKind::Switch,
    transports: SHIMMED,
    default: "off",
    harmless: Some(&["off"]),
    had: Had::Always,
    about: "a known fault: the sender of a stream sends the first 16 B of each message by themselves, and goes on when a byte has come back",
    source: "the program's own sender and receiver",
    hint: "on with tcp.no-delay=off and messages of 1 KiB: each waits for a delayed acknowledgement",
};

/// `shim.stall`.
pub const SHIM_STALL: Knob = Knob {
    name: "shim.stall",
    kind: KnobKind::Duration,
    transports: SHIMMED,
    default: "0ns",
    harmless: Some(NO_TIME),
    had: Had::Always,
    about: "a known fault: the echoing end answers nothing for this long, once in each shim.stall-every",
    source: "the program's own echo",
    hint: "100ms: requests at a set rate must show it in their 99th percentile, a ping-pong hides it",
};

/// `shim.stall-every`.
pub const SHIM_STALL_EVERY: Knob = Knob {
    name: "shim.stall-every",
    kind: KnobKind::Duration,
    transports: SHIMMED,
    default: "1s",
    harmless: None,
    had: Had::Always,
    about: "how often the echoing end stalls, where shim.stall is set",
    source: "the program's own echo",
    hint: "the share of requests that a stall meets is shim.stall over this",
};

/// `shim.read-rate`.
pub const SHIM_READ_RATE: Knob = Knob {
    name: "shim.read-rate",
    kind: KnobKind::Rate,
    transports: SHIMMED,
    default: "none: as fast as it can",
    harmless: Some(&[]),
    had: Had::Always,
    about: "a known fault: the receiver of a stream waits before it reads on, so that it takes no more",
    source: "the program's own receiver",
    hint: "100Mb/s: the stream has this rate, and the sender waits for a closed window",
};

/// `relay.delay`.
pub const RELAY_DELAY: Knob = Knob {
    name: "relay.delay",
    kind: KnobKind::Duration,
    transports: TCP,
    default: "0ns: no relay",
    harmless: Some(NO_TIME),
    had: Had::Always,
    about: "a known fault: a relay between the ends holds each message of relay.threshold or more this long",
    source: "the program's own relay",
    hint: "3ms with relay.threshold=100000: a break is found at 100000 B",
};

/// `relay.threshold`.
pub const RELAY_THRESHOLD: Knob = Knob {
    name: "relay.threshold",
    kind: KnobKind::Bytes(1, LONGEST_MESSAGE),
    transports: TCP,
    default: "1 B: every message",
    harmless: None,
    had: Had::Always,
    about: "the message size from which relay.delay holds",
    source: "the program's own relay",
    hint: "any size: the break is found to the byte",
};

/// `relay.below`.
pub const RELAY_BELOW: Knob = Knob {
    name: "relay.below",
    kind: KnobKind::Bytes(1, LONGEST_MESSAGE),
    transports: TCP,
    default: "none: relay.threshold says which messages wait",
    harmless: None,
    had: Had::Always,
    about: "relay.delay holds what the passive end sends in smaller messages than this, and nothing else: it waits until more has come",
    source: "the program's own relay; RFC 896",
    hint: "1448 with relay.delay=40ms: what Nagle's algorithm does against delayed acknowledgements",
};

/// `shim.slowdown`.
pub const SHIM_SLOWDOWN: Knob = Knob {
    name: "shim.slowdown",
    kind: KnobKind::Count(0, 1000),
    transports: SHIMMED,
    default: "0",
    harmless: Some(&["0"]),
    had: Had::Always,
    about: "a known fault: messages take this many per cent longer than they would",
    source: "the program's own sender",
    hint: "10: what a comparison must find",
};

/// `shim.sender-work`.
pub const SHIM_SENDER_WORK: Knob = Knob {
    name: "shim.sender-work",
    kind: KnobKind::Count(0, 1000),
    transports: SHIMMED,
    default: "0",
    harmless: Some(&["0"]),
    had: Had::Always,
    about: "a known fault: the sender of a stream works before each message, this many per cent of the time that one takes without",
    source: "the program's own sender",
    hint: "20: the rate falls by a sixth where the sender's thread binds, and not where it has time",
};

/// `shim.receiver-work`.
pub const SHIM_RECEIVER_WORK: Knob = Knob {
    name: "shim.receiver-work",
    kind: KnobKind::Count(0, 1000),
    transports: SHIMMED,
    default: "0",
    harmless: Some(&["0"]),
    had: Had::Always,
    about: "a known fault: the receiver of a stream works on what came, this many per cent of the time that it takes to come without",
    source: "the program's own receiver",
    hint: "20: the rate falls by a sixth where the receiver's thread binds, and not where it has time",
};

/// `shim.overclaim`.
pub const SHIM_OVERCLAIM: Knob = Knob {
    name: "shim.overclaim",
    kind: KnobKind::Count(0, 1000),
    transports: SHIMMED,
    default: "1",
    harmless: Some(&["1"]),
    had: Had::Always,
    about: "a known fault: the sender reports this many times the bytes it sent",
    source: "the program's own sender",
    hint: "2: the throughput must not change, and byte-mismatch must be given",
};
