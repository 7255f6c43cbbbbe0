//! What a host cannot do at all.

use super::Reason;
use crate::vocabulary::ReasonKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A transport that a host has not, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnavailableTransport {
    /// The transport.
    pub transport: String,
    /// Why.
    pub why: String,
    /// What to try; empty where nothing helps.
    pub hint: String,
}

impl UnavailableTransport {
    /// Why what needs the transport is not measured.
    pub fn reason(&self) -> Reason {
        Reason::new(ReasonKind::Lacking, &self.why, &self.hint)
    }
}

/// An observer that a host has not, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unobserved {
    /// The observer.
    pub observer: String,
    /// Why.
    pub why: String,
    /// What to try; empty where nothing helps.
    pub hint: String,
}

/// A value of a knob that a host would not grant, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnobRefused {
    /// The knob.
    pub knob: String,
    /// The value that was asked for.
    pub value: String,
    /// Why.
    pub why: String,
    /// What the host has in its place, or what to try; empty where nothing helps.
    pub hint: String,
}
