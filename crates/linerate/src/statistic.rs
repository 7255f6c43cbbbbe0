//! Medians, distribution-free intervals and fits: numbers in, numbers out.
//!
//! A value that is not finite is no observation and is left out. Nothing here assumes a
//! distribution: the interval of a median comes from its order statistics, and a line is weighted so
//! that every size counts by its relative error.

mod estimate;
mod line;
mod median;

pub use estimate::{Estimate, interval_ranks};
pub use line::Line;
pub use median::median;

/// The share of runs whose interval is to hold the true median.
pub const CONFIDENCE: f64 = 0.95;
