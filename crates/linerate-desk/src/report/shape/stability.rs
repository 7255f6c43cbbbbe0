//! The JSON form of how a run stood still.

use crate::vocabulary::{Pattern, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How all trials of one kind moved during the run, each over the median of its own case and size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriftEntry {
    /// What was measured.
    pub pattern: Pattern,
    /// How its ends waited.
    pub wait: Wait,
    /// The middle of each pass, in seconds since the run began.
    pub at_s: Vec<f64>,
    /// The median of each pass's trials.
    pub ratio: Vec<f64>,
    /// How much times grew from the first pass to the last, as a share (Theil–Sen).
    pub change: f64,
    /// How often chance alone shows such an order (Mann–Kendall).
    pub p: f64,
    /// Whether it is more than chance, and enough to matter.
    pub is_drift: bool,
    /// When the level changed, in seconds since the run began.
    pub change_points_s: Vec<f64>,
    /// How alike successive passes of the same case and size are: the correlation at lag one.
    pub autocorrelation: Option<f64>,
}
