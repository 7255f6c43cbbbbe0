//! A visit as the step that it becomes: who plays which part, and what is known of its time.

use super::placement::ends;
use super::visit::Visit;
use super::{blocks, failure, roles};
use crate::plan::{Block, Plan, Step};
use crate::record::Recording;

/// The step of a visit with these blocks, without a time line and with nothing beside it.
pub(super) fn for_visit(
    plan: &Plan,
    number: usize,
    visit: &Visit,
    blocks: Vec<Block>,
    recording: &Recording,
) -> Step {
    let entry = &visit.entry;
    Step {
        number: number as u32,
        pass: visit.pass,
        why: visit.why,
        case: entry.case.clone(),
        roles: roles(entry, &ends(plan, recording, &entry.case)),
        predicted_ns: blocks::predicted_ns(entry, &blocks, recording),
        blocks,
        sample_ns: None,
        beside: None,
        patience_ns: failure::patience_ns(entry, recording),
    }
}

/// A seed of its own for each use of a plan's.
pub(super) fn seed(plan: &Plan, salt: u64) -> u64 {
    plan.seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
