//! Where a server has its stripes: in memory, or in a file that has no name and goes with its descriptor.

use super::layout::{Part, REGIONS};
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

/// Where the file is: on a disk rather than in memory, by the hierarchy standard.
const FOLDER: &str = "/var/tmp";

/// `O_TMPFILE` of open(2): with it a file has no name (include/uapi/asm-generic/fcntl.h).
const NAMELESS: i32 = 0o20_000_000 | 0o200_000;

/// The stripes of one client's file.
pub struct Store {
    file: Option<File>,
    /// What was made or written already; what was not is made when it is first read.
    known: BTreeSet<u32>,
    part: Option<Part>,
    /// All regions in memory, or room for one of a file.
    bytes: Vec<u8>,
    room: Vec<u8>,
}

impl Store {
    /// An empty one.
    pub fn new(disk: bool) -> Result<Store> {
        let open =
            || OpenOptions::new().read(true).write(true).custom_flags(NAMELESS).mode(0o600).open(FOLDER);
        let file = match disk {
            true => Some(open().map_err(|error| Error::io("open", FOLDER, error))?),
            false => None,
        };
        Ok(Store { file, known: BTreeSet::new(), part: None, bytes: Vec::new(), room: Vec::new() })
    }

    /// Another client, or another size, has another file.
    fn make_for(&mut self, part: Part) {
        if self.part == Some(part) {
            return;
        }
        let one = part.bytes() as usize;
        self.known.clear();
        self.part = Some(part);
        self.room = vec![0; one];
        self.bytes = if self.file.is_some() { Vec::new() } else { vec![0; one * REGIONS as usize] };
    }

    /// Room for the stripes of a region that is about to be written.
    pub fn room(&mut self, part: Part) -> &mut [u8] {
        self.make_for(part);
        &mut self.room
    }

    /// Keeps what is in the room.
    pub fn write(&mut self, part: Part, region: u32) -> Result<()> {
        self.make_for(part);
        self.known.insert(region);
        let at = u64::from(region) * self.room.len() as u64;
        match &self.file {
            Some(file) => {
                file.write_all_at(&self.room, at).map_err(|error| Error::io("write", FOLDER, error))
            }
            None => {
                let at = at as usize;
                self.bytes[at..at + self.room.len()].copy_from_slice(&self.room);
                Ok(())
            }
        }
    }

    /// The stripes of a region.
    pub fn read(&mut self, part: Part, region: u32) -> Result<&[u8]> {
        self.make_for(part);
        if !self.known.contains(&region) {
            part.fill(region, &mut self.room);
            self.write(part, region)?;
        }
        let (len, at) = (self.room.len(), u64::from(region) * self.room.len() as u64);
        match &self.file {
            Some(file) => {
                file.read_exact_at(&mut self.room, at).map_err(|error| Error::io("read", FOLDER, error))?;
                Ok(&self.room)
            }
            None => Ok(&self.bytes[at as usize..at as usize + len]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for disk in [false, true] {
            let part = Part { servers: 2, server: 1, region_bytes: 200 << 10 };
            let mut store = Store::new(disk).unwrap();
            let mut wanted = vec![0; part.bytes() as usize];
            part.fill(3, &mut wanted);
            assert_eq!(store.read(part, 3).unwrap(), wanted, "what nobody wrote is there");
            store.room(part).fill(7);
            store.write(part, 3).unwrap();
            assert!(store.read(part, 3).unwrap().iter().all(|byte| *byte == 7), "{disk}");
            part.fill(4, &mut wanted);
            assert_eq!(store.read(part, 4).unwrap(), wanted);
        }
    }
}
