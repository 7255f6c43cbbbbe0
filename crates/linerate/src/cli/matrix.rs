//! `linerate matrix`: who of many hosts is slow, from the arguments to the names.

mod groups;

use super::ab::{profile, rung, shown};
use super::args::Matrix;
use super::measure::{finished, measure, why_nothing};
use super::planned_hosts::first_hosts;
use super::recorder::Recorder;
use super::report::write_page;
use super::watch::lines;
use super::{SOME_FAILED, print, settle, verdict_code};
use crate::analysis::Verdict;
use crate::analysis::matrix::matrix;
use crate::plan::{Plan, Profile, Rungs, Screening, Target, View};
use crate::schedule::schedule_of;
use crate::{Error, Result};
use std::process::ExitCode;

/// How long a stream runs before it is timed: a token bucket spends its burst, a window grows.
const WARM_UP_NS: u64 = 200_000_000;

/// Measures, prints who is named, and answers with the verdict's code.
pub fn main(args: &Matrix) -> Result<ExitCode> {
    let (run, ended) = measure(&plan(args)?, &args.hosts, schedule_of)?;
    reported(&run, ended, args.hosts.watching.json, &args.format, !args.no_page)
}

/// Prints the report, and answers with the verdict's code.
pub fn reported(run: &Recorder, ended: Result<()>, json: bool, format: &str, page: bool) -> Result<ExitCode> {
    if ended.is_ok() && run.recording.steps.is_empty() {
        let nothing = || Error::unavailable("this rung carries no stream", "try --rung network.tcp");
        return Err(why_nothing(&run.recording).unwrap_or_else(nothing));
    }
    let ended = finished(&run.recording, ended)?;
    let wanted = page && matches!(ended, Ok(()) | Err(Error::Interrupted));
    let page = wanted.then(|| write_page(&run.recording, &run.path)).flatten();
    match json {
        true => lines::report(&run.path, &run.recording)?,
        false => {
            shown(run, format)?;
            let page = page.filter(|_| format == "text");
            page.map_or(Ok(()), |page| print(&format!("{}\n", page.display())))?;
        }
    }
    let verdict = matrix(&run.recording).map_or(Verdict::CannotTell, |matrix| matrix.told.verdict);
    // A host that fails is a line of the report, and the others are told of.
    match run.unless_stopped(ended) {
        // A batch prologue is not to take a host that was not measured for a healthy one.
        Ok(()) if verdict == Verdict::Same && !run.recording.lost_hosts().is_empty() => {
            Ok(ExitCode::from(SOME_FAILED))
        }
        Ok(()) => Ok(verdict_code(verdict)),
        ended => settle(&run.recording, ended),
    }
}

/// How long a stream of one direction is timed.
const ONE_NS: u64 = 400_000_000;

/// The same of both at once: acknowledgements wait behind what goes the other way, so that bytes come in heaps, and what came
/// before the clock began is in a short trial's rate.
const BOTH_NS: u64 = 2_000_000_000;

/// The plan that the arguments ask for.
fn plan(args: &Matrix) -> Result<Plan> {
    let target = &args.hosts.target;
    let hosts = target.hosts();
    if let Target::Simulated(_) = target {
        let what = "a matrix is of hosts, and a made-up machine has two that are alike";
        return Err(Error::usage(what, "try linerate matrix lab:hosts=8"));
    }
    let rung = rung(args.rung.as_ref(), &args.hosts, 1)?;
    let rounds = if args.full { hosts } else { args.partners };
    let names = groups::names(target);
    let groups = groups::groups(args.groups.as_deref(), &names)?;
    let told = names.iter().zip(0..).any(|(name, number)| *name != crate::plan::host_name(number));
    let design = Screening {
        groups,
        bidirectional: args.bidirectional,
        names: if told { names } else { Vec::new() },
        ..Screening::of_rounds(rounds, hosts)
    };
    Ok(Plan {
        target: target.clone(),
        hosts: first_hosts(&args.hosts, hosts)?,
        profile: Profile {
            name: "matrix".into(),
            trial_ns: args.trial.unwrap_or(if args.bidirectional { BOTH_NS } else { ONE_NS }),
            warm_up_ns: WARM_UP_NS,
            ..profile(target, 1)
        },
        view: View::Matrix { rungs: Rungs::named([rung.id]), design },
        settings: Vec::new(),
        arms: Vec::new(),
        seed: args.hosts.seed.unwrap_or_else(rand::random),
        budget_ns: None,
    })
}
