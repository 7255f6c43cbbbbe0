//! What a thread of an application did over a short time: how much of each of equal parts of it went where.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a thread does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Doing {
    /// It works.
    #[default]
    Works,
    /// It waits for what it works on, a request for the next unit included.
    WaitsForInput,
    /// It waits for room for what it has made.
    WaitsForRoom,
    /// It moves bytes, or waits until they have come or gone.
    Moves,
    /// It makes a connection.
    Connects,
    /// It has asked, and waits for the answer.
    WaitsForAnswer,
    /// It is done, and waits for others.
    WaitsForOthers,
}

impl Doing {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Doing::Works => "works",
            Doing::WaitsForInput => "waits for input",
            Doing::WaitsForRoom => "waits for room",
            Doing::Moves => "moves bytes",
            Doing::Connects => "connects",
            Doing::WaitsForAnswer => "waits for the answer",
            Doing::WaitsForOthers => "waits for others",
        }
    }
}

/// A thread over a few units of work in the middle of a block, by its host's monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Activity {
    /// Which thread it is: a stage, a client's connection, a poll.
    pub of: String,
    /// Which of several.
    #[serde(default, skip_serializing_if = "is_first")]
    pub copy: u32,
    /// The first unit of work that was watched: all threads of a block watch the same ones.
    pub unit: u64,
    /// When it began that, by its host's monotonic clock.
    pub begun_ns: u64,
    /// When it was done with each unit, since then; the last one ends what was watched.
    pub done_ns: Vec<u64>,
    /// How long a part is.
    pub part_ns: u64,
    /// What it did when it did none of the following.
    pub rest: Doing,
    /// How many hundredths of each part went there; parts at the end that are left out had none.
    pub spent: BTreeMap<Doing, Vec<u8>>,
}

fn is_first(copy: &u32) -> bool {
    *copy == 0
}

impl Activity {
    /// How long it was watched.
    pub fn lasted_ns(&self) -> u64 {
        self.done_ns.last().copied().unwrap_or(0)
    }
}
