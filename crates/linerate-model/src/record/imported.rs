//! Results of other tools: where they are from, the numbers, and the file itself. They are no trials: nothing of them
//! was measured here, and nothing is made up to look as if it had been.

use crate::vocabulary::{Does, Pattern, Quantity, Statistic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A file of another tool: what it says of itself, and what it does not say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// `linerate.recording/1`.
    pub schema: String,
    /// The program's version that read the file.
    pub linerate: String,
    /// When it did.
    pub imported_utc: String,
    /// The command line in force.
    pub command: Vec<String>,
    /// The tool, by its name in the table.
    pub tool: String,
    /// Its version; none where the file does not say.
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
    /// The file's length.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
    /// When it was measured; none where the file does not say.
    pub utc: Option<String>,
    /// How the tool comes to its numbers.
    pub how: String,
    /// What the file says beside numbers: hosts, options, the time of the test.
    pub facts: BTreeMap<String, String>,
    /// What is in the file and in no row, by its place: the first of several alike. The file itself has all of it.
    pub unread: BTreeMap<String, String>,
    /// What the file does not say and had to be taken as usual, or says against itself.
    pub doubts: Vec<String>,
}

/// A number of another tool, or several alike that follow each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// The test, as the tool calls it.
    pub test: String,
    /// What carried the bytes; none where the file does not say.
    pub transport: Option<String>,
    /// The pattern of ours that it is like; none where there is none, or the file does not say.
    pub pattern: Option<Pattern>,
    /// The size of a message; none where the file does not say.
    pub message_bytes: Option<u64>,
    /// Parallel connections or pairs of ranks; none where the file does not say.
    pub flows: Option<u32>,
    /// What the values are of.
    pub quantity: Quantity,
    /// Their unit; `1` of a share or a count.
    pub unit: String,
    /// What each value is of its samples.
    pub statistic: Statistic,
    /// Whose bytes and clock these are; none where neither end's alone, or the file does not say.
    pub end: Option<Does>,
    /// How many samples a value is of; none where the file does not say.
    pub samples: Option<u64>,
    /// The values: one, or one a part of the test.
    pub values: Vec<f64>,
    /// When each part began and ended, in seconds since the test began; empty where there are no parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_s: Vec<[f64; 2]>,
    /// The field of the file that it was read from.
    pub field: String,
    /// The line of the file, from 1; none of a file that has no lines of its own.
    pub line: Option<u64>,
}

/// A part of the file as it was, in order. The parts one after the other are the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Original {
    /// The part's number, from 0.
    pub part: u32,
    /// The text.
    pub text: String,
}
