//! `linerate tune`: a search for settings that gain, from the arguments to what is kept.

mod candidates;

use super::ab::{applies, connections, controls, profile, rung, shown, sizes};
use super::args::{Hosts, Keep, Tune};
use super::measure::{finished, measure, why_nothing};
use super::planned_hosts::two_hosts;
use super::recorder::{Recorder, create_folder};
use super::run::{once, settings};
use super::watch::lines;
use super::{print, settle, tell, verdict_code};
use crate::analysis::{ALPHA, Verdict, has_failed, tuned};
use crate::plan::{
    Arm, Comparison, Plan, Profile, RACE_BLOCKS, Rungs, SCREENING_BLOCKS, Tuning, View, race_blocks,
};
use crate::record::Recording;
use crate::report::keep;
use crate::schedule::schedule_of;
use crate::unit::percent;
use crate::vocabulary::Rung;
use crate::{Error, Result};
use candidates::{Candidate, LeftOut, candidates};
use std::path::Path;
use std::process::ExitCode;

/// Blocks beyond the fewest that can prove anything: one that falls out otherwise is no end of it.
const SPARE_BLOCKS: u32 = 1;

/// Measures, prints the report, and answers with the verdict's code.
pub fn main(args: &Tune) -> Result<ExitCode> {
    let rung = rung(args.rung.as_ref(), &args.hosts, RACE_BLOCKS)?;
    let (tried, left_out) = tried(args, rung)?;
    if args.dry_run {
        print(&dry(rung, &tried, &left_out))?;
        return Ok(ExitCode::SUCCESS);
    }
    let keep = if args.apply { Keep::Proved } else { Keep::Nothing };
    let hosts = Hosts { keep, ..args.hosts.clone() };
    let (run, ended) = measure(&plan(args, rung, &tried)?, &hosts, schedule_of)?;
    let is_over = ended.is_ok();
    // What was found is told first: files that cannot be written lose none of it. What is kept has its files, also where nothing
    // could be printed.
    let code = reported(&run, ended, args.hosts.watching.json, &args.format);
    if args.apply && is_over {
        written(&run.recording, &run.path)?;
    }
    code
}

/// Prints the report, and answers with the verdict's code.
pub fn reported(run: &Recorder, ended: Result<()>, json: bool, format: &str) -> Result<ExitCode> {
    if ended.is_ok() && run.recording.steps.is_empty() {
        let nothing =
            || Error::unavailable("this rung has no such metric", "try --metric or --rung network.tcp");
        return Err(why_nothing(&run.recording).unwrap_or_else(nothing));
    }
    let ended = finished(&run.recording, ended)?;
    match json {
        true => lines::report(&run.path, &run.recording)?,
        false => shown(run, format)?,
    }
    let verdict = tuned(&run.recording).map_or(Verdict::CannotTell, |tuned| tuned.verdict());
    match run.unless_stopped(ended) {
        Ok(()) if verdict == Verdict::Different || !has_failed(&run.recording) => Ok(verdict_code(verdict)),
        ended => settle(&run.recording, ended),
    }
}

/// Writes how to keep what is proved into a folder beside the recording, and says where that is.
fn written(recording: &Recording, path: &Path) -> Result<()> {
    let files = keep::files(recording);
    if files.is_empty() {
        tell("nothing is proved, so nothing is kept");
        return Ok(());
    }
    let folder = path.with_extension("keep");
    create_folder(&folder)?;
    for (name, text) in files {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|e| Error::io("write", file.display().to_string(), e))?;
    }
    tell(&format!("how to keep it, and how to undo it: {}", folder.display()));
    Ok(())
}

fn tried(args: &Tune, rung: &Rung) -> Result<(Vec<Candidate>, LeftOut)> {
    once("--base", &args.base)?;
    args.base.iter().try_for_each(|setting| applies(setting, rung))?;
    let held = settings(&args.hosts.target, &args.base)?;
    candidates(rung, &held, &args.knobs, args.may_change_hosts())
}

/// The plan that the arguments ask for.
fn plan(args: &Tune, rung: &Rung, tried: &[Candidate]) -> Result<Plan> {
    let target = &args.hosts.target;
    let mut arms: Vec<Arm> = tried.iter().map(Candidate::arm).collect();
    arms.extend(controls(&args.base)?);
    // A job that is started for each connection is dear: new in each block is enough, and no more blocks than a proof takes.
    let is_launched = rung.transport.foreign;
    let enough = race_blocks(tried.len(), ALPHA) + SPARE_BLOCKS;
    let blocks = if is_launched { enough.min(RACE_BLOCKS) } else { RACE_BLOCKS };
    let comparison = Comparison {
        metric: args.metric(),
        blocks,
        extend: false,
        adaptive: false,
        against_bps: None,
        hosts: false,
        margin: args.margin,
        connections: if is_launched { 1 } else { connections(target) },
    };
    let design = Tuning { comparison, screening: SCREENING_BLOCKS, hosts: args.may_change_hosts() };
    Ok(Plan {
        target: target.clone(),
        hosts: two_hosts(&args.hosts)?,
        profile: Profile { sizes: sizes(args.size, args.metric()), ..profile(target, RACE_BLOCKS) },
        view: View::Tuning { rungs: Rungs::named([rung.id]), design },
        settings: settings(target, &args.base)?,
        arms,
        seed: args.hosts.seed.unwrap_or_else(rand::random),
        budget_ns: Some(args.budget),
    })
}

/// What would be tried, in its order, with what it gained elsewhere and what it may cost; then what would not, and why.
fn dry(rung: &Rung, tried: &[Candidate], left_out: &LeftOut) -> String {
    let mut text = format!("On {} these would be raced, in this order:\n\n", rung.id);
    for one in tried {
        let arm = one.arm().name;
        let entry = one.entry;
        text += &format!(
            "  {arm}\n      {}, known gain {}: {}\n",
            entry.scope.name(),
            percent(entry.gain),
            entry.source
        );
        text += &format!("      watched: {}; risk: {}\n", entry.guard, entry.risk);
    }
    if !left_out.is_empty() {
        text += "\nThese would not:\n\n";
    }
    for (entry, why) in left_out {
        text += &format!("  {:<26} {why}\n", entry.name);
    }
    text + "\nNothing was changed or measured.\n"
}
