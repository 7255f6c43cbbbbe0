//! Whether losses come of bursts: then pacing takes them away, and another congestion control that gains proves no loss of
//! the path's own.

use super::{CauseVerdict, Grade};
use crate::analysis::{ArmCandidate, Compared};
use crate::plan::{LEAST_BLOCKS, Plan};
use crate::unit::percent;
use crate::vocabulary::metric::RETRANSMIT_SHARE;

const BURSTS: &str = "burst-drops";
const LOSS: &str = "packet-loss";

/// Pacing has taken the losses away where so small a share of them is left, of at least so many.
const LEFT: f64 = 0.1;
const LOST: f64 = 1e-4;

/// Tells the one from the other by what is sent again when paced.
pub(super) fn tell_apart(plan: &Plan, compared: &Compared, found: &mut [CauseVerdict]) {
    let is_paced = |one: &&ArmCandidate| {
        let arm = plan.arms.get((one.arm as usize).wrapping_sub(1));
        arm.is_some_and(|arm| arm.cause.as_deref() == Some(BURSTS))
    };
    let Some(told) = compared.candidates.iter().filter(is_paced).find_map(cured) else { return };
    for one in found.iter_mut() {
        // A full queue loses some, too, and pacing to what passes it gains nothing.
        let gains = one.gain.is_some_and(|gain| gain.estimate > compared.margin);
        match (one.cause.as_str(), one.grade) {
            (LOSS, Grade::Proved) => one.grade = Grade::CannotTell,
            (BURSTS, Grade::CannotTell) if gains => one.grade = Grade::Consistent,
            (BURSTS, Grade::Proved) => {}
            _ => continue,
        }
        one.evidence.push(told.clone());
    }
}

/// What says that an experiment took the losses away.
fn cured(one: &ArmCandidate) -> Option<String> {
    let guard = one.guards.iter().find(|guard| guard.name == RETRANSMIT_SHARE.key)?;
    let is_cured = guard.base >= LOST && guard.value <= LEFT * guard.base && guard.change.n >= LEAST_BLOCKS;
    is_cured.then(|| {
        format!(
            "with {} {} of the segments are sent again, and without it {}",
            one.name,
            percent(guard.value),
            percent(guard.base)
        )
    })
}
