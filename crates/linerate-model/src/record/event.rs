//! The lines of a recording.

use super::tally::Tally;
use super::wire::is_zero;
use super::{
    Addition, Calibration, Environment, HostDelta, Imported, KnobRefused, NotMeasured, Original, Source,
    UnavailableTransport, Unobserved, WireAudit,
};
use crate::plan::{Beside, Block, Case, HostId, Plan, Role, Step, Why};
use crate::vocabulary::{Does, Sample};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
// The largest one comes once a recording.
#[allow(clippy::large_enum_variant)]
pub enum Event {
    /// The first line: what was asked for, by which program, when.
    Header(Header),
    /// A host: once, before the first step.
    Host(HostFacts),
    /// What was known of the hosts and of equal runs: at most once, after the hosts.
    Calibration(Calibration),
    /// A session: a new connection or mapping of one rung.
    Session(SessionRecord),
    /// What was observed around one step, after its trials.
    Step(StepRecord),
    /// One timed visit of one case and message size.
    Trial(Trial),
    /// What was sampled during a step.
    Series(Series),
    /// Something that cannot be measured here.
    #[serde(rename = "unavailable")]
    NotMeasured(NotMeasured),
    /// In place of the header: the first line of what another tool measured, and the file that it was read from.
    Source(Source),
    /// A number of another tool.
    Imported(Imported),
    /// A part of that file as it was.
    Original(Original),
    /// Where a later run went on with what an earlier one had measured.
    Addition(Addition),
    /// The last line.
    End(End),
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// `linerate.recording/1`.
    pub schema: String,
    /// The program's version.
    pub version: String,
    /// The start, by the controller's clock.
    pub utc: String,
    /// The command line in force: what a configuration file set stands in front of what was given.
    pub command: Vec<String>,
    /// What of it came from a configuration file; none where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<Defaults>,
    /// The plan.
    pub plan: Plan,
    /// The plan's hash, the seed apart.
    pub plan_hash: String,
}

/// What a configuration file added to a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Defaults {
    /// The file.
    pub file: String,
    /// The arguments that it stands for.
    pub arguments: Vec<String>,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Its name in this recording: `a`, `b`.
    pub host: HostId,
    /// How it was reached: `lab`, `local`, `ssh://user@name`.
    pub reached: String,
    /// The address that its peer's data goes to.
    pub address: Option<String>,
    /// Its IPv6 address, where one is known.
    #[serde(default)]
    pub address6: Option<String>,
    /// Whether its loopback interface has an IPv6 address.
    #[serde(default)]
    pub loopback6: bool,
    /// Tells machines apart: hosts with the same value share their CPUs.
    pub machine: String,
    /// The CPUs that the agent may use.
    pub cpus: Vec<u32>,
    /// The version of the program there.
    pub version: String,
    /// The transports that it has not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<UnavailableTransport>,
    /// The observers that watch nothing there, for want of a privilege.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unobserved: Vec<Unobserved>,
    /// The values of knobs that were asked for and that it would not grant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<KnobRefused>,
    /// All that could be read about the host.
    pub environment: Environment,
}

/// A knob, as asked and as read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Granted {
    /// The knob.
    pub knob: String,
    /// The value asked for; none where the default was left alone.
    pub asked: Option<String>,
    /// The value read back; none where it cannot be read.
    pub granted: Option<String>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// The pass that it belongs to.
    pub pass: u32,
    /// The rung.
    pub rung: String,
    /// Parallel connections.
    pub flows: u32,
    /// Which of the plan's arms it belongs to.
    #[serde(default)]
    pub arm: u32,
    /// This end's host.
    pub host: HostId,
    /// This end's worker.
    pub worker: u32,
    /// The knobs.
    pub granted: Vec<Granted>,
    /// Both addresses of each connection.
    pub endpoints: Vec<String>,
}

/// One flow of one role in one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// When the block began, by this host's monotonic clock.
    pub start_ns: u64,
    /// The time of each slice, for the end that keeps time; empty where a histogram says it better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices_ns: Vec<u64>,
    /// The time of the whole block.
    pub duration_ns: u64,
    /// Bytes that this end moved: received where it receives, sent where it sends.
    pub bytes: u64,
    /// Datagrams that came, where they may be lost: received by a receiver, returned to a pinger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Datagrams that did not come, where they may be lost: sent less received; exchanges given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// What only some patterns count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<Box<Tally>>,
    /// CPU time of the thread.
    pub cpu_ns: u64,
    /// Time during which the thread could run and did not: what each wake-up took, and while another one had its CPU.
    pub run_delay_ns: Option<u64>,
    /// Switches because the thread waited.
    pub voluntary_switches: u64,
    /// Switches because another one was given the CPU.
    pub involuntary_switches: u64,
    /// The CPU at the block's end.
    pub cpu: Option<u32>,
    /// Whether the thread changed its CPU during the block.
    pub migrated: bool,
    /// What the kernel says it did for this flow's engine, by name; empty where the engine has nothing to tell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel: BTreeMap<String, u64>,
}

/// What the scheduler needs at most to switch to a thread that is woken (0.4 to 3.6 us where it was measured): a wait on
/// the run queue that is the way's own, and no other process's. A process that interferes takes a slice, near 3 ms.
const WAKE_UP_NS: u64 = 5_000;

