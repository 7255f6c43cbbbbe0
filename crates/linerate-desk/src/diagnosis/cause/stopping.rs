//! Causes of a path that passes nothing as it stands: what passes with an experiment, again and again, proves its cause.

use super::{CauseVerdict, Grade};
use crate::diagnosis::facts::failed_as_it_stands;
use crate::plan::{ArmKind, Plan};
use crate::record::Recording;
use crate::unit::counted;
use crate::vocabulary::{CAUSES, Cause};

/// Failures of the path as it stands, and visits of an experiment that pass, none failing: a path that was away for a while
/// came back in the middle of neither, because they take turns.
const FAILURES: usize = 2;
const PASSES: usize = 3;

/// What is known of each cause that stops all.
pub(super) fn verdicts(recording: &Recording, plan: &Plan) -> Vec<CauseVerdict> {
    CAUSES.iter().filter(|cause| cause.stops_all()).map(|cause| verdict(recording, plan, cause)).collect()
}

fn verdict(recording: &Recording, plan: &Plan, cause: &Cause) -> CauseVerdict {
    let standing = |number: u32| match (number as usize).checked_sub(1) {
        None => true,
        Some(at) => plan.arms.get(at).is_some_and(|arm| arm.kind != ArmKind::Candidate),
    };
    let failed = |is_it: &dyn Fn(u32) -> bool| {
        let cases = recording.unavailable.iter().filter_map(|not| not.case.as_ref());
        cases.filter(|case| is_it(case.arm)).count()
    };
    let failures = failed(&standing);
    let why = failed_as_it_stands(recording).map_or(String::new(), |not| not.reason.why.clone());
    let mut evidence =
        vec![format!("as it stands it passed nothing, {} of {failures} times: {why}", failures)];
    let own = (1..).zip(&plan.arms).filter(|(_, arm)| arm.cause.as_deref() == Some(cause.name));
    let mut best: Option<String> = None;
    let mut made = 0;
    for (number, arm) in own {
        let passed = recording.trials.iter().filter(|it| it.pass > 0 && it.case.arm == number).count();
        let in_vain = failed(&|one| one == number);
        if passed + in_vain == 0 {
            continue;
        }
        made += 1;
        evidence.push(format!("{}: passes {passed} of {}", arm.name, counted(passed + in_vain, "time")));
        if passed >= PASSES && in_vain == 0 {
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
