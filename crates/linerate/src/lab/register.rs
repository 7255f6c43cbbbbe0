//! Which labs are kept: a folder that is its user's alone, with a file for each of them.
//!
//! Whoever changes the folder holds a lock on it, so that a name is taken once. A record whose process has
//! ended, or whose number another process has now, is removed at the next look; nobody is signalled for it.

use super::entry::{Entry, is_name};
use super::held::Held;
use super::request;
use crate::{Error, Result};
use linerate_sys::process::effective_user;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The longest record that is read.
const LONGEST: u64 = 64 << 10;

/// Records that are looked at.
const MOST: usize = 256;

/// How a record's name ends.
const ENDING: &str = ".json";

/// The folder.
#[derive(Debug, Clone)]
pub struct Register {
    folder: PathBuf,
}

/// What was found there.
#[derive(Debug, Default)]
pub struct Look {
    /// The labs that are up, in the order of their names.
    pub held: Vec<Held>,
    /// What was not one, each in a sentence.
    pub notes: Vec<String>,
}

/// What a record turned out to be.
enum Found {
    Held(Held),
    Gone(String),
}

impl Register {
    /// Keeps records in `base/labs`, and makes both folders where they are not there. What belongs to
    /// somebody else, or lets others write, is refused.
    pub fn at(base: &Path) -> Result<Register> {
        let folder = base.join("labs");
        own_folder(base)?;
        own_folder(&folder)?;
        Ok(Register { folder })
    }

    /// The folder that it was given.
    pub fn base(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// All labs that are up. Records of those that are not are removed.
    pub fn look(&self) -> Result<Look> {
        let _lock = self.lock()?;
        let mut look = Look::default();
        for name in self.names()? {
            match self.find(&name) {
                Ok(Some(Found::Held(held))) => look.held.push(held),
                Ok(Some(Found::Gone(note))) => look.notes.push(note),
                Ok(None) => {}
                Err(error @ Error::Record { .. }) => look.notes.push(format!("{error}; it is left alone")),
                Err(error) => return Err(error),
            }
        }
        Ok(look)
    }

    /// Writes a record, unless the name is taken.
    pub(super) fn claim(&self, entry: &Entry) -> Result<()> {
        let _lock = self.lock()?;
        self.find_free(&entry.name)?;
        let (path, beside) = (self.path(&entry.name), self.folder.join(format!("{}.new", entry.name)));
        let text = request::encode(entry)?;
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside);
        let written = file.and_then(|mut file| file.write_all(&text));
        written.map_err(|e| Error::io("write", path_text(&beside), e))?;
        fs::rename(&beside, &path).map_err(|e| Error::io("rename", path_text(&path), e))
    }

    /// Removes a record, if it is still this lab's.
    pub fn release(&self, entry: &Entry) -> Result<()> {
        let _lock = self.lock()?;
        let same = |found: &Entry| (found.pid, found.start_ticks) == (entry.pid, entry.start_ticks);
        match self.read(&entry.name) {
            Ok(Some(found)) if same(&found) => self.remove(&entry.name),
            Err(error @ Error::System(_)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Says whether a lab may be put up under this name.
    pub fn refuse_taken(&self, name: &str) -> Result<()> {
        let _lock = self.lock()?;
        self.find_free(name)
    }

    fn find_free(&self, name: &str) -> Result<()> {
        let what = format!("a lab called `{name}` is up already");
        let hint =
            format!("give this one another name: --name {name}-2; or end that one: linerate lab down {name}");
        match self.find(name)? {
            Some(Found::Held(_)) => Err(Error::usage(what, hint)),
            Some(Found::Gone(_)) | None => Ok(()),
        }
    }

    fn find(&self, name: &str) -> Result<Option<Found>> {
        let Some(entry) = self.read(name)? else {
            return Ok(None);
        };
        let pid = entry.pid;
        if let Some(held) = Held::of(entry)? {
            return Ok(Some(Found::Held(held)));
        }
        self.remove(name)?;
        let what =
            format!("the lab `{name}` is gone: its holder, process {pid}, ended without taking it down");
        Ok(Some(Found::Gone(format!("{what}; its record is removed"))))
    }

    fn names(&self) -> Result<Vec<String>> {
        let entries =
            fs::read_dir(&self.folder).map_err(|e| Error::io("open", path_text(&self.folder), e))?;
        let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names = files.filter_map(|file| Some(file.strip_suffix(ENDING)?.to_owned()));
        let mut names: Vec<String> = names.filter(|name| is_name(name)).take(MOST).collect();
        names.sort();
        Ok(names)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{ENDING}"))
    }

    fn read(&self, name: &str) -> Result<Option<Entry>> {
        let path = self.path(name);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("open", path_text(&path), error)),
        };
        let mut bytes = Vec::new();
        let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
        read.map_err(|e| Error::io("read", path_text(&path), e))?;
        let fault = |what| Error::Record { file: path_text(&path), what };
        if bytes.len() as u64 > LONGEST {
            return Err(fault(format!("longer than {LONGEST} bytes, so it is no lab's record")));
        }
        Entry::parse(&bytes, name).map(Some).map_err(fault)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        fs::remove_file(&path).map_err(|e| Error::io("unlink", path_text(&path), e))
    }

    /// Held until it is dropped.
    fn lock(&self) -> Result<File> {
        let path = self.folder.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.map_err(|e| Error::io("open", path_text(&path), e))?;
        file.lock().map_err(|e| Error::io("lock", path_text(&path), e))?;
        Ok(file)
    }
}

/// Makes a folder of the user's own, or checks that it is one.
fn own_folder(path: &Path) -> Result<()> {
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
            let what = format!("{} {fault}, so no lab's record is kept there", path_text(path));
            let hint = "set XDG_RUNTIME_DIR to a folder that is yours alone (mode 0700)";
            Err(Error::unavailable(what, hint))
        }
        None => Ok(()),
    }
}

fn path_text(path: &Path) -> String {
    path.display().to_string()
}
