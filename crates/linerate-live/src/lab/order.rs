//! What who wants to keep a lab asks its holder for.

use crate::plan::Topology;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is to be put up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The lab's name.
    pub name: String,
    /// Its hosts and wires.
    pub topology: Topology,
    /// Where its record is kept: what [`Register::at`](super::Register::at) takes.
    pub base: PathBuf,
    /// The present time.
    pub utc: String,
}
