//! What is looked at when it is chosen what follows the passes.

use super::entries::Entry;
use crate::analysis::{Curve, curves, suite_curves};
use crate::plan::Plan;
use crate::record::Recording;

/// What the stages look at.
pub(super) struct Scene<'s> {
    pub recording: &'s Recording,
    pub entries: &'s [Entry],
    pub plan: &'s Plan,
    /// What is left of the time.
    pub left_ns: u64,
    /// What breaks may take even where nothing is left: a step is worth more than the run's length.
    pub reserve_ns: u64,
}

impl Scene<'_> {
    /// Every case against message size; a run has a ladder or suites.
    pub fn curves(&self) -> Vec<Curve> {
        [curves(self.recording), suite_curves(self.recording)].concat()
    }
}
