//! `linerate compare`: two sets of recordings.

use super::args::Compare;
use super::history::state;
use super::report::{columns, read_recording};
use super::watch::warn;
use super::{print, verdict_code};
use crate::analysis::{RunNumbers, compare_runs};
use crate::report::{runs_json, runs_text};
use crate::state::Entry;
use crate::unit::counted;
use crate::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints the comparison and answers with the verdict's code.
pub fn main(args: &Compare) -> Result<ExitCode> {
    let (a, b) = match &args.baseline {
        Some(name) => with_baseline(name, args)?,
        None => (files(&args.a)?, files(args.b.as_deref().unwrap_or_default())?),
    };
    if let Some(both) = a.iter().find(|file| b.contains(file)) {
        let what = format!("{} is on both sides", both.display());
        return Err(Error::usage(what, "name another one: a run compared with itself says nothing"));
    }
    let (a, b) = (runs(&a)?, runs(&b)?);
    let is_of =
        |one: &Run| b.iter().find(|other| one.beginning.is_some() && one.beginning == other.beginning);
    if let Some((one, other)) = a.iter().find_map(|one| Some((one, is_of(one)?))) {
        let what = format!("{} and {} are of one run", one.file.display(), other.file.display());
        return Err(Error::usage(what, "name another one: a run compared with itself says nothing"));
    }
    let numbers = |runs: Vec<Run>| runs.into_iter().map(|run| run.numbers).collect::<Vec<RunNumbers>>();
    let compared = compare_runs(&numbers(a), &numbers(b), args.margin);
    let text = if args.format == "json" { runs_json(&compared) } else { runs_text(&compared, columns()) };
    print(&text)?;
    Ok(verdict_code(compared.verdict))
}

/// The recordings of a baseline, and what is compared with them: what is named, or the runs of the same plan on the same
/// hosts that came after it.
fn with_baseline(name: &str, args: &Compare) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    if args.b.is_some() {
        let what = "two sides are named beside the baseline";
        return Err(Error::usage(what, "name the one that is compared with it, or none for the runs since"));
    }
    let state = state(&args.state)?;
    let baseline = state.baseline(name)?;
    let Some(last) = baseline.runs.last() else {
        return Err(Error::usage(
            format!("the baseline {name} has no run"),
            "name others: linerate history --keep",
        ));
    };
    let a = there(&baseline.runs, &format!("the baseline {name}"))?;
    if !args.a.is_empty() {
        return Ok((a, files(&args.a)?));
    }
    let later = state.history(&last.key, &last.plan_hash)?;
    // The order is that in which runs were completed: one that was resumed began before others that were over first.
    let is_in = |one: &Entry| {
        baseline.runs.iter().any(|run| (&run.utc, &run.recording) == (&one.utc, &one.recording))
    };
    let from = later.iter().rposition(is_in).map_or(0, |at| at + 1);
    let later: Vec<Entry> = later[from..].to_vec();
    if later.is_empty() {
        let what =
            format!("no run of {} came after the baseline", last.target.as_deref().unwrap_or(&last.key));
        return Err(Error::usage(what, "make some by the same command, or name recordings"));
    }
    Ok((a, there(&later, "the history")?))
}

/// The recordings of runs, as far as they are still where they were put.
fn there(runs: &[Entry], whose: &str) -> Result<Vec<PathBuf>> {
    let found: Vec<PathBuf> =
        runs.iter().filter_map(|run| run.recording.as_ref()?.canonicalize().ok()).collect();
    let gone = runs.len() - found.len();
    if found.is_empty() {
        let what = format!("of {whose} no recording is where it was put");
        return Err(Error::usage(
            what,
            "numbers are compared from recordings: keep them, or make a new baseline",
        ));
    }
    if gone > 0 {
        warn(&format!("{gone} of {} recordings of {whose} are not where they were put", runs.len()));
    }
    Ok(found)
}

/// What a run and those that go on with it have in common.
#[derive(PartialEq)]
struct Beginning {
    /// The second in which it began.
    utc: String,
    plan_hash: String,
    seed: u64,
    /// When its first step was, since then.
    first_ns: Option<u64>,
    machines: Vec<String>,
}

/// A run with its numbers.
struct Run {
    file: PathBuf,
    /// None of another tool's.
    beginning: Option<Beginning>,
    steps: usize,
    numbers: RunNumbers,
}

/// The runs of these recordings. What was gone on with is the run that it goes on with, and the longest of them counts.
fn runs(files: &[PathBuf]) -> Result<Vec<Run>> {
    let mut found: Vec<Run> = Vec::new();
    for file in files {
        let recording = read_recording(file)?;
        let beginning = recording.header.as_ref().map(|header| Beginning {
            utc: header.utc.clone(),
            plan_hash: header.plan_hash.clone(),
            seed: header.plan.seed,
            first_ns: recording.steps.first().map(|step| step.at_ns),
            machines: recording.hosts.iter().map(|host| host.machine.clone()).collect(),
        });
        let run = Run {
            file: file.clone(),
            beginning,
            steps: recording.steps.len(),
            numbers: RunNumbers::from_recording(&recording),
        };
        match found.iter_mut().find(|known| known.beginning.is_some() && known.beginning == run.beginning) {
            Some(known) if known.steps < run.steps => *known = run,
            Some(_) => {}
            None => found.push(run),
        }
    }
    if found.len() < files.len() {
        let (of, runs) = (counted(files.len(), "recording"), counted(found.len(), "run"));
        warn(&format!("{of} are of {runs}: of each the longest counts"));
    }
    Ok(found)
}

/// The recordings that an argument names, each once.
fn files(text: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for part in text.split(',').map(Path::new) {
        if part.is_dir() {
            let entries =
                std::fs::read_dir(part).map_err(|e| Error::io("open", part.display().to_string(), e))?;
            let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
            found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")));
        } else {
            found.push(part.to_owned());
        }
    }
    for path in &mut found {
        *path = path.canonicalize().map_err(|e| Error::io("open", path.display().to_string(), e))?;
    }
    found.sort();
    found.dedup();
    if found.is_empty() {
        return Err(Error::usage(
            format!("there is no recording in {text}"),
            "make some: linerate run lab --output FOLDER; their names end in .jsonl",
        ));
    }
    Ok(found)
}
