//! The figures and conclusions of a suite: medians over the passes along a factor, and whether what a paper
//! concludes holds here.

mod applies;
mod claim;
mod compare;
mod figure;
mod growth;
mod label;
mod ranking;
mod shown;
mod stages;
mod table;
mod time_line;

pub use claim::{ClaimOutcome, Holds};
pub use compare::is_at;
pub use figure::{FigureValues, SeriesValues, ValueAt};
pub use ranking::{Ranked, RankedPair, RankingValues};
pub use shown::{ShownNumber, shown_numbers};
pub use stages::{Binding, StageValues, StagesValues, StreamValues};
pub use table::{CellValue, TableValues};
pub use time_line::{LaneValues, Piece, TimeLineValues};

use super::not_measured;
use crate::plan::{Factor, Level, Plan, Suite};
use crate::record::{NotMeasured, Recording, Trial};
use crate::unit::Bytes;

/// What a suite gave.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteValues {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// The paper.
    pub paper: Option<String>,
    /// Its figures.
    pub figures: Vec<FigureValues>,
    /// Its tables.
    pub tables: Vec<TableValues>,
    /// Where the time of its pipelines went.
    pub stages: Vec<StagesValues>,
    /// What hosts did over a unit of work.
    pub time_lines: Vec<TimeLineValues>,
    /// The conclusions.
    pub claims: Vec<ClaimOutcome>,
    /// What its rungs cannot measure here.
    pub left_out: Vec<NotMeasured>,
}

/// What every suite of a recording gave.
pub(super) fn suites(recording: &Recording) -> Vec<SuiteValues> {
    let Some(plan) = recording.plan() else { return Vec::new() };
    let of = |suite: &Suite| SuiteValues {
        name: suite.name.clone(),
        about: suite.about.clone(),
        paper: suite.paper.clone(),
        figures: suite.figures.iter().map(|one| figure::values(recording, plan, suite, one)).collect(),
        tables: suite.tables.iter().map(|one| table::values(recording, plan, suite, one)).collect(),
        stages: stages::values(recording, plan, suite),
        time_lines: time_line::values(recording, plan, suite),
        left_out: left_out(recording, suite),
        claims: suite.claims.iter().map(|claim| claim::outcome(recording, plan, suite, claim)).collect(),
    };
    plan.view.suites().iter().map(of).collect()
}

fn left_out(recording: &Recording, suite: &Suite) -> Vec<NotMeasured> {
    let is_here =
        |not: &&NotMeasured| not.lost_host().is_some() || suite.rungs().any(|rung| *rung == not.rung);
    let all = not_measured(recording);
    all.iter().filter(is_here).cloned().collect()
}

/// Every conclusion of a recording's suites, as it stands.
pub fn conclusions(recording: &Recording) -> Vec<(&Suite, ClaimOutcome)> {
    let Some(plan) = recording.plan() else { return Vec::new() };
    let of_suite = |suite: &'_ Suite| {
        suite.claims.iter().map(|one| claim::outcome(recording, plan, suite, one)).collect::<Vec<_>>()
    };
    let suites = plan.view.suites().iter();
    suites.flat_map(|suite| of_suite(suite).into_iter().map(move |outcome| (suite, outcome))).collect()
}

/// The trials of one of a suite's cases that count.
fn trials(recording: &Recording, id: String) -> impl Iterator<Item = &Trial> {
    let counts = |trial: &&Trial| trial.pass > 0 && trial.why.counts() && !trial.case.beside;
    recording.trials.iter().filter(counts).filter(move |trial| trial.case.id == id)
}

/// The level of each factor in a trial.
fn level(plan: &Plan, factor: Factor, trial: &Trial) -> Level {
    (factor.entry().level)(plan, &trial.case, trial.block.message_bytes)
}

/// Whether a level is meant: by its name, or by its number.
fn is_called(level: &Level, name: &str) -> bool {
    let number =
        || name.parse::<f64>().ok().or_else(|| name.parse::<Bytes>().ok().map(|bytes| bytes.0 as f64));
    level.name == name || level.number.is_some_and(|of| number() == Some(of))
}
