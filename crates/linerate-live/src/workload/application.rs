//! What the ends of applications in small are told, and what they give: all sessions of a host are played together, by its one
//! worker.

use crate::Error;
use crate::pattern::Measured;
use crate::plan::{Graph, HostId, HostPair, Layout, PortRange, Setting};
use crate::transport::{Session, Task};
use serde::{Deserialize, Serialize};
use std::io;
use std::str::FromStr;
use std::time::Duration;

/// What the ends of an application are told beside their blocks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Order {
    /// The knobs that are set.
    pub settings: Vec<Setting>,
    /// The hosts of the run.
    pub hosts: Vec<HostId>,
    /// This end's host.
    pub host: HostId,
    /// This end's worker there.
    pub worker: u32,
    /// The hosts of each session.
    pub pairs: Vec<(HostId, HostId)>,
    /// The stages of a pipeline and what joins them.
    pub graph: Option<Graph>,
    /// Those of them that are connected to.
    pub listening: Vec<HostId>,
    /// The ports at which this end may listen; any where none are said.
    pub ports: Option<PortRange>,
    /// Whether they are a lab's.
    pub in_lab: bool,
    /// How long nothing may move.
    pub patience_ms: u64,
}

/// One session of this end.
pub struct PairEnd<'s> {
    /// It.
    pub session: &'s mut dyn Session,
    /// What this end does in it, and on which CPUs.
    pub task: &'s Task,
    /// Which of the step's sessions it is.
    pub pair: u32,
    /// Its connections.
    pub flows: u32,
}

/// What was measured: a session, a flow, a block.
pub type Answers = Vec<Vec<Vec<Measured>>>;

impl Order {
    /// The value of a knob, if it is set; the last setting counts. Settings were checked when they were read.
    pub fn value<T: FromStr>(&self, knob: &str) -> Option<T> {
        let set = self.settings.iter().rev().find(|setting| setting.knob == knob)?;
        set.value.parse().ok()
    }

    /// How long nothing may move.
    pub fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms.clamp(100, 600_000))
    }

    /// Who is at the other end of a session.
    pub fn other(&self, pair: u32) -> HostId {
        let known = self.pairs.get(pair as usize).copied().unwrap_or_default();
        if known.0 == self.host { known.1 } else { known.0 }
    }

    /// Where the stages of a pipeline run, and which of its places this end is: each host is one, or each worker of a single host.
    pub fn layout(&self, graph: &Graph) -> (Layout, usize) {
        if self.pairs.iter().all(|(from, to)| from == to) {
            return (graph.layout(&[], 2), self.worker as usize);
        }
        let place = self.hosts.iter().position(|host| *host == self.host).unwrap_or_default();
        (graph.layout(&self.hosts, self.hosts.len()), place)
    }

    /// The stages of a pipeline that run here.
    pub fn stages(&self) -> Vec<String> {
        let Some(graph) = &self.graph else { return Vec::new() };
        let (layout, here) = self.layout(graph);
        let own = graph.stages.iter().zip(&layout.places).filter(|(_, places)| places.contains(&here));
        own.map(|(stage, _)| stage.id.clone()).collect()
    }
}

/// The hosts of each session of a case.
pub fn ends(pairs: impl Iterator<Item = HostPair>) -> Vec<(HostId, HostId)> {
    pairs.map(|pair| (pair.from, pair.to)).collect()
}

/// What became of a connection to another host.
pub fn broken(what: &str, host: HostId, error: &io::Error) -> Error {
    let who = format!("{what} on host {host}");
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            Error::hung_up(&who, "closed its connection in mid-trial")
        }
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            Error::peer(&who, "moved no byte within the time limit", "see whether its host still answers")
        }
        io::ErrorKind::InvalidData => {
            Error::peer(&who, error.to_string(), "are both ends of the same version?")
        }
        _ => Error::peer(&who, error.to_string(), ""),
    }
}
