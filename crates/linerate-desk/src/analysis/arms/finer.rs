//! What lies between two experiments of one cause: the rate that a policer lets pass is below it no gain, and above it lost.

use super::reached::paced_bps;
use super::{Candidate, Compared, Guard};
use crate::plan::{Arm, LEAST_BLOCKS, Plan};
use crate::vocabulary::Cause;
use crate::vocabulary::metric::RETRANSMIT_SHARE;
use std::collections::BTreeSet;

/// An experiment has taken the losses away where so small a share of them is left, of at least so many.
const LEFT: f64 = 0.1;
const LOST: f64 = 1e-4;

/// Whether an experiment is one of those between others.
pub fn is_between(arm: &Arm) -> bool {
    let between = arm.cause.as_deref().and_then(Cause::named).map_or(&[][..], |cause| cause.between);
    arm.settings.iter().any(|setting| between.contains(&setting.to_string().as_str()))
}

/// What was sent again, where an experiment took the losses away.
pub fn losses_gone(one: &Candidate) -> Option<&Guard> {
    let is_gone = |guard: &&Guard| {
        guard.base >= LOST && guard.value <= LEFT * guard.base && guard.change.n >= LEAST_BLOCKS
    };
    one.guards.iter().filter(|guard| guard.name == RETRANSMIT_SHARE.key).find(is_gone)
}

/// The experiments between the highest rate that takes the losses away and the next one that was made or could be; none where
/// that one gains already.
pub fn finer(plan: &Plan, compared: &Compared) -> BTreeSet<u32> {
    let arm = |number: u32| plan.arms.get((number as usize).wrapping_sub(1));
    let paced = |one: &&Candidate| {
        let arm = arm(one.arm).filter(|arm| has_finer(arm) && !is_between(arm))?;
        losses_gone(one).and(paced_bps(arm))
    };
    let gains = |one: &Candidate| one.change.and_then(|change| change.low) > Some(compared.margin);
    let gone = compared.candidates.iter().filter_map(|one| Some((paced(&one)?, one)));
    let Some((low, best)) = gone.max_by(|a, b| a.0.total_cmp(&b.0)) else { return BTreeSet::new() };
    if gains(best) {
        return BTreeSet::new();
    }
    let own = || (1..).zip(&plan.arms).filter(|(_, arm)| has_finer(arm));
    let above = own().filter(|(_, arm)| !is_between(arm)).filter_map(|(_, arm)| paced_bps(arm));
    let high = above.filter(|rate| *rate > low).fold(f64::INFINITY, f64::min);
    let lies_between = |arm: &Arm| paced_bps(arm).is_some_and(|rate| rate > low && rate < high);
    own().filter(|(_, arm)| is_between(arm) && lies_between(arm)).map(|(number, _)| number).collect()
}

fn has_finer(arm: &Arm) -> bool {
    arm.cause.as_deref().and_then(Cause::named).is_some_and(|cause| !cause.between.is_empty())
}
