//! The JSON form of a report.

mod curve;
mod distribution;
mod graph;
mod imported;
mod left_out;
mod matrix;
mod suite;
mod time_line;

pub use curve::{BreakEntry, CurveEntry, ModeEntry, PointEntry, SegmentEntry};
pub use distribution::{DistributionEntry, EfficiencyEntry};
pub use graph::{GraphStageEntry, GraphStreamEntry, StageGraphEntry};
pub use imported::{ImportedEntry, ImportedReport};
pub use matrix::{
    CellEntry, DifferenceEntry, DoubtEntry, FailedPairEntry, FoundGroupEntry, MatrixHostEntry, MatrixReport,
    NamedEntry, SuspectEntry,
};
pub use suite::{
    CaseWarning, ClaimEntry, RankedPairEntry, RankingEntry, SuiteColumnEntry, SuiteFigureEntry,
    SuitePointEntry, SuiteReport, SuiteRowEntry, SuiteSeriesEntry, SuiteTableEntry,
};
pub use time_line::{LaneEntry, TimeLineEntry};

use crate::analysis::model::CpuCost;
use crate::analysis::{Compared, Cost, CpuTime, Drift, Sampled, Tuned};
use crate::diagnosis::CauseVerdict;
use crate::plan::{HostGroup, HostId};
use crate::record::{NotMeasured, SpreadSource};
use crate::statistic::Estimate;
use crate::vocabulary::{Pattern, Wait};
use left_out::{of_layer, whole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `linerate.report/1`.
    pub schema: String,
    /// What was run, where and when.
    pub run: Run,
    /// The answer in one sentence.
    pub sentence: String,
    /// What arms were compared, and the verdict; null where the plan had none.
    pub arms: Option<Compared>,
    /// What was searched for among settings, and kept; null where the plan had no search.
    #[serde(default)]
    pub tuning: Option<Tuned>,
    /// What is known of each cause that was looked for by experiment: the proved ones first, by their gain.
    #[serde(default)]
    pub verdicts: Vec<CauseVerdict>,
    /// What the plan files asked for.
    #[serde(default)]
    pub suites: Vec<SuiteReport>,
    /// Many hosts with each other, and who of them is slow; absent of other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix: Option<MatrixReport>,
    /// What another tool measured; null of a run.
    pub imported: Option<ImportedReport>,
    /// The ladder, from the bottom up: an entry for each rung, number of flows and host or direction.
    pub ladder: Vec<LadderEntry>,
    /// Where the time of a message goes, by wait mode and message size.
    pub waterfalls: Vec<WaterfallEntry>,
    /// Each case against message size.
    pub curves: Vec<CurveEntry>,
    /// What each layer keeps of the layer below, against message size.
    pub efficiencies: Vec<EfficiencyEntry>,
    /// How single exchanges are spread.
    pub distributions: Vec<DistributionEntry>,
    /// The long streams against time.
    pub timelines: Vec<TimelineEntry>,
    /// How each kind of trial moved during the run.
    pub drifts: Vec<Drift>,
    /// What makes the whole run doubtful.
    pub warnings: Vec<WarningEntry>,
}

