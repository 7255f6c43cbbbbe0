//! What is tried where the path as it stands passes nothing: the experiments of causes that stop all.

use super::Experiments;
use crate::plan::Why;
use crate::schedule::visit::Visit;
use crate::vocabulary::Cause;

/// Visits of each experiment.
const ROUNDS: u32 = 3;

impl Experiments {
    /// Each experiment in turn, and between two of them the path as it stands once more: it may have been away for a while.
    pub(super) fn rescue(&self) -> Vec<Visit> {
        if self.visits.iter().any(|visit| visit.pass > 0) {
            return Vec::new();
        }
        let stops_all = |cause: &String| Cause::named(cause).is_some_and(Cause::stops_all);
        let arms = (1..).zip(&self.plan.arms).filter(|(number, _)| !self.refused.contains(number));
        let arms: Vec<u32> = arms
            .filter(|(_, arm)| arm.cause.as_ref().is_some_and(stops_all))
            .map(|(number, _)| number)
            .collect();
        let round = |round: u32| {
            let again = if round > 1 && !arms.is_empty() { vec![0] } else { Vec::new() };
            let order: Vec<u32> = again.into_iter().chain(arms.iter().copied()).collect();
            let visits = self.visits_of(self.comparison.first_pass(round), Why::Block, &order, None);
            // It has failed for good by then, and whether it still does is what is asked.
            visits.into_iter().map(|visit| Visit { again: visit.entry.case.arm == 0, ..visit })
        };
        (1..=ROUNDS).flat_map(round).collect()
    }
}
