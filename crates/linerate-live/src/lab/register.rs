//! Which labs are kept: a folder that is its user's alone, with a file for each of them.
//!
//! Whoever changes the folder holds a lock on it, so that a name is taken once. A record whose process has
//! ended, or whose number another process has now, is removed at the next look; nobody is signalled for it. So is
//! a part of a record: who writes one holds the lock, and who finds one while holding it finds a dead one's.

use super::entry::{Entry, is_name};
use super::held::Held;
use super::own_folder::{lock, own_folder, path_text};
use super::request;
use crate::{Error, Result};
use linerate_sys::handover;
use linerate_sys::own_file::{create_own, open_own};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The longest record that is read: as long as a lab's description can be handed over.
const LONGEST: u64 = handover::LONGEST_MESSAGE as u64;

/// Records that are looked at.
const MOST: usize = 256;

/// How a record's name ends, and that of one which is being written.
const ENDING: &str = ".json";
const PART: &str = ".new";

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
    /// Those whose holder died; their records are removed.
    pub gone: Vec<Gone>,
    /// What was not one, each in a sentence.
    pub notes: Vec<String>,
}

/// A lab whose holder ended without taking it down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// The lab's name.
    pub name: String,
    /// The holder; none where not even the record was whole.
    pub pid: Option<u32>,
}

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.name;
        match self.pid {
            Some(pid) => {
                write!(
                    f,
                    "the lab `{name}` is gone: its holder, process {pid}, ended without taking it down; "
                )?;
                f.write_str("its record is removed")
            }
            None => {
                write!(f, "the lab `{name}` was never up: the part of its record that was there is removed")
            }
        }
    }
}

/// What a record turned out to be.
enum Found {
    Held(Box<Held>),
    Gone(Gone),
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
        for name in self.names(PART)? {
            remove(&self.part(&name))?;
            look.gone.push(Gone { name, pid: None });
        }
        for name in self.names(ENDING)? {
            match self.find(&name) {
                Ok(Some(Found::Held(held))) => look.held.push(*held),
                Ok(Some(Found::Gone(gone))) => look.gone.push(gone),
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
        let (path, beside) = (self.path(&entry.name), self.part(&entry.name));
        let text = request::encode(entry)?;
        let written = create_own(&beside)?.write_all(&text);
        written.map_err(|e| Error::io("write", path_text(&beside), e))?;
        fs::rename(&beside, &path).map_err(|e| Error::io("rename", path_text(&path), e))
    }

    /// Removes a record, if it is still this lab's.
    pub fn release(&self, entry: &Entry) -> Result<()> {
        let _lock = self.lock()?;
        let same = |found: &Entry| (found.pid, found.start_ticks) == (entry.pid, entry.start_ticks);
        match self.read(&entry.name) {
            Ok(Some(found)) if same(&found) => remove(&self.path(&entry.name)),
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
        if let Some(held) = Held::with_holder(entry)? {
            return Ok(Some(Found::Held(Box::new(held))));
        }
        remove(&self.path(name))?;
        Ok(Some(Found::Gone(Gone { name: name.into(), pid: Some(pid) })))
    }

    fn names(&self, ending: &str) -> Result<Vec<String>> {
        let entries =
            fs::read_dir(&self.folder).map_err(|e| Error::io("open", path_text(&self.folder), e))?;
        let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names = files.filter_map(|file| Some(file.strip_suffix(ending)?.to_owned()));
        let mut names: Vec<String> = names.filter(|name| is_name(name)).take(MOST).collect();
        names.sort();
        Ok(names)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{ENDING}"))
    }

    fn part(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{PART}"))
    }

    fn read(&self, name: &str) -> Result<Option<Entry>> {
        let path = self.path(name);
        let fault = |what| Error::Record { file: path_text(&path), what };
        let opened = open_own(&path).map_err(|error| fault(error.source.to_string()))?;
        let Some(file) = opened else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = file.take(LONGEST + 1).read_to_end(&mut bytes);
        read.map_err(|e| Error::io("read", path_text(&path), e))?;
        if bytes.len() as u64 > LONGEST {
            return Err(fault(format!("longer than {LONGEST} bytes, so it is no lab's record")));
        }
        Entry::parse(&bytes, name).map(Some).map_err(fault)
    }

    fn lock(&self) -> Result<File> {
        lock(&self.folder)
    }
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|e| Error::io("unlink", path_text(path), e))
}
