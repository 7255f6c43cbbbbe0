//! A file of lines that is called after its process, `PID.START`, which keeps a lock on it: each line is on disk before
//! what it tells of is done, so that another process can undo it where this one died.

use super::own_folder::{lock, own_folder, path_text};
use crate::{Error, Result};
use linerate_sys::own_file::create_own;
use linerate_sys::process::Process;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// This process's own.
#[derive(Debug)]
pub(crate) struct ProcessJournal<L> {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
    lines: Vec<L>,
}

impl<L: Serialize> ProcessJournal<L> {
    /// An empty one in this folder.
    pub fn create(folder: &Path) -> Result<Self> {
        let pid = std::process::id();
        let lost = || Error::unavailable("this process has no start time", "is /proc mounted?");
        let path = folder.join(format!("{pid}.{}", start_of(pid)?.ok_or_else(lost)?));
        // Who undoes what others left holds this lock while it looks who they are.
        let _lock = lock(folder)?;
        let file = create_own(&path)?;
        file.lock().map_err(|e| Error::io("lock", path_text(&path), e))?;
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|e| Error::io("fsync", path_text(folder), e))?;
        Ok(Self { path, file, lines: Vec::new() })
    }

    /// Writes a line, which is on disk when this returns.
    pub fn write(&mut self, line: L) -> Result<()> {
        let path = &self.path;
        let fail = |call| move |e: std::io::Error| Error::io(call, path_text(path), e);
        let mut text = serde_json::to_vec(&line).map_err(|e| fail("encode")(e.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).map_err(fail("write"))?;
        self.file.sync_data().map_err(fail("fsync"))?;
        self.lines.push(line);
        Ok(())
    }

    /// What was written.
    pub fn lines(&self) -> &[L] {
        &self.lines
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it. One that cannot be removed goes at the next start.
    pub fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A folder of journals below the program's runtime directory; it is made where it is not there.
pub(crate) fn folder(base: &Path, name: &str) -> Result<PathBuf> {
    let folder = base.join(name);
    own_folder(base)?;
    own_folder(&folder)?;
    Ok(folder)
}

/// The process, by its number and start, that a journal is called after.
pub(crate) fn named(name: &str) -> Option<(u32, u64)> {
    let (pid, start) = name.split_once('.')?;
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (number(pid) && number(start)).then_some((pid.parse().ok()?, start.parse().ok()?))
}

/// When the process with this number started; none where there is none.
pub(crate) fn start_of(pid: u32) -> Result<Option<u64>> {
    Ok(Process::open(pid)?.map(|process| process.start_time()).transpose()?.flatten())
}

/// What a journal of at most so many bytes says; the error says why it is none. A last line without an end was not written
/// when its process died, so nothing was done for it.
pub(crate) fn read<L: DeserializeOwned>(file: &File, longest: u64) -> std::result::Result<Vec<L>, String> {
    let mut text = Vec::new();
    file.take(longest + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > longest {
        return Err(format!("longer than {longest} bytes"));
    }
    let ended = text.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |end| &text[..end]);
    let lines = ended.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(|error| error.to_string())).collect()
}