/// What a report is of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shows<'r> {
    Ladder,
    Suites(&'r [SuiteReport]),
    Comparison(&'r Compared),
    Diagnosis(&'r Compared, &'r [CauseVerdict]),
    Tuning(&'r Tuned),
    Matrix(&'r MatrixReport),
    Imported(&'r ImportedReport),
}

impl Report {
    /// What it is of: a comparison that was cut short is of the ladder, which the plan as it stands has.
    pub(super) fn shows(&self) -> Shows<'_> {
        if let Some(matrix) = &self.matrix {
            return Shows::Matrix(matrix);
        }
        if let Some(tuned) = self.tuning.as_ref().filter(|tuned| !tuned.rounds.is_empty()) {
            return Shows::Tuning(tuned);
        }
        match (&self.imported, &self.arms, self.suites.as_slice()) {
            (Some(imported), ..) => Shows::Imported(imported),
            (_, Some(compared), _) if !self.verdicts.is_empty() => Shows::Diagnosis(compared, &self.verdicts),
            (_, Some(compared), _) => Shows::Comparison(compared),
            (.., []) => Shows::Ladder,
            (.., suites) => Shows::Suites(suites),
        }
    }
}

/// What was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The program's version.
    pub version: String,
    /// The seed of every shuffled order.
    pub seed: u64,
    /// A hash of the plan, the seed apart.
    pub plan_hash: String,
    /// The profile's name.
    pub profile: String,
    /// The start.
    pub utc: String,
    /// The share of runs whose interval is to hold the true median.
    pub confidence: f64,
    /// The hosts as they were asked for.
    pub target: String,
    /// The arguments.
    pub command: Vec<String>,
    /// The knobs that were set, for all rungs or for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// The passes that the profile asks for.
    pub planned_passes: u32,
    /// The hosts.
    pub hosts: Vec<HostEntry>,
    /// The interfaces between the hosts.
    pub interfaces: Vec<InterfaceEntry>,
    /// The MTU between the hosts.
    pub mtu: Option<u64>,
    /// The least that a connection found on the path, where it is smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_mtu: Option<u64>,
    /// The rate of the line or of the token bucket between the hosts.
    pub line_bps: Option<f64>,
    /// The congestion controls of the connections.
    pub congestion_control: Vec<String>,
    /// Whether the CPUs of sleeping ends were kept awake; null where no end slept.
    pub kept_awake: Option<bool>,
    /// What was asked of who listens, and on which ports; null where nothing was.
    #[serde(default)]
    pub listening: Option<ListeningEntry>,
    /// How it ended; absent of what is not measured in passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<EndedEntry>,
}

/// How a run in passes ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndedEntry {
    /// The passes that were made.
    pub passes: u32,
    /// The passes that were asked for.
    pub of: u32,
    /// What ended it.
    pub by: EndedBy,
    /// The time that it took.
    pub spent_ns: u64,
    /// How many times as long as was predicted the steps of its passes took.
    pub slower: f64,
}

/// What ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// The number of passes that was asked for.
    Passes,
    /// Its time, or that all intervals were narrow before.
    Time,
    /// Whoever ran it.
    Interrupted,
    /// A failure.
    Failed,
    /// Nobody knows: the recording ends within it.
    CutOff,
}

/// What was asked of the ends that listen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListeningEntry {
    /// The ports that they might use.
    pub ports: Option<String>,
    /// The host that listens.
    pub host: Option<HostId>,
    /// The rungs whose library chooses for itself.
    pub not_of: Vec<String>,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostEntry {
    /// Its name in this report.
    pub host: HostId,
    /// How it was reached.
    pub reached: String,
    /// Hosts with the same value share their CPUs.
    pub machine: String,
    /// Its CPUs' model.
    pub cpu_model: Option<String>,
    /// The number of CPUs that the measurement may use.
    pub cpus: usize,
    /// Its kernel's release.
    pub kernel: Option<String>,
    /// The address that data came from and went to, where it is known; of a link-local one with its interface there.
    #[serde(default)]
    pub address: Option<String>,
}

/// An interface between the hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceEntry {
    /// Its name on its host.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
}

/// One layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderEntry {
    /// The rung's name.
    pub id: String,
    /// The rung's name for readers.
    pub title: String,
    /// The rung below.
    pub below: Option<String>,
    /// The host whose layer below was compared, where that one is in a host.
    pub below_host: Option<HostId>,
    /// The host of a layer in a host.
    pub host: Option<HostId>,
    /// `a>b`, or `a<>b` for both ways at once, of a layer between hosts.
    pub direction: Option<String>,
    /// The message size of the throughput.
    pub message_bytes: u64,
    /// The message size of the half round trips.
    pub latency_bytes: u64,
    /// Parallel connections.
    pub flows: u32,
    /// How the bytes reach the kernel in the stream; null where no end waits.
    pub engine: Option<String>,
    /// The engine that looks before the passes found to be the fastest; absent where the engine is what is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_engine: Option<String>,
    /// The CPUs of the sending end, then of the receiving end.
    pub placement: Vec<u32>,
    /// Throughput at `message_bytes`, by the receiver's bytes and clock.
    pub throughput_bps: Option<Estimate>,
    /// The share of that stream's datagrams that did not arrive; null where none can be lost.
    pub lost_share: Option<Estimate>,
    /// Half of a round trip at `latency_bytes`.
    pub half_round_trip_ns: HalfRoundTrip,
    /// Throughput as a share of the layer below, paired within passes.
    pub kept_of_below: Option<Estimate>,
    /// The rate of the stage that this layer adds, if it works in sequence with the layer below.
    pub stage_bps: Option<f64>,
    /// What a half round trip costs over the layer below, paired within passes.
    pub cost: Option<Cost>,
    /// CPU time of the stream's threads.
    pub cpu_ns_per_byte: Option<CpuTime>,
    /// The same over message sizes: what a message costs, and what a byte.
    pub cpu_model: CpuModelEntry,
    /// Segments sent again during the streams.
    pub retransmits: Option<u64>,
    /// How far equal runs lie apart, beside the intervals within this run; null where that is unknown.
    pub between_run: BetweenRun,
    /// What binds, where that can be told.
    pub bound: Option<BoundEntry>,
    /// The bound that a perfect fix of the binding one runs into.
    pub next_bound: Option<BoundEntry>,
    /// Every bound that is known.
    pub bounds: Vec<BoundEntry>,
    /// Where nothing binds: the time a byte that all bounds one after the other do not explain.
    pub unexplained_ns_per_byte: Option<f64>,
    /// Why nothing was measured: `unavailable`, and what to try then: `hint`.
    #[serde(flatten, with = "whole")]
    #[schemars(with = "whole::Whole")]
    pub unavailable: Option<NotMeasured>,
    /// What was left out.
    #[serde(with = "of_layer")]
    #[schemars(with = "Vec<of_layer::OfLayer>")]
    pub not_measured: Vec<NotMeasured>,
    /// What makes it doubtful.
    pub warnings: Vec<WarningEntry>,
}

