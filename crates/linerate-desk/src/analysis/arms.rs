//! Which arms differ from the plan as it stands, by how much, and how that is known.
//!
//! The unit is the block. In each one an arm is set against the plan as it stands, and a signed-rank
//! test over the blocks decides, adjusted for the number of candidates. An A/A control must not
//! differ and a slowed one must, or nothing is believed. Looking twice costs half of the level at each
//! look. *The same* is a claim of its own, proved by equivalence within a margin and not by the lack
//! of a difference.

mod figures;
mod finer;
mod judgement;
mod neighbours;
mod reached;
mod sensitivity;
mod tuning;

pub use finer::{finer, is_between, losses_gone};
pub use judgement::not_granted;
pub use reached::{expected_bps, is_link_full, is_near, reaching};
pub use sensitivity::Sensitivity;
pub use tuning::{
    CutCandidate, Fate, LeftOut, Tuned, TuningRound, TuningStep, TuningStop, candidates_upon, is_refused,
    tuned,
};

use crate::plan::{self, Arm, ArmKind, CONFIRMATION_BLOCKS, Comparison, HostGroup, Plan, Stack, View, Why};
use crate::plan::{FIRST_LOOK, race_blocks};
use crate::record::{Granted, Recording, Trial};
use crate::statistic::{CONFIDENCE, Effect, Estimate, below, equivalent, holm, signed_rank};
use crate::vocabulary::Metric;
use figures::{Blocks, WATCHED, share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often a difference may be claimed where there is none.
pub const ALPHA: f64 = 1.0 - CONFIDENCE;

/// How often the A/A control of a search may fail where nothing is wrong.
const SELDOM: f64 = 0.01;

/// The smallest difference that ever counts as one that matters.
const LEAST_MARGIN: f64 = 0.01;

/// A rate is clearly less than what is expected below this share of it, as is the sign `less-than-expected`.
pub const SHORT: f64 = 0.85;

/// A comparison of arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// What decides.
    pub metric: plan::Metric,
    /// The rung.
    pub rung: String,
    /// The application that it is of; none where it is of the rung's own patterns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The host that sends or pings.
    pub from: HostGroup,
    /// The host that receives or echoes.
    pub to: HostGroup,
    /// The message size of what decides.
    pub message_bytes: u64,
    /// Whole blocks.
    pub blocks: u32,
    /// Blocks that were to be.
    pub planned_blocks: u32,
    /// The level of each test: halved where there may be two looks.
    pub alpha: f64,
    /// The margin: the one asked for, at least 1 %, and at least twice the standard error of the A/A
    /// control's difference.
    pub margin: f64,
    /// The metric of the plan as it stands: bits a second, or half a round trip in nanoseconds.
    pub base: Option<Estimate>,
    /// What a search for causes is to explain: a rate that somebody expects, or that a lab's slowest link carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_bps: Option<f64>,
    /// The candidates.
    pub candidates: Vec<Candidate>,
    /// The A/A control.
    pub same: Option<Control>,
    /// The positive control.
    pub slowed: Option<Control>,
    /// What the rate is sensitive to, by what was added; empty where nothing was to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitivities: Vec<Sensitivity>,
    /// What makes every verdict of this comparison *cannot tell*.
    pub doubts: Vec<String>,
    /// Of the candidates together: different if any is, the same if all are.
    pub verdict: Verdict,
}

/// What is known of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There is one.
    Different,
    /// There is none that matters.
    Same,
    /// Neither is proved.
    CannotTell,
}

/// One candidate against the plan as it stands. Changes are shares: 0.03 is 3 % more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Which of the plan's arms.
    pub arm: u32,
    /// Its settings, as they were typed.
    pub name: String,
    /// The metric.
    pub value: Option<Estimate>,
    /// The change of the metric; its interval has the confidence 1 - alpha.
    pub change: Option<Effect>,
    /// The p of the change, adjusted for the number of candidates.
    pub p_adjusted: Option<f64>,
    /// The p of a change within the margin.
    pub p_same: Option<f64>,
    /// The p of a change below the margin, if it gained the margin or more: small where it is proved to gain less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_no_gain: Option<f64>,
    /// Whether the change is for the better.
    pub is_gain: bool,
    /// The share of blocks in which it was better.
    pub won: Option<f64>,
    /// What fresh blocks say of a gain; none where there were none.
    pub confirmation: Option<Effect>,
    /// Whether they confirm it; none where there were none.
    pub confirmed: Option<Confirmed>,
    /// What else was watched.
    pub guards: Vec<Guard>,
    /// Settings that were not granted as asked.
    pub not_granted: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether it is worth having: a gain beyond the margin, confirmed, with nothing else worse.
    pub accepted: bool,
    /// Why it cannot be told, or is not accepted.
    pub reasons: Vec<String>,
}

/// What fresh blocks say of a gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmed {
    /// It is there again, at 5 % to one side.
    Yes,
    /// It points the same way and is not proved.
    Weakly,
    /// It is not there.
    No,
}

/// A control against the plan as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Control {
    /// Which of the plan's arms.
    pub arm: u32,
    /// The metric.
    pub value: Option<Estimate>,
    /// The change of the metric.
    pub change: Effect,
    /// The standard error of the mean change over the blocks.
    pub standard_error: f64,
    /// Whether it came out as it must.
    pub holds: bool,
}

