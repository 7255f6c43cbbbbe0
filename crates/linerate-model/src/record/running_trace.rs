//! What was seen of the messages of a program that is not ours, at one host, from outside.

use super::Unobserved;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A time in which the tracepoints were watched, and one beside it in which they were not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunningRound {
    /// Segments with data that came while nothing was traced, as TCP counts them, and how long that was.
    pub untraced_segments: u64,
    /// See above.
    pub untraced_ns: u64,
    /// The same while it was.
    pub traced_segments: u64,
    /// See above.
    pub traced_ns: u64,
    /// By point: nanoseconds since the round began, for each message that came and the one that went out after it; none where it
    /// was not stamped there.
    pub points: BTreeMap<String, Vec<Option<u64>>>,
    /// Of these messages, those of more than one packet: their first one's times are told.
    pub several: u64,
    /// Stamps that there was no room for.
    pub lost_events: u64,
}

/// One connection of a running program: nothing of it was changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunningTrace {
    /// What was asked for: `process 1234 (nginx)`, `port 80`.
    pub name: String,
    /// The process whose threads were watched; none where nobody may tell whose the connection is.
    pub process: Option<u32>,
    /// The watched end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// By what it was seen: 1 is by programs at tracepoints, 2 by rings of them.
    pub level: u8,
    /// What would have seen it for less, and why it was not had.
    pub refused: Vec<Unobserved>,
    /// Tracepoints that this kernel has not.
    pub missing: Vec<String>,
    /// Each round.
    pub rounds: Vec<RunningRound>,
}
