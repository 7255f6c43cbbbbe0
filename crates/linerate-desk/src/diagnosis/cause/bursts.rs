//! Whether losses come of bursts: pacing takes them away, or they leave far more than losses each for itself would; and another
//! congestion control that gains proves no loss of the path's own then.

use super::{CauseVerdict, Grade, Shown};
use crate::analysis::{ArmCandidate, Compared, losses_gone};
use crate::plan::Plan;
use crate::unit::percent;
use crate::vocabulary::{Cause, Sign};

const BURSTS: &str = "burst-drops";
const LOSS: &str = "packet-loss";

/// Causes of losses whose other sign is no loss itself, as segments behind a hole are.
const BY_THEMSELVES: [&str; 2] = ["sack-off", "receive-drops"];
const TOLD: &str = "another congestion control gains, and whether for these losses or by itself cannot be told: they are explained by";

/// Tells the one from the other. A limit of the path stays however its bursts are paced, so it need not gain: it is told where
/// another change shows that there is more to have, or where what is expected is not there.
pub(super) fn tell_apart(
    plan: &Plan,
    compared: &Compared,
    shown: Option<&Shown>,
    found: &mut [CauseVerdict],
) {
    let is_paced = |one: &&ArmCandidate| {
        let arm = plan.arms.get((one.arm as usize).wrapping_sub(1));
        arm.is_some_and(|arm| arm.cause.as_deref() == Some(BURSTS))
    };
    let cure = compared.candidates.iter().filter(is_paced).find_map(cured);
    let is_cured = cure.is_some();
    // What the rate alone says is less than a gain that was seen twice, and than a cause that all of its own signs speak of.
    let is_proved = found.iter().any(|one| one.cause == LOSS && one.grade == Grade::Proved);
    let is_known = is_proved || found.iter().any(tells_losses);
    let by_rate = || shown.filter(|_| !is_known)?.losses_in_bursts();
    let Some(told) = cure.or_else(by_rate) else { return };
    let is_of_loss = |one: &&CauseVerdict| [LOSS, BURSTS].contains(&one.cause.as_str());
    // A full queue loses some, too, and pacing to what passes it gains nothing.
    let gains = |one: &CauseVerdict| one.gain.is_some_and(|gain| gain.estimate > compared.margin);
    let is_held = compared.shortfall().is_some() || found.iter().filter(is_of_loss).any(gains);
    for one in found.iter_mut() {
        let grade = match (one.cause.as_str(), one.grade) {
            (LOSS, Grade::Proved | Grade::CannotTell) if is_cured => Grade::RuledOut,
            (BURSTS, Grade::CannotTell | Grade::NotTested | Grade::RuledOut) if is_held => Grade::Consistent,
            (BURSTS, Grade::Proved) => Grade::Proved,
            _ => continue,
        };
        one.grade = grade;
        one.evidence.push(told.clone());
    }
}

/// Where another cause tells the losses by a sign of its own, a congestion control that gains proves no loss of the path's: it may
/// suit the path better without any.
pub(super) fn leave_to_others(found: &mut [CauseVerdict]) {
    let tells =
        |one: &&CauseVerdict| BY_THEMSELVES.contains(&one.cause.as_str()) && one.grade <= Grade::Consistent;
    let Some(other) = found.iter().find(tells).map(|one| one.cause.clone()) else { return };
    for one in found.iter_mut().filter(|one| one.cause == LOSS && one.grade == Grade::Proved) {
        one.grade = Grade::CannotTell;
        one.explained = None;
        one.evidence.push(format!("{TOLD} {other}"));
    }
}

/// Whether it is another cause of losses that is there, as packets which a host drops.
fn tells_losses(one: &CauseVerdict) -> bool {
    let is_other = ![LOSS, BURSTS].contains(&one.cause.as_str());
    let is_of_losses = |cause: &Cause| cause.is_fault && cause.signs.contains(&Sign::Signal("segments-lost"));
    is_other && one.grade <= Grade::Consistent && Cause::named(&one.cause).is_some_and(is_of_losses)
}

/// What says that an experiment took the losses away.
fn cured(one: &ArmCandidate) -> Option<String> {
    losses_gone(one).map(|guard| {
        format!(
            "with {} {} of the segments are sent again, and without it {}",
            one.name,
            percent(guard.value),
            percent(guard.base)
        )
    })
}
