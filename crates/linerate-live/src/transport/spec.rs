//! What an end is asked for.

use crate::plan::{HostAddress, PortRange, Setting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Everything that one end needs to open its side of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spec {
    /// The transport's name.
    pub transport: String,
    /// Parallel connections.
    pub flows: u32,
    /// Whether this end binds and waits; the other one connects.
    pub passive: bool,
    /// This end's address, which a passive end binds; within this host where there is none.
    pub address: Option<HostAddress>,
    /// Where connections are spread over adapters: the passive end's addresses, by which they go in turn.
    #[serde(default)]
    pub adapters: Vec<HostAddress>,
    /// The ports that a passive end may bind; any where none are said.
    #[serde(default)]
    pub ports: Option<PortRange>,
    /// Whether further connections are made after the ends have met.
    #[serde(default)]
    pub calls: bool,
    /// The knobs that are set.
    pub settings: Vec<Setting>,
    /// How long nothing may move before a trial fails.
    pub patience_ms: u64,
}

impl Spec {
    /// The value of a knob, if it is set; the last setting counts.
    pub(super) fn value(&self, knob: &str) -> Option<&str> {
        self.settings.iter().rev().find(|setting| setting.knob == knob).map(|setting| setting.value.as_str())
    }

    /// The value of a knob in its own type, if it is set. Settings were checked when they were read.
    pub(super) fn parsed<T: std::str::FromStr>(&self, knob: &str) -> Option<T> {
        self.value(knob).and_then(|value| value.parse().ok())
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms.clamp(100, 600_000))
    }
}
