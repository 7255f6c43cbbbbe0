//! `linerate history`: the medians of completed runs in the order of time, and where a level changed.

use super::args::StateFolder;
use super::state::folder;
use super::{print, tell};
use crate::analysis::{History, PastRun, histories};
use crate::plan::Target;
use crate::report::{history_csv, history_json, history_text};
use crate::state::{Baseline, Entry, State};
use crate::{Error, Result};
use jiff::Timestamp;
use std::process::ExitCode;

/// Shows the medians of completed runs: for each plan and its hosts the level of each figure with the interval over runs, and
/// the runs at which a level changed. What was not measured by the same plan on the same hosts is a history of its own.
#[derive(Debug, clap::Args)]
pub struct ShowHistory {
    /// Only runs of this target, or of its kind: lab:metro, ssh://node7, slurm [default: all].
    #[arg(value_name = "TARGET")]
    pub target: Option<String>,
    /// Give the runs so far a name, for `linerate compare --baseline NAME`. They must be of one plan on the same hosts.
    #[arg(long, value_name = "NAME")]
    pub keep: Option<String>,
    /// Only runs of the plan whose hash begins so.
    #[arg(long, value_name = "HASH")]
    pub plan: Option<String>,
    /// The form of what is printed.
    #[arg(long, default_value = "text", value_parser = ["text", "json", "csv"])]
    pub format: String,
    #[command(flatten)]
    pub state: StateFolder,
}

/// Prints it.
pub fn main(args: &ShowHistory) -> Result<ExitCode> {
    let state = state(&args.state)?;
    let wanted: Vec<Entry> = state.entries()?.into_iter().filter(|entry| is_wanted(entry, args)).collect();
    let found = told(&wanted);
    if let (true, Some(target)) = (found.is_empty(), &args.target) {
        let what = format!("the history has no completed run of {target}");
        return Err(Error::usage(
            what,
            "linerate history shows all; a run is kept there when it is complete",
        ));
    }
    if let Some(name) = &args.keep {
        return keep(&state, name, &found, wanted);
    }
    print(&match args.format.as_str() {
        "json" => history_json(&found),
        "csv" => history_csv(&found)?,
        _ => history_text(&found),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The folder of the history.
pub fn state(args: &StateFolder) -> Result<State> {
    folder(args).ok_or_else(|| Error::usage("there is no folder of the history", "name one: --state DIR"))
}

fn told(entries: &[Entry]) -> Vec<History> {
    let runs: Vec<PastRun> = entries.iter().map(past).collect();
    histories(&runs)
}

fn past(entry: &Entry) -> PastRun {
    PastRun {
        utc: entry.utc.clone(),
        key: entry.key.clone(),
        plan_hash: entry.plan_hash.clone(),
        target: entry.target.clone(),
        version: entry.version.clone(),
        medians: entry.medians.clone(),
    }
}

/// By the target as it is printed or as it was typed, or by its kind.
fn is_wanted(entry: &Entry, args: &ShowHistory) -> bool {
    let of_plan = args.plan.as_ref().is_none_or(|hash| entry.plan_hash.starts_with(hash.as_str()));
    let of_target = args.target.as_ref().is_none_or(|text| {
        let printed = text.parse::<Target>().map_or_else(|_| text.clone(), |target| target.to_string());
        let kind = entry.key.rsplit_once('-').map_or("", |(kind, _)| kind);
        entry.target.as_ref() == Some(&printed) || kind == text
    });
    of_plan && of_target
}

fn keep(state: &State, name: &str, found: &[History], runs: Vec<Entry>) -> Result<ExitCode> {
    let [history] = found else {
        let plans: Vec<String> =
            found.iter().map(|one| format!("{} (plan {})", one.target, one.plan)).collect();
        let what = format!("{} histories are there: {}", found.len(), plans.join(", "));
        return Err(Error::usage(what, "choose one by its target, and by its plan: --plan HASH"));
    };
    let utc = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let path = state.keep_baseline(name, &Baseline::new(utc, runs))?;
    tell(&format!("{} runs of {} are {name}: {}", history.runs.len(), history.target, path.display()));
    Ok(ExitCode::SUCCESS)
}
