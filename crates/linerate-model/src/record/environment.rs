//! All that could be read about a host, so that a colleague can judge the numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Addresses that are kept of one interface: where there are so many, there may be more.
pub const MOST_ADDRESSES: usize = 8;

/// Facts by group; a fact that could not be read is null, never left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Environment {
    /// CPU, memory, kernel, clock, virtualisation.
    pub host: BTreeMap<String, Value>,
    /// Interfaces by name, each with its facts.
    pub interfaces: BTreeMap<String, BTreeMap<String, Value>>,
    /// Settings of the network stack, routes and filters.
    pub stack: BTreeMap<String, Value>,
}
