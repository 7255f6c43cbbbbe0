//! The JSON form of a curve.

use crate::analysis::{Abnormal, Anomaly, Confirmation, Form, Slower, Split, Summary, Unaligned};
use crate::plan::HostGroup;
use crate::statistic::Estimate;
use crate::vocabulary::{Cache, Pattern, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One case against message size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveEntry {
    /// The rung's name.
    pub id: String,
    /// Who sends what when.
    pub pattern: Pattern,
    /// How the ends wait.
    pub wait: Wait,
    /// Parallel connections.
    pub flows: u32,
    /// The host that sends, pings or works alone.
    pub from: HostGroup,
    /// The host that receives or echoes.
    pub to: HostGroup,
    /// The sizes, ascending.
    pub points: Vec<PointEntry>,
    /// Straight lines that describe the time of a message: half of a round trip, or a stream's time for
    /// each message.
    pub segments: Vec<SegmentEntry>,
    /// Sizes at which one line gives way to the next.
    pub breaks: Vec<BreakEntry>,
    /// The curve in a few numbers.
    pub summary: Summary,
    /// Parts of the throughput that have a name.
    pub forms: Vec<Form>,
    /// Sizes that take longer than a larger one.
    pub slower: Vec<Slower>,
    /// Sizes that are quicker when they are sent in parts.
    pub splits: Vec<Split>,
    /// Sizes beside which an odd one costs more; only where sizes three bytes beside were measured.
    pub unaligned: Vec<Unaligned>,
    /// Sizes that stood apart from their neighbours and were visited again.
    pub anomalies: Vec<Anomaly>,
}

/// One message size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointEntry {
    /// The size.
    pub message_bytes: u64,
    /// Where the bytes lay.
    pub cache: Cache,
    /// Half of a round trip.
    pub half_round_trip_ns: Option<Estimate>,
    /// Throughput; of a ping-pong, the message over half of its round trip.
    pub throughput_bps: Option<Estimate>,
    /// Whether its interval is as narrow as the profile aims at; null where there is none.
    pub met: Option<bool>,
    /// The passes whose value stands apart from the others. They are in the estimates all the same.
    pub abnormal: Vec<Abnormal>,
    /// The levels of its time of a message, where it has two.
    pub modes: Vec<ModeEntry>,
}

/// One level of a time that has two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeEntry {
    /// The median of its times of a message.
    pub message_ns: f64,
    /// The share of the passes that it has.
    pub share: f64,
}

/// A line over a range of sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentEntry {
    /// The smallest size.
    pub from_bytes: u64,
    /// The largest size.
    pub to_bytes: u64,
    /// The time of a message of no bytes: the median of the passes' lines.
    pub alpha_ns: f64,
    /// The time that each byte adds.
    pub ns_per_byte: f64,
    /// How far the medians lie from the line: the root of the mean squared relative error.
    pub relative_residual: f64,
    /// The number of passes.
    pub n: u32,
}

/// A size at which a curve's line gives way to another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BreakEntry {
    /// The first size that is known to be behind it.
    pub at_bytes: u64,
    /// The largest size that is known to be before it.
    pub from_bytes: u64,
    /// What every message from there on pays more; null where the lines meet and only the slope changes.
    pub jump_ns: Option<Estimate>,
    /// That as a share of the time just before it.
    pub share: Option<f64>,
    /// The time that each byte adds before it.
    pub ns_per_byte_before: f64,
    /// The time that each byte adds behind it.
    pub ns_per_byte_after: f64,
    /// Why: `protocol-switch`, `cache`; see `linerate list`.
    pub class: String,
    /// What the class was told by.
    pub evidence: String,
    /// What to try.
    pub hint: String,
    /// Whether it is beyond doubt: pairs confirmed it, or the interval of the jump leaves out zero.
    pub sure: bool,
    /// What pairs of messages around it said; null where none were sent.
    pub confirmed: Option<Confirmation>,
    /// The size at which the way behind it begins to pay, where it takes less time a byte.
    pub best_threshold_bytes: Option<f64>,
}
