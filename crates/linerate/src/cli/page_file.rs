//! Files that a command writes beside what it prints: a page, packets.

use crate::{Error, Result};
use std::fs::OpenOptions;
use std::path::Path;

/// Writes a file, in the place of one that is there.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| Error::io("write", path.display().to_string(), error))
}

/// Whether a file may come to be there: asked before anything is measured. What is there stays as it is.
pub fn has_room(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Err(Error::usage("`-` is no file: standard output has what is told", "name a file"));
    }
    // A pipe's reader would take the end of this look for the end of all.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Ok(());
    }
    let is_new = std::fs::symlink_metadata(path).is_err();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| Error::io("write", path.display().to_string(), error))?;
    if is_new {
        // An empty file of ours is none that anybody waits for.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}
