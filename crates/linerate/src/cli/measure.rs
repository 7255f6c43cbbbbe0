//! The loop: the schedule says the next step, the runner runs it, the recording keeps it.

use super::args::{Hosts, Keep};
use super::kept::kept;
use super::onto::Earlier;
use super::recorder::Recorder;
use super::state;
use super::stop::Stop;
use super::traces;
use super::watch::Watcher;
use crate::plan::{Plan, Step, Target};
use crate::record::{Event, NotMeasured, Recording};
use crate::run::{HostAccess, Reaching, Runner, this_program};
use crate::schedule::{Choose, Schedule, unusable_knob};
use crate::simulation::Simulation;
use crate::unit::{Nanoseconds, significant};
use crate::vocabulary::ReasonKind;
use crate::{Error, Result};
use std::time::Duration;

/// The part of its time by which a run may be longer without a word: a quarter.
const TOLERATED: u64 = 4;

/// What runs the steps.
enum Performer<'r> {
    Hosts(Box<Runner<'r>>),
    Simulated(Box<Simulation>),
}

/// Measures what the schedule asks for. The recording is whole whatever the second answer says.
pub fn measure(
    plan: &Plan,
    args: &Hosts,
    schedule: impl Fn(&Plan, &Recording) -> Box<dyn Schedule>,
) -> Result<(Recorder, Result<()>)> {
    recorded(plan, args, None, (&schedule, Time::Wanted))
}

/// The same, on top of what an earlier run of the plan measured where there is one, within the time that was asked for.
pub fn measure_onto(
    plan: &Plan,
    args: &Hosts,
    earlier: Option<Earlier>,
    schedule: impl Fn(&Plan, &Recording) -> Box<dyn Schedule>,
) -> Result<(Recorder, Result<()>)> {
    recorded(plan, args, earlier, (&schedule, Time::Asked))
}

/// What a plan's time is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// The user's own word: what does not fit is refused, and what was longer is told.
    Asked,
    /// What a command thinks that its parts may take.
    Wanted,
}

fn recorded(
    plan: &Plan,
    args: &Hosts,
    earlier: Option<Earlier>,
    chosen: (Choose, Time),
) -> Result<(Recorder, Result<()>)> {
    let stop = Stop::listen()?;
    let mut run = Recorder::create(args, plan, earlier.as_ref(), stop.clone())?;
    // What a signal breaks on its way is no failure of its own.
    let ended = perform(plan, args, &stop, &mut run, earlier, chosen);
    let ended = ended.map_err(|error| if stop.wanted() { Error::Interrupted } else { error });
    run.end(&ended)?;
    run.watcher.ended()?;
    Ok((run, ended))
}

/// How a run ended that measured something; the error of one that did not.
pub fn finished(recording: &Recording, ended: Result<()>) -> Result<Result<()>> {
    if recording.trials.iter().any(|trial| trial.pass > 0) {
        return Ok(ended);
    }
    // There is nothing to report, but for the reason.
    let nothing = || match recording.trials.is_empty() {
        true => Error::usage("nothing was measured", "see --only and --skip"),
        false => Error::usage("the time was over before a first pass", "give it more, with --budget"),
    };
    ended.and(Err(why_nothing(recording).unwrap_or_else(nothing)))
}

/// Why nothing was measured: for what failed, or else for what cannot be here.
pub fn why_nothing(recording: &Recording) -> Option<Error> {
    let failed = |not: &&NotMeasured| not.reason.kind == ReasonKind::Failed;
    // What one experiment cannot have is no reason of the whole.
    let is_of_all = |not: &&NotMeasured| not.arm.is_none_or(|arm| arm == 0);
    let not = recording.unavailable.iter().find(failed).or(recording.unavailable.iter().find(is_of_all))?;
    let hint = &not.reason.hint;
    Some(match not.reason.kind {
        ReasonKind::Failed => Error::peer(not.what(), &not.reason.why, hint),
        _ => Error::unavailable(&not.reason.why, hint),
    })
}

fn perform(
    plan: &Plan,
    args: &Hosts,
    stop: &Stop,
    run: &mut Recorder,
    earlier: Option<Earlier>,
    (choose, time): (Choose, Time),
) -> Result<()> {
    let wanted = || stop.wanted();
    let steps = earlier.as_ref().map_or(0, |earlier| earlier.addition.after_steps);
    let mut performer = Performer::start(plan, args, steps, &wanted, run.watcher.as_mut())?;
    let asked_ns = earlier.as_ref().map_or(plan.budget_ns, |earlier| earlier.addition.budget_ns);
    match earlier {
        Some(earlier) => begin_onto(earlier, &performer.hosts(), run)?,
        None => {
            performer.hosts().into_iter().try_for_each(|event| run.keep(event))?;
            state::recall(plan, args, run)?;
        }
    }
    are_usable(plan, &run.recording)?;
    let mut schedule = choose(plan, &run.recording);
    let spent_ns = run.recording.spent_ns();
    if let Some((what, hint)) = schedule.too_short().filter(|_| time == Time::Asked && spent_ns == 0) {
        return Err(Error::usage(what, hint));
    }
    if run.recording.steps.is_empty() {
        let unavailable = schedule.unavailable().to_vec();
        unavailable.into_iter().map(Event::NotMeasured).try_for_each(|event| run.keep(event))?;
    } else {
        // It comes to where the earlier run ended, and knows the time from there on.
        schedule.next(&run.recording);
    }
    run.watcher.planned(schedule.as_ref(), &run.path);
    let ended = take_steps(schedule.as_mut(), &mut performer, stop, run);
    let took_ns = run.recording.spent_ns().saturating_sub(spent_ns);
    let longer = longer(asked_ns, took_ns).filter(|_| time == Time::Asked);
    longer.iter().for_each(|told| run.watcher.warned(told));
    // However it ended.
    let left = performer.put_back(&args.keep, ended.is_ok(), run)?;
    left.iter().for_each(|told| run.watcher.warned(told));
    ended
}

