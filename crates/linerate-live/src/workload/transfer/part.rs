//! What is received, while it is not whole: a file, or a folder with its files.

use super::direct::Direct;
use super::fault;
use super::range::{Digest, Division};
use super::tree::{Catalog, Hand, Kind};
use crate::{Error, Result};
use linerate_sys::destination;
use linerate_sys::process::effective_user;
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A file or a folder in the making. Its lock keeps a second writer away.
pub struct Part {
    path: PathBuf,
    shown: String,
    /// The file, or the folder itself.
    top: File,
    tree: Option<Catalog>,
    direct: Option<Direct>,
}

impl Part {
    /// Opens the one that is there, or makes it.
    pub fn open(path: PathBuf, mode: u32, tree: Option<Catalog>) -> Result<Part> {
        let mode = mode & 0o777;
        if path.symlink_metadata().is_ok_and(|found| found.is_dir() != tree.is_some()) {
            let [there, wanted] = match tree {
                Some(_) => ["file", "folder"],
                None => ["folder", "file"],
            };
            let what = format!("{} is the part of a {there}, and a {wanted} is moved", path.display());
            return Err(Error::unavailable(what, "remove it, or name another destination"));
        }
        let top = match &tree {
            None => destination::open_plain(&path, mode | 0o600),
            Some(_) => {
                let shown = path.display().to_string();
                match fs::DirBuilder::new().mode(mode | 0o700).create(&path) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                        return Err(fault::on("mkdir", &shown, error));
                    }
                    _ => destination::open_folder(&path),
                }
            }
        };
        let top = top.map_err(fault::of_file)?;
        let shown = path.display().to_string();
        let owner = top.metadata().map_err(|e| fault::on("stat", &shown, e))?.uid();
        if owner != effective_user() {
            // Who owns it can put links in it, or take out what came.
            let what = format!("{shown} belongs to another user");
            return Err(Error::unavailable(what, "remove it, or name another destination"));
        }
        match top.try_lock() {
            Ok(()) => Ok(Part { path, shown, top, tree, direct: None }),
            Err(TryLockError::WouldBlock) => {
                let what = format!("another transfer writes {shown}");
                Err(Error::unavailable(what, "wait until it is done, or name another destination"))
            }
            Err(TryLockError::Error(error)) => Err(fault::on("flock", &shown, error)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Asks for it past the page cache.
    pub fn go_direct(&mut self) {
        self.direct = Some(match self.tree {
            None => Direct::past_cache(&self.top, true),
            Some(_) => Direct::of_folder(),
        });
    }

    /// What came of that, where it was asked for.
    pub fn direct(&self) -> Option<&Direct> {
        self.direct.as_ref()
    }

    /// The file past the page cache, and through it.
    pub fn past_cache(&self) -> Option<(&File, &File)> {
        self.direct.as_ref().and_then(Direct::file).map(|direct| (direct, &self.top))
    }

    /// Where it is, in words.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether an earlier transfer left something of this length. Of a folder its journal alone tells.
    pub fn is_left(&self, bytes: u64) -> bool {
        let is_long = || self.top.metadata().is_ok_and(|found| found.len() == bytes && found.len() > 0);
        self.tree.is_some() || is_long()
    }

    /// Takes the room of what is to come; says whether the file system did so. Where nothing of it is there, what is there of
    /// something else goes first.
    pub fn prepare(&self, bytes: u64, held: u64) -> Result<bool> {
        let Some(tree) = &self.tree else {
            return destination::allocate(&self.top, bytes, &self.path).map_err(fault::of_file);
        };
        if held == 0 {
            emptied(&self.path).map_err(|e| fault::on("remove", &self.shown, e))?;
        }
        // It is looked at and not taken: who writes there meanwhile takes it.
        destination::has_room(&self.top, bytes.saturating_sub(held), &self.path).map_err(fault::of_file)?;
        for (number, entry) in tree.entries().iter().enumerate().filter(|(_, one)| one.kind == Kind::Folder) {
            let path = tree.path(&self.path, number);
            match fs::DirBuilder::new().mode(entry.mode & 0o777 | 0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && is_folder(&path) => {}
                made => made.map_err(|e| fault::on("mkdir", &path.display().to_string(), e))?,
            }
        }
        Ok(false)
    }

    /// Writes bytes at their place.
    #[inline]
    pub fn write(&self, at: u64, bytes: &[u8], hand: &mut Hand) -> Result<()> {
        let Some(tree) = &self.tree else {
            return self.top.write_all_at(bytes, at).map_err(|e| fault::on("write", &self.shown, e));
        };
        for (within, piece) in tree.pieces(at, bytes.len()) {
            let file = hand.file(within.entry, || self.file(tree, within.entry))?;
            let fail = |e| fault::on("write", &tree.path(&self.path, within.entry).display().to_string(), e);
            file.write_all_at(&bytes[piece], within.at).map_err(fail)?;
        }
        Ok(())
    }

    fn file(&self, tree: &Catalog, entry: usize) -> Result<File> {
        let mode = tree.entries()[entry].mode & 0o777;
        destination::open_plain(&tree.path(&self.path, entry), mode | 0o600).map_err(fault::of_file)
    }

    /// Makes what of a folder has no bytes, and sees that each file has those of its own.
    pub fn complete(&self) -> Result<()> {
        let Some(tree) = &self.tree else { return Ok(()) };
        for (number, entry) in tree.entries().iter().enumerate() {
            let path = tree.path(&self.path, number);
            let fail = |call, e| fault::on(call, &path.display().to_string(), e);
            match &entry.kind {
                Kind::Folder => {}
                Kind::File(0) => self.file(tree, number)?.set_len(0).map_err(|e| fail("ftruncate", e))?,
                Kind::File(bytes) => {
                    let found = path.symlink_metadata().map_err(|e| fail("stat", e))?;
                    if !found.is_file() || found.len() != *bytes {
                        let what = format!("{} was changed while it was received", path.display());
                        return Err(Error::unavailable(what, "see who writes there; --anew begins anew"));
                    }
                }
                Kind::Link(target) => match std::os::unix::fs::symlink(OsStr::from_bytes(target), &path) {
                    // An earlier transfer came so far.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists && is_link(&path, target) => {}
                    made => made.map_err(|e| fail("symlink", e))?,
                },
            }
        }
        Ok(())
    }

    /// Has everything on the disk. Of a folder that is the file system that it is on: a call for each file would take the disk
    /// a turn each.
    pub fn sync(&self) -> Result<()> {
        match self.tree {
            None => self.top.sync_all().map_err(|e| fault::on("fsync", &self.shown, e)),
            Some(_) => destination::sync_file_system(&self.top, &self.path).map_err(fault::of_file),
        }
    }

    /// The digest of a range that is there.
    pub fn digest(&self, division: Division, range: u64, room: &mut [u8]) -> io::Result<Digest> {
        let span = division.span(range).ok_or(ErrorKind::InvalidInput)?;
        let (mut hasher, mut hand) = (division.hasher(span.at), Hand::default());
        let mut at = span.at;
        while at < span.at + span.bytes {
            let length = (span.at + span.bytes - at).min(room.len() as u64) as usize;
            self.read(at, &mut room[..length], &mut hand)?;
            hasher.update(&room[..length]);
            at += length as u64;
        }
        Ok(hasher.digest())
    }

    fn read(&self, at: u64, room: &mut [u8], hand: &mut Hand) -> io::Result<()> {
        let Some(tree) = &self.tree else { return self.top.read_exact_at(room, at) };
        tree.pieces(at, room.len()).try_for_each(|(within, piece)| {
            let open = || Ok(destination::open_source(&tree.path(&self.path, within.entry))?);
            // What was never written is no fault: it comes again.
            let file = hand.file(within.entry, open).map_err(|_| ErrorKind::NotFound)?;
            file.read_exact_at(&mut room[piece], within.at)
        })
    }

    /// Whether a range that cannot be read is one that never came.
    pub fn may_lack(&self, error: &io::Error) -> bool {
        self.tree.is_some() && [ErrorKind::NotFound, ErrorKind::UnexpectedEof].contains(&error.kind())
    }
}

/// Itself, and no link to one.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

fn is_link(path: &Path, target: &[u8]) -> bool {
    fs::read_link(path).is_ok_and(|found| found.as_os_str().as_bytes() == target)
}

/// Removes what is in a folder.
fn emptied(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}
