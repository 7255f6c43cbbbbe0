//! Where a file or a folder is received: a part beside its place, whose name says what it is, until it is whole; or nowhere.
//!
//! `NAME.linerate-part` is what came, and `NAME.linerate-journal` says which of its ranges are there. Whoever is ended leaves
//! both, and the next one goes on from them. A lock on the part keeps a second one away.

use super::ask::{FinishRequest, Held, Prepared, SinkRequest};
use super::direct::Direct;
use super::fault;
use super::journal::{self, Journal, Subject};
use super::part::Part;
use super::range::Division;
use super::tree::{Catalog, Hand};
use crate::record::FileIo;
use crate::{Error, Result};
use linerate_sys::clock::monotonic_ns;
use linerate_sys::{destination, thread};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is read at once while what is there is looked through.
const PIECE: usize = 256 << 10;

/// What the files of a part are called, after the whole file's name.
const PART: &str = ".linerate-part";
const JOURNAL: &str = ".linerate-journal";

/// Where it is received.
pub struct Sink {
    division: Division,
    held: Vec<Held>,
    place: Option<Place>,
}

/// A file or a folder in the making.
struct Place {
    whole: PathBuf,
    part: Part,
    journal: Journal,
    journal_path: PathBuf,
    overwrite: bool,
}

impl Sink {
    /// Opens the part, and looks through what an earlier transfer left of it.
    pub fn open(request: &SinkRequest) -> Result<(Sink, Prepared)> {
        let tree = request.entries.clone().map(Catalog::new).transpose()?;
        let bytes = tree.as_ref().map_or(request.bytes, Catalog::bytes);
        let division = Division::for_file(bytes)?;
        let prepared =
            |path, held, allocated| Prepared { path, range_bytes: division.range_bytes, held, allocated };
        let Some(path) = &request.path else {
            let sink = Sink { division, held: Vec::new(), place: None };
            return Ok((sink, prepared(None, Vec::new(), None)));
        };
        let whole = whole_path(Path::new(OsStr::from_bytes(path)), request.name.as_deref())?;
        request.source.as_ref().map_or(Ok(()), |source| source.is_apart(&whole))?;
        may_be_made(&whole, request.overwrite, tree.is_some())?;
        let subject = Subject { division, catalog: tree.as_ref().map(Catalog::digest) };
        let [part, journal_path] = [PART, JOURNAL].map(|ending| beside(&whole, ending));
        let mut part = Part::open(part, request.mode, tree)?;
        if request.direct {
            part.go_direct();
        }
        let ranges = match part.is_left(bytes) && !request.anew && request.verify {
            true => journal::read(&journal_path, &subject),
            false => Vec::new(),
        };
        let held = looked_through(&part, division, &ranges, request.threads)?;
        let held_bytes =
            held.iter().filter_map(|held| division.span(held.range)).map(|span| span.bytes).sum();
        let allocated = part.prepare(bytes, held_bytes)?;
        let journal = Journal::create(&journal_path, &subject)?;
        held.iter().try_for_each(|held| journal.keep(held.range))?;
        let told = prepared(Some(whole.display().to_string()), held.clone(), Some(allocated));
        let overwrite = request.overwrite;
        let place = Some(Place { whole, part, journal, journal_path, overwrite });
        Ok((Sink { division, held, place }, told))
    }

    /// How the file is divided.
    pub fn division(&self) -> Division {
        self.division
    }

    /// What is there already.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// Writes bytes at their place.
    #[inline]
    pub fn write(&self, at: u64, bytes: &[u8], hand: &mut Hand) -> Result<()> {
        self.place.as_ref().map_or(Ok(()), |place| place.part.write(at, bytes, hand))
    }

    /// The file past the page cache, and through it; none where it goes through it.
    pub fn past_cache(&self) -> Option<(&File, &File)> {
        self.place.as_ref().and_then(|place| place.part.past_cache())
    }

    /// Whether it goes past the page cache, where that was asked for.
    pub fn file_io(&self) -> Option<FileIo> {
        self.place.as_ref().and_then(|place| place.part.direct()).map(Direct::granted)
    }

    /// What a failed write to it is.
    pub fn unwritten(&self, error: io::Error) -> Error {
        fault::on("write", self.place.as_ref().map_or("the part", |place| place.part.shown()), error)
    }

