//! What an end is asked for.

use crate::plan::Setting;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Everything that one end needs to open its side of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spec {
    /// The transport's name.
    pub transport: String,
    /// Parallel connections.
    pub flows: u32,
    /// Whether this end binds and waits; the other one connects.
    pub passive: bool,
    /// The address that a passive end binds.
    pub address: Option<IpAddr>,
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

    /// A port of the kernel's choice at the address that this end binds; within this host by default.
    pub(super) fn any_port(&self) -> SocketAddr {
        SocketAddr::new(self.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), 0)
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms.clamp(100, 600_000))
    }
}
