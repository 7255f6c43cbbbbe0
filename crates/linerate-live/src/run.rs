//! Executes one step: offer, join, trial, observe, emit. It decides nothing and computes no statistic.
//!
//! A [`Runner`] holds the hosts of a run and the sessions of the current pass. A session is opened when a step first asks for
//! it, and all are closed when the pass changes, so that every pass has new connections.

pub mod agent;
mod calibrate;
pub mod capture;
mod crossing;
mod filter;
mod host;
pub mod host_settings;
mod identity;
mod launch;
mod lost;
mod open;
mod orphaned;
mod protocol;
mod restart;
mod ssh;
mod standing_filter;
mod started;
mod step;
pub mod stream;
pub mod trace;
mod transfer;
mod trial;
mod way;
pub mod worker;

pub use crate::transport::foreign::library::this_program;
pub use host::HostAccess;
pub use launch::{Join, LaunchAccess, PLACES, SECRET, SLOT, USUAL_WAIT, join};
pub use ssh::{Reaching, RemoteFolder, Told};
pub use transfer::{FileEnd, Moving, Order};

use crate::control::{Call, Client, Limit, gather};
use crate::plan::{Coalescing, HostId, PATIENCE_NS, Plan, Setting, Step, Target};
use crate::record::{Event, NotMeasured};
use crate::{Error, Result};
use host::{Hosts, Watch};
use host_settings::is_of_host;
use linerate_sys::suspension;
use protocol::CloseRequest;
use restart::may_be_restarted;
use serde::{Serialize, de::DeserializeOwned};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use step::{StepFailure, StepSession, events, failed, is_foreign, may_be_cut, step_sessions};

/// How long an agent may take beyond what it was asked to wait for.
const PATIENCE: Duration = Duration::from_nanos(PATIENCE_NS);

/// How long hosts may take until what earlier steps left there is gone.
const SETTLED: Duration = agent::SETTLES.saturating_add(PATIENCE);

/// Whether it would come again.
fn is_final(error: &Error) -> bool {
    matches!(error, Error::Interrupted | Error::Died { .. } | Error::Silent { .. })
}

fn is_silent(error: &Error) -> bool {
    matches!(error.cause(), Error::Silent { .. })
}

/// How a step ended.
type StepResult = std::result::Result<(), StepFailure>;

/// The hosts of a run and the sessions of the current pass.
pub struct Runner<'r> {
    plan: &'r Plan,
    stop: &'r dyn Fn() -> bool,
    // Before the hosts, whose agents end with their last handle.
    watch: Watch<'r>,
    hosts: Hosts,
    unreached: Vec<(HostId, Error)>,
    begun: Instant,
    pass: u32,
    open: BTreeSet<String>,
}

