//! What a flow counts besides bytes, and what a search for a rate saw.

use super::Activity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one flow counted besides bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// Datagrams that came once more, which are not among those that came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicated: Option<u64>,
    /// Datagrams that came after one that was sent later (RFC 4737).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordered: Option<u64>,
    /// How far delays of datagrams that came one after the other differ, smoothed (RFC 3550), nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<f64>,
    /// The time between the first and the last moment at which a datagram was sent, by the sender's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_within_ns: Option<u64>,
    /// Requests of which each had a connection of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
    /// Messages that should have gone at a set moment; of requests those of the lead are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intended: Option<u64>,
    /// How many of them went later than by the mean time between two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Polls of a node's state that were not answered before their deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
    /// Units of work that came to the end of a pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<u64>,
    /// What the stages of a pipeline did on this host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageTally>,
    /// What threads of an application did over a few units of work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub activities: Vec<Activity>,
    /// What a search for a rate saw, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub search: Vec<SubInterval>,
}

/// A sub-interval of a search, or a trial of it at one rate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubInterval {
    /// How long it lasted, by the receiver's clock.
    pub duration_ns: u64,
    /// What was to be sent, bits of messages a second; the largest rate where it changed.
    pub offered_bps: f64,
    /// Messages that came, each counted once.
    pub messages: u64,
    /// Those that did not, by their numbers.
    pub lost: u64,
    /// How far delays lay above the least one: the largest mean of 50 ms.
    pub variation_ns: u64,
    /// The largest one.
    pub most_variation_ns: u64,
}

impl SubInterval {
    /// Adds what a part of it saw.
    pub fn add(&mut self, came: u64, lost: u64, variation_ns: u64, most_variation_ns: u64) {
        (self.messages, self.lost) = (self.messages + came, self.lost + lost);
        self.variation_ns = self.variation_ns.max(variation_ns);
        self.most_variation_ns = self.most_variation_ns.max(most_variation_ns);
    }

    /// Bits a second of messages that each have so many bytes.
    pub fn bps(&self, bytes: u64) -> f64 {
        8e9 * self.messages as f64 * bytes as f64 / self.duration_ns.max(1) as f64
    }
}

/// What one copy of a pipeline's stage did in one block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageTally {
    /// The stage.
    pub stage: String,
    /// Which of its copies.
    pub copy: u32,
    /// Time in which it worked.
    pub compute_ns: u64,
    /// Time in which it waited for what it works on, a request for the next unit included.
    pub input_ns: u64,
    /// Time in which it waited for room for what it had made.
    pub output_ns: u64,
    /// Buffers that came to it.
    pub buffers: u64,
    /// Bytes that came to it.
    pub bytes: u64,
    /// Bytes that it made.
    pub made_bytes: u64,
    /// CPU time of its thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
}
