//! Why a rate is lost: what was changed for a cause, whether that moved the rate, and whether its signs are there.
//!
//! Nothing is named for an experiment alone, nor for a sign alone. A cause is proved where its sign is there and its
//! experiment gains more than the margin, again in fresh blocks. It is ruled out where the experiments are shown to
//! change nothing by equivalence, to cost, or to gain less than the margin; the lack of a difference rules nothing out.
//! Where nothing can be changed, a cause is told only where all of its signs are there.

mod bursts;
mod stopping;

use super::bound::Bound;
use super::doubt::Finding;
use super::facts::failed_as_it_stands;
use super::sign::Shown;
use crate::analysis::{Analysis, ArmCandidate, Compared, Confirmed, Layer, Verdict, compare_arms};
use crate::analysis::{is_near, reaching};
use crate::plan::{DROP_LOOK, FIRST_LOOK, HostGroup, Plan, View};
use crate::record::Recording;
use crate::statistic::Effect;
use crate::unit::{percent, signed_percent};
use crate::vocabulary::{CAUSES, Cause};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How well a cause is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Changed, and it moved the rate beyond the margin, twice; its sign is there.
    Proved,
    /// Its signs explain the rate; it could not be changed.
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
    /// The share of what is to be explained that the gain explains, where somebody said which rate was expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<f64>,
    /// What says so: the sign, the experiments, or why there were none.
    pub evidence: Vec<String>,
    /// What removes it.
    pub fix: String,
}

/// What was found before causes are looked at.
pub(super) struct Found<'r> {
    pub analysis: &'r Analysis,
    pub bounds: &'r [Vec<Bound>],
    pub findings: &'r [Finding],
}

/// The causes of which a recording shows signs, so that they are worth an experiment; without any stream there are none.
pub(super) fn suspects(recording: &Recording, found: &Found) -> BTreeSet<String> {
    let case = recording.trials.iter().map(|trial| &trial.case).find(|case| case.arm == 0);
    let shown = case.and_then(|case| {
        let (from, to) = (case.pairs.senders(), case.pairs.receivers());
        shown(recording, found, (&case.rung, &from, &to))
    });
    let Some(shown) = shown else { return BTreeSet::new() };
    CAUSES.iter().filter(|cause| shown.is_suspect(cause)).map(|cause| cause.name.to_owned()).collect()
}

/// What is known of each cause that the plan looks for; the proved ones first, by their gain.
pub(super) fn verdicts(recording: &Recording, found: &Found) -> Vec<CauseVerdict> {
    let plan = recording.plan().filter(|plan| plan.arms.iter().any(|arm| arm.cause.is_some()));
    let Some((plan, compared)) = plan.and_then(|plan| Some((plan, compare_arms(recording)?))) else {
        return Vec::new();
    };
    if failed_as_it_stands(recording).is_some() {
        return stopping::verdicts(recording, plan);
    }
    let shown = shown(recording, found, (&compared.rung, &compared.from, &compared.to));
    let design = match &plan.view {
        View::Comparison { design, .. } => Some(design),
        _ => None,
    };
    let is_adaptive = design.is_some_and(|design| design.adaptive);
    let against = design.and_then(|design| design.against_bps);
    let is_tried = |cause: &&Cause| {
        let has_arm = plan.arms.iter().any(|arm| arm.cause.as_deref() == Some(cause.name));
        has_arm || is_adaptive && cause.experiments.is_empty()
    };
    let is_all_there = compared.all_there().is_some();
    let is_reached = is_adaptive && !reaching(plan, &compared).is_empty();
    let look =
        Look { recording, plan, compared: &compared, shown, is_adaptive, against, is_all_there, is_reached };
    let mut found: Vec<CauseVerdict> =
        CAUSES.iter().filter(is_tried).map(|cause| look.verdict(cause)).collect();
    demote_what_adds_nothing(&mut found);
    bursts::tell_apart(plan, &compared, look.shown.as_ref(), &mut found);
    bursts::leave_to_others(&mut found);
    let gain = |one: &CauseVerdict| one.gain.map_or(0.0, |effect| effect.estimate);
    found.sort_by(|a, b| a.grade.cmp(&b.grade).then(gain(b).total_cmp(&gain(a))));
    found
}

/// What the layer that was compared shows.
fn shown<'r>(
    recording: &'r Recording,
    found: &Found<'r>,
    (rung, from, to): (&str, &HostGroup, &HostGroup),
) -> Option<Shown<'r>> {
    let is_it = |layer: &Layer| {
        let is_between = layer.from.as_ref() == Some(from) && layer.to.as_ref() == Some(to);
        layer.rung == rung && is_between && layer.flows == 1 && !layer.both_ways
    };
    let at = found.analysis.layers.iter().position(is_it)?;
    let bounds = found.bounds.get(at).map_or(&[][..], Vec::as_slice);
    Shown::of_layer(recording, (at, &found.analysis.layers[at]), bounds, found.findings)
}

