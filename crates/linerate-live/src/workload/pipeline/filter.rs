//! What a filter is to a stage, and what it is given to hand buffers on.

use super::queue::{Buffer, Outbox, Pool, Stopped};
use crate::workload::activity::Watch;
use crate::{Error, Result};

/// Room for a frame's head before a buffer's bytes.
pub const HEAD: usize = 8;

/// What a filter is made for.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// The most bytes of a buffer.
    pub buffer_bytes: usize,
    /// How much of the data a unit is of.
    pub update_bytes: u64,
}

/// A filter at work.
pub trait Filter: Send {
    /// Makes a unit, of a stage that nothing comes to.
    fn make(&mut self, _unit: u64, _out: &mut Out<'_>) -> Result<()> {
        Ok(())
    }
    /// Works on a buffer.
    fn take(&mut self, _unit: u64, _bytes: &[u8], _out: &mut Out<'_>) -> Result<()> {
        Ok(())
    }
    /// The unit is over.
    fn end(&mut self, _unit: u64, _out: &mut Out<'_>) -> Result<()> {
        Ok(())
    }
    /// Whether what came of the unit is the truth, of the last stage.
    fn check(&mut self, _unit: u64) -> Result<()> {
        Ok(())
    }
}

/// What came is not what the filter before makes.
pub fn nonsense(what: &str) -> Error {
    Error::peer(
        "the stage before",
        format!("gave a buffer that is none of {what}"),
        "are all hosts of the same version?",
    )
}

/// Where a filter puts what it makes: records, as many in a buffer as fit.
pub struct Out<'o> {
    boxes: &'o [Outbox],
    pool: &'o Pool,
    buffer_bytes: usize,
    current: Option<Buffer>,
    /// Whether somebody failed elsewhere.
    pub stopped: bool,
    /// How long there was no room.
    pub waited_ns: u64,
    /// Bytes that were made.
    pub bytes: u64,
    /// What the thread waited for meanwhile, `INPUT` and `ROOM`.
    pub watch: Watch,
}

/// What a stage waits for.
pub const INPUT: usize = 0;
pub const ROOM: usize = 1;

impl<'o> Out<'o> {
    /// Into these.
    pub fn new(boxes: &'o [Outbox], pool: &'o Pool, buffer_bytes: usize, watch: Watch) -> Out<'o> {
        Out { boxes, pool, buffer_bytes, current: None, stopped: false, waited_ns: 0, bytes: 0, watch }
    }

    /// A buffer with nothing in it but room for its head, whatever it had.
    fn fresh(pool: &Pool) -> Buffer {
        let mut buffer = pool.take();
        buffer.resize(HEAD, 0);
        buffer
    }

    /// Adds a record of this length, which `write` fills; it is never longer than a buffer.
    pub fn record(&mut self, len: usize, write: impl FnOnce(&mut [u8])) {
        if self.current.as_ref().is_some_and(|buffer| buffer.len() - HEAD + len > self.buffer_bytes) {
            self.flush();
        }
        let buffer = self.current.get_or_insert_with(|| Out::fresh(self.pool));
        let at = buffer.len();
        buffer.resize(at + len, 0);
        write(&mut buffer[at..]);
    }

    /// Adds a short record of a fixed length, of which there are many: what it costs is little more than to write it.
    #[inline]
    pub fn put<const N: usize>(&mut self, write: impl FnOnce(&mut [u8; N])) {
        let has_room = |buffer: &Buffer| buffer.len() - HEAD + N <= self.buffer_bytes;
        if !self.current.as_ref().is_some_and(has_room) {
            self.flush();
        }
        let mut record = [0; N];
        write(&mut record);
        self.current.get_or_insert_with(|| Out::fresh(self.pool)).extend_from_slice(&record);
    }

    /// Hands on a buffer of this length with whatever it had.
    pub fn blank(&mut self, len: usize) {
        self.flush();
        let mut buffer = self.pool.take();
        buffer.resize(HEAD + len, 0);
        self.current = Some(buffer);
        self.flush();
    }

    /// Hands on what is there.
    pub fn flush(&mut self) {
        let Some(buffer) = self.current.take() else { return };
        self.bytes += (buffer.len() - HEAD) as u64;
        let Some((last, others)) = self.boxes.split_last() else { return self.pool.give(buffer) };
        for one in others {
            let put = one.put(buffer.clone());
            self.waited(put);
        }
        let put = last.put(buffer);
        self.waited(put);
    }

    fn waited(&mut self, put: std::result::Result<u64, Stopped>) {
        match put {
            Ok(ns) => {
                self.waited_ns += ns;
                self.watch.spent(ROOM, ns);
            }
            Err(Stopped) => self.stopped = true,
        }
    }

    /// The unit is over.
    pub fn end(&mut self) {
        self.flush();
        self.boxes.iter().for_each(Outbox::end);
    }
}

/// A number of a record.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|two| usize::from(u16::from_be_bytes(*two)))
}

/// A number of a record.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_be_bytes(*four))
}

/// Writes numbers one after the other, each of two bytes.
pub fn write_u16(bytes: &mut [u8], numbers: &[usize]) {
    for (room, number) in bytes.chunks_exact_mut(2).zip(numbers) {
        room.copy_from_slice(&(*number as u16).to_be_bytes());
    }
}

/// Where a unit's part of the data begins, of so many places: it moves on from unit to unit.
pub fn moved(unit: u64, step: u64, places: usize) -> usize {
    (unit.wrapping_mul(step) % places.max(1) as u64) as usize
}
