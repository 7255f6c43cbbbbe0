//! The JSON form of distributions, and of efficiency against message size.

use crate::plan::HostId;
use crate::statistic::Estimate;
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
    pub percentiles: Vec<PercentileEntry>,
}

/// A percentile of each connection; its median and interval over the connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PercentileEntry {
    /// The share of the samples that do not exceed it: 0.99.
    pub share: f64,
    /// Half of the round trip.
    pub half_round_trip_ns: Estimate,
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
    pub points: Vec<KeptEntry>,
}

/// One size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeptEntry {
    /// The size.
    pub message_bytes: u64,
    /// Throughput as a share of the layer below's, paired within passes.
    pub kept_of_below: Estimate,
}
