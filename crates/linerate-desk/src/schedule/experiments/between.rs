//! What is begun between two experiments of a cause, where the lower one takes losses away and gains nothing, and the higher
//! one does not.

use super::{Experiments, PROBES};
use crate::analysis::{ALPHA, Compared, finer};
use crate::plan::{CONFIRMATION_BLOCKS, race_blocks};
use crate::record::Recording;
use crate::schedule::visit::Visit;
use std::collections::BTreeSet;

impl Experiments {
    /// Their warm-up; none where nothing lies between, or it was begun already, or no time is left for it. The others of
    /// their cause have shown what they can.
    pub(super) fn go_between(&mut self, compared: &Compared, recording: &Recording) -> Vec<Visit> {
        let Some(begun) = self.begun.clone() else { return Vec::new() };
        let between: BTreeSet<u32> = finer(&self.plan, compared).difference(&self.refused).copied().collect();
        let count = between.difference(&begun).count();
        let its_cause = between.first().and_then(|arm| self.cause_of(*arm));
        let is_spent = |arm: &&u32| self.dropped.contains(arm) || self.cause_of(**arm) == its_cause;
        let spent: BTreeSet<u32> = begun.iter().filter(is_spent).copied().collect();
        let racing = self.standing().len() + begun.len() - spent.len() + count;
        let race = f64::from(race_blocks(begun.len() + count, ALPHA)) * self.block_ns(racing, recording);
        let fresh = f64::from(CONFIRMATION_BLOCKS) * self.block_ns(2, recording);
        let takes_ns = race + fresh + (PROBES * count) as f64 * self.visit_ns(recording);
        if count == 0 || takes_ns > self.planned_ns() - recording.spent_ns() as f64 {
            return Vec::new();
        }
        self.raced_from = self.last_block();
        self.dropped.extend(spent);
        self.begun = Some(begun.union(&between).copied().collect());
        self.probes(&between)
    }
}
