//! The JSON form of what another tool measured.

use crate::vocabulary::{Pattern, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What another tool measured, and the file that it was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedReport {
    /// The tool.
    pub tool: String,
    /// Its version; null where the file does not say.
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// When it was measured; null where the file does not say.
    pub measured_utc: Option<String>,
    /// When it was imported.
    pub imported_utc: String,
    /// How the tool comes to its numbers.
    pub how: String,
    /// What the file says beside numbers.
    pub facts: BTreeMap<String, String>,
    /// What the file does not say and was taken as usual.
    pub doubts: Vec<String>,
    /// The numbers, in the order of the file.
    pub rows: Vec<ImportedEntry>,
    /// How many fields of the file are in no row; the recording has them, and the whole file.
    pub unread: usize,
}

/// A number of another tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedEntry {
    /// The test, as the tool calls it.
    pub test: String,
    /// What carried the bytes; null where the file does not say.
    pub transport: Option<String>,
    /// The pattern of ours that it is like; null where there is none.
    pub pattern: Option<Pattern>,
    /// The size of a message; null where the file does not say.
    pub message_bytes: Option<u64>,
    /// Parallel connections or pairs; null where the file does not say.
    pub flows: Option<u32>,
    /// What it is of.
    pub quantity: Quantity,
    /// Its unit; `1` of a share or a count.
    pub unit: String,
    /// What it is of its samples: `mean`, `least`, `p99`, `median of 10, each a mean`.
    pub statistic: String,
    /// What the end does whose bytes and clock these are; null where that is not known.
    pub end: Option<String>,
    /// How many samples it is of; null where the file does not say.
    pub samples: Option<u64>,
    /// The value; of several, their median.
    pub value: f64,
    /// The least of several; null of one.
    pub least: Option<f64>,
    /// The greatest of several.
    pub greatest: Option<f64>,
    /// When each part ended, in seconds since the test began; empty where there are none.
    pub at_s: Vec<f64>,
    /// When each began.
    pub begin_s: Vec<f64>,
    /// The value of each; of streams without times too.
    pub values: Vec<f64>,
    /// The field of the file.
    pub field: String,
    /// Its line.
    pub line: Option<u64>,
}
