//! Undoing what dead processes left, by their journals.

use super::super::inside::{self, Inside};
use super::super::own_folder::{lock, path_text};
use super::super::process_journal::{named, start_of};
use super::file::{self, Line, folder};
use super::{Kind, VARIABLE};
use crate::{Error, Result};
use linerate_sys::own_file::open_own;
use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Journals that are looked at.
const MOST: usize = 256;

/// The longest environment that is searched for a mark: the kernel's own limit lies below (`MAX_ARG_STRINGS`, a
/// quarter of the stack's).
const LONGEST: u64 = 8 << 20;

/// How much is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What the program itself had started.
    Start,
    /// Also what a user had started on the hosts of a lab that is gone.
    Asked,
}

/// A process that was left, and whose.
#[derive(Debug)]
pub struct Undone {
    /// The dead process.
    pub of: u32,
    /// What was left.
    pub kind: Kind,
    /// Its number.
    pub pid: u32,
    /// Its command and arguments.
    pub command: String,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Undoing {
    /// What was ended.
    pub undone: Vec<Undone>,
    /// What does not end.
    pub left: Vec<Undone>,
    /// What was no journal, each in a sentence.
    pub notes: Vec<String>,
}

/// The journal of a process that has died, locked against others who would undo it.
struct Dead {
    pid: u32,
    start: u64,
    path: PathBuf,
    file: File,
}

/// Undoes what dead processes left in `base`, the program's runtime directory. Where none died this reads one folder.
pub fn undo(base: &Path, depth: Depth) -> Result<Undoing> {
    let mut undoing = Undoing::default();
    for dead in find(&folder(base)?, &mut undoing.notes)? {
        match file::read(&dead.file) {
            Ok(lines) => {
                let open = lines.iter().filter(|line| !settle(&dead, line, depth, &mut undoing)).count();
                if open == 0 {
                    remove(&dead.path)?;
                }
            }
            Err(fault) => {
                let path = path_text(&dead.path);
                undoing.notes.push(format!("{path}: not a journal ({fault}); it is left alone"));
            }
        }
    }
    Ok(undoing)
}

/// The journals whose process has died.
fn find(folder: &Path, notes: &mut Vec<String>) -> Result<Vec<Dead>> {
    let entries = fs::read_dir(folder).map_err(|e| Error::io("open", path_text(folder), e))?;
    let names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(MOST).collect();
    let mut found = Vec::new();
    // Nobody begins a journal meanwhile: each one that is there is locked, if its process lives.
    let _lock = lock(folder)?;
    for name in names {
        let Some((pid, start)) = named(&name) else { continue };
        let path = folder.join(&name);
        let file = match open_own(&path) {
            Ok(Some(file)) => file,
            Ok(None) => continue,
            Err(error) => {
                notes.push(format!("{error}: {}; it is left alone", error.source));
                continue;
            }
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", path_text(&path), error)),
            Ok(()) if start_of(pid)? == Some(start) => continue,
            Ok(()) => found.push(Dead { pid, start, path, file }),
        }
    }
    Ok(found)
}

/// Undoes one line; says whether nothing of it is left.
fn settle(dead: &Dead, line: &Line, depth: Depth, undoing: &mut Undoing) -> bool {
    // From among the processes that it tells of: they are not ended by one of them.
    if carries(std::process::id(), &line.mark) {
        return false;
    }
    let left =
        |of: &Inside| Undone { of: dead.pid, kind: line.kind, pid: of.pid(), command: of.command.clone() };
    let found = carriers(&line.mark, dead.start);
    if found.is_empty() || (line.kind == Kind::Commands && depth == Depth::Start) {
        return found.is_empty();
    }
    let still = inside::end(&|pid| is_carrier(pid, &line.mark, dead.start));
    let stays = |found: &&Inside| still.iter().any(|still| still.pid() == found.pid());
    undoing.undone.extend(found.iter().filter(|found| !stays(found)).map(left));
    undoing.left.extend(still.iter().map(left));
    still.is_empty()
}

/// The processes that carry a mark and started no earlier than this.
pub(super) fn carriers(mark: &str, start: u64) -> Vec<Inside> {
    inside::find_all(&|pid| is_carrier(pid, mark, start))
}

fn is_carrier(pid: u32, mark: &str, start: u64) -> bool {
    carries(pid, mark) && start_of(pid).is_ok_and(|found| found.is_some_and(|found| found >= start))
}

/// Whether a process was started with this mark in its environment. What may not be read is not ours.
fn carries(pid: u32, mark: &str) -> bool {
    let mut environment = Vec::new();
    let read = File::open(format!("/proc/{pid}/environ"))
        .and_then(|file| file.take(LONGEST).read_to_end(&mut environment));
    let wanted = format!("{VARIABLE}={mark}");
    read.is_ok() && environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("unlink", path_text(path), error))
        }
        _ => Ok(()),
    }
}