/// What is told of a run that measured for much longer than it was to.
fn longer(asked_ns: Option<u64>, spent_ns: u64) -> Option<String> {
    let is_longer = |asked_ns: &u64| spent_ns > asked_ns.saturating_add(asked_ns / TOLERATED);
    let budget_ns = asked_ns.filter(is_longer)?;
    let [spent, budget] = [spent_ns, budget_ns].map(|ns| Nanoseconds(ns as f64));
    Some(format!("measuring took {spent} instead of {budget}: a pass takes longer here than was thought"))
}

fn take_steps(
    schedule: &mut dyn Schedule,
    performer: &mut Performer,
    stop: &Stop,
    run: &mut Recorder,
) -> Result<()> {
    while let Some(step) = schedule.next(&run.recording) {
        if stop.wanted() {
            return Err(Error::Interrupted);
        }
        run.watcher.step(&step, schedule, &run.recording);
        performer.step(&step, &mut |event| run.keep_new(event))?;
    }
    Ok(())
}

/// The recording has what the earlier run measured, and says where this one goes on.
fn begin_onto(earlier: Earlier, hosts: &[Event], run: &mut Recorder) -> Result<()> {
    earlier.check(hosts)?;
    earlier.recording.body().into_iter().try_for_each(|event| run.keep(event))?;
    run.keep(Event::Addition(earlier.addition))
}

/// The hosts, with a word of what that takes.
pub fn reached<'r>(
    plan: &'r Plan,
    args: &Hosts,
    stop: &'r dyn Fn() -> bool,
    watcher: &mut dyn Watcher,
) -> Result<Runner<'r>> {
    traces::begin()?.iter().for_each(|told| watcher.warned(told));
    let folders = args.reach.remote_dirs.clone();
    let ssh = args.reach.ssh.clone();
    let means = HostAccess { program: this_program()?, ssh, folders, launch: args.reach.launch() };
    let runner = Runner::start(plan, &means, stop, &mut |reaching| match reaching {
        Reaching::Copying { host, gone, of, time } => watcher.moved(&copying(&host, gone, of, time)),
        Reaching::Elsewhere(told) | Reaching::Missing(told) => watcher.warned(&told),
        Reaching::Awaiting(hosts) => watcher.moved(&awaiting(&hosts)),
    })?;
    let mut known = Recording::default();
    runner.hosts().into_iter().for_each(|event| known.push(event));
    are_usable(plan, &known)?;
    Ok(runner)
}

/// Whether every host has what is asked for by hand.
fn are_usable(plan: &Plan, recording: &Recording) -> Result<()> {
    unusable_knob(plan, recording).map_or(Ok(()), |(what, hint)| Err(Error::usage(what, hint)))
}

/// Names that are shown of hosts that have not called back.
const MOST_AWAITED: usize = 8;

/// `waiting for n2, n3 and 4 more`.
fn awaiting(hosts: &[String]) -> String {
    let shown = hosts[..hosts.len().min(MOST_AWAITED)].join(", ");
    match hosts.len().saturating_sub(MOST_AWAITED) {
        0 => format!("waiting for {shown}"),
        more => format!("waiting for {shown} and {more} more"),
    }
}

/// `copying the program to b.example: 2.1 of 8.0 MiB, 1.4 MiB/s`.
fn copying(host: &str, gone: u64, of: u64, time: Duration) -> String {
    let mib = |bytes: f64| significant(bytes / f64::from(1 << 20), 2);
    let rate = gone as f64 / time.as_secs_f64().max(1e-3);
    format!(
        "copying the program to {host}: {} of {} MiB, {} MiB/s",
        mib(gone as f64),
        mib(of as f64),
        mib(rate)
    )
}

impl<'r> Performer<'r> {
    fn start(
        plan: &'r Plan,
        args: &Hosts,
        steps: u32,
        stop: &'r dyn Fn() -> bool,
        watcher: &mut dyn Watcher,
    ) -> Result<Self> {
        watcher.announce(match &plan.target {
            Target::Lab(_) => "building the lab",
            Target::Ssh(_) | Target::Launched(_) => "reaching the hosts",
            Target::Simulated(world) => {
                // What comes after an earlier run is not that run again.
                let simulation = Simulation::new(plan, world, plan.seed.wrapping_add(u64::from(steps)));
                return Ok(Performer::Simulated(Box::new(simulation)));
            }
        });
        Ok(Performer::Hosts(Box::new(reached(plan, args, stop, watcher)?)))
    }

    fn hosts(&self) -> Vec<Event> {
        match self {
            Performer::Hosts(runner) => runner.hosts(),
            Performer::Simulated(simulation) => simulation.hosts(),
        }
    }

    /// Puts back what was changed of the hosts, or leaves in force what of it is to be kept.
    fn put_back(&mut self, keep: &Keep, is_whole: bool, run: &Recorder) -> Result<Vec<String>> {
        let Performer::Hosts(runner) = self else { return Ok(Vec::new()) };
        let is_kept = *keep == Keep::Proved && is_whole;
        let kept = if is_kept { kept(&run.recording) } else { Vec::new() };
        if kept.is_empty() { runner.put_back() } else { runner.keep(&kept) }
    }

    fn step(&mut self, step: &Step, emit: &mut dyn FnMut(Event) -> Result<()>) -> Result<()> {
        match self {
            Performer::Hosts(runner) => runner.step(step, emit),
            Performer::Simulated(simulation) => simulation.step(step).into_iter().try_for_each(emit),
        }
    }
}