/// An experiment that holds another one's change and gains no more than that one proves nothing of its own.
fn demote_what_adds_nothing(found: &mut [CauseVerdict]) {
    let parts =
        |one: &CauseVerdict| -> BTreeSet<String> { one.experiment.split(" + ").map(str::to_owned).collect() };
    let proved: Vec<CauseVerdict> = found.iter().filter(|one| one.grade == Grade::Proved).cloned().collect();
    for one in found.iter_mut().filter(|one| one.grade == Grade::Proved) {
        let is_within = |other: &&CauseVerdict| {
            let gains_as_much = one.gain.and_then(|gain| gain.low) <= other.gain.and_then(|gain| gain.high);
            parts(other).len() < parts(one).len() && parts(other).is_subset(&parts(one)) && gains_as_much
        };
        if let Some(other) = proved.iter().find(is_within) {
            one.grade = Grade::CannotTell;
            one.evidence.push(format!("it gains no more than {} by itself", other.experiment));
        }
    }
}

/// What a cause is judged by.
struct Look<'r> {
    recording: &'r Recording,
    plan: &'r Plan,
    compared: &'r Compared,
    shown: Option<Shown<'r>>,
    is_adaptive: bool,
    /// The rate that somebody expects.
    against: Option<f64>,
    /// Whether the path as it stands has all that is expected, or one of the experiments.
    is_all_there: bool,
    is_reached: bool,
}

impl Look<'_> {
    fn verdict(&self, cause: &Cause) -> CauseVerdict {
        let is_its = |number: u32| {
            let arm = self.plan.arms.get((number as usize).wrapping_sub(1));
            arm.is_some_and(|arm| arm.cause.as_deref() == Some(cause.name))
        };
        let candidates = self.compared.candidates.iter().filter(|one| is_its(one.arm));
        let made: Vec<&ArmCandidate> = candidates.filter(|one| one.change.is_some()).collect();
        let best = made.iter().copied().max_by(|a, b| effect(a).total_cmp(&effect(b)));
        let moved = best.is_some_and(|best| has_moved(best, self.compared.margin));
        let shown = self.shown.as_ref();
        let mut evidence: Vec<String> = shown
            .map(|shown| cause.signs.iter().filter_map(|sign| shown.evidence(*sign)).collect())
            .unwrap_or_default();
        let has_sign = !evidence.is_empty();
        evidence.extend(made.iter().copied().map(evidence_of));
        let unavailable = self.recording.unavailable.iter();
        let refused = unavailable.filter(|not| not.arm.is_some_and(is_its));
        let refused: Vec<String> = refused.map(|not| not.reason.why.clone()).collect();
        let grade = match (moved, made.as_slice()) {
            (true, _) if has_sign => Grade::Proved,
            (true, _) => {
                evidence.push("it gains, but the path shows no sign of the cause".into());
                Grade::CannotTell
            }
            (false, []) if self.is_all_there && cause.is_fault => {
                evidence.push(if has_sign { ALL_THERE } else { NO_SIGN }.into());
                Grade::NotTested
            }
            (false, []) if self.is_told(cause, !refused.is_empty()) => Grade::Consistent,
            (false, []) => {
                evidence.extend(self.why_not_tested(cause, refused.is_empty()));
                Grade::NotTested
            }
            (false, made)
                if self.compared.doubts.is_empty() && made.iter().all(|one| self.is_ruled_out(one)) =>
            {
                let margin = self.compared.margin;
                let is_lost = margin > MOST_MARGIN;
                evidence.extend(is_lost.then(|| {
                    format!(
                        "what changes it by less than {} is lost in this machine's noise",
                        percent(margin)
                    )
                }));
                if is_lost { Grade::CannotTell } else { Grade::RuledOut }
            }
            (false, _) if self.is_all_there && cause.is_fault => {
                evidence.push(ALL_THERE.into());
                Grade::NotTested
            }
            // The first look had a sign that all of them together do not bear out, and nothing gains.
            (false, made) if self.is_unseen(has_sign) && !made.iter().any(|one| seems_to_gain(one)) => {
                evidence.push(NO_SIGN.into());
                Grade::NotTested
            }
            (false, made) if self.was_left(made) => {
                evidence.push(LEFT.into());
                Grade::NotTested
            }
            (false, made) => {
                let is_open = |one: &ArmCandidate| seems_to_gain(one) && one.confirmed.is_none();
                evidence.extend(made.iter().copied().any(is_open).then(|| UNCONFIRMED.into()));
                Grade::CannotTell
            }
        };
        evidence.extend(refused);
        let gain = best.and_then(|best| best.confirmation.or(best.change));
        CauseVerdict {
            cause: cause.name.into(),
            grade,
            is_fault: cause.is_fault,
            experiment: best.map_or(String::new(), |best| best.name.clone()),
            gain,
            explained: gain.filter(|_| grade == Grade::Proved).and_then(|gain| self.explained(&gain)),
            evidence,
            fix: cause.fix.into(),
        }
    }

    /// Whether signs alone explain the rate: all of those of a cause without an experiment; of another one, which could not be
    /// changed, a bound. What a search had no time for might have been changed.
    fn is_told(&self, cause: &Cause, is_refused: bool) -> bool {
        let Some(shown) = &self.shown else { return false };
        let could_be = self.is_adaptive && !is_refused && !cause.experiments.is_empty();
        if could_be || cause.against.iter().any(|sign| shown.evidence(*sign).is_some()) {
            return false;
        }
        match cause.experiments {
            [] => shown.is_suspect(cause),
            _ => cause.signs.iter().any(|sign| shown.explains(*sign)),
        }
    }

    /// Why no experiment was made that could have been.
    fn why_not_tested(&self, cause: &Cause, was_allowed: bool) -> Option<String> {
        let shown = self.shown.as_ref().filter(|_| self.is_adaptive && was_allowed)?;
        if let Some(other) = cause.against.iter().find_map(|sign| shown.evidence(*sign)) {
            return Some(format!("the path shows what another cause looks like: {other}"));
        }
        let base = self.compared.base?.median;
        let mut own = self.plan.arms.iter().filter(|arm| arm.cause.as_deref() == Some(cause.name));
        Some(match shown.is_suspect(cause) {
            false if shown.is_half_told(cause) => HALF_TOLD.into(),
            false => NO_SIGN.into(),
            true if own.any(|arm| is_near(arm, base)) => NO_TIME.into(),
            true => "no experiment lies near the rate".into(),
        })
    }

    /// Whether its experiments were left early, because another one reaches all that is expected.
    fn was_left(&self, made: &[&ArmCandidate]) -> bool {
        let raced = self.compared.blocks.saturating_sub(FIRST_LOOK);
        let is_left = |one: &&ArmCandidate| one.change.is_some_and(|change| change.n < raced);
        self.is_reached && made.iter().all(is_left)
    }

    /// Whether the connections tell of themselves, and nothing of this cause.
    fn is_unseen(&self, has_sign: bool) -> bool {
        self.is_adaptive && !has_sign && self.shown.as_ref().is_some_and(|shown| !shown.is_blind())
    }

    /// What of the rate that is missing this gain gives.
    fn explained(&self, gain: &Effect) -> Option<f64> {
        let base = self.compared.base?.median;
        let missing = self.against.map(|against| against - base).filter(|missing| *missing > 0.0)?;
        Some(gain.estimate * base / missing)
    }

    /// The same within the margin, or slower, or no gain beyond the margin: the whole interval lies below it.
    fn is_ruled_out(&self, candidate: &ArmCandidate) -> bool {
        let margin = self.compared.margin;
        let gains_at_most = candidate.change.and_then(|change| change.high);
        let is_beaten = candidate.p_no_gain.is_some_and(|p| p <= 1.0 / f64::from(1 << DROP_LOOK));
        match candidate.verdict {
            Verdict::Same => true,
            Verdict::Different if !candidate.is_gain => true,
            _ => {
                candidate.not_granted.is_empty()
                    && (is_beaten || gains_at_most.is_some_and(|high| high <= margin))
            }
        }
    }
}

