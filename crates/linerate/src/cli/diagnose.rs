//! `linerate diagnose`: the experiments of all causes against the path as it stands, from the arguments to the verdict.

use super::ab::{applies, connections, controls, profile, rung, shown};
use super::args::Diagnose;
use super::measure::{finished, measure, why_nothing};
use super::planned_hosts::two_hosts;
use super::run::{once, settings};
use super::watch::lines;
use super::{settle, verdict_code};
use crate::analysis::{Verdict, analyse, has_failed};
use crate::diagnosis::{CauseVerdict, Grade, diagnose};
use crate::plan::{Arm, Comparison, Metric, Plan, Rungs, Setting, SettingError, View};
use crate::record::Recording;
use crate::schedule::schedule_of;
use crate::vocabulary::{CAUSES, Cause, Rung};
use crate::{Error, Result};
use std::process::ExitCode;

/// So many blocks can prove each of a dozen experiments different: the least p of n blocks is 2 in 2 to the n, and Holm
/// multiplies it by twelve.
const BLOCKS: u32 = 9;

/// Measures, prints the report, and answers with the verdict's code.
pub fn main(args: &Diagnose) -> Result<ExitCode> {
    let (run, ended) = measure(&plan(args)?, &args.hosts, schedule_of)?;
    if ended.is_ok() && run.recording.steps.is_empty() {
        let nothing = || Error::unavailable("this rung carries no stream", "try --rung network.tcp");
        return Err(why_nothing(&run.recording).unwrap_or_else(nothing));
    }
    let ended = finished(&run.recording, ended)?;
    match args.hosts.watching.json {
        true => lines::report(&run.path, &run.recording)?,
        false => shown(&run, &args.format)?,
    }
    let verdict = verdict(&run.recording);
    match run.unless_stopped(ended) {
        Ok(()) if !has_failed(&run.recording) => Ok(verdict_code(verdict)),
        ended => settle(&run.recording, ended),
    }
}

/// Whether a fault is proved, or none is there, of all that were looked for.
fn verdict(recording: &Recording) -> Verdict {
    let causes = diagnose(recording, &analyse(recording)).causes;
    let has = |grades: &[Grade]| {
        causes.iter().any(|one: &CauseVerdict| one.is_fault && grades.contains(&one.grade))
    };
    match () {
        () if has(&[Grade::Proved]) => Verdict::Different,
        () if causes.is_empty() || has(&[Grade::CannotTell, Grade::Consistent]) => Verdict::CannotTell,
        () => Verdict::Same,
    }
}

/// The plan that the arguments ask for.
fn plan(args: &Diagnose) -> Result<Plan> {
    let target = &args.hosts.target;
    let rung = rung(args.rung.as_ref(), &args.hosts, BLOCKS)?;
    once("--base", &args.base)?;
    args.base.iter().try_for_each(|setting| applies(setting, rung))?;
    let settings = settings(target, &args.base)?;
    let mut arms: Vec<Arm> = CAUSES
        .iter()
        .map(|cause| experiments(cause, rung, &settings))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .flatten()
        .collect();
    if arms.is_empty() {
        let what = format!("no cause has an experiment on {}", rung.id);
        return Err(Error::usage(
            what,
            "try --rung network.tcp; `linerate list causes` shows what is changed",
        ));
    }
    arms.extend(controls(&args.base)?);
    let design = Comparison {
        metric: Metric::Throughput,
        blocks: BLOCKS,
        extend: false,
        margin: args.margin,
        connections: connections(target),
    };
    Ok(Plan {
        target: target.clone(),
        hosts: two_hosts(&args.hosts)?,
        profile: profile(target, BLOCKS),
        view: View::Comparison { rungs: Rungs::named([rung.id]), design },
        settings,
        arms,
        seed: args.hosts.seed.unwrap_or_else(rand::random),
        budget_ns: None,
    })
}

/// The experiments of a cause on a rung, but for what holds there already.
fn experiments(cause: &Cause, rung: &Rung, settings: &[Setting]) -> Result<Vec<Arm>> {
    let arm = |text: &&str| -> Result<Arm> {
        let changed: std::result::Result<Vec<Setting>, SettingError> =
            text.split('+').map(str::parse).collect();
        let changed = changed.map_err(|e| Error::usage(e.what, e.hint))?;
        Ok(Arm { cause: Some(cause.name.into()), ..Arm::candidate(changed) })
    };
    let arms = cause.experiments.iter().map(arm).collect::<Result<Vec<Arm>>>()?;
    let changes = |arm: &Arm| {
        let is_there = |setting: &Setting| {
            settings.iter().any(|held| (&held.knob, &held.value) == (&setting.knob, &setting.value))
        };
        arm.settings.iter().all(|setting| applies(setting, rung).is_ok())
            && !arm.settings.iter().all(is_there)
    };
    Ok(arms.into_iter().filter(changes).collect())
}
