//! What was known of the hosts and of equal runs before a run began.

use crate::plan::HostId;
use crate::statistic::Estimate;
use crate::vocabulary::{Does, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What earlier measurements say about this one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// When the hosts were calibrated; null where they were not.
    pub utc: Option<String>,
    /// The hosts' clocks, timers, wake-ups and generators.
    pub hosts: Vec<HostCalibration>,
    /// How far equal runs lie apart.
    pub spreads: Vec<RunSpread>,
}

/// What one host's clocks, timers, wake-ups and generators can do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostCalibration {
    /// The host's name in the run.
    pub host: HostId,
    /// The CPUs that it was measured on.
    pub cpus: Vec<u32>,
    /// The time that the hypervisor took meanwhile, as a share of these CPUs' time.
    pub steal_share: f64,
    /// The time that other processes took meanwhile, as a share of these CPUs' time.
    pub foreign_share: f64,
    /// How long it took.
    pub duration_ns: u64,
    /// Figures by the names of the vocabulary.
    pub figures: BTreeMap<String, Figure>,
    /// What the generators can do at most.
    pub ceilings: Vec<Ceiling>,
    /// What could not be measured, with the reason.
    pub left_out: BTreeMap<String, String>,
}

/// A figure with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The median, or what the figure's name says: an extreme, a percentile.
    pub value: f64,
    /// The lower end of its interval; null where there is none.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
    /// The number of observations.
    pub n: u32,
}

impl From<Estimate> for Figure {
    fn from(estimate: Estimate) -> Figure {
        Figure { value: estimate.median, low: estimate.low, high: estimate.high, n: estimate.n }
    }
}

/// The most messages a second that one thread of a generator can make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// The transport; null for the bare loop over a link that costs nothing.
    pub transport: Option<String>,
    /// Which loop.
    pub does: Does,
    /// How it waits; null for the bare loop.
    pub wait: Option<Wait>,
    /// The message size.
    pub message_bytes: u64,
    /// Messages, or round trips, a second.
    pub messages_per_s: Figure,
}

/// What a spread is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadOf {
    /// Throughput at the ladder's size.
    Throughput,
    /// Half a round trip, polling.
    Polling,
    /// Half a round trip, sleeping.
    Sleeping,
}

/// Where a spread comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpreadSource {
    /// Earlier runs of the same plan on the same hosts.
    History,
    /// The short equal runs of `linerate calibrate`.
    Calibrate,
}

/// How far equal runs lie apart in one figure of one layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSpread {
    /// The layer's name: `network.tcp a>b`.
    pub layer: String,
    /// Which figure.
    pub of: SpreadOf,
    /// A further run lies within this share of the centre with 95 %.
    pub share: f64,
    /// The geometric mean of the runs' medians: bits a second, or nanoseconds.
    pub centre: f64,
    /// The number of runs.
    pub runs: u32,
    /// Where they come from.
    pub source: SpreadSource,
}

/// The medians of one layer in one run, as the history keeps them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerMedians {
    /// Throughput at the ladder's size, in bits a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<f64>,
    /// Half a round trip at the latency's size, polling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polling_ns: Option<f64>,
    /// The same, sleeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleeping_ns: Option<f64>,
}

/// The medians of one run, by the layers' names.
pub type Medians = BTreeMap<String, LayerMedians>;

impl LayerMedians {
    /// One of them.
    pub fn median(&self, what: SpreadOf) -> Option<f64> {
        match what {
            SpreadOf::Throughput => self.throughput_bps,
            SpreadOf::Polling => self.polling_ns,
            SpreadOf::Sleeping => self.sleeping_ns,
        }
    }
}

impl SpreadOf {
    /// Every figure that has a spread.
    pub const ALL: [SpreadOf; 3] = [SpreadOf::Throughput, SpreadOf::Polling, SpreadOf::Sleeping];
}

impl Calibration {
    /// The spread of one figure of one layer.
    pub fn spread(&self, layer: &str, of: SpreadOf) -> Option<&RunSpread> {
        self.spreads.iter().find(|spread| spread.layer == layer && spread.of == of)
    }

    /// A host's figure by its name in the vocabulary.
    pub fn figure(&self, host: HostId, name: &str) -> Option<&Figure> {
        self.hosts.iter().find(|known| known.host == host)?.figures.get(name)
    }
}