impl<'r> Runner<'r> {
    /// Builds or reaches the hosts; `stop` is asked while waiting, and `told` hears what there is to say meanwhile.
    pub fn start(
        plan: &'r Plan,
        means: &HostAccess,
        stop: &'r dyn Fn() -> bool,
        told: Told<'_>,
    ) -> Result<Runner<'r>> {
        let mut hosts = Hosts::reach(plan, means, stop, told)?;
        let unreached = std::mem::take(&mut hosts.lost);
        let watch = Watch::over(&hosts, stop);
        let (begun, open) = (Instant::now(), BTreeSet::new());
        Ok(Runner { plan, stop, watch, hosts, unreached, begun, pass: 0, open })
    }

    /// Since the run began.
    pub fn elapsed_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    /// Runs one step and emits what came of it, or why it failed. What ends the run is the end of a process that it needs and that
    /// cannot be started anew, and a host that does not answer any more where there are no others to go on with.
    pub fn step(&mut self, step: &Step, emit: &mut dyn FnMut(Event) -> Result<()>) -> Result<()> {
        match self.attempt(step, emit) {
            Err(death) if may_be_restarted(&death) || self.is_one_of_many_astray(&death) => {
                let failure = StepFailure { error: death, session: false };
                self.emit_fallen(step, &failure, emit)?;
                self.restart(failure.error).map_err(|gone| gone.during(&step.case))?;
                self.tell_lost(step).into_iter().try_for_each(emit)
            }
            ended => ended,
        }
    }

    fn attempt(&mut self, step: &Step, emit: &mut dyn FnMut(Event) -> Result<()>) -> Result<()> {
        if step.pass != self.pass {
            self.close(None)?;
            self.pass = step.pass;
        }
        let (mut events, ended) = self.undisturbed(step);
        self.tell_restarted(&mut events);
        events.into_iter().try_for_each(&mut *emit)?;
        match ended {
            Ok(()) => Ok(()),
            // Whose agent is silent is not asked to close anything.
            Err(StepFailure { error, .. }) if error.ends_the_run() || is_silent(&error) => Err(error),
            Err(failure) => {
                self.end_failed(step, step_sessions(step), &failure.error)?;
                self.emit_failed(step, &failure, emit)
            }
        }
    }

    fn emit_failed(
        &self,
        step: &Step,
        failure: &StepFailure,
        emit: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        emit(Event::NotMeasured(failed(self.plan, step, &step.case.pairs, failure, self.elapsed_ns())))
    }

    /// One that fell with a process, whatever the network does.
    fn emit_fallen(
        &self,
        step: &Step,
        failure: &StepFailure,
        emit: &mut dyn FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let failed = failed(self.plan, step, &step.case.pairs, failure, self.elapsed_ns());
        emit(Event::NotMeasured(NotMeasured { process: true, ..failed }))
    }

    /// What came of a step during which the run did not stand still: one that it fell into is measured again.
    fn undisturbed(&mut self, step: &Step) -> (Vec<Event>, StepResult) {
        let mut suspended_ns = 0;
        loop {
            let begun = Instant::now();
            suspension::was_resumed();
            let mut events = Vec::new();
            let ended = self.played(step, &mut events);
            if !suspension::was_resumed() || matches!(&ended, Err(failure) if is_final(&failure.error)) {
                step::mark_suspended(&mut events, suspended_ns);
                return (events, ended);
            }
            suspended_ns += begun.elapsed().as_nanos() as u64;
            // What waited on a connection meanwhile may have given up.
            if let Err(error) = self.close(None) {
                return (Vec::new(), Err(error.into()));
            }
        }
    }

    /// What came of it, also where it ended in an error.
    fn played(&mut self, step: &Step, came: &mut Vec<Event>) -> StepResult {
        self.set_links(step)?;
        self.set_filter(step)?;
        self.set_hosts(step)?;
        let mut unopened = BTreeSet::new();
        // Last those that listen on while they are timed: where there is one port, it is theirs then.
        let mut sessions = step_sessions(step);
        sessions.sort_by_key(|step_session| step_session.case.pattern.calls());
        for step_session in sessions {
            if self.open.contains(&step_session.name) {
                continue;
            }
            match self.open(step, &step_session) {
                Ok(opened) => {
                    came.extend(opened.into_iter().map(Event::Session));
                    self.open.insert(step_session.name);
                }
                Err(error) => {
                    self.leave(step, step_session.pair, StepFailure { error, session: true }, came)?;
                    unopened.insert(step_session.pair);
                }
            }
        }
        let Some(step) = &step.without(&unopened) else { return Ok(()) };
        if may_be_cut(step) {
            self.ask_all("settle", &(), SETTLED)?;
        }
        // What the wire did before is not of this step.
        self.hosts.audit()?;
        let passed = self.filter_passed()?;
        let (at_ns, begun) = (self.elapsed_ns(), Instant::now());
        let (mut answers, mut failed) = (Vec::new(), BTreeMap::new());
        for (nth, outcome) in (0..).zip(self.trial(step)?) {
            match outcome {
                Ok(of_part) => answers.extend(of_part),
                Err(error) => drop(failed.insert(nth, error)),
            }
        }
        let duration_ns = begun.elapsed().as_nanos() as u64;
        let is_lost: BTreeSet<u32> = failed.keys().copied().collect();
        for (nth, error) in failed {
            self.leave(step, nth, error.into(), came)?;
        }
        let wire = self.hosts.audit()?;
        let Some(left) = &step.without(&is_lost) else { return Ok(()) };
        if is_foreign(step) {
            self.see_what_crossed(left, &mut answers)?;
        }
        self.see_what_passed(&passed, duration_ns, &mut answers)?;
        // What ran beside the step is spent, and what had connections of its own.
        let spent: Vec<String> = step_sessions(step)
            .into_iter()
            .filter(|step_session| step_session.beside || step_session.case.pattern.connects_anew())
            .map(|step_session| step_session.name)
            .collect();
        if !spent.is_empty() {
            self.close(Some(spent))?;
        }
        came.extend(events(step, answers, wire, at_ns, duration_ns));
        Ok(())
    }

    /// Makes a lab's links what the step asks for.
    fn set_links(&mut self, step: &Step) -> Result<()> {
        let of_lab = match &self.plan.target {
            Target::Lab(topology) => topology.coalescing,
            Target::Ssh(_) | Target::Launched(_) | Target::Simulated(_) => Coalescing::default(),
        };
        let wanted = self.plan.links_for(&step.case.rung, step.case.arm);
        self.hosts.set_links(wanted, of_lab, &|| self.watch.check())
    }

    /// Makes the hosts' own settings what the step asks for, where that is allowed: each time, for a host forgets by itself.
    fn set_hosts(&mut self, step: &Step) -> Result<()> {
        if !self.plan.may_change_hosts() {
            return Ok(());
        }
        let is_lab = matches!(self.plan.target, Target::Lab(_));
        let mut wanted: Vec<Setting> = Vec::new();
        for setting in self.plan.settings_for(&step.case.rung, step.case.arm) {
            if is_of_host(setting, is_lab) {
                wanted.retain(|one| one.knob != setting.knob);
                wanted.push(setting.clone());
            }
        }
        self.hosts.set_settings(&wanted, &|| self.watch.check())
    }

    /// Puts back what was changed of the hosts, and says what became of each setting that is not as it was.
    pub fn put_back(&mut self) -> Result<Vec<String>> {
        if !self.plan.may_change_hosts() {
            return Ok(Vec::new());
        }
        self.hosts.put_back()
    }

    /// Leaves these settings of the hosts in force.
    pub fn keep(&mut self, settings: &[Setting]) -> Result<Vec<String>> {
        // Of a lab nothing stays.
        if matches!(self.plan.target, Target::Lab(_)) {
            return self.put_back();
        }
        let kept: Vec<Setting> = settings.iter().filter(|one| is_of_host(one, false)).cloned().collect();
        self.hosts.keep_settings(&kept, &|| self.watch.check())
    }

    /// Ends sessions of which one failed. Where a host or a process has gone, that is what failed.
    fn end_failed(&mut self, step: &Step, sessions: Vec<StepSession<'_>>, error: &Error) -> Result<()> {
        self.watch.check()?;
        let names = sessions.into_iter().map(|step_session| step_session.name).collect();
        self.close(Some(names)).map_err(|closing| match closing {
            Error::Interrupted | Error::Died { .. } | Error::Silent { .. } => closing,
            _ => closing.during(&format!("{}: {error}", step.case)),
        })
    }

    /// Closes these sessions, or all.
    fn close(&mut self, sessions: Option<Vec<String>>) -> Result<()> {
        self.open.retain(|name| sessions.as_ref().is_some_and(|closed| !closed.contains(name)));
        let request = CloseRequest { sessions };
        // An end that still waits for the other one to come closes after it.
        self.ask_all("close", &request, 3 * PATIENCE)
    }

    /// Has every host do something that has no answer.
    fn ask_all(&mut self, method: &str, request: &impl Serialize, limit: Duration) -> Result<()> {
        let mut calls: Vec<(usize, Call<()>)> = Vec::new();
        for (index, host) in self.hosts.all.iter_mut().enumerate() {
            calls.push((index, host.client.begin(method, request)?));
        }
        self.gather(calls, Limit::attended(limit, Duration::ZERO)).map(drop)
    }

    fn gather<T: DeserializeOwned>(
        &mut self,
        calls: Vec<(usize, Call<T>)>,
        limit: impl Into<Limit>,
    ) -> Result<Vec<T>> {
        let mut clients: Vec<&mut Client> = self.hosts.all.iter_mut().map(|host| &mut host.client).collect();
        gather(&mut clients, calls, limit, &|| self.watch.check())
    }
}
