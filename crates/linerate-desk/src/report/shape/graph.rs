//! The JSON form of a pipeline's stages and streams, with what each waited for.

use crate::plan::HostId;
use crate::statistic::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pipeline: a row of stages that are joined by streams.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageGraphEntry {
    /// Its stages, from the first that a unit of work goes through to the last.
    pub stages: Vec<GraphStageEntry>,
    /// What joins them: as many as there are stages, less one.
    pub streams: Vec<GraphStreamEntry>,
}

/// A stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphStageEntry {
    /// Its name.
    pub name: String,
    /// How many copies of it work at once.
    pub copies: usize,
    /// The hosts that they ran on.
    pub hosts: Vec<HostId>,
    /// The share of the time in which it worked.
    pub works: Estimate,
    /// The share in which it waited for input.
    pub waits_for_input: Estimate,
    /// The share in which it waited for room.
    pub waits_for_room: Estimate,
    /// Whether it holds all others up.
    pub binds: bool,
}

/// A stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphStreamEntry {
    /// The stage that makes its buffers.
    pub from: String,
    /// The stage that works on them.
    pub to: String,
    /// The share of the time in which the one waited for room, or the other for input, whichever was less.
    pub waited_for: Estimate,
    /// Whether it holds all stages up.
    pub binds: bool,
}

impl GraphStageEntry {
    /// What it did, as shares, in words: of which the whole is the time of the stage that took longest.
    pub fn shares(&self) -> [(&'static str, f64); 3] {
        [
            ("works", self.works.median),
            ("waits for input", self.waits_for_input.median),
            ("waits for room", self.waits_for_room.median),
        ]
    }

    /// `clip x 2 on b, c`.
    pub fn called(&self) -> String {
        let copies = if self.copies > 1 { format!(" x {}", self.copies) } else { String::new() };
        let hosts: Vec<String> = self.hosts.iter().map(HostId::to_string).collect();
        let on = if hosts.is_empty() { String::new() } else { format!(" on {}", hosts.join(", ")) };
        format!("{}{copies}{on}", self.name)
    }
}
