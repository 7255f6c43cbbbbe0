//! What a host's counters did.

use super::wire::is_zero;
use crate::plan::HostId;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// What a host's counters did during one step. Counters that did not move are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostDelta {
    /// The host.
    pub host: HostId,
    /// Between the two readings.
    pub wall_ns: u64,
    /// Busy time of each CPU that the host may use (ticks of 10 ms; the idle spinner included).
    #[serde(deserialize_with = "numbered")]
    pub busy_ns: BTreeMap<u32, u64>,
    /// Time that the hypervisor took, of all CPUs.
    pub steal_ns: u64,
    /// CPU time of all this host's linerate processes, the idle spinner included.
    pub own_ns: u64,
    /// Context switches of the machine.
    pub context_switches: u64,
    /// Each interface that moved something.
    pub interfaces: Vec<InterfaceDelta>,
    /// Packets that the stack's receive queues handled.
    pub softnet_processed: u64,
    /// Packets dropped there.
    pub softnet_dropped: u64,
    /// Times that the queue's budget ran out.
    pub softnet_squeezed: u64,
    /// Segments sent again by the network namespace.
    pub tcp_retransmitted_segments: u64,
    /// Times that it could not put a fragmented datagram together; older recordings have none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reassembly_failures: u64,
    /// Further counters that moved, by dotted names: `queue.eth0.fq_codel.drops`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

impl HostDelta {
    /// The sum of the further counters whose names begin and end so.
    pub fn counted(&self, first: &str, last: &str) -> u64 {
        let is_meant = |name: &&String| name.starts_with(first) && name.ends_with(last);
        self.counters.keys().filter(is_meant).map(|name| self.counters[name]).sum()
    }
}

/// Reads a map whose keys are numbers. In a tagged line serde sees them as text only, as JSON has them.
fn numbered<'de, D: Deserializer<'de>>(source: D) -> Result<BTreeMap<u32, u64>, D::Error> {
    let named = BTreeMap::<String, u64>::deserialize(source)?;
    let numbered = named.into_iter().map(|(name, value)| Ok((name.parse()?, value)));
    numbered.collect::<Result<_, std::num::ParseIntError>>().map_err(D::Error::custom)
}

/// What an interface's counters did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceDelta {
    /// The interface.
    pub name: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets received, as the device counts them: a super-packet is one.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets dropped or in error, either way.
    pub drops: u64,
}
