//! The JSON form of what each thread of an application did over a typical unit of work.

use crate::plan::HostId;
use crate::record::Doing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What hosts did over a typical unit of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeLineEntry {
    /// The case.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What is shown, and by whose clocks.
    pub caption: String,
    /// The time that is shown.
    pub span_ns: f64,
    /// How many clocks the hosts have between them: where they are several, moments of two machines cannot be compared.
    pub clocks: usize,
    /// Its threads, by host.
    pub lanes: Vec<LaneEntry>,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneEntry {
    /// Its host.
    pub host: HostId,
    /// What it is: a stage, a client's connection, a poll.
    pub name: String,
    /// How much of that time went where.
    pub spent_ns: BTreeMap<Doing, f64>,
}