    /// Makes what has no bytes, once all that has some is there.
    pub fn complete(&self) -> Result<()> {
        self.place.as_ref().map_or(Ok(()), |place| place.part.complete())
    }

    /// Remembers that a range is there.
    pub fn keep(&self, range: u64) -> Result<()> {
        self.place.as_ref().map_or(Ok(()), |place| place.journal.keep(range))
    }

    /// Has everything on the disk; says how long that took.
    pub fn sync(&self) -> Result<u64> {
        let begun = monotonic_ns();
        let Some(place) = &self.place else { return Ok(0) };
        place.part.sync()?;
        Ok(monotonic_ns() - begun)
    }

    /// Gives it its name.
    pub fn finish(&self, request: &FinishRequest) -> Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        destination::name(place.part.path(), &place.whole, place.overwrite).map_err(|error| {
            match error.source.kind() {
                io::ErrorKind::AlreadyExists => exists(&place.whole, HINT_REPLACES),
                _ => fault::of_file(error),
            }
        })?;
        // The file is whole whatever becomes of it.
        let _ = std::fs::remove_file(&place.journal_path);
        if request.sync {
            let folder = folder(&place.whole);
            match File::open(folder).and_then(|folder| folder.sync_all()) {
                // A folder that may be written and not read cannot be opened; the file's own data is on the disk.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                synced => synced.map_err(|e| fault::on("fsync", &folder.display().to_string(), e))?,
            }
        }
        Ok(())
    }
}

/// A folder's path with the file's name in it.
fn whole_path(path: &Path, name: Option<&[u8]>) -> Result<PathBuf> {
    let is_folder = path.is_dir();
    if !is_folder && path.as_os_str().as_bytes().ends_with(b"/") {
        let what = format!("{} is no folder", path.display());
        return Err(Error::unavailable(what, "make it first (mkdir), or leave out the `/`"));
    }
    match (is_folder, name) {
        (false, _) => Ok(path.to_owned()),
        // A path would lead elsewhere than into the folder that the user named.
        (true, Some(name))
            if Path::new(OsStr::from_bytes(name)).file_name() != Some(OsStr::from_bytes(name)) =>
        {
            let what = "names what it sends by a path";
            Err(Error::peer("the sending end", what, "are both ends of the same version?"))
        }
        (true, Some(name)) => Ok(path.join(OsStr::from_bytes(name))),
        (true, None) => Err(Error::usage(
            format!("{} is a folder, and memory has no name", path.display()),
            "name a file in it",
        )),
    }
}

/// Whether a file, or a folder, may stand there.
fn may_be_made(whole: &Path, overwrite: bool, is_tree: bool) -> Result<()> {
    let Ok(found) = whole.symlink_metadata() else { return Ok(()) };
    if is_tree {
        return Err(exists(
            whole,
            "a folder replaces nothing: name another destination, or move this one away",
        ));
    }
    if !found.is_file() {
        let what = format!("{} is there and no regular file", whole.display());
        return Err(Error::unavailable(what, "name another destination, or `memory` for nowhere"));
    }
    if overwrite { Ok(()) } else { Err(exists(whole, HINT_REPLACES)) }
}

const HINT_REPLACES: &str = "--overwrite replaces it once the new one is whole";

fn exists(whole: &Path, hint: &str) -> Error {
    Error::unavailable(format!("{} exists", whole.display()), hint)
}

/// The longest name of a file (NAME_MAX, limits.h of Linux).
const LONGEST_NAME: usize = 255;

/// What stands of a longer one before its digest.
const BEGINNING: usize = 200;

/// A name beside the file's; where that would be too long, one that begins like it.
fn beside(whole: &Path, ending: &str) -> PathBuf {
    let name = whole.file_name().unwrap_or_default().as_bytes();
    let beside = match name.len() + ending.len() <= LONGEST_NAME {
        true => [name, ending.as_bytes()].concat(),
        false => {
            let digest = blake3::hash(name).to_hex();
            [&name[..BEGINNING], b".", &digest.as_bytes()[..16], ending.as_bytes()].concat()
        }
    };
    whole.with_file_name(OsStr::from_bytes(&beside))
}