impl Flow {
    /// Time during which another thread had its CPU; what its own wake-ups took is left out.
    pub fn put_off_ns(&self) -> Option<u64> {
        Some(self.run_delay_ns?.saturating_sub(WAKE_UP_NS.saturating_mul(self.voluntary_switches)))
    }
}

/// One role in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleRecord {
    /// The host.
    pub host: HostId,
    /// What it did.
    pub does: Does,
    /// Its flows.
    pub flows: Vec<Flow>,
    /// Round trips (or copies) as an HDR histogram of nanoseconds a sample: V2, deflated, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    /// What else was timed, each a histogram of nanoseconds of the same form.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub samples: BTreeMap<Sample, String>,
    /// Which of the step's sessions it had an end of.
    #[serde(default, skip_serializing_if = "is_first")]
    pub pair: u32,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

fn is_none(ns: &u64) -> bool {
    *ns == 0
}

fn is_first(pair: &u32) -> bool {
    *pair == 0
}

/// One timed visit of one case and message size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// The step that it belongs to.
    pub step: u32,
    /// The pass; 0 never enters statistics.
    pub pass: u32,
    /// What the step was for.
    #[serde(default)]
    pub why: Why,
    /// What was measured.
    pub case: Case,
    /// The messages.
    pub block: Block,
    /// Both ends.
    pub roles: Vec<RoleRecord>,
}

/// What was observed around one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// The step's number.
    pub step: u32,
    /// The pass.
    pub pass: u32,
    /// What it was for.
    #[serde(default)]
    pub why: Why,
    /// What was measured.
    pub case: Case,
    /// Who did what.
    pub roles: Vec<Role>,
    /// What ran beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Box<Beside>>,
    /// Since the run began, by the controller's clock.
    pub at_ns: u64,
    /// From the first request to the last answer, by the controller's clock.
    pub duration_ns: u64,
    /// What the plan predicted.
    pub predicted_ns: u64,
    /// Whether the CPUs of sleeping ends were kept awake.
    pub kept_awake: bool,
    /// Whether timer slack was lowered in every measuring thread.
    pub timer_slack_lowered: bool,
    /// How long attempts took that were given up because the run was suspended meanwhile.
    #[serde(default, skip_serializing_if = "is_none")]
    pub suspended_ns: u64,
    /// Each host's counters.
    pub hosts: Vec<HostDelta>,
    /// Each connection's counters, both ends.
    pub sockets: Vec<SocketRecord>,
    /// What a lab's own wire says of itself; none where the kernel alone carries the packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireAudit>,
}

/// What a connection's `tcp_info` did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SocketRecord {
    /// The host.
    pub host: HostId,
    /// The worker.
    pub worker: u32,
    /// The flow.
    pub flow: u32,
    /// Which of the step's sessions it belongs to.
    #[serde(default, skip_serializing_if = "is_first")]
    pub pair: u32,
    /// Whether that ran beside the others.
    #[serde(default, skip_serializing_if = "is_not")]
    pub beside: bool,
    /// The congestion control in force.
    pub congestion_control: Option<String>,
    /// How long it was watched, from before its warm-up until the last message was handed over or came; 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub watched_ns: u64,
    /// Counters of `tcp_info` that moved until the last message was handed over or came, by the kernel's names without `tcpi_`.
    pub moved: BTreeMap<String, u64>,
    /// What they moved by after that, until all that stood in the send buffer was acknowledged.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drained: BTreeMap<String, u64>,
    /// Values of `tcp_info` when the last message had been handed over or had come.
    pub last: BTreeMap<String, u64>,
}

impl SocketRecord {
    /// How far a counter moved until all that was sent was acknowledged.
    pub fn until_acknowledged(&self, counter: &str) -> u64 {
        let of = |counters: &BTreeMap<String, u64>| counters.get(counter).copied().unwrap_or(0);
        of(&self.moved).saturating_add(of(&self.drained))
    }
}

/// What was sampled on one host during one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The step.
    pub step: u32,
    /// The host.
    pub host: HostId,
    /// The worker whose socket was sampled; none for the host's own counters.
    pub worker: Option<u32>,
    /// The flow whose socket was sampled.
    pub flow: Option<u32>,
    /// The times of the samples, by this host's monotonic clock.
    pub at_ns: Vec<u64>,
    /// Values by metric name, one a time.
    pub values: BTreeMap<String, Vec<f64>>,
}

impl Trial {
    /// The trials of one block: of disjoint pairs of hosts one for each that came, else one of all together.
    pub fn of_block(step: &Step, case: &Case, block: &Block, roles: Vec<RoleRecord>) -> Vec<Trial> {
        let trial = |case: Case, roles| Trial {
            step: step.number,
            pass: step.pass,
            why: step.why,
            case,
            block: *block,
            roles,
        };
        if !case.pairs.are_disjoint() {
            return vec![trial(case.clone(), roles)];
        }
        let mut by_pair: BTreeMap<u32, Vec<RoleRecord>> = BTreeMap::new();
        for role in roles {
            by_pair.entry(role.pair).or_default().push(role);
        }
        let of_pair = |(pair, case): (u32, Case)| Some(trial(case, by_pair.remove(&pair)?));
        (0..).zip(case.apart()).filter_map(of_pair).collect()
    }
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// `completed`, `interrupted` or `failed`.
    pub reason: String,
    /// What failed, if something did.
    pub error: Option<String>,
    /// Since the run began.
    pub at_ns: u64,
}
