//! `linerate diagnose`: the experiments of all causes against the path as it stands, from the arguments to the verdict.

mod running;

use super::ab::{applies, connections, controls, profile, rung, shown};
use super::args::Diagnose;
use super::measure::{finished, measure, why_nothing};
use super::planned_hosts::two_hosts;
use super::recorder::Recorder;
use super::report::read_recording;
use super::run::{once, settings};
use super::value::Against;
use super::watch::lines;
use super::{settle, tell, verdict_code};
use crate::analysis::{Layer, Verdict, analyse, compare_arms, has_failed};
use crate::diagnosis::{CauseVerdict, Grade, diagnose, suspects};
use crate::plan::{
    Carrier, Comparison, Metric, Plan, Profile, Rungs, Setting, Target, View, experiments, hindrances,
};
use crate::record::Recording;
use crate::schedule::{schedule_of, search_of};
use crate::unit::BitRate;
use crate::vocabulary::{LATENCY_BYTES, Place, Rung, SHIM_ANSWERED};
use crate::{Error, Result};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The usual length of a race; how long it is follows from what is begun.
const BLOCKS: u32 = 9;

/// What a diagnosis of each profile may take, in seconds.
const BUDGETS_S: &[(&str, u64)] = &[("quick", 90), ("standard", 240), ("thorough", 900)];

/// The messages of a path that may be slow: at 10 Mb/s one takes a tenth of a second.
const SLOW_BYTES: u64 = 128 << 10;

/// A request that is answered: less than a segment.
const REQUEST_BYTES: u64 = 1 << 10;

/// Passes of the rung below, which take this part of the time at most.
const PASSES_BELOW: u32 = 5;
const BELOW: u64 = 4;

/// How long a stream to a real host runs before its first trial, where its round trips do not ask for more.
const WARM_UP_NS: u64 = 200_000_000;

/// Measures, prints the report, and answers with the verdict's code.
pub fn main(args: &Diagnose) -> Result<ExitCode> {
    if let Some(of_running) = running::main(args) {
        return of_running;
    }
    let mut plan = plan(args)?;
    let begun = Instant::now();
    if let View::Comparison { rungs, design, .. } = &mut plan.view {
        design.against_bps =
            against(args, rungs.ids.first().and_then(|id| Rung::named(id)), design.against_bps)?;
    }
    // What the rung below took is part of what it may take, in whole seconds: without one it is nothing.
    let spent_ns = begun.elapsed().as_secs() * 1_000_000_000;
    plan.budget_ns = plan.budget_ns.map(|budget_ns| left_of(budget_ns, spent_ns));
    let (run, ended) = measure(&plan, &args.hosts, |plan, recording| search_of(plan, recording, suspects))?;
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
        Ok(()) if verdict == Verdict::Different || !has_failed(&run.recording) => Ok(verdict_code(verdict)),
        ended => settle(&run.recording, ended),
    }
}

