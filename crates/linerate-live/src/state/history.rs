//! The medians of completed runs, one line each.

use super::State;
use super::store::replace;
use crate::record::Medians;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

/// The lines that are kept.
pub(super) const MOST_LINES: usize = 1000;

/// The longest line that is read or written: far more than a run has layers.
const LONGEST_LINE: usize = 64 << 10;

/// The longest file that is read: what the lines above can come to, as far as it is likely.
const LONGEST: u64 = 16 << 20;

/// One completed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its start.
    pub utc: String,
    /// The kind of target and the machines.
    pub key: String,
    /// What was measured, the seed apart.
    pub plan_hash: String,
    /// The program's version.
    pub version: String,
    /// Its medians, by layer.
    pub medians: Medians,
    /// The target as it is printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Where its recording was put.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<PathBuf>,
}

impl State {
    /// Adds a run. Several programs may do so at once: each holds the lock while it writes, and a line
    /// is one write, so that none is lost or torn.
    pub fn append(&self, entry: &Entry) -> Result<()> {
        let path = self.history_path();
        let name = path.display().to_string();
        let failed = |call| {
            let name = name.clone();
            move |e| Error::io(call, name, e)
        };
        let mut line = serde_json::to_vec(entry).map_err(|e| Error::usage(e.to_string(), ""))?;
        line.push(b'\n');
        if line.len() > LONGEST_LINE {
            return Err(Error::Record { file: name.clone(), what: "the run's medians are too long".into() });
        }
        let _lock = self.lock()?;
        let file = OpenOptions::new().append(true).create(true).open(&path);
        file.and_then(|mut file| file.write_all(&line)).map_err(failed("write"))?;
        let lines = self.lines()?;
        if lines.len() > MOST_LINES {
            let kept = lines[lines.len() - MOST_LINES..].concat();
            replace(&path, &kept)?;
        }
        Ok(())
    }

    /// The runs of one plan on the same hosts, the oldest first.
    pub fn history(&self, key: &str, plan_hash: &str) -> Result<Vec<Entry>> {
        let is_of = |entry: &Entry| entry.key == key && entry.plan_hash == plan_hash;
        Ok(self.entries()?.into_iter().filter(is_of).collect())
    }

    /// All runs, the oldest first. Lines that are no runs are passed over.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        Ok(self.lines()?.into_iter().filter_map(|line| serde_json::from_slice(&line).ok()).collect())
    }

    /// The latest lines with their ends; none where there is no file.
    fn lines(&self) -> Result<Vec<Vec<u8>>> {
        let path = self.history_path();
        let name = || path.display().to_string();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("open", name(), error)),
        };
        let length = file.metadata().map_err(|e| Error::io("stat", name(), e))?.len();
        if length > LONGEST {
            let what = format!("{length} bytes long, which no history is: remove it");
            return Err(Error::Record { file: name(), what });
        }
        let mut lines = Vec::new();
        let mut source = BufReader::new(file);
        loop {
            let mut line = Vec::new();
            let count = source.read_until(b'\n', &mut line).map_err(|e| Error::io("read", name(), e))?;
            match count {
                0 => return Ok(lines),
                1..=LONGEST_LINE if line.ends_with(b"\n") => lines.push(line),
                _ => {}
            }
        }
    }

    fn history_path(&self) -> std::path::PathBuf {
        self.folder().join("history.jsonl")
    }
}
