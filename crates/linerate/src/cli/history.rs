//! `linerate history`: the medians of completed runs in the order of time, and where a level changed.

use super::args::{ShowHistory, StateFolder};
use super::state::folder;
use super::{print, tell};
use crate::analysis::{History, PastRun, histories};
use crate::plan::Target;
use crate::report::{history_csv, history_json, history_text};
use crate::state::{Baseline, Entry, State};
use crate::unit::counted;
use crate::{Error, Result};
use jiff::Timestamp;
use std::process::ExitCode;

/// Prints it.
pub fn main(args: &ShowHistory) -> Result<ExitCode> {
    let state = state(&args.state)?;
    let wanted: Vec<Entry> = state.entries()?.into_iter().filter(|entry| is_wanted(entry, args)).collect();
    let found = histories_of(&wanted);
    if found.is_empty() && (args.target.is_some() || args.plan.is_some() || args.keep.is_some()) {
        let of = args.target.as_ref().map_or(String::new(), |target| format!(" of {target}"));
        let what = format!("the history has no completed run{of}");
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

fn histories_of(entries: &[Entry]) -> Vec<History> {
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
    let runs = counted(history.runs.len(), "run");
    tell(&format!("{name} is {runs} of {}: {}", history.target, path.display()));
    Ok(ExitCode::SUCCESS)
}
