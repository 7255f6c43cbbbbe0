//! Where a file is received: a part beside its place, whose name says what it is, until it is whole; or nowhere.
//!
//! `NAME.linerate-part` has the bytes, and `NAME.linerate-journal` says which of its ranges are there. Whoever is ended leaves
//! both, and the next one goes on from them. A lock on the part keeps a second one away.

use super::ask::{FinishRequest, Held, Prepared, SinkRequest};
use super::fault;
use super::journal::{self, Journal};
use super::range::{Digest, Division};
use crate::{Error, Result};
use linerate_sys::clock::monotonic_ns;
use linerate_sys::{destination, thread};
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
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

/// A file in the making.
struct Place {
    whole: PathBuf,
    part: PathBuf,
    shown: String,
    file: File,
    journal: Journal,
    journal_path: PathBuf,
    overwrite: bool,
}

impl Sink {
    /// Opens the part, and looks through what an earlier transfer left of it.
    pub fn open(request: &SinkRequest) -> Result<(Sink, Prepared)> {
        let division = Division::for_file(request.bytes)?;
        let prepared =
            |path, held, allocated| Prepared { path, range_bytes: division.range_bytes, held, allocated };
        let Some(path) = &request.path else {
            let sink = Sink { division, held: Vec::new(), place: None };
            return Ok((sink, prepared(None, Vec::new(), None)));
        };
        let whole = whole_path(Path::new(OsStr::from_bytes(path)), request.name.as_deref())?;
        may_be_made(&whole, request.overwrite)?;
        let [part, journal_path] = [PART, JOURNAL].map(|ending| beside(&whole, ending));
        let file = destination::open_plain(&part, request.mode & 0o777 | 0o600).map_err(fault::of_file)?;
        let shown = part.display().to_string();
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let what = format!("another transfer writes {shown}");
                return Err(Error::unavailable(what, "wait until it is done, or name another destination"));
            }
            Err(TryLockError::Error(error)) => return Err(fault::on("flock", &shown, error)),
        }
        let is_left = file.metadata().is_ok_and(|found| found.len() == division.bytes && found.len() > 0);
        let ranges = match is_left && !request.anew && request.verify {
            true => journal::read(&journal_path, division),
            false => Vec::new(),
        };
        let allocated = destination::allocate(&file, division.bytes, &part).map_err(fault::of_file)?;
        let held = looked_through(&file, &shown, division, &ranges, request.threads)?;
        let journal = Journal::create(&journal_path, division)?;
        held.iter().try_for_each(|held| journal.keep(held.range))?;
        let told = prepared(Some(whole.display().to_string()), held.clone(), Some(allocated));
        let overwrite = request.overwrite;
        let place = Some(Place { whole, part, shown, file, journal, journal_path, overwrite });
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
    pub fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        place.file.write_all_at(bytes, at).map_err(|e| fault::on("write", &place.shown, e))
    }

    /// Remembers that a range is there.
    pub fn keep(&self, range: u64) -> Result<()> {
        self.place.as_ref().map_or(Ok(()), |place| place.journal.keep(range))
    }

    /// Has everything on the disk; says how long that took.
    pub fn sync(&self) -> Result<u64> {
        let begun = monotonic_ns();
        let Some(place) = &self.place else { return Ok(0) };
        place.file.sync_all().map_err(|e| fault::on("fsync", &place.shown, e))?;
        Ok(monotonic_ns() - begun)
    }

    /// Gives it its name.
    pub fn finish(&self, request: &FinishRequest) -> Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        destination::name(&place.part, &place.whole, place.overwrite).map_err(|error| {
            match error.source.kind() {
                std::io::ErrorKind::AlreadyExists => exists(&place.whole),
                _ => fault::of_file(error),
            }
        })?;
        if request.sync {
            let folder = folder(&place.whole);
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(|e| fault::on("fsync", &folder.display().to_string(), e))?;
        }
        // The file is whole whatever becomes of it.
        let _ = std::fs::remove_file(&place.journal_path);
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
        (true, Some(name)) => Ok(path.join(OsStr::from_bytes(name))),
        (true, None) => Err(Error::usage(
            format!("{} is a folder, and memory has no name", path.display()),
            "name a file in it",
        )),
    }
}

/// Whether a file may stand there.
fn may_be_made(whole: &Path, overwrite: bool) -> Result<()> {
    let Ok(found) = whole.symlink_metadata() else { return Ok(()) };
    if !found.is_file() {
        let what = format!("{} is there and no regular file", whole.display());
        return Err(Error::unavailable(what, "name another destination"));
    }
    if overwrite { Ok(()) } else { Err(exists(whole)) }
}

fn exists(whole: &Path) -> Error {
    Error::unavailable(
        format!("{} exists", whole.display()),
        "--overwrite replaces it once the new one is whole",
    )
}

fn beside(whole: &Path, ending: &str) -> PathBuf {
    let mut name = whole.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn folder(whole: &Path) -> &Path {
    whole.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The digests of ranges that are said to be there, by several threads.
fn looked_through(
    file: &File,
    shown: &str,
    division: Division,
    ranges: &[u64],
    threads: u32,
) -> Result<Vec<Held>> {
    let next = AtomicUsize::new(0);
    let look = || -> Result<Vec<Held>> {
        let (mut room, mut held) = (vec![0; PIECE], Vec::new());
        while let Some(range) = ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
            let digest = digest_of(file, division, *range, &mut room);
            held.push(Held { range: *range, digest: digest.map_err(|e| fault::on("read", shown, e))? });
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

fn digest_of(file: &File, division: Division, range: u64, room: &mut [u8]) -> std::io::Result<Digest> {
    let span = division.span(range).ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut hasher = division.hasher(span.at);
    let mut at = span.at;
    while at < span.at + span.bytes {
        let length = (span.at + span.bytes - at).min(room.len() as u64) as usize;
        file.read_exact_at(&mut room[..length], at)?;
        hasher.update(&room[..length]);
        at += length as u64;
    }
    Ok(hasher.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &Path, bytes: u64) -> SinkRequest {
        SinkRequest {
            path: Some(path.as_os_str().as_bytes().to_vec()),
            name: Some(b"name".to_vec()),
            bytes,
            mode: 0o640,
            overwrite: false,
            anew: false,
            verify: true,
            threads: 2,
        }
    }

    #[test]
    fn a_part_has_another_name_until_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (sink, prepared) = Sink::open(&request(folder.path(), 5)).unwrap();
        assert!(prepared.path.unwrap().ends_with("/name") && prepared.held.is_empty());
        sink.write(0, b"whole").unwrap();
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
            sink.write(division.range_bytes, &[7; 100]).unwrap();
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
