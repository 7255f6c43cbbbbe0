//! Causes of a path that passes nothing as it stands: what passes with an experiment, again and again, proves its cause.

use super::{CauseVerdict, Grade};
use crate::diagnosis::facts::failed_as_it_stands;
use crate::plan::Plan;
use crate::record::{NotMeasured, Recording};
use crate::unit::counted;
use crate::vocabulary::{CAUSES, Cause};

/// Failures of the path as it stands, one of them between two visits of the experiment, and visits of an experiment that pass,
/// none failing: a path that was away for a while and came back did not go again in between.
const FAILURES: usize = 2;
const PASSES: usize = 3;

/// What is known of each cause that stops all.
pub(super) fn verdicts(recording: &Recording, plan: &Plan) -> Vec<CauseVerdict> {
    CAUSES.iter().filter(|cause| cause.stops_all()).map(|cause| verdict(recording, plan, cause)).collect()
}

fn verdict(recording: &Recording, plan: &Plan, cause: &Cause) -> CauseVerdict {
    let failed = |number: u32| {
        let of_arm = move |not: &&NotMeasured| not.case.as_ref().is_some_and(|case| case.arm == number);
        recording.unavailable.iter().filter(of_arm)
    };
    let failures = failed(0).count();
    let why = failed_as_it_stands(recording).map_or(String::new(), |not| not.reason.why.clone());
    let mut evidence =
        vec![format!("as it stands it passed nothing, {}: {why}", counted(failures as u64, "time"))];
    let own = (1..).zip(&plan.arms).filter(|(_, arm)| arm.cause.as_deref() == Some(cause.name));
    let mut best: Option<String> = None;
    let mut made = 0;
    for (number, arm) in own {
        let steps =
            || recording.trials.iter().filter(|it| it.pass > 0 && it.case.arm == number).map(|it| it.step);
        let passed = steps().count();
        let in_vain = failed(number).count();
        if passed + in_vain == 0 {
            continue;
        }
        made += 1;
        evidence.push(format!("{}: passes {passed} of {}", arm.name, counted(passed + in_vain, "time")));
        let (first, last) = (steps().min(), steps().max());
        // It failed after so many steps, of which the experiment's first was one, and its last was not.
        let between = |not: &NotMeasured| not.after_steps > first && not.after_steps <= last;
        if passed >= PASSES && in_vain == 0 && failed(0).any(between) {
            best = best.or(Some(arm.name.clone()));
        }
    }
    let grade = match (&best, made) {
        (Some(_), _) if failures >= FAILURES => Grade::Proved,
        (_, 0) => Grade::NotTested,
        _ => Grade::CannotTell,
    };
    CauseVerdict {
        cause: cause.name.into(),
        grade,
        is_fault: cause.is_fault,
        experiment: best.unwrap_or_default(),
        gain: None,
        explained: None,
        evidence,
        fix: cause.fix.into(),
    }
}
