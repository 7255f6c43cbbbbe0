//! A folder with all that is in it, as one sequence of bytes: those of its files one after the other, in the order of their paths.
//! So it is divided, sent, verified and resumed as a file is, however many files it has. What there is beside the bytes (names,
//! permissions, links, empty files) is the *catalog*, which goes by control before anything crosses.

use super::fault;
use super::range::Division;
use crate::{Error, Result};
use linerate_sys::destination;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The most entries, and bytes of their names: one message of control holds them.
pub const MOST_ENTRIES: usize = 100_000;
const MOST_BYTES_OF_NAMES: usize = 8 << 20;

/// The longest path within it: `PATH_MAX` of linux/limits.h.
const LONGEST_PATH: usize = 4096;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A file of so many bytes.
    File(u64),
    /// A symbolic link, which is made anew and never followed.
    Link(Vec<u8>),
}

/// One thing in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path from there.
    pub path: Vec<u8>,
    /// Its permissions.
    pub mode: u32,
    /// What it is.
    pub kind: Kind,
}

/// Everything in a folder, in the order of the paths' bytes: a folder stands before what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    entries: Vec<Entry>,
    /// Where each file that has bytes begins, and its entry.
    starts: Vec<(u64, usize)>,
    bytes: u64,
}

/// A place in a file of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Within {
    /// The file's entry.
    pub entry: usize,
    /// From its beginning.
    pub at: u64,
    /// Bytes until its end.
    pub left: u64,
}

/// The file that a stream read or wrote last: it need not be opened for each piece.
#[derive(Default)]
pub struct Hand(Option<(usize, File)>);

impl Hand {
    /// The file of this entry, opened so.
    pub fn file(&mut self, entry: usize, open: impl FnOnce() -> Result<File>) -> Result<&File> {
        if self.0.as_ref().is_none_or(|(held, _)| *held != entry) {
            self.0 = Some((entry, open()?));
        }
        self.0.as_ref().map(|(_, file)| file).ok_or_else(|| Error::usage("no file is open", ""))
    }
}

impl Catalog {
    /// Of entries that another end tells, of which nothing is believed.
    pub fn new(entries: Vec<Entry>) -> Result<Catalog> {
        let broken =
            |what: String| Error::peer("the sending end", what, "are both ends of the same version?");
        if is_too_large(&entries) {
            return Err(broken(format!("has a folder of {} entries", entries.len())));
        }
        let (mut starts, mut bytes, mut folders) = (Vec::new(), 0_u64, HashSet::new());
        for (number, entry) in entries.iter().enumerate() {
            let is_after = number == 0 || entries[number - 1].path < entry.path;
            let parent = entry.path.iter().rposition(|byte| *byte == b'/').map(|at| &entry.path[..at]);
            if !is_after || !is_within(&entry.path) || parent.is_some_and(|parent| !folders.contains(parent))
            {
                return Err(broken(format!("names `{}` in a folder", shown(&entry.path))));
            }
            match &entry.kind {
                Kind::Folder => drop(folders.insert(&entry.path[..])),
                Kind::File(0) | Kind::Link(_) => {}
                Kind::File(more) => {
                    starts.push((bytes, number));
                    bytes = bytes.checked_add(*more).ok_or_else(|| broken("has too many bytes".into()))?;
                }
            }
        }
        Division::for_file(bytes)?;
        Ok(Catalog { entries, starts, bytes })
    }

    /// Everything in it.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Bytes of its files.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The file that has the byte of this place.
    pub fn within(&self, at: u64) -> Option<Within> {
        let before = self.starts.partition_point(|(start, _)| *start <= at);
        let (start, entry) = *self.starts.get(before.checked_sub(1)?)?;
        let Kind::File(bytes) = self.entries[entry].kind else { return None };
        let within = at - start;
        (within < bytes).then_some(Within { entry, at: within, left: bytes - within })
    }

