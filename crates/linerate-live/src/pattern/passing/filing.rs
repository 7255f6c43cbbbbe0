//! A file that all ranks have open: each reads or writes its part of it, region by region or tile by tile, and keeps the time.
//!
//! What a byte of the file is follows from its place. The first word of each part is looked at while the time is taken; the
//! last part is compared byte by byte afterwards, and after writes it is read again.

use crate::pattern::{Clock, Kernel, Loops, Monotonic, Moved, Walk};
use crate::plan::Block;
use crate::vocabulary::Does;
use serde::{Deserialize, Serialize};
use std::io;

/// Regions of a file, which are used one after the other, again and again.
const REGIONS: u64 = 8;

/// Bytes of a tile's row: 1024 elements of 32 bytes (P. Balaji et al., Cluster 2005, section 6.2).
const ROW: u64 = 32 << 10;

/// What is asked of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOrder {
    /// Where it is; none where nothing was said.
    pub folder: Option<String>,
    /// Whether each rank goes for itself.
    pub independent: bool,
    /// Whether a part is a tile, with gaps between its rows.
    pub tiles: bool,
}

/// The rows of a tile, and from one to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowView {
    /// Where the first one begins.
    pub at: u64,
    /// How many.
    pub rows: u64,
    /// Bytes of one.
    pub row: u64,
    /// From one to the next.
    pub pitch: u64,
}

/// One of several ranks with a file.
pub trait Filing: Send {
    /// How many there are.
    fn ranks(&self) -> usize;
    /// This one's number.
    fn number(&self) -> usize;
    /// Nobody goes on before all are there.
    fn barrier(&mut self) -> io::Result<()>;
    /// A new file for all of them, of which this one sees all, or these rows.
    fn open(&mut self, order: &FileOrder, view: Option<RowView>) -> io::Result<()>;
    /// Writes at a place.
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads at a place.
    fn read(&mut self, at: u64, room: &mut [u8]) -> io::Result<()>;
    /// All have done with it.
    fn close(&mut self) -> io::Result<()>;
}

/// A rank with these loops.
#[derive(Debug)]
pub struct Filed<F> {
    link: F,
    order: FileOrder,
    room: Vec<u8>,
    /// The last part that was used, and how.
    last: Option<(Does, u64)>,
}

