//! What became of a fault that was asked for.

use serde::{Deserialize, Serialize};

/// A fault that is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    /// The fault, as it is written.
    pub fault: String,
    /// The host, the direction or the CPU that has it.
    pub place: String,
    /// What was read back of it.
    pub granted: String,
}
