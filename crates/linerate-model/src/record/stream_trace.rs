//! What a traced stream has on record: what each host's program, kernel and connection did while it ran.

use super::{InterfaceDelta, Series, TraceHost};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one host saw of one block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamSide {
    /// When the block began here, by this host's monotonic clock: its series are by the same.
    pub begun_ns: u64,
    /// How long it took here: of a receiver from the return of the call that had the first bytes to that of the last, of a sender
    /// from its first call until the other end had all.
    pub elapsed_ns: u64,
    /// Bytes that were received or sent in this time.
    pub bytes: u64,
    /// Calls that moved them.
    pub calls: u64,
    /// CPU time of the thread that made these calls, softirqs in its time included.
    pub thread_ns: u64,
    /// How long that thread could run and had no CPU.
    pub run_delay_ns: Option<u64>,
    /// How often it went to sleep, to be woken.
    pub sleeps: u64,
    /// How often another thread took its CPU.
    pub preempted: u64,
    /// CPU time of the kernel's threads that work on packets, by their names.
    pub packet_threads_ns: BTreeMap<String, u64>,
    /// What its interface counted; nothing where it cannot be told which it is.
    pub interface: Option<InterfaceDelta>,
    /// Packets of all of the host that softirqs had from their queues, dropped before the stack, and rounds that ended for their
    /// time.
    pub softnet: [u64; 3],
    /// The counters of `struct tcp_info` that moved.
    pub tcp: BTreeMap<String, u64>,
    /// Those of the network namespace's TCP that moved (`TcpExt` of /proc/net/netstat).
    pub protocol: BTreeMap<String, u64>,
    /// At level 1, what the programs counted, by name.
    pub counted: BTreeMap<String, u64>,
    /// At level 1, packets with data that went out, by the power of two of their bytes.
    pub out_sizes: Vec<u64>,
    /// The same of those that came in.
    pub in_sizes: Vec<u64>,
    /// At level 1, packets of this connection that were dropped here, by the kernel's reason.
    pub drops: BTreeMap<String, u64>,
    /// The connection's windows, the queue and the thread, over time.
    pub series: Vec<Series>,
}

/// A block without observers and one with them, right after each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamBlock {
    /// Bytes a nanosecond of the receiver, as bytes and time, while nothing watched.
    pub untraced: (u64, u64),
    /// What the sender saw of the other one.
    pub sending: StreamSide,
    /// What the receiver saw.
    pub receiving: StreamSide,
}

/// One trace of a stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamTrace {
    /// What was traced, as the user said it.
    pub target: String,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// The most bytes of a call.
    pub call_bytes: u64,
    /// How often the series are sampled.
    pub every_ns: u64,
    /// The knobs that were set.
    pub knobs: Vec<String>,
    /// The sender and the receiver.
    pub hosts: Vec<TraceHost>,
    /// Whether both are of one machine.
    pub one_machine: bool,
    /// The blocks, in the order in which they were made.
    pub blocks: Vec<StreamBlock>,
}
