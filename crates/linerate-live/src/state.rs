//! What is kept from run to run: calibrations and the history of medians, in one folder.
//!
//! | file | what | written |
//! |---|---|---|
//! | `calibration-KEY.json` | the hosts' figures, and the spread of short equal runs by target | by rename, under a lock |
//! | `history.jsonl` | a line a completed run: its plan's hash and its medians | under a lock |
//! | `baseline-NAME.json` | runs that others are compared with | by rename, under a lock |
//!
//! Both are written while a lock is held, and what a writer that died had begun is removed by the next one.
//!
//! KEY stands for the kind of target and for the machines. A file that is missing says nothing; one
//! that cannot be used is said once and left alone. Sizes are bounded on reading and on writing.

mod baseline;
mod history;
mod key;
mod spread;
mod store;
#[cfg(test)]
mod tests;

pub use baseline::Baseline;
pub use history::Entry;
pub use key::{facts_hash, identity, key};
pub use spread::spreads;
pub use store::{CalibratedHost, EqualRuns, Stored};

use crate::plan::Plan;
use crate::record::{Calibration, HostFacts, RunSpread, SpreadSource};
use crate::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Runs from which on the history is trusted before the runs of a calibration.
pub const LEAST_RUNS: usize = 6;

/// The latest runs that the history's spread is taken from: an old machine room is another one.
const MOST_RUNS: usize = 30;

/// How the name ends of a file that is being written.
const PART: &str = "new";

/// The folder.
#[derive(Debug, Clone)]
pub struct State {
    folder: PathBuf,
}

/// What the folder knows about a run that is to be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recalled {
    /// For the recording; none where nothing is known.
    pub calibration: Option<Calibration>,
    /// What could not be used, each in a sentence.
    pub warnings: Vec<String>,
}

impl State {
    /// Keeps its files in this folder, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> State {
        State { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is known about a plan on these hosts: the hosts' figures, and the spread of equal runs, by the
    /// history where it is long enough, else by the runs of a calibration against the same target.
    pub fn recall(&self, plan: &Plan, hosts: &[HostFacts]) -> Recalled {
        let mut recalled = Recalled::default();
        if !self.parts().is_empty() {
            // What cannot be removed is in nobody's way.
            let _ = self.lock();
        }
        let key = key(plan.target.kind(), hosts);
        let stored = self.load(&key).unwrap_or_else(|error| {
            recalled.warnings.push(format!("{error}; `linerate calibrate` writes it anew"));
            None
        });
        let fresh = stored.filter(|stored| {
            if stored.is_stale(hosts) {
                let what = "the kernel or the CPUs changed since the calibration, so it is not used";
                recalled.warnings.push(format!("{what}; `linerate calibrate` makes a new one"));
            }
            !stored.is_stale(hosts)
        });
        let history = self.history(&key, &plan.hash()).unwrap_or_else(|error| {
            recalled.warnings.push(format!("{error}; it is not used"));
            Vec::new()
        });
        let mut found = Vec::new();
        if history.len() >= LEAST_RUNS {
            let latest = &history[history.len().saturating_sub(MOST_RUNS)..];
            let medians: Vec<_> = latest.iter().map(|entry| entry.medians.clone()).collect();
            found = spreads(&medians, SpreadSource::History);
            found.retain(|spread| spread.runs as usize >= LEAST_RUNS);
        }
        let runs = fresh.as_ref().and_then(|stored| stored.runs.get(&plan.target.to_string()));
        let known = |found: &[RunSpread], spread: &RunSpread| {
            found.iter().any(|other| (&other.layer, other.of) == (&spread.layer, spread.of))
        };
        for spread in runs.map_or(&[][..], |runs| &runs.spreads) {
            if !known(&found, spread) {
                found.push(spread.clone());
            }
        }
        if fresh.is_some() || !found.is_empty() {
            recalled.calibration = Some(Calibration {
                utc: fresh.as_ref().and_then(|stored| stored.utc.clone()),
                hosts: fresh.map_or(Vec::new(), |stored| stored.figures),
                spreads: found,
            });
        }
        recalled
    }

    /// Makes the folder, and keeps others from writing there until the lock is dropped. Parts of files that are
    /// there then are those of writers that died, and are removed.
    fn lock(&self) -> Result<File> {
        let made = std::fs::create_dir_all(&self.folder);
        made.map_err(|e| Error::io("mkdir", self.folder.display().to_string(), e))?;
        let path = self.folder.join("history.lock");
        let lock = File::create(&path).map_err(|e| Error::io("open", path.display().to_string(), e))?;
        // Where a file system has no locks, a line could be lost between two programs, and no more.
        if lock.lock().is_ok() {
            self.parts().iter().for_each(|part| _ = std::fs::remove_file(part));
        }
        Ok(lock)
    }

    /// What is being written, or was: the folder may be one that a user keeps other files in.
    fn parts(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| is_part(path)).collect()
    }
}

/// Whether a file is called as [`store::replace`] calls it while it is written: `history.77.new`.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some((file, PART)) = name.rsplit_once('.') else { return false };
    let Some((file, pid)) = file.rsplit_once('.') else { return false };
    let is_ours = file == "history" || ["calibration-", "baseline-"].iter().any(|of| file.starts_with(of));
    is_ours && !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit())
}