/// A number that must not become worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Guard {
    /// Its name, with its unit.
    pub name: String,
    /// Of the plan as it stands: the median over the blocks.
    pub base: f64,
    /// Of the candidate.
    pub value: f64,
    /// The change: a share, or a difference where the number is a share itself.
    pub change: Effect,
    /// How much worse it may become.
    pub margin: f64,
    /// Whether it is proved to have become worse than that.
    pub is_worse: bool,
}

impl Compared {
    /// Whether more blocks could tell what these cannot.
    pub fn is_open(&self) -> bool {
        let is_open = |one: &Candidate| one.verdict == Verdict::CannotTell && one.change.is_some();
        self.candidates.iter().any(is_open)
    }

    /// The share of what is expected that the plan as it stands has, where that is clearly less than all.
    pub fn shortfall(&self) -> Option<f64> {
        let share = self.base?.median / self.expected_bps?;
        (share < SHORT).then_some(share)
    }
}

/// What the comparison looks at.
struct Look<'r> {
    recording: &'r Recording,
    plan: &'r Plan,
    comparison: &'r Comparison,
    /// What decides.
    metric: &'static Metric,
    blocks: Blocks,
    fresh: Blocks,
    hindered: Blocks,
    alpha: f64,
    /// What all arms stand upon.
    upon: Stack,
}

/// Compares a recording's arms; none where it has none.
pub fn compare_arms(recording: &Recording) -> Option<Compared> {
    let plan = recording.plan()?;
    let View::Comparison { design: comparison, .. } = &plan.view else { return None };
    let (metric, pattern) = (comparison.metric, plan.view.decides(comparison));
    let look = Look {
        recording,
        plan,
        comparison,
        metric: metric.number(),
        blocks: Blocks::from_recording(recording, comparison, (Why::Block, pattern)),
        fresh: Blocks::from_recording(recording, comparison, (Why::Confirm, pattern)),
        hindered: Blocks::from_recording(recording, comparison, (Why::Hindered, pattern)),
        alpha: if comparison.extend { ALPHA / 2.0 } else { ALPHA },
        upon: Stack::default(),
    };
    // An application may be carried otherwise in another arm than in the plan as it stands.
    let shown = recording
        .trials
        .iter()
        .filter(|trial| trial.case.pattern == pattern)
        .min_by_key(|trial| trial.case.arm)?;
    Some(judged(&look, shown))
}

/// The verdicts of one look; a trial tells what was measured.
fn judged(look: &Look, shown: &Trial) -> Compared {
    let comparison = look.comparison;
    // What is told at a wider level, of fewer blocks, is no reason to doubt what is alike; nor is it where gains beyond the
    // margin are searched for, and this is proved to be less: a link that is full tells 30 millionths apart.
    let least = comparison.margin.max(LEAST_MARGIN);
    let is_small =
        |effect: &Effect| [effect.low, effect.high].iter().all(|end| end.is_some_and(|it| it.abs() <= least));
    let is_search = comparison.adaptive || look.plan.tuning().is_some();
    // A control that fails makes every verdict doubtful, so a run that asks by itself lets it err less often.
    let most = if comparison.adaptive { SELDOM } else { ALPHA };
    let same = look
        .control(ArmKind::Same, |effect, alpha| effect.p >= alpha.min(most) || is_search && is_small(effect));
    let slowed = look.control(ArmKind::Slowed, |effect, alpha| {
        let worse = |end: Option<f64>| end.is_some_and(|end| look.metric.gain(end) < 0.0);
        // What is seen as next to nothing is not seen.
        let is_seen = -look.metric.gain(effect.estimate) >= LEAST_MARGIN;
        effect.p < alpha && worse(effect.low) && worse(effect.high) && is_seen
    });
    let noise = same.as_ref().map_or(0.0, |control| control.standard_error);
    let margin = comparison.margin.max(LEAST_MARGIN).max(2.0 * noise);
    let doubts = look.doubts(same.as_ref(), slowed.as_ref());
    let candidates = look.candidates(margin, &doubts);
    Compared {
        metric: comparison.metric,
        rung: shown.case.rung.clone(),
        application: application(look.plan),
        from: shown.case.pairs.senders(),
        to: shown.case.pairs.receivers(),
        message_bytes: shown.block.message_bytes,
        blocks: look.blocks.count(),
        planned_blocks: look.planned(),
        alpha: look.alpha,
        margin,
        base: look.blocks.estimate(0, look.metric),
        verdict: Verdict::of_all(candidates.iter().map(|candidate| candidate.verdict)),
        expected_bps: expected_bps(look.plan).filter(|_| comparison.adaptive),
        sensitivities: look.sensitivities(margin, &doubts),
        candidates,
        same,
        slowed,
        doubts,
    }
}

/// The name of the application that arms are compared on.
fn application(plan: &Plan) -> Option<String> {
    plan.view.application()?.cases.first().map(|case| case.id.clone())
}

impl Verdict {
    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Different => "different",
            Verdict::Same => "same",
            Verdict::CannotTell => "cannot-tell",
        }
    }

    /// Different if any is, the same if all are; nothing is told of nothing.
    pub fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let of_two = |a, b| match (a, b) {
            (Verdict::Different, _) | (_, Verdict::Different) => Verdict::Different,
            (Verdict::Same, Verdict::Same) => Verdict::Same,
            _ => Verdict::CannotTell,
        };
        verdicts.into_iter().reduce(of_two).unwrap_or(Verdict::CannotTell)
    }
}
