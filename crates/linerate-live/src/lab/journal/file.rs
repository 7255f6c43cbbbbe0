//! A journal's file: its lines, made and read.

use super::super::process_journal::{self, ProcessJournal};
use super::{Kind, is_mark};
use crate::Result;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The longest journal that is read: a process writes two lines.
const LONGEST: u64 = 64 << 10;

/// Something that is made, or was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What it is.
    pub kind: Kind,
    /// What it carries.
    pub mark: String,
}

/// This process's own.
#[derive(Debug)]
pub struct Journal(ProcessJournal<Line>);

impl Line {
    /// A new one, with a mark that nobody guesses.
    pub fn new(kind: Kind) -> Line {
        Line { kind, mark: format!("{:032x}", rand::random::<u128>()) }
    }
}

/// Where the journals are.
pub fn folder(base: &Path) -> Result<PathBuf> {
    process_journal::folder(base, "journal")
}

impl Journal {
    /// An empty one.
    pub fn create(base: &Path) -> Result<Journal> {
        Ok(Journal(ProcessJournal::create(&folder(base)?)?))
    }

    /// Writes a line, which is on disk when this returns.
    pub fn write(&mut self, line: Line) -> Result<()> {
        self.0.write(line)
    }

    /// The marks of one kind.
    pub fn marks_of(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.0.lines().iter().filter(move |line| line.kind == kind).map(|line| line.mark.as_str())
    }

    /// The first mark of one kind.
    pub fn mark_of(&self, kind: Kind) -> Option<&str> {
        self.marks_of(kind).next()
    }

    /// Removes it, unless what it tells of goes on.
    pub fn close(self, goes_on: bool) {
        if !goes_on {
            self.0.remove();
        }
    }
}

/// What a journal says; the error says why it is none.
pub fn read(file: &File) -> std::result::Result<Vec<Line>, String> {
    let lines: Vec<Line> = process_journal::read(file, LONGEST)?;
    match lines.iter().all(|line| is_mark(&line.mark)) {
        true => Ok(lines),
        false => Err("a mark that is none".into()),
    }
}
