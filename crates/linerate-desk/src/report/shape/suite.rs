//! The JSON form of what a suite gave.

use super::graph::StageGraphEntry;
use super::left_out::of_suite;
use super::time_line::TimeLineEntry;
use super::{BreakEntry, WarningEntry};
use crate::analysis::{CellValue, Holds};
use crate::record::NotMeasured;
use crate::statistic::Estimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one suite gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteReport {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub about: String,
    /// The paper whose figures it makes anew; null where it is none's.
    pub paper: Option<String>,
    /// Its figures.
    pub figures: Vec<SuiteFigureEntry>,
    /// Its tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<SuiteTableEntry>,
    /// What each thread of its applications did over a typical unit of work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time_lines: Vec<TimeLineEntry>,
    /// What the paper concludes, tested here.
    pub claims: Vec<ClaimEntry>,
    /// What could not be measured here.
    #[serde(with = "of_suite")]
    #[schemars(with = "Vec<of_suite::OfSuite>")]
    pub left_out: Vec<NotMeasured>,
    /// What makes its numbers doubtful.
    pub warnings: Vec<CaseWarning>,
}

/// A warning about one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseWarning {
    /// The case.
    pub case: String,
    /// The warning.
    #[serde(flatten)]
    pub warning: WarningEntry,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteFigureEntry {
    /// Its name: that of the paper's figure.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The factor along x.
    pub x: String,
    /// The number along y.
    pub y: String,
    /// Its unit.
    pub unit: String,
    /// Its series.
    pub series: Vec<SuiteSeriesEntry>,
    /// What was to be a series and was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The same in words, as a legend would have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_labels: Vec<String>,
    /// What was measured and gave no number, as a percentile of few samples does: a series, and where along x.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<String>,
    /// How it ranks transports beside a micro-benchmark of the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<RankingEntry>,
}

/// How an application ranks transports, and a micro-benchmark does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankingEntry {
    /// The case of the micro-benchmark.
    pub against: String,
    /// What follows, in sentences.
    pub said: String,
    /// Every two transports.
    pub pairs: Vec<RankedPairEntry>,
    /// Whether hosts are one machine: it is then its CPU that is ranked.
    pub shares_cpus: bool,
}

/// Two transports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedPairEntry {
    /// One of them.
    pub one: String,
    /// The other one.
    pub other: String,
    /// `alike`, `otherwise`, `cannot-tell`: by whether both intervals lie on a side of 1, and on which.
    pub ranked: String,
    /// How many times as good the first is by the application: above 1 where it is the better one.
    pub application: Option<Estimate>,
    /// The same by the micro-benchmark.
    pub micro_benchmark: Option<Estimate>,
}

impl SuiteFigureEntry {
    /// Whether everything is there that it was to show.
    pub fn is_whole(&self) -> bool {
        !self.series.is_empty() && self.missing.is_empty()
    }

    /// What was to be a series, as a reader is told; reports of earlier versions have the levels alone.
    pub fn missing_words(&self) -> &[String] {
        if self.missing_labels.is_empty() { &self.missing } else { &self.missing_labels }
    }
}

/// A series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteSeriesEntry {
    /// What tells it from the others, as the plan says it.
    pub name: String,
    /// The same in words, as a legend has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Its points.
    pub points: Vec<SuitePointEntry>,
    /// Where it gives way to another line, where message size is along x.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<BreakEntry>,
}

/// A point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuitePointEntry {
    /// The level along x, as the plan calls it.
    pub at: String,
    /// The same in words, where they are others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Its number; null where it has none.
    pub x: Option<f64>,
    /// The median over the passes.
    pub value: Estimate,
    /// Which hosts sent to which: `b+c>a`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hosts: String,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteTableEntry {
    /// Its name.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What is said below it.
    pub caption: String,
    /// The pipeline whose stages are its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<StageGraphEntry>,
    /// Its columns.
    pub columns: Vec<SuiteColumnEntry>,
    /// Its rows.
    pub rows: Vec<SuiteRowEntry>,
    /// What follows from it, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteColumnEntry {
    /// What stands over it.
    pub name: String,
    /// The unit of its numbers; empty of a ratio.
    pub unit: String,
    /// The factor with which its numbers grow: they are by how much, a unit of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<String>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRowEntry {
    /// What stands before it.
    pub name: String,
    /// A cell a column; null where nothing was measured.
    pub cells: Vec<Option<CellValue>>,
    /// The library, as it says it, where another program's code did the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the paper says of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paper: String,
}

/// A conclusion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimEntry {
    /// What is concluded.
    pub says: String,
    /// Where in the paper.
    pub place: String,
    /// Whether it holds here.
    pub holds: Holds,
    /// Why it does not apply here; left out where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The number that was tested: a ratio, an exponent, a value or a difference.
    pub value: Option<Estimate>,
    /// Its unit; empty of a ratio and of an exponent.
    #[serde(default)]
    pub unit: String,
    /// Its limit: `above 1.7`, `below 1.00 ms`.
    pub limit: String,
    /// About so many more passes would tell, where it cannot be told; left out where it is told, and where no number of
    /// passes would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further_passes: Option<u32>,
}