    /// The pieces of files that a piece of the whole is, in their order.
    pub fn pieces(&self, at: u64, bytes: usize) -> impl Iterator<Item = (Within, std::ops::Range<usize>)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            let within = (done < bytes).then(|| self.within(at + done as u64))??;
            let length = within.left.min((bytes - done) as u64) as usize;
            done += length;
            Some((within, done - length..done))
        })
    }

    /// Where an entry is below a folder.
    pub fn path(&self, top: &Path, entry: usize) -> PathBuf {
        top.join(OsStr::from_bytes(&self.entries[entry].path))
    }

    /// What tells it from any other.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for Entry { path, mode, kind } in &self.entries {
            let (kind, number, target): (u8, u64, &[u8]) = match kind {
                Kind::Folder => (0, 0, &[]),
                Kind::File(bytes) => (1, *bytes, &[]),
                Kind::Link(target) => (2, target.len() as u64, target),
            };
            hasher.update(&(path.len() as u64).to_le_bytes()).update(path).update(&mode.to_le_bytes());
            hasher.update(&[kind]).update(&number.to_le_bytes()).update(target);
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// Whether one message of control does not hold them: a character that is no ASCII takes two bytes there, a control character six.
fn is_too_large(entries: &[Entry]) -> bool {
    let written = |bytes: &[u8]| -> usize {
        let of_byte = |byte: &u8| match byte {
            b'"' | b'\\' => 2,
            0x20..=0x7e => 1,
            0x80.. => 2,
            _ => 6,
        };
        bytes.iter().map(of_byte).sum()
    };
    let of_entry = |entry: &Entry| match &entry.kind {
        Kind::Link(target) => written(&entry.path) + written(target),
        Kind::Folder | Kind::File(_) => written(&entry.path),
    };
    entries.len() > MOST_ENTRIES || entries.iter().map(of_entry).sum::<usize>() > MOST_BYTES_OF_NAMES
}

fn too_large(top: &Path) -> Error {
    let what = format!("{} has more than {MOST_ENTRIES} entries, or than 8 MiB of names", top.display());
    Error::unavailable(what, "send it in parts, or packed (tar)")
}

/// Whether a path stays in the folder that it is from, and names something there.
fn is_within(path: &[u8]) -> bool {
    let is_name = |name: &[u8]| !name.is_empty() && name != b"." && name != b".." && !name.contains(&0);
    path.len() <= LONGEST_PATH && path.split(|byte| *byte == b'/').all(is_name)
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// A folder that is sent, as it was found.
pub struct Tree {
    top: PathBuf,
    catalog: Catalog,
    /// When each entry was last changed.
    changed: Vec<(i64, i64)>,
}

impl Tree {
    /// Looks through it.
    pub fn open(top: &Path) -> Result<Tree> {
        let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
        while let Some(folder) = folders.pop() {
            let at = top.join(&folder);
            let fail = |e| fault::on("read", &at.display().to_string(), e);
            for entry in fs::read_dir(&at).map_err(fail)? {
                let entry = entry.map_err(fail)?;
                let path = folder.join(entry.file_name());
                let entry = looked_at(top, &path, entry.metadata())?;
                if entry.0.kind == Kind::Folder {
                    folders.push(path);
                }
                found.push(entry);
                if found.len() > MOST_ENTRIES {
                    return Err(too_large(top));
                }
            }
        }
        found.sort_unstable_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        let (entries, changed): (Vec<Entry>, Vec<(i64, i64)>) = found.into_iter().unzip();
        if is_too_large(&entries) {
            return Err(too_large(top));
        }
        Ok(Tree { top: top.to_owned(), catalog: Catalog::new(entries)?, changed })
    }

    /// What it has.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Reads bytes of it until the room is full.
    pub fn read<'r>(&self, at: u64, room: &'r mut [u8], hand: &mut Hand) -> Result<&'r [u8]> {
        for (within, piece) in self.catalog.pieces(at, room.len()) {
            let path = || self.catalog.path(&self.top, within.entry);
            let file =
                hand.file(within.entry, || destination::open_source(&path()).map_err(fault::of_file))?;
            file.read_exact_at(&mut room[piece], within.at).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => changed(&path()),
                _ => fault::on("read", &path().display().to_string(), error),
            })?;
        }
        Ok(room)
    }

    /// Does something with each of its files: all are opened, so that one that may not be read is told before anything is sent.
    pub fn each_file(&self, mut with: impl FnMut(&File, u64) -> Result<()>) -> Result<()> {
        for (number, entry) in self.catalog.entries.iter().enumerate() {
            if let Kind::File(bytes) = entry.kind {
                let path = self.catalog.path(&self.top, number);
                with(&destination::open_source(&path).map_err(fault::of_file)?, bytes)?;
            }
        }
        Ok(())
    }

    /// Whether it is still what was found.
    pub fn is_unchanged(&self) -> Result<()> {
        let now = Tree::open(&self.top)?;
        let is_same = now.catalog == self.catalog && now.changed == self.changed;
        if is_same { Ok(()) } else { Err(changed(&self.top)) }
    }
}

