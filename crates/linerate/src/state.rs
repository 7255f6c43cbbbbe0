//! What is kept from run to run: calibrations and the history of medians, in one folder.
//!
//! | file | what | written |
//! |---|---|---|
//! | `calibration-KEY.json` | the hosts' figures, and the spread of short equal runs by target | by rename |
//! | `history.jsonl` | a line a completed run: its plan's hash and its medians | under a lock |
//!
//! KEY stands for the kind of target and for the machines. A file that is missing says nothing; one
//! that cannot be used is said once and left alone. Sizes are bounded on reading and on writing.

mod history;
mod key;
mod spread;
mod store;
#[cfg(test)]
mod tests;

pub use history::Entry;
pub use key::{facts_hash, identity, key};
pub use spread::spreads;
pub use store::{CalibratedHost, EqualRuns, Stored};

use crate::plan::Plan;
use crate::record::{Calibration, HostFacts, RunSpread, SpreadSource};
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// Runs from which on the history is trusted before the runs of a calibration.
pub const LEAST_RUNS: usize = 6;

/// The latest runs that the history's spread is taken from: an old machine room is another one.
const MOST_RUNS: usize = 30;

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

    fn create(&self) -> Result<()> {
        let made = std::fs::create_dir_all(&self.folder);
        made.map_err(|e| Error::io("mkdir", self.folder.display().to_string(), e))
    }
}
