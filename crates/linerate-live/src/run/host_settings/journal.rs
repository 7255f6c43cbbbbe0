//! What settings of a host were, on disk before they are changed; and putting back what dead processes left.
//!
//! A journal is a file in its user's runtime directory, which the kernel's settings do not outlive either. It is called after
//! its process, which keeps a lock on it. Nothing in it is believed but a place that this program changes: such a place is
//! put back only where it still reads what was set, and only in the network namespace in which it was set.

use super::place::Place;
use super::queue::ABSENT;
use crate::lab::own_folder::{lock, path_text};
use crate::lab::process_journal::{self, ProcessJournal, named, start_of};
use crate::{Error, Result};
use linerate_sys::own_file::open_own;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, TryLockError};
use std::path::{Path, PathBuf};

/// The longest journal that is read: a search writes some lines a block.
const LONGEST: u64 = 16 << 20;

/// Journals that are looked at.
const MOST: usize = 256;

/// What a journal begins with whose settings were to stay.
const KEPT: &str = "kept-";

/// A change that is about to be made, or was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What is changed.
    place: String,
    /// What it held before the first change.
    before: String,
    /// What it is made.
    set: String,
    /// The network namespace.
    namespace: String,
}

/// What became of one setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Became {
    /// It is what it was.
    PutBack,
    /// Somebody else changed it meanwhile: it is left.
    Left,
    /// It could not be written.
    Failed,
}

/// One setting, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutBack {
    /// Which.
    pub place: String,
    /// What became of it.
    pub became: Became,
    /// What it was before it was changed.
    pub before: String,
    /// What it reads now.
    pub now: String,
}

impl fmt::Display for PutBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PutBack { place, before, now, .. } = self;
        match self.became {
            Became::PutBack if now == ABSENT => write!(f, "{place} went with its queue"),
            Became::PutBack => write!(f, "{place} is {now} again"),
            Became::Left => {
                write!(
                    f,
                    "{place} is {now}, which somebody else made it meanwhile: it is left, and was {before}"
                )
            }
            Became::Failed => write!(f, "{place} is {now} still, and was {before}: it cannot be put back"),
        }
    }
}

/// This process's own.
#[derive(Debug)]
pub struct Journal(ProcessJournal<Line>);

impl Line {
    pub fn new(place: &Place, before: &str, set: &str) -> Line {
        Line { place: place.to_string(), before: before.into(), set: set.into(), namespace: namespace() }
    }
}

/// The network namespace of this process, as the kernel names it.
fn namespace() -> String {
    fs::read_link("/proc/self/ns/net").map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

fn folder(base: &Path) -> Result<PathBuf> {
    process_journal::folder(base, "settings")
}

impl Journal {
    /// An empty one.
    pub fn create(base: &Path) -> Result<Journal> {
        Ok(Journal(ProcessJournal::create(&folder(base)?)?))
    }

    /// Writes a line, which is on disk when this returns. What is there already need not be written again.
    pub fn write(&mut self, line: Line) -> Result<()> {
        match self.0.lines().contains(&line) {
            true => Ok(()),
            false => self.0.write(line),
        }
    }

    /// All of it is put back. One that cannot be removed says nothing new at the next start.
    pub fn remove(self) {
        self.0.remove();
    }

    /// What it tells of is to stay until it is asked for.
    pub fn keep(self) -> Result<()> {
        let path = self.0.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let kept = path.with_file_name(format!("{KEPT}{name}"));
        fs::rename(path, &kept).map_err(|e| Error::io("rename", path_text(&kept), e))
    }
}

/// Makes a place what it was, where it still is what was set.
pub fn put_back(place: &Place, before: &str, set: &[String]) -> Result<PutBack> {
    let found = place.read()?;
    let is_ours = set.contains(&found);
    if is_ours && found != before {
        // Its answer is what it reads then.
        let _ = place.write(before);
    }
    let now = place.read()?;
    let became = match () {
        // With its queue went what was set on it.
        () if now == before || now == ABSENT => Became::PutBack,
        () if is_ours => Became::Failed,
        () => Became::Left,
    };
    Ok(PutBack { place: place.to_string(), became, before: before.into(), now })
}

/// Puts back what dead processes changed in this network namespace; also what was to stay, where that is asked for.
pub fn undo(base: &Path, also_kept: bool) -> Result<(Vec<PutBack>, Vec<String>)> {
    let (mut told, mut notes) = (Vec::new(), Vec::new());
    if !base.join("settings").exists() {
        return Ok((told, notes));
    }
    let folder = folder(base)?;
    let entries = fs::read_dir(&folder).map_err(|e| Error::io("open", path_text(&folder), e))?;
    let names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(MOST).collect();
    let _lock = lock(&folder)?;
    for name in names {
        let is_kept = name.starts_with(KEPT);
        if is_kept && !also_kept {
            continue;
        }
        match of_one(&folder.join(&name), name.trim_start_matches(KEPT), is_kept) {
            Ok(of_one) => told.extend(of_one),
            Err(why) => notes.push(format!("{}: {why}; it is left alone", path_text(&folder.join(&name)))),
        }
    }
    Ok((told, notes))
}

/// Whether there is a journal of the process that is called so: it lives, or what it set is not put back.
pub fn has_journal(base: &Path, process: &str) -> bool {
    base.join("settings").join(process).exists()
}

/// Puts back what one journal tells of; nothing of one whose process lives, or of another namespace.
fn of_one(path: &Path, name: &str, is_kept: bool) -> std::result::Result<Vec<PutBack>, String> {
    let Some((pid, start)) = named(name) else { return Ok(Vec::new()) };
    let Some(file) = open_own(path).map_err(|error| error.to_string())? else { return Ok(Vec::new()) };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(Vec::new()),
        Err(TryLockError::Error(error)) => return Err(error.to_string()),
        Ok(()) => {}
    }
    let lives = start_of(pid).map_err(|error| error.to_string())? == Some(start);
    if lives && !is_kept {
        return Ok(Vec::new());
    }
    let lines: Vec<Line> = process_journal::read(&file, LONGEST)?;
    let here = namespace();
    if lines.iter().any(|line| line.namespace != here) {
        return Ok(Vec::new());
    }
    let mut told: Vec<PutBack> = Vec::new();
    for (at, line) in lines.iter().enumerate().rev() {
        // The last line of a place knows all that it may have been made.
        if lines[at + 1..].iter().any(|later| later.place == line.place) {
            continue;
        }
        let place: Place = line.place.parse()?;
        let of_place = lines.iter().filter(|other| other.place == line.place);
        let set: Vec<String> = of_place.map(|other| other.set.clone()).collect();
        told.push(put_back(&place, &line.before, &set).map_err(|error| error.to_string())?);
    }
    if told.iter().all(|one| one.became != Became::Failed) {
        fs::remove_file(path).map_err(|error| error.to_string())?;
    }
    Ok(told)
}
