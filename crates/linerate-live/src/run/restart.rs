//! What becomes of a run when a host's agent ends, or a worker of it: what was under way is lost, and the run is not,
//! where the host still answers or does so again.

use super::Runner;
use super::host::{Host, Watch, asked};
use super::launch::cannot_again;
use super::protocol::CloseRequest;
use crate::plan::{HostId, Target};
use crate::record::Event;
use crate::{Error, Result};
use std::time::{Duration, Instant};

/// How long a host that is reached by ssh or by a launcher may take to come back: one that restarts takes about a minute.
const RETURN: Duration = Duration::from_secs(90);

/// Of many hosts one is not waited for as long.
const RETURN_OF_MANY: Duration = Duration::from_secs(10);

/// How long after a try comes the next one.
const PAUSE: Duration = Duration::from_secs(2);

/// How often the user is asked meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// So many agents of one host of many may be lost, with nothing measured between them: the next one would be too.
const MOST_AGENTS: u32 = 3;

impl Runner<'_> {
    /// Whether the run goes on after it: a process ended that can be started again, where one that met a limit would meet it again;
    /// or one host of many is silent, or cannot say that it closed its sessions. That gets a new agent, or the others go on without it.
    pub(super) fn may_go_on_after(&self, error: &Error) -> bool {
        match error.cause() {
            Error::Died { limit, .. } => limit.is_none(),
            Error::Silent { .. } | Error::Peer { .. } => self.plan.may_lose_hosts(),
            _ => false,
        }
    }

    /// Says with the first step after it that a host was started anew. What an agent has measured speaks for its host.
    pub(super) fn tell_restarted(&mut self, events: &mut [Event]) {
        for record in events.iter_mut() {
            let Event::Step(record) = record else { continue };
            for host in &mut self.hosts.all {
                let own = record.hosts.iter_mut().find(|delta| delta.host == host.facts.host);
                let Some(delta) = own else { continue };
                host.lost_agents = 0;
                if std::mem::take(&mut host.restarted) {
                    delta.counters.insert("host.restarts".into(), 1);
                }
            }
        }
    }

    /// Gives every host that lost a process a new agent; all sessions are closed then. Where one does not come back, what
    /// ended there is the error. Says whether there was such a host.
    pub(super) fn restart(&mut self, death: Error) -> Result<bool> {
        if self.hosts.has_lost_lab() {
            return Err(death);
        }
        self.open.clear();
        let is_gone = |host: &mut Host| host.has_lost_agent().then_some(host.facts.host);
        let fallen: Vec<HostId> = self.hosts.all.iter_mut().filter_map(is_gone).collect();
        let mut lost = self.hosts.close(&CloseRequest { sessions: None }, &|| asked(self.stop));
        asked(self.stop)?;
        let is_any = !lost.is_empty();
        let mut gone = Vec::new();
        if let Target::Launched(launched) = &self.plan.target
            && is_any
        {
            if self.launcher_is_gone() {
                return Err(death);
            }
            if !launched.starts_again() {
                let cannot = |why: &Error| {
                    let what = format!("{why}; {}", cannot_again(launched));
                    Error::Died { what, limit: None }
                };
                // Where one has ended, its launcher ends them all.
                if !self.plan.may_lose_hosts() || matches!(death.cause(), Error::Died { .. }) {
                    return Err(cannot(&death));
                }
                gone.extend(std::mem::take(&mut lost).into_iter().map(|(index, why)| (index, cannot(&why))));
            }
        }
        for (index, why) in lost {
            let host = &mut self.hosts.all[index];
            // What was seen first tells more than that it closes nothing, of the host that it was seen of.
            let is_its = death.is_loss_of_process() && fallen == [host.facts.host];
            let why = if is_its { &death } else { &why };
            // A worker that ended, and an end that closed late, may be what a library did, or a path: its agent is there.
            host.lost_agents += u32::from(why.is_silence() || host.has_lost_agent());
            host.end_agent();
            if self.plan.may_lose_hosts() && host.lost_agents >= MOST_AGENTS {
                let what = format!("{why}; it has lost {MOST_AGENTS} agents");
                gone.push((index, Error::Died { what, limit: None }));
                continue;
            }
            match self.await_return(index, why) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(_) if self.launcher_is_gone() => return Err(death),
                Err(error) => gone.push((index, error)),
                Ok(()) => {}
            }
        }
        for (index, error) in gone.into_iter().rev() {
            self.hosts.go_on_without(index, self.plan, error)?;
        }
        self.watch = Watch::over(&self.hosts, self.stop);
        Ok(is_any)
    }

    /// Starts an agent there as soon as that can be done.
    fn await_return(&mut self, index: usize, why: &Error) -> Result<()> {
        // The others wait meanwhile.
        let limit = if self.plan.may_lose_hosts() { RETURN_OF_MANY } else { RETURN };
        let deadline = Instant::now() + limit;
        loop {
            match self.hosts.restart(index, self.plan, (deadline, self.stop)) {
                // Its agents end one after the other, and the last one maybe now.
                Err(error) if self.launcher_is_gone() => return Err(error),
                Err(error) if self.is_worth_waiting(&error) && Instant::now() + PAUSE < deadline => {
                    self.pause()?
                }
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // Which has its own way out.
                Err(error) if matches!(error.cause(), Error::Limit { .. }) => return Err(error),
                Err(error) => {
                    let what = format!("{why}; it does not come back: {error}");
                    return Err(Error::Died { what, limit: None });
                }
                Ok(()) => return Ok(()),
            }
        }
    }

    /// The end of an allocation, or of a launcher that goes with its agents: nothing starts one again.
    fn launcher_is_gone(&self) -> bool {
        matches!(self.plan.target, Target::Launched(_)) && self.hosts.have_all_ended()
    }

    /// What is not reached now may be reached soon; a host of the lab is there or is not.
    fn is_worth_waiting(&self, error: &Error) -> bool {
        let may_pass =
            matches!(error, Error::Peer { .. } | Error::HungUp { .. } | Error::Died { limit: None, .. });
        may_pass && matches!(self.plan.target, Target::Ssh(_) | Target::Launched(_))
    }

    fn pause(&self) -> Result<()> {
        let until = Instant::now() + PAUSE;
        while Instant::now() < until {
            asked(self.stop)?;
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}
