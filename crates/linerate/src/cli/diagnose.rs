//! `linerate diagnose`: the experiments of all causes against the path as it stands, from the arguments to the verdict.

use super::ab::{applies, connections, controls, profile, rung, shown};
use super::args::Diagnose;
use super::measure::{finished, measure, why_nothing};
use super::planned_hosts::two_hosts;
use super::recorder::Recorder;
use super::report::read_recording;
use super::run::{once, settings};
use super::value::Against;
use super::watch::lines;
use super::{settle, verdict_code};
use crate::analysis::{Layer, Verdict, analyse, has_failed};
use crate::diagnosis::{CauseVerdict, Grade, diagnose, suspects};
use crate::plan::{Carrier, Comparison, Metric, Plan, Profile, Rungs, Target, View, experiments};
use crate::record::Recording;
use crate::schedule::search_of;
use crate::vocabulary::{LATENCY_BYTES, Rung};
use crate::{Error, Result};
use std::process::ExitCode;

/// The usual length of a race; how long it is follows from what is begun.
const BLOCKS: u32 = 9;

/// What a diagnosis of each profile may take, in seconds.
const BUDGETS_S: &[(&str, u64)] = &[("quick", 90), ("standard", 240), ("thorough", 900)];

/// The messages of a path that may be slow: at 10 Mb/s one takes a tenth of a second.
const SLOW_BYTES: u64 = 128 << 10;

/// How long a stream to a real host runs before its first trial, where its round trips do not ask for more.
const WARM_UP_NS: u64 = 200_000_000;

/// Measures, prints the report, and answers with the verdict's code.
pub fn main(args: &Diagnose) -> Result<ExitCode> {
    let (run, ended) =
        measure(&plan(args)?, &args.hosts, |plan, recording| search_of(plan, recording, suspects))?;
    reported(&run, ended, args.hosts.watching.json, &args.format)
}

/// Prints the report, and answers with the verdict's code.
pub fn reported(run: &Recorder, ended: Result<()>, json: bool, format: &str) -> Result<ExitCode> {
    if ended.is_ok() && run.recording.steps.is_empty() {
        let nothing = || Error::unavailable("this rung carries no stream", "try --rung network.tcp");
        return Err(why_nothing(&run.recording).unwrap_or_else(nothing));
    }
    let ended = finished(&run.recording, ended)?;
    match json {
        true => lines::report(&run.path, &run.recording)?,
        false => shown(run, format)?,
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
    let mut arms = experiments(rung, &settings).map_err(|e| Error::usage(e.what, e.hint))?;
    if arms.is_empty() {
        let what = format!("no cause has an experiment on {}", rung.id);
        return Err(Error::usage(
            what,
            "try --rung network.tcp; `linerate list causes` shows what is changed",
        ));
    }
    arms.extend(controls(&args.base)?);
    let against_bps = args.against.as_ref().map(|against| expected(against, rung)).transpose()?;
    let design = Comparison {
        metric: Metric::Throughput,
        blocks: BLOCKS,
        extend: false,
        margin: args.margin,
        connections: connections(target),
        adaptive: true,
        against_bps,
    };
    let of_profile = BUDGETS_S.iter().find(|(name, _)| *name == args.profile).map(|(_, s)| s * 1_000_000_000);
    Ok(Plan {
        target: target.clone(),
        hosts: two_hosts(&args.hosts)?,
        profile: visits(target),
        view: View::Comparison { rungs: Rungs::named([rung.id]), design },
        settings,
        arms,
        seed: args.hosts.seed.unwrap_or_else(rand::random),
        budget_ns: args.budget.or(of_profile),
    })
}

/// What a visit sends, and for how long.
fn visits(target: &Target) -> Profile {
    let profile = profile(target, BLOCKS);
    let small = vec![LATENCY_BYTES, SLOW_BYTES];
    match target {
        Target::Ssh(_) | Target::Launched(_) => Profile { warm_up_ns: WARM_UP_NS, sizes: small, ..profile },
        Target::Lab(lab) if lab.carrier() != Carrier::Cable => Profile { sizes: small, ..profile },
        Target::Lab(_) | Target::Simulated(_) => profile,
    }
}

/// The rate that is expected on a rung: the one that was said, or the one that a recording has.
fn expected(against: &Against, rung: &Rung) -> Result<f64> {
    let path = match against {
        Against::Rate(bps) => return Ok(*bps),
        Against::Recording(path) => path,
    };
    let recording = read_recording(path)?;
    let of_rung = |layer: &&Layer| layer.rung == rung.id && layer.flows == 1 && !layer.both_ways;
    let analysis = analyse(&recording);
    let measured = analysis.layers.iter().filter(of_rung).find_map(|layer| layer.throughput_bps);
    measured.map(|estimate| estimate.median).ok_or_else(|| {
        let what = format!("{} has no stream of one connection on {}", path.display(), rung.id);
        Error::usage(what, "name a recording of this rung, or a rate: --against 40Gb/s")
    })
}
