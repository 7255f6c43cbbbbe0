//! The JSON form of distributions, and of efficiency against message size.

use crate::analysis::{Kept, Percentile};
use crate::plan::HostId;
use crate::vocabulary::Wait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How single exchanges of one layer are spread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DistributionEntry {
    /// The rung's name.
    pub id: String,
    /// The host of a layer in a host.
    pub host: Option<HostId>,
    /// The direction of a layer between hosts.
    pub direction: Option<String>,
    /// How the ends wait.
    pub wait: Wait,
    /// The message size.
    pub message_bytes: u64,
    /// Exchanges that each sample is the mean of: 1 where each was timed by itself.
    pub exchanges: u64,
    /// The percentiles, ascending.
    pub percentiles: Vec<Percentile>,
}

/// What a layer keeps of the throughput of the layer below, size by size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EfficiencyEntry {
    /// The rung's name.
    pub id: String,
    /// The host of a layer in a host.
    pub host: Option<HostId>,
    /// The direction of a layer between hosts.
    pub direction: Option<String>,
    /// Parallel connections.
    pub flows: u32,
    /// The rung below.
    pub below: String,
    /// The sizes, ascending.
    pub points: Vec<Kept>,
}
