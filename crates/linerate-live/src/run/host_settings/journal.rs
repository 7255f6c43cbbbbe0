//! What settings of a host were, on disk before they are changed; and putting back what dead processes left.
//!
//! A journal is a file in its user's runtime directory, which the kernel's settings do not outlive either. It is called after
//! its process, which keeps a lock on it. Nothing in it is believed but a place that this program changes: such a place is
//! put back only where it still reads what was set, and only in the network namespace in which it was set.

use super::place::Place;
use crate::lab::own_folder::{lock, own_folder, path_text};
use crate::{Error, Result};
use linerate_sys::own_file::{create_own, open_own};
use linerate_sys::process::Process;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
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
pub struct Journal {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
    lines: Vec<Line>,
}

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
    let folder = base.join("settings");
    own_folder(base)?;
    own_folder(&folder)?;
    Ok(folder)
}

fn start_of(pid: u32) -> Result<Option<u64>> {
    Ok(Process::open(pid)?.map(|process| process.start_time()).transpose()?.flatten())
}

impl Journal {
    /// An empty one.
    pub fn create(base: &Path) -> Result<Journal> {
        let folder = folder(base)?;
        let pid = std::process::id();
        let lost = || Error::unavailable("this process has no start time", "is /proc mounted?");
        let path = folder.join(format!("{pid}.{}", start_of(pid)?.ok_or_else(lost)?));
        let _lock = lock(&folder)?;
        let file = create_own(&path)?;
        file.lock().map_err(|e| Error::io("lock", path_text(&path), e))?;
        let synced = File::open(&folder).and_then(|folder| folder.sync_all());
        synced.map_err(|e| Error::io("fsync", path_text(&folder), e))?;
        Ok(Journal { path, file, lines: Vec::new() })
    }

    /// Writes a line, which is on disk when this returns. What is there already need not be written again.
    pub fn write(&mut self, line: Line) -> Result<()> {
        if self.lines.contains(&line) {
            return Ok(());
        }
        let path = &self.path;
        let fail = |call| move |e: std::io::Error| Error::io(call, path_text(path), e);
        let mut text = serde_json::to_vec(&line).map_err(|e| fail("encode")(e.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).map_err(fail("write"))?;
        self.file.sync_data().map_err(fail("fsync"))?;
        self.lines.push(line);
        Ok(())
    }

    /// All of it is put back. One that cannot be removed says nothing new at the next start.
    pub fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }

    /// What it tells of is to stay until it is asked for.
    pub fn keep(self) -> Result<()> {
        let name = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let kept = self.path.with_file_name(format!("{KEPT}{name}"));
        fs::rename(&self.path, &kept).map_err(|e| Error::io("rename", path_text(&kept), e))
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
        () if now == before => Became::PutBack,
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

/// Puts back what one journal tells of; nothing of one whose process lives, or of another namespace.
fn of_one(path: &Path, name: &str, is_kept: bool) -> std::result::Result<Vec<PutBack>, String> {
    let Some((pid, start)) = process_of(name) else { return Ok(Vec::new()) };
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
    let lines = read(&file)?;
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

/// The process, by its number and start, that a journal is called after.
fn process_of(name: &str) -> Option<(u32, u64)> {
    let (pid, start) = name.split_once('.')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

/// What a journal says. A last line without an end was not whole when its process died, so nothing was changed for it.
fn read(file: &File) -> std::result::Result<Vec<Line>, String> {
    let mut text = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    let ended = text.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |end| &text[..end]);
    let lines = ended.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| error.to_string())).collect()
}
