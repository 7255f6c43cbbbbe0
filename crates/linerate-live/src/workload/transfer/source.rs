//! What is sent: a file, a folder, or memory in their place.

use super::ask::{Opened, SourceRequest};
use super::direct::Direct;
use super::fault;
use super::range::Division;
use super::tree::{Hand, Tree};
use super::whereabouts::Whereabouts;
use crate::record::FileIo;
use crate::{Error, Result};
use linerate_sys::direct_file::Reader;
use linerate_sys::{destination, page_cache};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What memory is made of: no layer below may find that it is all the same, and it is written once, so that it is there.
const BLOCK: usize = 2 << 20;

/// How many files of a folder the kernel is asked of at most, how much of them is in the page cache.
const MOST_ASKED: u64 = 512;

/// What is sent.
pub enum Source {
    /// A file.
    File(SourceFile),
    /// A folder with all that is in it.
    Tree(Tree),
    /// So many bytes of memory.
    Memory(u64, Vec<u8>),
}

/// An open file, as it was found.
pub struct SourceFile {
    file: File,
    shown: String,
    found: Metadata,
    direct: Option<Direct>,
}

/// What a stream reads with.
pub struct Hands {
    room: Vec<u8>,
    hand: Hand,
    reader: Option<Reader>,
}

impl Source {
    /// Opens it.
    pub fn open(request: &SourceRequest) -> Result<(Source, Opened)> {
        let Some(path) = &request.path else {
            let division = Division::for_file(request.memory_bytes)?;
            let block = block(rand::random());
            let (bytes, mode) = (division.bytes, 0o644);
            let opened =
                Opened { bytes, mode, name: None, entries: None, cached_share: None, whereabouts: None };
            return Ok((Source::Memory(division.bytes, block), opened));
        };
        let path = PathBuf::from(OsStr::from_bytes(path));
        if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            return Source::open_tree(&path, request.cold);
        }
        let shown = path.display().to_string();
        let file = destination::open_source(&path).map_err(fault::of_file)?;
        let found = file.metadata().map_err(|e| fault::on("stat", &shown, e))?;
        Division::for_file(found.len())?;
        if request.cold {
            page_cache::drop_cached(&file).map_err(fault::of_file)?;
        }
        let cached_share = page_cache::cached_share(&file).ok();
        let direct = request.direct.then(|| Direct::past_cache(&file, false));
        // It is advice: whether it is taken shows in the time.
        let _ = page_cache::read_ahead(&file);
        let name = path.file_name().map(|name| name.to_owned().into_vec());
        let (bytes, mode) = (found.len(), found.mode() & 0o777);
        let whereabouts = Whereabouts::found(&found);
        let opened = Opened { bytes, mode, name, entries: None, cached_share, whereabouts };
        Ok((Source::File(SourceFile { file, shown, found, direct }), opened))
    }

    fn open_tree(path: &Path, cold: bool) -> Result<(Source, Opened)> {
        let shown = path.display().to_string();
        let whole = path.canonicalize().map_err(|e| fault::on("realpath", &shown, e))?;
        let found = whole.metadata().map_err(|e| fault::on("stat", &shown, e))?;
        let tree = Tree::open(&whole)?;
        // Marks stand in equal distances in the bytes of all, and the files in which they fall are asked: of ten thousand small ones
        // each answer takes as long as a file.
        let step = tree.catalog().bytes().div_ceil(MOST_ASKED).max(1);
        let (mut cached, mut asked, mut at) = (Some(0.0), 0, 0_u64);
        tree.each_file(|file, bytes| {
            if cold {
                page_cache::drop_cached(file).map_err(fault::of_file)?;
            }
            let marks = (at + bytes).div_ceil(step) - at.div_ceil(step);
            at += bytes;
            if marks > 0 {
                asked += marks;
                let share = page_cache::cached_share(file).ok();
                cached = cached.zip(share).map(|(sum, share)| sum + share * marks as f64);
            }
            Ok(())
        })?;
        let catalog = tree.catalog();
        let opened = Opened {
            bytes: catalog.bytes(),
            mode: found.mode() & 0o777,
            name: whole.file_name().map(|name| name.to_owned().into_vec()),
            entries: Some(catalog.entries().to_vec()),
            cached_share: cached.filter(|_| asked > 0).map(|sum| sum / asked as f64),
            whereabouts: Whereabouts::found(&found),
        };
        Ok((Source::Tree(tree), opened))
    }

    /// How long it is.
    pub fn bytes(&self) -> u64 {
        match self {
            Source::File(file) => file.found.len(),
            Source::Tree(tree) => tree.catalog().bytes(),
            Source::Memory(bytes, _) => *bytes,
        }
    }

    /// The bytes from a place on, as many as the room has or less. A file's are read into the room, memory's are where they are.
    pub fn piece<'p>(&'p self, at: u64, room: &'p mut [u8], hand: &mut Hand) -> Result<&'p [u8]> {
        match self {
            Source::File(file) => file.read(at, room),
            Source::Tree(tree) => tree.read(at, room, hand),
            Source::Memory(_, block) => {
                let from = (at % BLOCK as u64) as usize;
                Ok(&block[from..(from + room.len()).min(BLOCK)])
            }
        }
    }

    /// What a stream needs to read it, pieces of so many bytes at once.
    pub fn hands(&self, piece: usize) -> Result<Hands> {
        let reader = self.direct().and_then(Direct::file).map(|_| Reader::new()).transpose()?;
        Ok(Hands { room: vec![0; piece], hand: Hand::default(), reader })
    }

    /// The bytes from a place on, as many as are read at once or less, and none from `end` on.
    pub fn next<'p>(&'p self, at: u64, end: u64, hands: &'p mut Hands) -> Result<&'p [u8]> {
        if let (Source::File(file), Some(reader)) = (self, &mut hands.reader) {
            return file.read_direct(at, end, reader);
        }
        let length = (end - at).min(hands.room.len() as u64) as usize;
        self.piece(at, &mut hands.room[..length], &mut hands.hand)
    }

    fn direct(&self) -> Option<&Direct> {
        match self {
            Source::File(file) => file.direct.as_ref(),
            Source::Tree(_) | Source::Memory(..) => None,
        }
    }

    /// Whether it goes past the page cache, where that was asked for.
    pub fn file_io(&self) -> Option<FileIo> {
        self.direct().map(Direct::granted)
    }

    /// The file whose pages the kernel may send by itself; none of what is no single one.
    pub fn file(&self) -> Option<&File> {
        match self {
            Source::File(file) if file.direct.as_ref().and_then(Direct::file).is_none() => Some(&file.file),
            // Those past the cache are not the kernel's.
            Source::File(_) => None,
            // Its pages are of many files, which this process opens.
            Source::Tree(_) | Source::Memory(..) => None,
        }
    }

    /// Whether it is still what was found: a file that was written meanwhile was sent in parts of two states.
    pub fn is_unchanged(&self) -> Result<()> {
        let file = match self {
            Source::File(file) => file,
            Source::Tree(tree) => return tree.is_unchanged(),
            Source::Memory(..) => return Ok(()),
        };
        let now = file.file.metadata().map_err(|e| fault::on("stat", &file.shown, e))?;
        let state = |of: &Metadata| (of.len(), of.mtime(), of.mtime_nsec());
        if state(&now) == state(&file.found) { Ok(()) } else { Err(file.changed()) }
    }

    /// It ended before its end.
    pub fn shrank(&self) -> Error {
        match self {
            Source::File(file) => file.changed(),
            Source::Tree(_) | Source::Memory(..) => Error::peer("the source", "ended", "please report it"),
        }
    }
}

