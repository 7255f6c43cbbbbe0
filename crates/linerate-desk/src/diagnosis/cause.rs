//! Why a rate is lost: what was changed for a cause, whether that moved the rate, and whether its signs are there.
//!
//! Nothing is named for an experiment alone, nor for a sign alone. A cause is proved where its sign is there and its
//! experiment gains more than the margin, again in fresh blocks. It is ruled out where the experiments are shown to
//! change nothing by equivalence, to cost, or to gain less than the margin; the lack of a difference rules nothing out.

use super::bound::Bound;
use crate::analysis::{Analysis, ArmCandidate, Compared, Confirmed, Verdict, compare_arms};
use crate::plan::Plan;
use crate::record::Recording;
use crate::statistic::Effect;
use crate::unit::signed_percent;
use crate::vocabulary::{CAUSES, Cause};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A bound is a sign where the rate is more than this share of it: a wait of less of the time is no sign of what binds.
const LEAST_SHARE: f64 = 0.3;

/// How well a cause is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Changed, and it moved the rate beyond the margin, twice; its sign is there.
    Proved,
    /// Its sign explains the rate; it could not be changed.
    Consistent,
    /// Changed, and shown not to hold the rate back.
    RuledOut,
    /// Neither changed nor told by a sign.
    NotTested,
    /// Changed, and neither proved nor ruled out.
    CannotTell,
}

/// What is known of one cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseVerdict {
    /// Its name in the vocabulary.
    pub cause: String,
    /// How well it is known.
    pub grade: Grade,
    /// Whether a healthy path has it not; else it is what the work costs these hosts.
    pub is_fault: bool,
    /// The settings of the experiment that gained most; empty where none was made.
    pub experiment: String,
    /// What that changed, as a share of the rate: of the fresh blocks where there are some.
    pub gain: Option<Effect>,
    /// What says so: the sign, the experiments, or why there were none.
    pub evidence: Vec<String>,
    /// What removes it.
    pub fix: String,
}

/// What is known of each cause whose experiments the plan has; the proved ones first, by their gain.
pub(super) fn verdicts(
    recording: &Recording,
    analysis: &Analysis,
    bounds: &[Vec<Bound>],
) -> Vec<CauseVerdict> {
    let plan = recording.plan().filter(|plan| plan.arms.iter().any(|arm| arm.cause.is_some()));
    let Some((plan, compared)) = plan.and_then(|plan| Some((plan, compare_arms(recording)?))) else {
        return Vec::new();
    };
    let layer = analysis.layers.iter().position(|layer| {
        let is_between =
            layer.from.as_ref() == Some(&compared.from) && layer.to.as_ref() == Some(&compared.to);
        layer.rung == compared.rung && is_between && layer.flows == 1 && !layer.both_ways
    });
    let measured = layer.and_then(|at| analysis.layers[at].throughput_bps).map(|estimate| estimate.median);
    let signs = |cause: &Cause| -> Vec<&Bound> {
        let of_layer = layer.and_then(|at| bounds.get(at)).into_iter().flatten();
        let is_near = |bound: &&Bound| measured.is_some_and(|bps| bps >= LEAST_SHARE * bound.bps);
        of_layer.filter(|bound| cause.signs.contains(&bound.name)).filter(is_near).collect()
    };
    let tried =
        CAUSES.iter().filter(|cause| plan.arms.iter().any(|arm| arm.cause.as_deref() == Some(cause.name)));
    let mut found: Vec<CauseVerdict> =
        tried.map(|cause| verdict(recording, plan, &compared, cause, &signs(cause))).collect();
    let gain = |one: &CauseVerdict| one.gain.map_or(0.0, |effect| effect.estimate);
    found.sort_by(|a, b| a.grade.cmp(&b.grade).then(gain(b).total_cmp(&gain(a))));
    found
}

fn verdict(
    recording: &Recording,
    plan: &Plan,
    compared: &Compared,
    cause: &Cause,
    signs: &[&Bound],
) -> CauseVerdict {
    let is_its = |candidate: &&ArmCandidate| {
        let arm = plan.arms.get((candidate.arm as usize).wrapping_sub(1));
        arm.is_some_and(|arm| arm.cause.as_deref() == Some(cause.name))
    };
    let experiments: Vec<&ArmCandidate> = compared.candidates.iter().filter(is_its).collect();
    let made: Vec<&ArmCandidate> = experiments.iter().copied().filter(|one| one.change.is_some()).collect();
    let best = made.iter().copied().max_by(|a, b| effect(a).total_cmp(&effect(b)));
    let moved = best.filter(|best| has_moved(best, compared.margin));
    let refused =
        recording.unavailable.iter().filter(|not| experiments.iter().any(|one| not.arm == Some(one.arm)));
    let refused: Vec<String> = refused.map(|not| not.reason.why.clone()).collect();
    let mut evidence: Vec<String> = signs.iter().map(|bound| bound.evidence.clone()).collect();
    evidence.extend(made.iter().copied().map(told));
    let grade = match (moved, made.as_slice()) {
        (Some(_), _) if !signs.is_empty() => Grade::Proved,
        (Some(_), _) => {
            evidence.push("it gains, but the path shows no sign of the cause".into());
            Grade::CannotTell
        }
        (None, []) if signs.iter().any(|bound| bound.explains) => Grade::Consistent,
        (None, []) => Grade::NotTested,
        (None, made)
            if compared.doubts.is_empty() && made.iter().all(|one| is_ruled_out(one, compared.margin)) =>
        {
            Grade::RuledOut
        }
        (None, _) => Grade::CannotTell,
    };
    evidence.extend(refused);
    CauseVerdict {
        cause: cause.name.into(),
        grade,
        is_fault: cause.is_fault,
        experiment: best.map_or(String::new(), |best| best.name.clone()),
        gain: best.and_then(|best| best.confirmation.or(best.change)),
        evidence,
        fix: cause.fix.into(),
    }
}

fn effect(candidate: &ArmCandidate) -> f64 {
    candidate.change.map_or(f64::NEG_INFINITY, |change| change.estimate)
}

/// A gain beyond the margin, twice. What else became worse speaks against the remedy, not against the cause.
fn has_moved(candidate: &ArmCandidate, margin: f64) -> bool {
    let is_beyond = candidate.change.and_then(|change| change.low).is_some_and(|low| low > margin);
    let is_confirmed = candidate.confirmed == Some(Confirmed::Yes);
    candidate.verdict == Verdict::Different && candidate.is_gain && is_beyond && is_confirmed
}

/// The same within the margin, or slower, or no gain beyond the margin: the whole interval lies below it.
fn is_ruled_out(candidate: &ArmCandidate, margin: f64) -> bool {
    let gains_at_most = candidate.change.and_then(|change| change.high);
    match candidate.verdict {
        Verdict::Same => true,
        Verdict::Different if !candidate.is_gain => true,
        _ => candidate.not_granted.is_empty() && gains_at_most.is_some_and(|high| high <= margin),
    }
}

fn told(candidate: &ArmCandidate) -> String {
    let changed = candidate.change.map_or(String::new(), |change| {
        let ends = change.low.zip(change.high);
        let interval = ends.map_or(String::new(), |(low, high)| {
            format!(" [{}, {}]", signed_percent(low), signed_percent(high))
        });
        format!("{}{interval}", signed_percent(change.estimate))
    });
    let because = match candidate.verdict {
        Verdict::CannotTell => format!(" ({})", candidate.reasons.join("; ")),
        Verdict::Different | Verdict::Same => String::new(),
    };
    format!("{}: {changed}{because}", candidate.name)
}
