//! A journal's file: made, written, read.

use super::super::own_folder::{lock, own_folder, path_text};
use super::{Kind, is_mark, start_of};
use crate::{Error, Result};
use linerate_sys::own_file::create_own;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{Read, Write};
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
pub struct Journal {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
    lines: Vec<Line>,
}

impl Line {
    /// A new one, with a mark that nobody guesses.
    pub fn new(kind: Kind) -> Line {
        Line { kind, mark: format!("{:032x}", rand::random::<u128>()) }
    }
}

/// Where the journals are, below the program's runtime directory; it is made where it is not there.
pub fn folder(base: &Path) -> Result<PathBuf> {
    let folder = base.join("journal");
    own_folder(base)?;
    own_folder(&folder)?;
    Ok(folder)
}

/// The process, by its number and start, that a journal is called after.
pub fn named(name: &str) -> Option<(u32, u64)> {
    let (pid, start) = name.split_once('.')?;
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (number(pid) && number(start)).then_some((pid.parse().ok()?, start.parse().ok()?))
}

impl Journal {
    /// An empty one.
    pub fn create(base: &Path) -> Result<Journal> {
        let folder = folder(base)?;
        let pid = std::process::id();
        let lost = || Error::unavailable("this process has no start time", "is /proc mounted?");
        let path = folder.join(format!("{pid}.{}", start_of(pid)?.ok_or_else(lost)?));
        // Who undoes what others left holds this lock while it looks who they are.
        let _lock = lock(&folder)?;
        let file = create_own(&path)?;
        file.lock().map_err(|e| Error::io("lock", path_text(&path), e))?;
        let synced = File::open(&folder).and_then(|folder| folder.sync_all());
        synced.map_err(|e| Error::io("fsync", path_text(&folder), e))?;
        Ok(Journal { path, file, lines: Vec::new() })
    }

    /// Writes a line, which is on disk when this returns.
    pub fn write(&mut self, line: Line) -> Result<()> {
        let path = &self.path;
        let fail = |call| move |e: std::io::Error| Error::io(call, path_text(path), e);
        let mut text = serde_json::to_vec(&line).map_err(|e| fail("encode")(e.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).map_err(fail("write"))?;
        self.file.sync_data().map_err(fail("fsync"))?;
        self.lines.push(line);
        Ok(())
    }

    /// The marks of one kind.
    pub fn marks_of(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |line| line.kind == kind).map(|line| line.mark.as_str())
    }

    /// The first mark of one kind.
    pub fn mark_of(&self, kind: Kind) -> Option<&str> {
        self.marks_of(kind).next()
    }

    /// Removes it, unless what it tells of goes on. One that cannot be removed goes at the next start.
    pub fn close(self, goes_on: bool) {
        if !goes_on {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What a journal says; the error says why it is none. A last line without an end was not written when its process
/// died, so nothing was made for it.
pub fn read(file: &File) -> std::result::Result<Vec<Line>, String> {
    let mut text = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    let ended = text.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |end| &text[..end]);
    let lines = ended.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines = lines.map(|line| match serde_json::from_slice::<Line>(line) {
        Ok(line) if is_mark(&line.mark) => Ok(line),
        Ok(_) => Err("a mark that is none".into()),
        Err(error) => Err(error.to_string()),
    });
    lines.collect()
}
