//! Where stripes are: in a server's memory, in a file of its own that has no name, or in one of any mounted file system.

use super::layout::{Part, REGIONS};
use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// Where a server's file is: on a disk rather than in memory, by the hierarchy standard.
pub const FOLDER: &str = "/var/tmp";

/// `O_TMPFILE` of open(2): with it a file has no name (include/uapi/asm-generic/fcntl.h).
const NAMELESS: i32 = 0o20_000_000 | 0o200_000;

/// What failed where a folder holds no file.
const OPEN: &str = "make a file in";

/// A file that goes with its descriptor. A file system that has none without a name gives it one for a moment.
pub fn nameless(folder: &str) -> Result<File> {
    let open = |path: &Path, flags: i32, is_new: bool| {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(is_new).custom_flags(flags).mode(0o600).open(path)
    };
    let failed = |call: &'static str| move |error: io::Error| Error::io(call, folder, error);
    match open(Path::new(folder), NAMELESS, false) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let path = Path::new(folder).join(format!(".linerate-{:032x}", rand::random::<u128>()));
            let file = open(&path, 0, true).map_err(failed(OPEN))?;
            std::fs::remove_file(&path).map_err(failed("unlink"))?;
            Ok(file)
        }
        opened => opened.map_err(failed(OPEN)),
    }
}

/// After so many bytes a file that is made is told to have grown.
const GROWN: usize = 1 << 20;

/// Where the bytes are.
enum Place {
    Memory(Vec<u8>),
    /// A file with the stripes of one server.
    File(Arc<File>, &'static str),
    /// A whole file, in which others have their stripes as well.
    Shared(Arc<File>, String),
}

impl Place {
    fn write(&mut self, from: &[u8], at: u64) -> io::Result<()> {
        match self {
            Place::Memory(bytes) => found(bytes, at, from.len()).map(|room| room.copy_from_slice(from)),
            Place::File(file, _) | Place::Shared(file, _) => file.write_all_at(from, at),
        }
    }
}

/// The stripes of one client's file.
pub struct Store {
    place: Place,
    /// What it was made for.
    part: Option<Part>,
}

impl Store {
    /// An empty one, in memory or on the disk.
    pub fn new(disk: bool) -> Result<Store> {
        let place = match disk {
            true => Place::File(Arc::new(nameless(FOLDER)?), FOLDER),
            false => Place::Memory(Vec::new()),
        };
        Ok(Store { place, part: None })
    }

    /// A part of a file in this folder.
    pub fn shared(file: Arc<File>, folder: &str) -> Store {
        Store { place: Place::Shared(file, folder.to_owned()), part: None }
    }