fn folder(whole: &Path) -> &Path {
    whole.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The digests of ranges that are said to be there, by several threads.
fn looked_through(part: &Part, division: Division, ranges: &[u64], threads: u32) -> Result<Vec<Held>> {
    let next = AtomicUsize::new(0);
    let look = || -> Result<Vec<Held>> {
        let (mut room, mut held) = (vec![0; PIECE], Vec::new());
        while let Some(range) = ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
            match part.digest(division, *range, &mut room) {
                Ok(digest) => held.push(Held { range: *range, digest }),
                Err(error) if part.may_lack(&error) => {}
                Err(error) => return Err(fault::on("read", part.shown(), error)),
            }
        }
        Ok(held)
    };
    let works = (0..threads.clamp(1, 64)).map(|_| look);
    let mut held = Vec::new();
    for looked in thread::together("looks", works)? {
        held.extend(
            looked.map_err(|_| Error::peer("this process", "a thread panicked", "please report it"))??,
        );
    }
    held.sort_unstable_by_key(|held| held.range);
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &Path, bytes: u64) -> SinkRequest {
        SinkRequest {
            path: Some(path.as_os_str().as_bytes().to_vec()),
            name: Some(b"name".to_vec()),
            bytes,
            entries: None,
            mode: 0o640,
            overwrite: false,
            anew: false,
            verify: true,
            direct: false,
            source: None,
            threads: 2,
        }
    }

    #[test]
    fn a_part_has_another_name_until_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (sink, prepared) = Sink::open(&request(folder.path(), 5)).unwrap();
        assert!(prepared.path.unwrap().ends_with("/name") && prepared.held.is_empty());
        sink.write(0, b"whole", &mut Hand::default()).unwrap();
        assert!(!folder.path().join("name").exists() && folder.path().join("name.linerate-part").exists());
        sink.finish(&FinishRequest { digest: None, sync: true }).unwrap();
        assert_eq!(std::fs::read(folder.path().join("name")).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_that_is_there_is_replaced_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        std::fs::write(&whole, "old").unwrap();
        let error = Sink::open(&request(&whole, 5)).err().unwrap();
        assert!(error.to_string().ends_with("exists") && error.hint().unwrap().contains("--overwrite"));
        // One that appears meanwhile is not replaced either.
        let other = folder.path().join("other");
        let (sink, _) = Sink::open(&request(&other, 5)).unwrap();
        std::fs::write(&other, "new").unwrap();
        assert!(sink.finish(&FinishRequest { digest: None, sync: false }).is_err());
        assert_eq!(std::fs::read(&other).unwrap(), b"new");
        let overwrite = SinkRequest { overwrite: true, ..request(Path::new("/dev/null"), 5) };
        assert!(Sink::open(&overwrite).is_err(), "a device");
    }

    #[test]
    fn a_name_from_the_other_end_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in [&b"/etc/passwd"[..], b"../x", b"a/b", b"..", b".", b"", b"a/"] {
            let request = SinkRequest { name: Some(name.to_vec()), ..request(folder.path(), 5) };
            let error = Sink::open(&request).err().unwrap();
            assert!(error.to_string().contains("by a path"), "{error}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn one_at_a_time_writes_a_part() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        let first = Sink::open(&request(&whole, 5)).unwrap();
        let error = Sink::open(&request(&whole, 5)).err().unwrap();
        assert!(error.to_string().contains("another transfer"), "{error}");
        drop(first);
        assert!(Sink::open(&request(&whole, 5)).is_ok());
    }

    #[test]
    fn what_is_there_is_looked_through_again() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, bytes) = (folder.path().join("whole"), 20 << 20);
        let division = Division::for_file(bytes).unwrap();
        {
            let (sink, _) = Sink::open(&request(&whole, bytes)).unwrap();
            sink.write(division.range_bytes, &[7; 100], &mut Hand::default()).unwrap();
            [1, 2].iter().for_each(|range| sink.keep(*range).unwrap());
        }
        let (sink, prepared) = Sink::open(&request(&whole, bytes)).unwrap();
        let ranges: Vec<u64> = prepared.held.iter().map(|held| held.range).collect();
        assert_eq!(ranges, [1, 2]);
        assert_ne!(prepared.held[0].digest, prepared.held[1].digest);
        drop(sink);
        let (_, other) = Sink::open(&request(&whole, bytes + 1)).unwrap();
        assert!(other.held.is_empty(), "another file's");
    }
}
