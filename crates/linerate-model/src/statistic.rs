//! Medians, distribution-free intervals and fits: numbers in, numbers out.
//!
//! A value that is not finite is no observation and is left out. Nothing here assumes a
//! distribution: the interval of a median comes from its order statistics, and a line is weighted so
//! that every size counts by its relative error.

mod autocorrelation;
mod change_point;
mod dip;
mod estimate;
mod isotonic;
mod line;
mod looks;
mod median;
mod modes;
mod multiple;
mod outlier;
mod piecewise;
mod propagate;
mod race;
mod rank;
mod rank_sum;
mod signed_rank;
mod slope;
mod spectrum;
mod spread;
#[cfg(test)]
mod tests;
mod trend;
mod warm_up;

pub use autocorrelation::{effective_n, lag1, widened};
pub use change_point::change_points;
pub use dip::dip;
pub use estimate::{Estimate, interval_ranks};
pub use isotonic::isotonic;
pub use line::Line;
pub use looks::{LOOKS, is_met, needed, next_look};
pub use median::{median, midmean};
pub use modes::{Mode, modes};
pub use multiple::{benjamini_hochberg, holm};
pub use outlier::{mad, outliers};
pub use piecewise::{Border, Penalty, Piece, Sample, piecewise, samples};
pub use propagate::propagate;
pub use race::{NOT_BEHIND, Raced, Verdict, WIDEST, least_blocks, races};
pub use rank_sum::{Shift, rank_sum};
pub use signed_rank::{Effect, below, equivalent, signed_rank};
pub use slope::slope;
pub use spectrum::{Periodicity, periodicity};
pub use spread::{Spread, run_spread};
pub use trend::{Trend, trend};
pub use warm_up::steady_from;

/// The share of runs whose interval is to hold the true median.
pub const CONFIDENCE: f64 = 0.95;
