//! A folder that is its user's alone, and the lock that is held while it is changed.

use crate::{Error, Result};
use linerate_sys::own_file::create_own;
use linerate_sys::process::effective_user;
use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// Makes a folder of the user's own, or checks that it is one.
pub(crate) fn own_folder(path: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(Error::io("mkdir", path_text(path), error));
        }
        _ => {}
    }
    // Not what a link leads to: in /tmp anybody may have made one.
    let found = fs::symlink_metadata(path).map_err(|e| Error::io("stat", path_text(path), e))?;
    let faults = [
        (!found.is_dir(), "is not a folder"),
        (found.uid() != effective_user(), "belongs to somebody else"),
        (found.mode() & 0o022 != 0, "lets others write"),
    ];
    match faults.iter().find(|(holds, _)| *holds) {
        Some((_, fault)) => {
            let what = format!("{} {fault}, so nothing is written down there", path_text(path));
            let hint = "set XDG_RUNTIME_DIR to a folder that is yours alone (mode 0700)";
            Err(Error::unavailable(what, hint))
        }
        None => Ok(()),
    }
}

/// The lock of a folder, held until it is dropped.
pub(crate) fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let file = create_own(&path)?;
    file.lock().map_err(|e| Error::io("lock", path_text(&path), e))?;
    Ok(file)
}

/// A path as an error names it.
pub(crate) fn path_text(path: &Path) -> String {
    path.display().to_string()
}