/// Numbers of splitmix64 (Steele, Lea and Flood, OOPSLA 2014), which are quickly had: nobody is to wait for them.
fn block(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut block = vec![0; BLOCK];
    block.chunks_exact_mut(8).for_each(|eight| eight.copy_from_slice(&next().to_le_bytes()));
    block
}

impl SourceFile {
    fn read<'r>(&self, at: u64, room: &'r mut [u8]) -> Result<&'r [u8]> {
        let mut filled = 0;
        while filled < room.len() {
            match self.file.read_at(&mut room[filled..], at + filled as u64) {
                Ok(0) => return Err(self.changed()),
                Ok(came) => filled += came,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(fault::on("read", &self.shown, error)),
            }
        }
        Ok(room)
    }

    fn read_direct<'r>(&self, at: u64, end: u64, reader: &'r mut Reader) -> Result<&'r [u8]> {
        let Some(direct) = self.direct.as_ref().and_then(Direct::file) else { return Err(self.changed()) };
        reader.read(direct, at, end).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => self.changed(),
            _ => fault::on("io_uring read", &self.shown, error),
        })
    }

    fn changed(&self) -> Error {
        let what = format!("{} was changed while it was read", self.shown);
        Error::unavailable(what, "send it when nobody writes it, or a copy; nothing of it was given its name")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Result<(Source, Opened)> {
        let path = Some(path.as_os_str().as_bytes().to_vec());
        Source::open(&SourceRequest { path, memory_bytes: 0, cold: false, direct: false })
    }

    #[test]
    fn a_file_that_changes_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; 1000]).unwrap();
        let (source, opened) = open(&path).unwrap();
        assert_eq!((opened.bytes, opened.name.as_deref()), (1000, Some(&b"file"[..])));
        let mut hand = Hand::default();
        assert_eq!(source.piece(990, &mut [0; 10], &mut hand).unwrap(), [7; 10]);
        source.is_unchanged().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(995).unwrap();
        let read = source.piece(990, &mut [0; 10], &mut hand).map(<[u8]>::to_vec);
        for error in [source.is_unchanged().unwrap_err(), read.unwrap_err()] {
            assert!(error.to_string().contains("changed while it was read"), "{error}");
        }
    }

    #[test]
    fn the_cached_share_of_a_folder_is_that_of_its_bytes() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let large = folder.path().join("large");
        for number in 0..2000 {
            std::fs::write(folder.path().join(format!("small-{number}")), [7; 100]).unwrap();
        }
        std::fs::write(&large, vec![7; 8 << 20]).unwrap();
        let file = File::open(&large).unwrap();
        file.sync_all().unwrap();
        page_cache::drop_cached(&file).unwrap();
        // Where a file system keeps it all the same, both say so.
        let of_large = page_cache::cached_share(&file).unwrap();
        let (_, opened) = open(folder.path()).unwrap();
        let share = opened.cached_share.unwrap();
        assert!((share - of_large).abs() < 0.05, "{share}, of the large one {of_large}");
    }

    #[test]
    fn memory_goes_round() {
        let (source, opened) =
            Source::open(&SourceRequest { path: None, memory_bytes: 3 << 30, cold: false, direct: false })
                .unwrap();
        assert_eq!((source.bytes(), opened.bytes), (3 << 30, 3 << 30));
        let mut room = vec![0; 1000];
        let mut hand = Hand::default();
        let end = source.piece(BLOCK as u64 - 10, &mut room, &mut hand).unwrap().to_vec();
        assert_eq!(end.len(), 10, "no further than the block goes");
        assert_eq!(source.piece(2 * BLOCK as u64 - 10, &mut room, &mut hand).unwrap(), end);
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
        for (path, part) in [
            (folder.path().join("link"), "link"),
            ("/dev/zero".into(), "regular"),
            (folder.path().join("none"), "ls -l"),
        ] {
            let error = open(&path).err().unwrap();
            assert!(error.hint().is_some_and(|hint| hint.contains(part)), "{error} {:?}", error.hint());
        }
    }
}
