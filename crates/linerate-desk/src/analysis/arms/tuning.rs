//! What a search for settings found: its races, the steps that were kept, each upon those before it, and why it stopped.
//!
//! A round races candidates upon what was kept so far, beside an A/A control and a slowed one. After a few blocks who is
//! shown to gain less than the margin is left out, and who is beaten by another; the rest run the whole race, and the best
//! of those that gain beyond the margin is measured again in fresh blocks. Only then it is kept, and its gain is what the
//! fresh blocks say: what is chosen for being large is estimated too large. In the end each kept step is left out once.

mod replay;

pub use replay::{candidates_upon, is_refused, tuned};

use super::{Compared, Verdict};
use crate::plan::{self, HostGroup};
use crate::statistic::{Effect, Estimate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What was searched for, and found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuned {
    /// What decides.
    pub metric: plan::Metric,
    /// The rung.
    pub rung: String,
    /// The host that sends or pings.
    pub from: HostGroup,
    /// The host that receives or echoes.
    pub to: HostGroup,
    /// The message size of what decides.
    pub message_bytes: u64,
    /// The metric before anything was changed.
    pub stock: Option<Estimate>,
    /// What was kept, each upon those before it.
    pub steps: Vec<TuningStep>,
    /// All kept steps together against what was before any, in fresh blocks; null below two steps.
    pub total: Option<Effect>,
    /// Each kept step against all others without it.
    pub left_out: Vec<LeftOut>,
    /// The races, one after the other.
    pub rounds: Vec<TuningRound>,
    /// Candidates that were not raced upon what was kept last.
    pub untried: Vec<String>,
    /// Why it stopped.
    pub stop: TuningStop,
}

/// Why a search stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TuningStop {
    /// Every candidate that is left was raced, and none is kept.
    NothingLeft,
    /// The slowest link of the path is full: what binds is outside.
    LinkFull,
    /// The time that it might take is spent.
    Budget,
    /// As many steps were kept as can stand upon each other.
    Full,
    /// It was cut short.
    CutShort,
}

/// A step that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TuningStep {
    /// Which of the plan's arms.
    pub arm: u32,
    /// Its settings.
    pub name: String,
    /// The metric with it and all before it, in fresh blocks.
    pub value: Option<Estimate>,
    /// What it changes upon the steps before it, in fresh blocks: a share.
    pub gain: Effect,
    /// The same in the race that it won.
    pub raced: Effect,
    /// Whether all others without it are worse; a step of which that is not shown is not in the set that is kept.
    pub needed: bool,
}

/// A kept step against all others without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Which of the plan's arms.
    pub arm: u32,
    /// Its settings.
    pub name: String,
    /// What it changes beside the others: a share.
    pub gain: Effect,
}

/// A race upon what was kept before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TuningRound {
    /// The arms that it stands upon, the first one below.
    pub upon: Vec<u32>,
    /// What was compared.
    pub compared: Compared,
    /// What became of each candidate of it.
    pub fates: Vec<Fate>,
    /// Which arm was kept.
    pub kept: Option<u32>,
    /// Candidates for which no time was left: those that were not begun, and those that were left out before the race was over.
    #[serde(default)]
    pub cut: Vec<CutCandidate>,
    /// Blocks that were begun.
    #[serde(skip)]
    pub begun: u32,
    /// Those that run the whole race.
    #[serde(skip)]
    pub survivors: Vec<u32>,
    /// Who is to be measured again next, or is being measured.
    #[serde(skip)]
    pub to_confirm: Option<u32>,
}

/// A candidate for which a race had no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CutCandidate {
    /// Which of the plan's arms.
    pub arm: u32,
    /// Its settings.
    pub name: String,
    /// Blocks that it was in; 0 where it was not begun.
    pub blocks: u32,
    /// Why it was cut.
    pub why: String,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It gains, again in fresh blocks, and nothing else became worse.
    Kept,
    /// Its whole interval lies below the margin: it gains nothing that matters, or costs.
    NoGain,
    /// Another one gains more: it is raced again upon that.
    Beaten,
    /// It gains, and something else became worse.
    Costs,
    /// It gained in the race, and not again.
    NotConfirmed,
    /// It was not granted as asked.
    NotGranted,
    /// It might gain still, and no time was left to run it on.
    OutOfTime,
    /// Neither is shown.
    CannotTell,
}

impl Tuned {
    /// The steps that are kept: those that gain beside the others.
    pub fn kept(&self) -> Vec<&TuningStep> {
        self.steps.iter().filter(|step| step.needed).collect()
    }

    /// How many candidates were raced.
    pub fn tried(&self) -> usize {
        let raced = self.rounds.iter().flat_map(|round| &round.compared.candidates);
        raced.map(|one| one.arm).collect::<BTreeSet<u32>>().len()
    }

    /// Different where something is kept, the same where nothing that was tried gains beyond the margin.
    pub fn verdict(&self) -> Verdict {
        let upon: Vec<u32> = self.steps.iter().map(|step| step.arm).collect();
        let last = self.rounds.iter().filter(|round| round.upon == upon);
        let mut fates = last.flat_map(|round| &round.fates);
        let is_complete = matches!(self.stop, TuningStop::NothingLeft | TuningStop::LinkFull);
        match () {
            () if !self.kept().is_empty() => Verdict::Different,
            () if is_complete && fates.all(|fate| matches!(fate, Fate::NoGain | Fate::Costs)) => {
                Verdict::Same
            }
            () => Verdict::CannotTell,
        }
    }
}
