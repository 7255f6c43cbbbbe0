//! The folder of calibrations and of the history: where it is, what a run takes from it and leaves there.
//! A run never fails for it: what cannot be read or kept is said on standard error.

use super::args::{Hosts, StateFolder};
use super::chain;
use super::recorder::Recorder;
use super::watch::warn;
use crate::Result;
use crate::analysis::analyse;
use crate::plan::Plan;
use crate::record::{Event, Recording};
use crate::state::{Entry, State, key};
use std::path::{Path, PathBuf};

/// The folder that was asked for, or the one of the XDG Base Directory Specification; none without a home.
pub fn folder(args: &StateFolder) -> Option<State> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    // The specification has relative paths ignored.
    let absolute = |path: PathBuf| Some(path).filter(|path| path.is_absolute());
    let by_xdg = || named("XDG_STATE_HOME").and_then(absolute);
    let by_home = || named("HOME").and_then(absolute).map(|home| home.join(".local/state"));
    let asked = args.folder.clone().filter(|folder| !folder.as_os_str().is_empty());
    asked.or_else(|| Some(by_xdg().or_else(by_home)?.join("linerate"))).map(State::at)
}

/// Writes what is known of the hosts and of equal runs into the recording.
pub fn recall(plan: &Plan, args: &Hosts, run: &mut Recorder) -> Result<()> {
    let Some(state) = folder(&args.state) else {
        return Ok(());
    };
    let recalled = state.recall(plan, &run.recording.hosts);
    recalled.warnings.iter().for_each(|warning| run.watcher.warned(warning));
    recalled.calibration.map_or(Ok(()), |calibration| run.keep(Event::Calibration(calibration)))
}

/// Adds a completed run to the history.
pub fn remember(args: &Hosts, recording: &Recording, path: &Path) {
    let (Some(state), Some(header)) = (folder(&args.state), &recording.header) else {
        return;
    };
    if recording.end.as_ref().is_none_or(|end| end.reason != "completed") {
        return;
    }
    let kept = state.append(&Entry {
        utc: header.utc.clone(),
        key: key(header.plan.target.kind(), &recording.hosts),
        plan_hash: header.plan_hash.clone(),
        version: header.version.clone(),
        medians: analyse(recording).medians(),
        target: Some(header.plan.target.to_string()),
        recording: std::path::absolute(path).ok(),
    });
    if let Err(error) = kept {
        warn(&format!("this run is not in the history: {}", chain(&error)));
    }
}