/// What is the same within more than this is not ruled out: a fifth is what somebody notices.
const MOST_MARGIN: f64 = 0.2;

/// Why a cause without a sign was not tested.
pub const NO_SIGN: &str = "no sign of it";

/// Why one with a sign was not.
const NO_TIME: &str = "no time was left for it: give more by --budget";
const ALL_THERE: &str = "the rate is all that is expected: nothing is left to explain";
const HALF_TOLD: &str = "all that is seen of it elsewhere is there but for a busy CPU at the ends, and nothing of the test's own can change it";
const UNCONFIRMED: &str = "no time was left to measure it again in fresh blocks: give more by --budget";
const LEFT: &str = "it was left: another change reaches all that is expected";

impl CauseVerdict {
    /// Whether it was not tested because nothing spoke of it.
    pub fn is_without_sign(&self) -> bool {
        self.grade == Grade::NotTested && self.evidence.iter().any(|told| told == NO_SIGN)
    }

    /// Whether it shows a sign and its experiment was left, for want of time, because another change reached all that is
    /// expected, or because there is none, so that it may well be there.
    pub fn is_left_open(&self) -> bool {
        const OPEN: [&str; 3] = [NO_TIME, LEFT, HALF_TOLD];
        self.grade == Grade::NotTested && self.evidence.iter().any(|told| OPEN.contains(&told.as_str()))
    }
}

/// Whether the race proved it faster, confirmed or not.
fn seems_to_gain(candidate: &ArmCandidate) -> bool {
    candidate.verdict == Verdict::Different && candidate.is_gain
}

fn effect(candidate: &ArmCandidate) -> f64 {
    candidate.change.map_or(f64::NEG_INFINITY, |change| change.estimate)
}

/// A gain beyond the margin, twice. What else became worse speaks against the remedy, not against the cause.
fn has_moved(candidate: &ArmCandidate, margin: f64) -> bool {
    let is_beyond = candidate.change.and_then(|change| change.low).is_some_and(|low| low > margin);
    let is_confirmed = candidate.confirmed == Some(Confirmed::Yes);
    seems_to_gain(candidate) && is_beyond && is_confirmed
}

fn evidence_of(candidate: &ArmCandidate) -> String {
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