    /// Makes a file for what is to be read, with the truth in it, or for what is to be written. `still` is called as it goes
    /// on: who waits for the file hears that it grows.
    pub fn make(
        &mut self,
        part: Part,
        is_read: bool,
        mut still: impl FnMut() -> io::Result<()>,
    ) -> Result<()> {
        let mut still = || still().map_err(|error| Error::io("tell of", "a file that is made", error));
        self.part = Some(part);
        let one = part.bytes() as usize;
        if let Place::Memory(bytes) = &mut self.place {
            let all = if part.tile.is_some() { part.frame_bytes() as usize } else { one * REGIONS as usize };
            bytes.clear();
            bytes.resize(all, 0);
            // Written to, so that no page of it is missing in the loop.
            for some in bytes.chunks_mut(GROWN) {
                some.iter_mut().step_by(4096).for_each(|byte| *byte = u8::MAX);
                still()?;
            }
        }
        let regions = if part.tile.is_some() { 1 } else { REGIONS };
        let mut room = vec![0; one];
        for region in 0..regions {
            if is_read {
                part.fill(region, &mut room);
            }
            still()?;
            self.each((part, region), |place, at, range| {
                let from = room.get(range).ok_or(io::ErrorKind::InvalidInput)?;
                for (nth, some) in from.chunks(GROWN).enumerate() {
                    place.write(some, at + (nth * GROWN) as u64)?;
                    still().map_err(io::Error::other)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Where a piece of a region lies.
    fn at(&self, part: Part, region: u32, piece: u64, done: usize) -> u64 {
        match (&self.place, part.tile) {
            (Place::Shared(..), None) => u64::from(region) * part.region_bytes + piece,
            (Place::Shared(..), Some(_)) => piece,
            (_, None) => u64::from(region) * part.bytes() + done as u64,
            (_, Some(_)) => part.within_server(piece),
        }
    }

    /// Whether it was made for this, or for a part of it: another file is another one's.
    fn is_for(&self, part: Part) -> io::Result<()> {
        let same = |own: &Part| {
            let kind = |part: &Part| part.tile.map(|tile| (tile.tiles, tile.number, tile.overlap));
            (own.servers, own.server, own.region_bytes) == (part.servers, part.server, part.region_bytes)
                && kind(own) == kind(&part)
        };
        let nobody = || io::Error::new(io::ErrorKind::InvalidData, "of a file that was not made");
        self.part.as_ref().filter(|own| same(own)).map(drop).ok_or_else(nobody)
    }

    /// Each piece of a region, with what is to be done to it.
    fn each(
        &mut self,
        (part, region): (Part, u32),
        mut moves: impl FnMut(&mut Place, u64, std::ops::Range<usize>) -> io::Result<()>,
    ) -> Result<()> {
        let mut done = 0;
        let failed = |place: &Place, error| match place {
            Place::Memory(_) => Error::io("find", "the stripes of a region", error),
            Place::File(_, folder) => Error::io("use a file in", *folder, error),
            Place::Shared(_, folder) => Error::io("use a file in", folder.clone(), error),
        };
        self.is_for(part).map_err(|error| failed(&self.place, error))?;
        let is_whole = part.tile.is_none() && !matches!(self.place, Place::Shared(..));
        let whole = [(0, part.bytes())].into_iter().filter(|_| is_whole);
        for (piece, len) in whole.chain(part.pieces().filter(|_| !is_whole)) {
            let at = self.at(part, region, piece, done);
            let range = done..done + len as usize;
            done = range.end;
            moves(&mut self.place, at, range).map_err(|error| failed(&self.place, error))?;
        }
        Ok(())
    }

    /// Keeps the stripes of a region.
    pub fn write(&mut self, part: Part, region: u32, from: &[u8]) -> Result<()> {
        self.each((part, region), |place, at, range| {
            place.write(from.get(range).ok_or(io::ErrorKind::InvalidInput)?, at)
        })
    }

    /// Gives the stripes of a region.
    pub fn read(&mut self, part: Part, region: u32, room: &mut [u8]) -> Result<()> {
        self.each((part, region), |place, at, range| {
            let room = room.get_mut(range).ok_or(io::ErrorKind::InvalidInput)?;
            match place {
                Place::Memory(bytes) => found(bytes, at, room.len()).map(|from| room.copy_from_slice(from)),
                Place::File(file, _) | Place::Shared(file, _) => file.read_exact_at(room, at),
            }
        })
    }

    /// The stripes of a region where they lie: in memory, and in one piece.
    pub fn lying(&mut self, part: Part, region: u32) -> Option<&mut [u8]> {
        self.is_for(part).ok().filter(|()| part.tile.is_none())?;
        let Place::Memory(bytes) = &mut self.place else { return None };
        let len = part.bytes() as usize;
        let at = region as usize * len;
        bytes.get_mut(at..at + len)
    }
}

/// A piece of what is in memory.
fn found(bytes: &mut [u8], at: u64, len: usize) -> io::Result<&mut [u8]> {
    let at = at as usize;
    bytes.get_mut(at..at + len).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::super::tile::Tile;
    use super::*;

    fn stores() -> Vec<Store> {
        let folder = std::env::temp_dir();
        let folder = folder.to_str().unwrap();
        let shared = Store::shared(Arc::new(nameless(folder).unwrap()), folder);
        vec![Store::new(false).unwrap(), Store::new(true).unwrap(), shared]
    }

    #[test]
    fn what_is_written_is_read() {
        let region = Part { servers: 2, server: 1, region_bytes: 200 << 10, tile: None };
        let tile = Tile { tiles: 2, number: 1, ..Tile::whole(200 << 10) };
        for part in [region, Part { tile: Some(tile), ..region }] {
            for mut store in stores() {
                let (mut wanted, mut room) = (vec![0; part.bytes() as usize], vec![0; part.bytes() as usize]);
                assert!(store.read(part, 3, &mut room).is_err(), "it was not made");
                store.make(part, true, || Ok(())).unwrap();
                part.fill(3, &mut wanted);
                store.read(part, 3, &mut room).unwrap();
                assert_eq!(room, wanted, "what nobody wrote is there");
                store.write(part, 3, &vec![7; wanted.len()]).unwrap();
                store.read(part, 3, &mut room).unwrap();
                assert!(room.iter().all(|byte| *byte == 7));
                store.make(part, false, || Ok(())).unwrap();
                store.read(part, 3, &mut room).unwrap();
                assert!(room.iter().all(|byte| *byte == 0), "nothing is left of it");
                let other = Part { region_bytes: 100, ..part };
                assert!(store.read(other, 3, &mut room).is_err(), "it is another file");
            }
        }
    }

    #[test]
    fn a_file_that_is_made_is_told_to_grow() {
        let part = Part { servers: 1, server: 0, region_bytes: 3 << 20, tile: None };
        for mut store in stores() {
            let mut told = 0;
            let still = || {
                told += 1;
                Ok(())
            };
            store.make(part, true, still).unwrap();
            assert!(told >= 8 * 3, "{told} times for 24 MiB");
            let gone = || Err(io::ErrorKind::BrokenPipe.into());
            assert!(store.make(part, true, gone).is_err(), "nobody waits for it any more");
        }
    }

    #[test]
    fn a_row_of_a_tile_is_where_the_tile_has_it() {
        let tile = Tile { tiles: 3, number: 1, overlap: 128, ..Tile::whole(320 << 10) };
        let part = Part { servers: 2, server: 0, region_bytes: 320 << 10, tile: Some(tile) };
        for mut store in stores() {
            store.make(part, true, || Ok(())).unwrap();
            let mut rows = Vec::new();
            for row in 0..tile.rows {
                let one = Part { tile: Some(tile.row(row)), ..part };
                let mut room = vec![0; one.bytes() as usize];
                store.read(one, 0, &mut room).unwrap();
                rows.extend(room);
            }
            let mut wanted = vec![0; part.bytes() as usize];
            part.fill(0, &mut wanted);
            assert_eq!(rows, wanted);
        }
    }
}
