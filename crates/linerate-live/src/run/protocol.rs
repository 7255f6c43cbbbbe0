//! What the controller asks of agents, and agents of their workers.

use crate::plan::{Block, HostAddress, LinkSettings, PortRange, Setting};
use crate::record::{
    Environment, Flow, Granted, HostDelta, KnobRefused, Series, SocketRecord, UnavailableTransport,
    Unobserved,
};
use crate::transport::{Offer, Spec, Task};
use crate::vocabulary::{Does, Sample, Wait};
use crate::workload::application::Order;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of these messages: both ends must be of the same program.
pub const PROTOCOL: &str = concat!("linerate.control/2 ", env!("CARGO_PKG_VERSION"));

/// Say what this host is.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct HelloRequest {
    /// The values of knobs that the run will ask for: the host tries them.
    pub settings: Vec<Setting>,
    /// The agent that the host had before, which is to end first; none of the first one.
    #[serde(default)]
    pub after: String,
}

/// What an agent says of itself.
#[derive(Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: String,
    /// The program's version.
    pub version: String,
    /// Its process, by its number, its start, and where numbers mean the same.
    pub process: String,
    /// Equal for hosts that share their CPUs.
    pub machine: String,
    /// The CPUs that may be used.
    pub cpus: Vec<u32>,
    /// Over ssh: the address at which this host was reached, and the one that reached it.
    pub reached_at: Option<HostAddress>,
    /// See above.
    pub reached_from: Option<HostAddress>,
    /// Whether the loopback interface has an IPv6 address.
    pub loopback6: bool,
    /// The transports that this host has not.
    pub lacks: Vec<UnavailableTransport>,
    /// The observers that watch nothing here, for want of a privilege.
    #[serde(default)]
    pub unobserved: Vec<Unobserved>,
    /// The values that it would not grant, of those that it was asked for.
    #[serde(default)]
    pub refused: Vec<KnobRefused>,
    /// All that could be read about the host.
    pub environment: Environment,
}

/// See whether ends may listen on this host as they are asked to.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListenRequest {
    /// The addresses.
    pub addresses: Vec<HostAddress>,
    /// The ports; any where none are said.
    pub ports: Option<PortRange>,
}

/// Prepare one end of a session.
#[derive(Debug, Serialize, Deserialize)]
pub struct OfferRequest {
    /// Which worker.
    pub worker: u32,
    /// The session's name.
    pub session: String,
    /// What to open.
    pub spec: Spec,
}

/// Meet the other end.
#[derive(Debug, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Which worker.
    pub worker: u32,
    /// The session's name.
    pub session: String,
    /// What the other end offered.
    pub other: Offer,
}

/// Set the links of this host, which is a lab's.
#[derive(Debug, Serialize, Deserialize)]
pub struct LinksRequest {
    /// What they are to be.
    pub links: LinkSettings,
}

/// Set this host's own settings for a case; what is not named is put back.
#[derive(Debug, Serialize, Deserialize)]
pub struct HostSettingsRequest {
    /// What they are to be.
    pub settings: Vec<Setting>,
    /// The address at which the host is measured, which tells its interface.
    pub address: Option<HostAddress>,
    /// Whether the host goes with its lab.
    pub transient: bool,
}

/// What came of a join.
#[derive(Debug, Serialize, Deserialize)]
pub struct Joined {
    /// The knobs as read back.
    pub granted: Vec<Granted>,
    /// Both addresses of each connection.
    pub endpoints: Vec<String>,
    /// The processes that work for this end beside its worker.
    #[serde(default)]
    pub processes: Vec<u32>,
}

/// Close sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseRequest {
    /// Their names; none for all.
    pub sessions: Option<Vec<String>>,
}

impl CloseRequest {
    /// Whether the session stays open.
    pub fn spares(&self, name: &String) -> bool {
        self.sessions.as_ref().is_some_and(|closed| !closed.contains(name))
    }
}

/// Run one step's part on one host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialRequest {
    /// What each session does.
    pub parts: Vec<WorkerPart>,
    /// How long what runs beside the others goes alone first.
    pub lead_ns: u64,
    /// What it may take, for sessions whose work another program does.
    pub limit_ns: u64,
    /// How often sockets and CPUs are sampled.
    pub sample_ns: Option<u64>,
}

/// What one session of one worker does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkerPart {
    /// Which worker.
    pub worker: u32,
    /// The session's name.
    pub session: String,
    /// Which of the step's sessions it is.
    pub pair: u32,
    /// Whether it runs until the others are done.
    pub beside: bool,
    /// How its ends wait.
    pub wait: Wait,
    /// The blocks, one after the other.
    pub blocks: Vec<Block>,
    /// Its tasks, at once.
    pub tasks: Vec<Task>,
    /// Its connections.
    pub flows: u32,
    /// What an application is told; none of what is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Box<Order>>,
}

/// What came of one step on one host.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrialAnswer {
    /// The host's counters.
    pub host: HostDelta,
    /// What its sessions measured.
    pub parts: Vec<PartAnswer>,
    /// What was sampled of the host.
    pub series: Vec<Series>,
}

/// What one session of one worker measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct PartAnswer {
    /// Which worker.
    pub worker: u32,
    /// Which of the step's sessions it is.
    pub pair: u32,
    /// Whether it ran until the others were done.
    pub beside: bool,
    /// A task, a block.
    pub tasks: Vec<TaskAnswer>,
    /// Its connections' counters.
    pub sockets: Vec<SocketRecord>,
    /// What was sampled of its connections.
    pub series: Vec<Series>,
    /// Whether every sleeping end's CPU was kept awake.
    pub kept_awake: bool,
    /// Whether every thread's timer slack was lowered.
    pub timer_slack_lowered: bool,
}

/// What one task measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct TaskAnswer {
    /// What it did.
    pub does: Does,
    /// Its blocks.
    pub blocks: Vec<BlockAnswer>,
}

/// What one task measured of one block.
#[derive(Debug, Serialize, Deserialize)]
pub struct BlockAnswer {
    /// A flow each.
    pub flows: Vec<Flow>,
    /// The round trips.
    pub histogram: Option<String>,
    /// What else was timed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub samples: BTreeMap<Sample, String>,
}

/// Calibrate this host.
#[derive(Debug, Serialize, Deserialize)]
pub struct CalibrateRequest {
    /// What the run would set on its sockets.
    pub settings: Vec<Setting>,
}