/// Half of a round trip, by how the ends wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HalfRoundTrip {
    /// Asking again and again.
    pub polling: Option<Estimate>,
    /// Sleeping in the kernel.
    pub sleeping: Option<Estimate>,
}

/// How far equal runs lie apart, by figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BetweenRun {
    /// Of `throughput_bps`.
    pub throughput: Option<SpreadEntry>,
    /// Of `half_round_trip_ns.polling`.
    pub polling: Option<SpreadEntry>,
    /// Of `half_round_trip_ns.sleeping`.
    pub sleeping: Option<SpreadEntry>,
}

/// The spread of equal runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpreadEntry {
    /// A further run lies within this share of the centre with 95 %.
    pub share: f64,
    /// The centre of the runs: bits a second, or nanoseconds.
    pub centre: f64,
    /// The number of runs, this one apart.
    pub runs: u32,
    /// Earlier runs of the same plan, or the short ones of `linerate calibrate`.
    pub source: SpreadSource,
}

/// Half of the topmost layer's round trip in parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaterfallEntry {
    /// How the ends waited.
    pub wait: Wait,
    /// The message size.
    pub message_bytes: u64,
    /// The whole.
    pub total_ns: Estimate,
    /// What the wire alone takes; null where its rate is not known.
    pub ideal_ns: Option<f64>,
    /// What each layer adds, from the bottom up; the wire's time is taken out.
    pub gaps: Vec<GapEntry>,
}

/// What one layer adds to the one below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GapEntry {
    /// The rung's name.
    pub id: String,
    /// The host of a layer in a host.
    pub host: Option<HostId>,
    /// The direction of a layer between hosts.
    pub direction: Option<String>,
    /// The time; may be negative.
    pub ns: Estimate,
    /// Its share of all that is not the wire's time.
    pub share: f64,
}

/// CPU time as a line over message sizes, where the ends sleep while they wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuModelEntry {
    /// Of the sending threads.
    pub sender: Option<CpuCost>,
    /// Of the receiving threads.
    pub receiver: Option<CpuCost>,
}

/// A rate that cannot be passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundEntry {
    /// What bounds: `link`, `sender-cpu`.
    pub name: String,
    /// The rate.
    pub bps: f64,
    /// The lower end of its interval; null where it does not vary or too few values made it.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
    /// Whether it explains the measured rate.
    pub explains: bool,
    /// What it was computed from.
    pub evidence: String,
}

/// A warning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarningEntry {
    /// Its code.
    pub code: String,
    /// What it means, and how much of it there was.
    pub text: String,
    /// How much of it there was, alone.
    pub detail: String,
    /// What to try.
    pub hint: String,
    /// How much of it there was, as numbers.
    pub evidence: Value,
}

/// One long stream at one receiving end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// The rung's name.
    pub id: String,
    /// Who sends what when.
    pub pattern: Pattern,
    /// Parallel connections.
    pub flows: u32,
    /// The host that sends.
    pub from: HostGroup,
    /// The host that receives.
    pub to: HostGroup,
    /// The host whose clock and bytes these are.
    pub host: HostId,
    /// The message size.
    pub message_bytes: u64,
    /// Slices at the beginning that are warm-up.
    pub lead: u32,
    /// When it had warmed up, in seconds since it began: from where it is steadiest (MSER-5).
    pub steady_from_s: f64,
    /// The rate from then on.
    pub steady_bps: Option<f64>,
    /// The rate with its ramp, as an application sees it that sends so much.
    pub whole_bps: Option<f64>,
    /// The end of each slice, in seconds since the stream began.
    pub at_s: Vec<f64>,
    /// The rate of each slice.
    pub throughput_bps: Vec<Option<f64>>,
    /// What was sampled meanwhile.
    pub sampled: Vec<Sampled>,
}