/// The word that stands at a place of a file, as in a file in stripes.
fn word(place: u64) -> [u8; 8] {
    (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

impl<F: Filing> Filed<F> {
    /// The loops over this one.
    pub fn new(link: F, order: FileOrder) -> Self {
        Filed { link, order, room: Vec::new(), last: None }
    }

    /// The rows of this rank's tile of so many bytes: tiles lie beside each other.
    fn view(&self, bytes: u64) -> Option<RowView> {
        let (number, ranks) = (self.link.number() as u64, self.link.ranks() as u64);
        let row = ROW.min(bytes.max(1));
        let view = RowView { at: number * row, rows: bytes.div_ceil(row), row, pitch: ranks * row };
        self.order.tiles.then_some(view)
    }

    /// Where a region's part lies in what this rank sees; a frame is one region.
    fn place(&self, region: u64, bytes: u64) -> u64 {
        let (number, ranks) = (self.link.number() as u64, self.link.ranks() as u64);
        if self.order.tiles { 0 } else { (region * ranks + number) * bytes }
    }

    /// What the part at a place is: of another rank, or of another place, it is another one.
    fn truth(&self, place: u64, room: &mut [u8]) {
        let own = (self.link.number() as u64) << 32;
        for (nth, eight) in room.chunks_mut(8).enumerate() {
            let word = word(own + place + 8 * nth as u64);
            eight.copy_from_slice(&word[..eight.len()]);
        }
    }

    /// Marks, or looks at, how the part at a place begins.
    fn first(&self, place: u64) -> [u8; 8] {
        word(((self.link.number() as u64) << 32) + place)
    }
}

impl<F: Filing> Loops for Filed<F> {
    fn prepare(&mut self, does: Does, block: &Block) -> io::Result<()> {
        let bytes = block.message_bytes;
        let mut room = vec![0; bytes as usize];
        self.link.open(&self.order.clone(), self.view(bytes))?;
        // What is to be read is there, and every page of what is to be written.
        for region in 0..if self.order.tiles { 1 } else { REGIONS } {
            let place = self.place(region, bytes);
            if does == Does::ReadsFile {
                self.truth(place, &mut room);
            }
            self.link.write(place, &room)?;
        }
        self.truth(0, &mut room);
        self.room = room;
        Ok(())
    }

    fn agree(&mut self, _does: Does, _duplex: bool) -> io::Result<()> {
        self.link.barrier()
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        _walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let (bytes, mut number) = (block.message_bytes, 0);
        let mut room = std::mem::take(&mut self.room);
        for _ in 0..block.slices {
            for _ in 0..block.messages {
                let place = self.place(number % REGIONS, bytes);
                let (first, whole) = (self.first(place), room.len().min(8));
                if does == Does::WritesFile {
                    room[..whole].copy_from_slice(&first[..whole]);
                    self.link.write(place, &room)?;
                } else {
                    self.link.read(place, &mut room)?;
                    is_same(place, &room[..whole], &first[..whole])?;
                }
                number += 1;
            }
            stamps.push(Monotonic.now_ns());
        }
        self.room = room;
        self.last = Some((does, self.place(number.wrapping_sub(1) % REGIONS, bytes)));
        Ok(Moved { bytes: bytes * number, ..Moved::default() })
    }

    fn counters(&mut self, _: &mut Kernel) -> io::Result<()> {
        let Some((does, place)) = self.last.take() else { return Ok(()) };
        let mut other = vec![0; self.room.len()];
        // One may have written what another one is still writing beside: all have done first.
        self.link.barrier()?;
        if does == Does::WritesFile {
            self.link.read(place, &mut other)?;
        } else {
            self.truth(place, &mut other);
        }
        is_same(place, &self.room, &other)?;
        self.link.close()
    }
}

fn is_same(place: u64, came: &[u8], wanted: &[u8]) -> io::Result<()> {
    let Some(at) = came.iter().zip(wanted).position(|(one, other)| one != other) else { return Ok(()) };
    let what = format!("byte {} of the file is another one than was written", place + at as u64);
    Err(io::Error::new(io::ErrorKind::InvalidData, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::buffer::Region;

    /// A rank whose file is in memory; one byte of it may be spoilt.
    #[derive(Default)]
    struct Memory {
        file: Vec<u8>,
        view: Option<RowView>,
        spoilt: Option<usize>,
        opened: u32,
    }

    impl Memory {
        /// Where the bytes of a part lie.
        fn places(&self, at: u64, len: usize) -> Vec<usize> {
            let place = |nth: u64| match self.view {
                Some(view) => view.at + nth / view.row * view.pitch + nth % view.row,
                None => nth,
            };
            (at..at + len as u64).map(|nth| place(nth) as usize).collect()
        }
    }

    impl Filing for Memory {
        fn ranks(&self) -> usize {
            2
        }
        fn number(&self) -> usize {
            1
        }
        fn barrier(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn open(&mut self, _: &FileOrder, view: Option<RowView>) -> io::Result<()> {
            (self.view, self.opened) = (view, self.opened + 1);
            Ok(())
        }
        fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
            for (place, byte) in self.places(at, bytes.len()).into_iter().zip(bytes) {
                self.file.resize(self.file.len().max(place + 1), 0);
                self.file[place] = *byte;
            }
            Ok(())
        }
        fn read(&mut self, at: u64, room: &mut [u8]) -> io::Result<()> {
            let places = self.places(at, room.len());
            let byte = |place: usize| self.file[place] ^ u8::from(self.spoilt == Some(place));
            room.iter_mut().zip(places).for_each(|(room, place)| *room = byte(place));
            Ok(())
        }
        fn close(&mut self) -> io::Result<()> {
            self.opened -= 1;
            Ok(())
        }
    }

    fn play(does: Does, tiles: bool, spoilt: Option<usize>) -> io::Result<(u64, Memory)> {
        let block = Block { message_bytes: 100_000, messages: 3, slices: 4, ..Block::default() };
        let order = FileOrder { tiles, ..FileOrder::default() };
        let mut filed = Filed::new(Memory { spoilt, ..Memory::default() }, order);
        let mut region = Region::for_blocks(&[block], does).unwrap();
        let (mut walk, mut stamps) = (region.walk(&block, does), Vec::new());
        filed.prepare(does, &block)?;
        filed.agree(does, false)?;
        let moved = filed.run(does, &block, &mut walk, &mut stamps)?;
        assert_eq!(stamps.len(), 4);
        filed.counters(&mut Kernel::default())?;
        Ok((moved.bytes, filed.link))
    }

    #[test]
    fn what_is_written_to_a_shared_file_is_read() {
        for does in [Does::ReadsFile, Does::WritesFile] {
            for tiles in [false, true] {
                let (bytes, link) = play(does, tiles, None).unwrap();
                assert_eq!((bytes, link.opened), (12 * 100_000, 0));
                let all = if tiles { (100_000_usize.div_ceil(32 << 10)) * (64 << 10) } else { 16 * 100_000 };
                assert!(link.file.len() <= all, "{does:?} {tiles}: {}", link.file.len());
            }
        }
    }

    #[test]
    fn a_byte_of_a_shared_file_that_is_another_one_is_found() {
        for does in [Does::ReadsFile, Does::WritesFile] {
            // The last of 12 parts is that of region 3, whose own half begins at 7 times its length.
            let error = play(does, false, Some(7 * 100_000 + 5000)).map(drop).unwrap_err();
            assert!(error.to_string().contains("byte 705000 of the file"), "{error}");
        }
    }
}
