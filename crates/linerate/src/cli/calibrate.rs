//! `linerate calibrate`: what the hosts can do, and how far equal runs lie apart.

mod page;

use super::args::{Calibrate, Hosts};
use super::measure::{finished, measure, reached};
use super::recorder::create_folder;
use super::report::columns;
use super::run::plan;
use super::state::folder;
use super::stop::Stop;
use super::watch::lines;
use super::{print, settle};
use crate::analysis::analyse;
use crate::plan::{Plan, Profile, Step, Target};
use crate::record::{HostCalibration, HostFacts, Medians, NotMeasured, Recording, SpreadSource};
use crate::report::Notice;
use crate::schedule::{Passes, Schedule};
use crate::state::{EqualRuns, Stored, key, spreads};
use crate::vocabulary::{LADDER_BYTES, LATENCY_BYTES};
use crate::{Error, Result};
use jiff::Timestamp;
use std::process::ExitCode;

/// Calibrates the hosts, makes the equal runs, stores and prints what came of both.
pub fn main(args: &Calibrate) -> Result<ExitCode> {
    let nowhere = || Error::usage("there is no home to keep the calibration in", "--state DIR says where");
    let state = folder(&args.hosts.state).ok_or_else(nowhere)?;
    // Before seconds are spent on what could not be written.
    create_folder(&args.hosts.output)?;
    let figures = hosts(args)?;
    let utc = (!figures.is_empty()).then(now);
    let mut made = Made::default();
    for number in 1..=args.runs {
        // A run has its own hosts, agents and connections, as any other run has.
        let plan = short(args)?;
        let schedule = |plan: &Plan, recording: &Recording| -> Box<dyn Schedule> {
            Box::new(OneOf { inner: Passes::new(plan, recording), number, of: args.runs })
        };
        let (run, ended) = measure(&plan, &args.hosts, schedule)?;
        let ended = finished(&run.recording, ended)?;
        if ended.is_err() {
            return settle(&run.recording, ended);
        }
        made.add(&plan, &run.recording);
    }
    let key = key(args.hosts.target.kind(), &made.hosts);
    let mut stored = Stored { utc, figures, ..Stored::new(key, &made.hosts) };
    let runs = EqualRuns {
        utc: now(),
        plan_hash: made.plan_hash,
        runs: args.runs,
        spreads: spreads(&made.medians, SpreadSource::Calibrate),
    };
    stored.runs.insert(args.hosts.target.to_string(), runs);
    let path = state.save(stored.clone())?;
    match args.format.as_str() {
        _ if args.hosts.watching.json => lines::print(&Notice::Calibrated {
            path: path.display().to_string(),
            calibration: serde_json::to_value(&stored).unwrap_or_default(),
        })?,
        "json" => print(&(serde_json::to_string_pretty(&stored).unwrap_or_default() + "\n"))?,
        _ => print(&page::render(&stored, &path, columns().width))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// What the runs gave so far.
#[derive(Default)]
struct Made {
    hosts: Vec<HostFacts>,
    plan_hash: String,
    medians: Vec<Medians>,
}

impl Made {
    fn add(&mut self, plan: &Plan, recording: &Recording) {
        self.hosts.clone_from(&recording.hosts);
        self.plan_hash = plan.hash();
        self.medians.push(analyse(recording).medians());
    }
}

/// The hosts' own figures; none of a machine that is made up.
fn hosts(args: &Calibrate) -> Result<Vec<HostCalibration>> {
    let plan = without_faults(short(args)?);
    if matches!(plan.target, Target::Simulated(_)) {
        return Ok(Vec::new());
    }
    let stop = Stop::listen()?;
    let wanted = || stop.wanted();
    let mut watcher = args.hosts.watching.start(&stop)?;
    watcher.announce("calibrating the hosts");
    reached(&plan, &args.hosts, &wanted, watcher.as_mut())?.calibrate()
}

/// The hosts' own figures are those of the machine, whatever was put into the lab for the runs.
fn without_faults(mut plan: Plan) -> Plan {
    if let Target::Lab(topology) = &mut plan.target {
        let of_faults = topology.settings();
        plan.settings.retain(|setting| !of_faults.contains(setting));
        topology.faults.clear();
    }
    plan
}

/// The quick plan at the sizes that the ladder states, and without its long streams.
fn short(args: &Calibrate) -> Result<Plan> {
    let hosts: &Hosts = &args.hosts;
    let quick = plan(hosts, &[], "quick", None)?;
    let sizes = vec![LATENCY_BYTES, LADDER_BYTES];
    Ok(Plan { profile: Profile { sizes, timeline_ns: 0, ..quick.profile }, ..quick })
}

/// One of several equal runs.
struct OneOf {
    inner: Passes,
    number: u32,
    of: u32,
}

impl Schedule for OneOf {
    fn next(&mut self, recording: &Recording) -> Option<Step> {
        self.inner.next(recording)
    }

    fn unavailable(&self) -> &[NotMeasured] {
        self.inner.unavailable()
    }

    fn predicted_ns(&self) -> u64 {
        self.inner.predicted_ns() * u64::from(self.of - self.number + 1)
    }

    /// The time until the last of the runs.
    fn left_ns(&self, recording: &Recording) -> u64 {
        self.inner.left_ns(recording) + self.inner.predicted_ns() * u64::from(self.of - self.number)
    }

    fn announcement(&self) -> String {
        format!("run {} of {}: {}", self.number, self.of, self.inner.announcement())
    }

    fn stage(&self, step: &Step) -> String {
        format!("run {} of {}, {}", self.number, self.of, self.inner.stage(step))
    }
}