fn changed(path: &Path) -> Error {
    let what = format!("{} was changed while it was read", path.display());
    Error::unavailable(what, "send it when nobody writes it, or a copy; nothing of it was given its name")
}

fn looked_at(top: &Path, path: &Path, found: io::Result<Metadata>) -> Result<(Entry, (i64, i64))> {
    let at = top.join(path);
    let fail = |call, e| fault::on(call, &at.display().to_string(), e);
    let found = found.map_err(|e| fail("stat", e))?;
    let kind = match found.file_type() {
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_file() => Kind::File(found.len()),
        kind if kind.is_symlink() => {
            Kind::Link(fs::read_link(&at).map_err(|e| fail("readlink", e))?.into_os_string().into_vec())
        }
        _ => {
            let what = format!("{} is no file, folder or link", at.display());
            return Err(Error::unavailable(
                what,
                "a device, a socket or a pipe is not sent: move it elsewhere",
            ));
        }
    };
    let path = path.as_os_str().as_bytes().to_vec();
    Ok((Entry { path, mode: found.mode() & 0o777, kind }, changed_at(&found)))
}

/// A folder's time changes as its entries do, which are looked at each; a link has no other state than its target.
fn changed_at(found: &Metadata) -> (i64, i64) {
    if found.is_file() { (found.mtime(), found.mtime_nsec()) } else { (0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(path: &str, kind: Kind) -> Entry {
        Entry { path: path.into(), mode: 0o644, kind }
    }

    fn catalog() -> Catalog {
        let entries = [
            ("a", Kind::Folder),
            ("a/empty", Kind::File(0)),
            ("a/file", Kind::File(10)),
            ("b", Kind::File(5)),
            ("link", Kind::Link(b"a/file".to_vec())),
        ];
        Catalog::new(entries.map(|(path, kind)| entry(path, kind)).into()).unwrap()
    }

    #[test]
    fn its_bytes_are_those_of_its_files() {
        let all = catalog();
        assert_eq!((all.bytes(), all.entries().len()), (15, 5));
        assert_eq!(all.within(0), Some(Within { entry: 2, at: 0, left: 10 }));
        assert_eq!(all.within(14), Some(Within { entry: 3, at: 4, left: 1 }));
        assert_eq!(all.within(15), None);
        let pieces: Vec<_> =
            all.pieces(8, 7).map(|(within, piece)| (within.entry, within.at, piece)).collect();
        assert_eq!(pieces, [(2, 8, 0..2), (3, 0, 2..7)]);
        assert_eq!(Catalog::new(Vec::new()).unwrap().within(0), None, "nothing is in it");
    }

    #[test]
    fn a_catalog_names_nothing_outside() {
        for path in ["", "/etc/passwd", "..", "a/../../b", "a//b", "./a", "a/", "none/file", "a\0b"] {
            let entries = vec![entry(path, Kind::File(1))];
            assert!(Catalog::new(entries).is_err(), "{path:?}");
        }
        let below_a_link = vec![entry("a", Kind::Link(b"/etc".to_vec())), entry("a/passwd", Kind::File(1))];
        assert!(Catalog::new(below_a_link).is_err());
        let twice = vec![entry("a", Kind::File(1)), entry("a", Kind::File(1))];
        assert!(Catalog::new(twice).is_err());
        let too_long = vec![entry("a", Kind::File(u64::MAX)), entry("b", Kind::File(u64::MAX))];
        assert!(Catalog::new(too_long).is_err());
    }

    #[test]
    fn what_changes_in_a_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("in")).unwrap();
        fs::write(at("in/file"), "0123456789").unwrap();
        fs::write(at("last"), "abc").unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let mut room = [0; 5];
        assert_eq!(tree.read(8, &mut room, &mut Hand::default()).unwrap(), b"89abc");
        tree.is_unchanged().unwrap();
        fs::write(at("new"), "").unwrap();
        assert!(tree.is_unchanged().unwrap_err().to_string().contains("changed"), "a file more");
        fs::write(at("last"), "a").unwrap();
        let error = tree.read(8, &mut room, &mut Hand::default()).unwrap_err();
        assert!(error.to_string().contains("last was changed"), "{error}");
    }

    proptest! {
        #[test]
        fn a_catalog_is_made_or_refused(paths: Vec<Vec<u8>>, bytes: u64) {
            let entries = paths.into_iter().map(|path| Entry { path, mode: 0, kind: Kind::File(bytes) });
            if let Ok(catalog) = Catalog::new(entries.collect()) {
                prop_assert!(catalog.entries().iter().all(|entry| is_within(&entry.path)));
            }
        }
    }
}