/// Whether a fault is proved, or none is there, of all that were looked for and could be looked for in the time.
fn verdict(recording: &Recording) -> Verdict {
    let compared = compare_arms(recording);
    let is_doubted = compared
        .as_ref()
        .is_none_or(|compared| !compared.doubts.is_empty() && compared.all_there().is_none());
    let is_short = compared.is_some_and(|compared| compared.shortfall().is_some());
    let causes = diagnose(recording, &analyse(recording)).causes;
    let has = |grades: &[Grade]| {
        causes.iter().any(|one: &CauseVerdict| one.is_fault && grades.contains(&one.grade))
    };
    match () {
        () if has(&[Grade::Proved]) => Verdict::Different,
        () if causes.is_empty() || is_doubted => Verdict::CannotTell,
        () if has(&[Grade::CannotTell, Grade::Consistent]) => Verdict::CannotTell,
        () if causes.iter().any(|one| one.is_fault && one.is_left_open()) => Verdict::CannotTell,
        // What is missing is explained by what the work costs, or by nothing.
        () if is_short && !causes.iter().any(|one| one.grade == Grade::Proved) => Verdict::CannotTell,
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
    let may_change_hosts = !args.allow.is_empty();
    let arms = experiments(rung, &settings, may_change_hosts);
    let mut arms = arms.map_err(|e| Error::usage(e.what, e.hint))?;
    if arms.is_empty() {
        let what = format!("no cause has an experiment on {}", rung.id);
        return Err(Error::usage(
            what,
            "try --rung network.tcp; `linerate list causes` shows what is changed",
        ));
    }
    arms.extend(controls(&args.base)?);
    arms.extend(hindrances(rung, &settings).map_err(|e| Error::usage(e.what, e.hint))?);
    let against_bps = match &args.against {
        Some(Against::Rate(bps)) => Some(*bps),
        Some(Against::Recording(path)) => Some(of_recording(&read_recording(path)?, path, rung)?),
        Some(Against::Below) | None => None,
    };
    let design = Comparison {
        metric: Metric::Throughput,
        blocks: BLOCKS,
        extend: false,
        margin: args.margin,
        connections: connections(target),
        adaptive: true,
        against_bps,
        hosts: may_change_hosts,
    };
    Ok(Plan {
        target: target.clone(),
        hosts: two_hosts(&args.hosts)?,
        profile: with_requests(visits(target), &settings, rung),
        view: View::Comparison { rungs: Rungs::named([rung.id]), design, application: None },
        settings,
        arms,
        seed: args.hosts.seed.unwrap_or_else(rand::random),
        budget_ns: Some(budget_ns(args)),
    })
}

/// What it may take, all together.
fn budget_ns(args: &Diagnose) -> u64 {
    let of_profile =
        BUDGETS_S.iter().find(|(name, _)| *name == args.profile).map_or(BUDGETS_S[0].1, |(_, s)| *s);
    args.budget.unwrap_or(of_profile * 1_000_000_000)
}

/// What is left of it, half of it at least.
fn left_of(budget_ns: u64, spent_ns: u64) -> u64 {
    budget_ns.saturating_sub(spent_ns).max(budget_ns / 2)
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

/// Where each message is answered, it is as small as such requests are.
fn with_requests(profile: Profile, settings: &[Setting], rung: &Rung) -> Profile {
    let mut set = settings.iter().filter(|it| it.knob == SHIM_ANSWERED.name && it.applies_to(rung.id));
    match set.next_back().is_some_and(|setting| SHIM_ANSWERED.plants_fault(&setting.value)) {
        true => Profile { sizes: vec![LATENCY_BYTES, REQUEST_BYTES], ..profile },
        false => profile,
    }
}

/// What is expected on a rung: what was said, or what the rung below carries where that is asked for, or where nothing else
/// could speak of what a library does.
fn against(args: &Diagnose, rung: Option<&Rung>, said: Option<f64>) -> Result<Option<f64>> {
    let below = match (&args.against, rung) {
        (Some(Against::Below), Some(rung)) => rung.below.and_then(Rung::named).ok_or_else(|| {
            Error::usage(format!("no rung lies below {}", rung.id), "state a rate: --against 40Gb/s")
        })?,
        (None, Some(rung)) if rung.transport.foreign && rung.transport.passes_messages => {
            let Some(below) = rung.below.and_then(Rung::named) else { return Ok(said) };
            below
        }
        _ => return Ok(said),
    };
    let (run, ended) = measure(&below_plan(args, below)?, &args.hosts, schedule_of)?;
    let ended = finished(&run.recording, ended)?;
    run.unless_stopped(ended)?;
    let bps = of_recording(&run.recording, &run.path, below)?;
    tell(&format!("{} carries {}: that is what is expected", below.id, BitRate(bps)));
    Ok(Some(bps))
}

/// The plan that measures the rung below: a few passes of what is compared.
fn below_plan(args: &Diagnose, below: &Rung) -> Result<Plan> {
    let target = &args.hosts.target;
    Ok(Plan {
        target: target.clone(),
        hosts: two_hosts(&args.hosts)?,
        profile: Profile { passes: PASSES_BELOW, forward_only: true, ..visits(target) },
        view: View::Ladder(Rungs::named([below.id])),
        settings: settings(target, &[])?,
        arms: Vec::new(),
        seed: args.hosts.seed.unwrap_or_else(rand::random),
        budget_ns: Some(budget_ns(args) / BELOW),
    })
}

/// What a recording has of one connection on a rung: from the first host to the second, or of the slower one of both
/// where it lies within a host.
fn of_recording(recording: &Recording, path: &Path, rung: &Rung) -> Result<f64> {
    let analysis = analyse(recording);
    let of_rung = |layer: &&Layer| layer.rung == rung.id && layer.flows == 1 && !layer.both_ways;
    let mut measured = analysis.layers.iter().filter(of_rung).filter_map(|layer| layer.throughput_bps);
    let found = match rung.place {
        Place::InHost => measured.map(|estimate| estimate.median).reduce(f64::min),
        Place::Network => measured.next().map(|estimate| estimate.median),
    };
    found.ok_or_else(|| {
        let what = format!("{} has no stream of one connection on {}", path.display(), rung.id);
        Error::usage(what, "name a recording of this rung, or a rate: --against 40Gb/s")
    })
}
