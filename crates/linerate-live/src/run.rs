//! Executes one step: offer, join, trial, observe, emit. It decides nothing and computes no statistic.
//!
//! A [`Runner`] holds the hosts of a run and the sessions of the current pass. A session is opened when a step first asks for
//! it, and all are closed when the pass changes, so that every pass has new connections.

pub mod agent;
mod ask;
mod calibrate;
pub mod capture;
mod crossing;
mod filter;
mod greeting;
mod host;
pub mod host_settings;
mod identity;
mod launch;
mod lost;
mod open;
mod predecessor;
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

use crate::plan::{Coalescing, HostId, PATIENCE_NS, Plan, Setting, Step, Target};
use crate::record::{Event, NotMeasured};
use crate::{Error, Result};
use host::{Hosts, Watch};
use host_settings::is_of_host;
use linerate_sys::suspension;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use step::{StepFailure, events, failed, fallen, is_foreign, may_be_cut, step_sessions};

/// How long an agent may take beyond what it was asked to wait for.
const PATIENCE: Duration = Duration::from_nanos(PATIENCE_NS);

/// Whether it would come again.
fn is_final(error: &Error) -> bool {
    matches!(error, Error::Interrupted | Error::Died { .. } | Error::Silent { .. })
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
            Err(failure) if self.may_go_on_after(&failure.error) => {
                let lines = self.lines(step, &failure);
                // It says nothing of the network where a process of ours was lost, whatever became of that since.
                let fell = failure.error.is_loss_of_process();
                let restarted = self.restart(failure.error);
                let process = fell || matches!(restarted, Ok(true));
                let mut lines = lines.into_iter().map(|line| NotMeasured { process, ..line });
                lines.try_for_each(|line| emit(Event::NotMeasured(line)))?;
                restarted.map_err(|gone| gone.during(&step.case))?;
                self.tell_lost(step).into_iter().try_for_each(emit)
            }
            Err(failure) if failure.error.is_silence() => Err(failure.error.during(&step.case)),
            ended => ended.map_err(|failure| failure.error),
        }
    }

    fn attempt(&mut self, step: &Step, emit: &mut dyn FnMut(Event) -> Result<()>) -> StepResult {
        if step.pass != self.pass {
            self.close(None)?;
            self.pass = step.pass;
        }
        let (mut events, ended) = self.undisturbed(step);
        self.tell_restarted(&mut events);
        events.into_iter().try_for_each(&mut *emit)?;
        match ended {
            Ok(()) => Ok(()),
            // Who is silent is not asked to close anything.
            Err(failure) if failure.error.ends_the_run() || failure.error.is_silence() => Err(failure),
            Err(failure) => {
                self.end_failed(step, step_sessions(step), &failure.error)?;
                let mut lines = self.lines(step, &failure).into_iter();
                Ok(lines.try_for_each(|line| emit(Event::NotMeasured(line)))?)
            }
        }
    }

    /// What is on record of it: of the whole step, where nothing of it was measured.
    fn lines(&self, step: &Step, failure: &StepFailure) -> Vec<NotMeasured> {
        let whole = || vec![failed(self.plan, step, &step.case.pairs, failure, self.elapsed_ns())];
        failure.lines.clone().unwrap_or_else(whole)
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
        let (mut unopened, mut silent) = (BTreeSet::new(), Vec::new());
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
                    let failure = StepFailure { session: true, ..error.into() };
                    silent.extend(self.leave(step, step_session.pair, failure, came)?);
                    unopened.insert(step_session.pair);
                }
            }
        }
        let Some(step) = &step.without(&unopened) else { return fallen(silent) };
        if may_be_cut(step) {
            self.settle()?;
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
            silent.extend(self.leave(step, nth, error.into(), came)?);
        }
        let wire = self.hosts.audit()?;
        let Some(left) = &step.without(&is_lost) else { return fallen(silent) };
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
        // Where somebody is silent all are closed anyway.
        if !spent.is_empty() && silent.is_empty() {
            self.close(Some(spent))?;
        }
        came.extend(events(step, answers, wire, at_ns, duration_ns));
        fallen(silent)
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
}
