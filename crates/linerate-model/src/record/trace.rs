//! What a trace has on record: when each host saw each message at each point of its way, by its own clock.

use super::{Environment, Unobserved};
use crate::plan::HostId;
use crate::vocabulary::Wait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one host saw of one block, in the order of its exchanges.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceSide {
    /// By point ([`crate::vocabulary::OUT`], [`crate::vocabulary::IN`]): nanoseconds since the block began by this host's clock; none
    /// where it was not stamped there.
    pub points: BTreeMap<String, Vec<Option<u64>>>,
    /// How long this host's thread could run during an exchange, and did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_delay_ns: Vec<u64>,
    /// Stamps and events that there was no room for.
    #[serde(default)]
    pub lost_events: u64,
    /// Those that are of no message: of segments that were sent again, as a rule.
    #[serde(default)]
    pub stray_events: u64,
    /// How far the clock was set while the block ran.
    #[serde(default)]
    pub clock_step_ns: u64,
    /// The counters of `struct tcp_info` that moved.
    #[serde(default)]
    pub tcp: BTreeMap<String, u64>,
}

/// A block without stamps and one with them, right after each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceBlock {
    /// How both ends waited.
    pub wait: Wait,
    /// Whether a spinner of idle priority kept both CPUs awake.
    #[serde(default)]
    pub kept_awake: bool,
    /// Of the block that was traced every so manyth exchange is stamped.
    #[serde(default = "one")]
    pub every: u32,
    /// Round trips of the block that was not traced.
    pub untraced_ns: Vec<u64>,
    /// Of the one that was, round trips of the exchanges that were stamped, by the program's own clock.
    pub traced_ns: Vec<u64>,
    /// Those of the others in between, by how far behind a stamped one they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between_ns: Vec<Vec<u64>>,
    /// What the asking host saw.
    pub asking: TraceSide,
    /// What the answering one saw.
    pub answering: TraceSide,
    /// Exchanges of both blocks that were lost on their way, as datagrams may be: they are in none of these lists.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lost_exchanges: u64,
}

/// How much a host lets this program see.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceHost {
    /// The host.
    pub host: HostId,
    /// The level at which it was traced.
    pub level: u8,
    /// Why it was no higher one.
    pub refused: Vec<Unobserved>,
    /// Points that this kernel has not, of those of the level.
    #[serde(default)]
    pub missing: Vec<String>,
    /// The CPU of its thread.
    pub cpu: u32,
    /// What is known of the host.
    pub environment: Environment,
}

/// One trace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// What was traced, as the user said it.
    pub target: String,
    /// Bytes of a message, each way.
    pub message_bytes: u64,
    /// Calls in which the host that asks sends a message.
    #[serde(default = "one")]
    pub writes: u32,
    /// Whether messages went as datagrams, of UDP, and not over a connection of TCP.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub datagrams: bool,
    /// The knobs that were set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub knobs: Vec<String>,
    /// The host that asks, and the one that answers.
    pub hosts: Vec<TraceHost>,
    /// The blocks, in the order in which they were made.
    pub blocks: Vec<TraceBlock>,
}

fn one() -> u32 {
    1
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl TraceSide {
    /// Leaves out these exchanges, which are in their order.
    pub fn leave_out(&mut self, lost: &[u32]) {
        for column in self.points.values_mut() {
            leave_out(column, lost);
        }
        leave_out(&mut self.run_delay_ns, lost);
    }
}

/// Leaves out what has these places, which are in their order.
pub fn leave_out<T>(all: &mut Vec<T>, lost: &[u32]) {
    let (mut place, mut lost) = (0, lost.iter().peekable());
    all.retain(|_| {
        place += 1;
        lost.next_if_eq(&&(place - 1)).is_none()
    });
}

#[cfg(test)]
mod tests {
    use super::leave_out;

    #[test]
    fn what_has_these_places_is_left_out() {
        for (lost, left) in [(&[][..], &[0, 1, 2, 3][..]), (&[0, 3], &[1, 2]), (&[1, 2, 9], &[0, 3])] {
            let mut all = vec![0, 1, 2, 3];
            leave_out(&mut all, lost);
            assert_eq!(all, left);
        }
    }
}
