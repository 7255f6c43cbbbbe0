//! An agent that has been started: its connection, and what tells whether it goes on.

use super::lost::LEAST_OF_MANY;
use crate::control::{ANSWERED_IN, Client, Ending};
use crate::plan::{HostAddress, HostId, Plan, PlannedHost};
use crate::{Error, Result};
use linerate_sys::child::ChildProcess;
use linerate_sys::timed_writer::TimedWriter;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How long an agent may take to end when its standard input has closed.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long an agent of another machine may take to say that it is there, where there are no hosts to go on with: that it is stopped
/// cannot be told from a control path that is away, and a connection outlives that. With what precedes the question it is a minute.
const AWAY: Duration = Duration::from_secs(55);

/// How long an agent that is reached so may take to say that it is there.
pub fn answers_in(reached: &str, plan: &Plan) -> Duration {
    let has_others = plan.may_lose_hosts() && plan.hosts.len() > LEAST_OF_MANY;
    if is_here(reached) || has_others { ANSWERED_IN } else { AWAY }
}

/// Whether it is a process of this machine.
pub fn is_here(reached: &str) -> bool {
    [LOCAL, LAB].contains(&reached)
}

/// How a process of this machine is reached: as it is, or in a lab.
pub const LOCAL: &str = "local";
pub const LAB: &str = "lab";

/// Where an agent runs, as its launcher knows it.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    /// Its place among those that were started.
    pub place: u32,
    /// The host's name.
    pub node: Option<String>,
    /// The allocation.
    pub job: Option<String>,
}

/// What tells whether an agent goes on, and what it is kept by.
#[derive(Clone)]
pub enum Lifeline {
    /// A process of ours, or its ssh.
    Process(ChildProcess),
    /// Its connection. The launchers are kept until the last of their agents has ended.
    Connection { ending: Ending, launchers: Vec<ChildProcess>, slot: Slot },
}

impl Lifeline {
    /// How it ended; none where it goes on.
    pub fn verdict(&self) -> Option<Error> {
        match self {
            Lifeline::Process(process) => process.has_ended().then(|| process.verdict().map(Error::died))?,
            Lifeline::Connection { ending, .. } => ending.error(),
        }
    }

    /// Ends it, whose connection has ended, where it is a process of ours, or its ssh: it may stand still. Elsewhere the agent that
    /// takes its place does.
    pub fn end(&self) {
        if let Lifeline::Process(process) = self {
            process.go_on();
            if !process.wait(PATIENCE) {
                process.kill();
            }
        }
    }

    /// Where the launcher put it.
    pub fn slot(&self) -> Option<&Slot> {
        match self {
            Lifeline::Process(_) => None,
            Lifeline::Connection { slot, .. } => Some(slot),
        }
    }

    /// Takes the place of another one: an allocation may be that of the launcher that started the first agents.
    pub fn after(self, before: &Lifeline) -> Lifeline {
        match (self, before) {
            (
                Lifeline::Connection { ending, launchers, slot: _ },
                Lifeline::Connection { launchers: kept, slot, .. },
            ) => {
                let launchers = [launchers, kept.clone()].concat();
                Lifeline::Connection { ending, launchers, slot: slot.clone() }
            }
            (own, _) => own,
        }
    }
}

/// An agent that has been started and not yet asked.
pub struct Started {
    pub id: HostId,
    pub reached: String,
    pub client: Client,
    pub agent: Lifeline,
    pub address: Option<HostAddress>,
    pub address6: Option<HostAddress>,
    /// Those of its further adapters.
    pub further: Vec<HostAddress>,
}

impl Started {
    /// One that speaks on its standard streams.
    pub fn new(id: HostId, reached: String, role: &str, mut command: Command) -> Result<Started> {
        let who = format!("host {id} ({reached})");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let agent = ChildProcess::start(format!("{who}: {role}"), PATIENCE, command)?;
        let Some((input, output)) = agent.streams() else {
            return Err(Error::peer(id.to_string(), "has no standard streams", ""));
        };
        let witness = agent.clone();
        let input = TimedWriter::new(input, ANSWERED_IN)?;
        let client = Client::new(who, output, input)?.attended();
        let client = client.with_post_mortem(move || witness.verdict());
        let agent = Lifeline::Process(agent);
        Ok(Started { id, reached, client, agent, address: None, address6: None, further: Vec::new() })
    }

    /// One that called back; its address is the one at which it did.
    pub fn called_back(
        id: HostId,
        reached: String,
        client: Client,
        (slot, launchers): (Slot, Vec<ChildProcess>),
    ) -> Started {
        let agent = Lifeline::Connection { ending: client.ending(), launchers, slot };
        Started { id, reached, client, agent, address: None, address6: None, further: Vec::new() }
    }

    /// What the plan says of it.
    pub fn planned<'p>(&self, plan: &'p Plan) -> Option<&'p PlannedHost> {
        plan.host(self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Rungs, Screening, View};
    use crate::record::synthetic::Synthetic;

    fn seconds(reached: &str, hosts: u32, is_matrix: bool) -> u64 {
        let recording = Synthetic { passes: 1, sizes: vec![64], ..Synthetic::default() }.recording();
        let mut plan = Plan { hosts: PlannedHost::first(hosts), ..recording.plan().unwrap().clone() };
        if is_matrix {
            let design = Screening::of_rounds(1, hosts);
            plan.view = View::Matrix { rungs: Rungs::named(["network.tcp"]), design };
        }
        answers_in(reached, &plan).as_secs()
    }

    #[test]
    fn a_path_to_one_of_two_hosts_may_be_away_longer() {
        let waits = [("ssh://b", 2, false), ("ssh://b", 2, true), ("ssh://b", 3, true), ("lab", 2, false)];
        assert_eq!(
            waits.map(|(reached, hosts, is_matrix)| seconds(reached, hosts, is_matrix)),
            [55, 55, 10, 10]
        );
    }
}
