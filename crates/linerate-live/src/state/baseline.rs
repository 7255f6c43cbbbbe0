//! Runs that were given a name, so that later ones are compared with them.

use super::State;
use super::history::Entry;
use super::store::replace;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

/// The version of the file.
const SCHEMA: &str = "linerate.baseline/1";

/// The longest file that is read.
const LONGEST: u64 = 4 << 20;

/// The longest name.
const LONGEST_NAME: usize = 64;

/// Runs with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// `linerate.baseline/1`.
    pub schema: String,
    /// When it was named.
    pub utc: String,
    /// The runs, of one plan on the same hosts, the oldest first.
    pub runs: Vec<Entry>,
}

impl Baseline {
    /// These runs, from now on.
    pub fn new(utc: String, runs: Vec<Entry>) -> Baseline {
        Baseline { schema: SCHEMA.into(), utc, runs }
    }
}

impl State {
    /// Keeps it under a name; one of the same name is replaced.
    pub fn keep_baseline(&self, name: &str, baseline: &Baseline) -> Result<PathBuf> {
        let path = self.baseline_path(name)?;
        let _lock = self.lock()?;
        let text = serde_json::to_string_pretty(baseline).unwrap_or_default() + "\n";
        replace(&path, text.as_bytes())?;
        Ok(path)
    }

    /// The one of this name.
    pub fn baseline(&self, name: &str) -> Result<Baseline> {
        let path = self.baseline_path(name)?;
        let shown = path.display().to_string();
        let file = File::open(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let hint = format!("name the runs so far: linerate history TARGET --keep {name}");
                Error::usage(format!("no baseline is called `{name}`"), hint)
            }
            _ => Error::io("open", &shown, error),
        })?;
        let mut text = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut text).map_err(|e| Error::io("read", &shown, e))?;
        let broken = |what: String| Error::Record { file: shown.clone(), what };
        if text.len() as u64 > LONGEST {
            return Err(broken(format!("longer than {LONGEST} bytes, so it is no baseline")));
        }
        let found: Baseline =
            serde_json::from_slice(&text).map_err(|e| broken(format!("no baseline ({e})")))?;
        match found.schema.as_str() {
            SCHEMA => Ok(found),
            other => Err(broken(format!("its schema is `{other}`, this program reads {SCHEMA}"))),
        }
    }

    fn baseline_path(&self, name: &str) -> Result<PathBuf> {
        let legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') || !name.chars().all(legal) {
            let hint = "letters, digits, dots and dashes, 64 at most: before-upgrade";
            return Err(Error::usage(format!("`{name}` is no name of a baseline"), hint));
        }
        Ok(self.folder().join(format!("baseline-{name}.json")))
    }
}
