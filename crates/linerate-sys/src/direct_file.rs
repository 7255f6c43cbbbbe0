//! A file past the page cache (`O_DIRECT` of open(2)), by requests of which several are under way (io_uring(7)): read from a
//! place on, or written piece by piece.
//!
//! Places and memory are multiples of 4 KiB, which suits every block device with blocks up to that. What a file has beyond the
//! last multiple is read by a request that ends at the file's end, and written through the page cache.

use crate::pages::Pages;
use crate::{Error, Result};
use io_uring::{IoUring, opcode, types};
use rustix::fs::{CWD, Mode, OFlags, fstatfs, openat};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// What places, lengths and memory are multiples of.
const BLOCK: u64 = 4096;

/// Bytes of a request, and how many are under way: what hides a disk's answer, and is 2 MiB a stream.
const PIECE: usize = 512 << 10;
const DEPTH: usize = 4;

/// File systems that keep files in the page cache alone, and take `O_DIRECT` all the same from Linux 6.6 on (`TMPFS_MAGIC`,
/// `RAMFS_MAGIC` of linux/magic.h).
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Opens an open file once more, past the page cache. An error says what of it the kernel or the file system has not.
pub fn past_cache(file: &File, writes: bool) -> Result<File> {
    let object = format!("/proc/self/fd/{}", file.as_raw_fd());
    let fail = |call, e: io::Error| Error::new(call, object.clone(), e);
    let found = fstatfs(file).map_err(|e| fail("statfs", e.into()))?;
    if u64::try_from(found.f_type).is_ok_and(|kind| IN_MEMORY.contains(&kind)) {
        let what = io::Error::new(io::ErrorKind::Unsupported, "its files are in memory alone");
        return Err(fail("open", what));
    }
    let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
    let flags = access | OFlags::DIRECT | OFlags::CLOEXEC;
    // The very file: its name may be another one's by now.
    let opened = openat(CWD, &object, flags, Mode::empty()).map_err(|e| fail("open", e.into()))?;
    let opened = File::from(opened);
    let mut probe = Pages::filled(BLOCK as usize)?;
    // A block that is larger than ours is told here, of a file that has data; of an empty one by its first write.
    match opened.read_at(&mut probe, 0) {
        Ok(_) => Ok(opened),
        Err(error) => Err(fail("read", error)),
    }
}

/// Requests under way on one file, each with a piece of memory of its own.
struct Queue {
    ring: IoUring,
    pages: ManuallyDrop<Pages>,
    slots: [Slot; DEPTH],
}

/// What a piece of memory is used for.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    at: u64,
    bytes: usize,
    /// What the kernel answered; none while it is under way, and before the first request.
    answer: Option<i32>,
    is_under_way: bool,
}

/// Whether a request reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
}

impl Queue {
    fn new() -> Result<Queue> {
        let fail = |e| Error::new("io_uring_setup", format!("a ring of {DEPTH}"), e);
        let ring = IoUring::new(DEPTH as u32).map_err(fail)?;
        // Linux 5.6 has these requests, and this question.
        let unknown = |e| Error::new("io_uring_register", "its requests", e);
        let mut known = io_uring::Probe::new();
        ring.submitter().register_probe(&mut known).map_err(unknown)?;
        if ![opcode::Read::CODE, opcode::Write::CODE].iter().all(|code| known.is_supported(*code)) {
            return Err(unknown(io::ErrorKind::Unsupported.into()));
        }
        Ok(Queue {
            ring,
            pages: ManuallyDrop::new(Pages::filled(DEPTH * PIECE)?),
            slots: [Slot::default(); DEPTH],
        })
    }

    fn memory(&mut self, slot: usize) -> &mut [u8] {
        &mut self.pages[slot * PIECE..(slot + 1) * PIECE]
    }

    fn submit(&mut self, file: &File, slot: usize, way: Way, at: u64, bytes: usize) -> io::Result<()> {
        let (fd, place) = (types::Fd(file.as_raw_fd()), self.memory(slot).as_mut_ptr());
        let request = match way {
            Way::Read => opcode::Read::new(fd, place, bytes as u32).offset(at).build(),
            Way::Write => opcode::Write::new(fd, place, bytes as u32).offset(at).build(),
        };
        self.slots[slot] = Slot { at, bytes, answer: None, is_under_way: true };
        // SAFETY: the piece belongs to this request alone until its answer was taken, and the queue ends its requests before its
        // memory goes; the file outlives the queue's requests for the same reason.
        let pushed = unsafe { self.ring.submission().push(&request.user_data(slot as u64)) };
        if pushed.is_err() {
            self.slots[slot].is_under_way = false;
            return Err(io::ErrorKind::WouldBlock.into());
        }
        match self.ring.submit() {
            Err(error) if !is_passing(&error) => {
                // What was not taken is not taken later: nothing is under way of it.
                self.slots[slot].is_under_way = !self.ring.submission().is_empty();
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Waits for one; gives how many bytes it moved.
    fn wait(&mut self, slot: usize) -> io::Result<usize> {
        loop {
            while let Some((whose, answer)) = self.next_answer() {
                if let Some(slot) = self.slots.get_mut(whose as usize) {
                    (slot.answer, slot.is_under_way) = (Some(answer), false);
                }
            }
            match self.slots[slot].answer.take() {
                Some(error @ ..0) => return Err(io::Error::from_raw_os_error(-error)),
                Some(moved) => return Ok(moved as usize),
                None if !self.slots[slot].is_under_way => return Err(io::ErrorKind::NotFound.into()),
                None => match self.ring.submit_and_wait(1) {
                    Err(error) if !is_passing(&error) => return Err(error),
                    _ => {}
                },
            }
        }
    }

    fn next_answer(&mut self) -> Option<(u64, i32)> {
        self.ring.completion().next().map(|entry| (entry.user_data(), entry.result()))
    }

    fn settle(&mut self) -> io::Result<()> {
        let mut first = Ok(());
        for slot in 0..DEPTH {
            while self.slots[slot].is_under_way {
                let done = self.wait(slot).map(drop);
                if done.is_err() && self.slots[slot].is_under_way {
                    // The kernel does not answer any more: its memory must not be another's.
                    return done;
                }
                first = first.and(done);
            }
        }
        first
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let _ = self.settle();
        // Better lost than written into by the kernel when somebody else has it.
        if self.slots.iter().all(|slot| !slot.is_under_way) {
            // SAFETY: it is dropped here alone, and nothing uses it afterwards.
            unsafe { ManuallyDrop::drop(&mut self.pages) };
        }
    }
}

/// Whether a call may be made again.
fn is_passing(error: &io::Error) -> bool {
    [libc::EINTR, libc::EAGAIN, libc::EBUSY].iter().any(|code| error.raw_os_error() == Some(*code))
}

/// Reads a file from one place to another, in order, some pieces ahead.
pub struct Reader {
    queue: Queue,
    /// The place of what is handed out next, of what is asked for next, and where it ends.
    next: u64,
    asked: u64,
    end: u64,
    /// The piece that is handed out next.
    slot: usize,
}

impl Reader {
    /// A reader with its memory.
    pub fn new() -> Result<Reader> {
        Ok(Reader { queue: Queue::new()?, next: 0, asked: 0, end: 0, slot: 0 })
    }

    /// The bytes at a place, as many as one request has or less; more are asked for up to `end`. An error of the kind
    /// `UnexpectedEof` where the file ends before.
    pub fn read(&mut self, file: &File, at: u64, end: u64) -> io::Result<&[u8]> {
        if at != self.next || end != self.end {
            self.queue.settle()?;
            (self.next, self.asked, self.end, self.slot) = (at, at, end, 0);
            self.queue.slots = [Slot::default(); DEPTH];
        }
        // Those that were handed out are free again.
        while self.asked < end && self.asked < at + (DEPTH * PIECE) as u64 {
            let slot = (self.slot + ((self.asked - at) / PIECE as u64) as usize) % DEPTH;
            let wanted = (end - self.asked).min(PIECE as u64);
            let bytes = wanted.next_multiple_of(BLOCK) as usize;
            self.queue.submit(file, slot, Way::Read, self.asked, bytes)?;
            self.asked += wanted;
        }
        let slot = self.slot;
        let wanted = (end - at).min(PIECE as u64) as usize;
        let mut came = self.queue.wait(slot)?;
        // A request that was cut short in mid-file goes on, a block at least at a time.
        while came < wanted {
            let rest = &mut self.queue.memory(slot)[came..];
            let aligned = came % BLOCK as usize == 0;
            let more = if aligned { file.read_at(rest, at + came as u64)? } else { 0 };
            if more == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            came += more;
        }
        self.next = at + wanted as u64;
        self.slot = (slot + 1) % DEPTH;
        Ok(&self.queue.memory(slot)[..wanted])
    }
}

/// Writes a file piece by piece.
pub struct Writer {
    queue: Queue,
    /// Pieces that were handed to the kernel, and how many of them, from the first on, are known to be written.
    asked: u64,
    written: u64,
    /// Whether one failed: its answer was taken, and nothing behind it is known any more.
    failed: bool,
}

impl Writer {
    /// A writer with its memory.
    pub fn new() -> Result<Writer> {
        Ok(Writer { queue: Queue::new()?, asked: 0, written: 0, failed: false })
    }

    /// Room for the next piece, which is written by [`write`](Writer::write). Waits for the one that had it before.
    pub fn room(&mut self, file: &File) -> io::Result<&mut [u8]> {
        let slot = self.slot();
        self.is_done(file, slot)?;
        // Each piece has had the next room in turn, so that those before the one that had this are written too.
        self.written = self.written.max((self.asked + 1).saturating_sub(DEPTH as u64));
        Ok(self.queue.memory(slot))
    }

    /// Writes the first `bytes` of the room to a place that is a multiple of 4 KiB. What is beyond the last multiple goes through
    /// `cached`, which is the same file through the page cache.
    pub fn write(&mut self, file: &File, cached: &File, at: u64, bytes: usize) -> io::Result<()> {
        let whole = bytes - bytes % BLOCK as usize;
        let slot = self.slot();
        if whole < bytes {
            cached.write_all_at(&self.queue.memory(slot)[whole..bytes], at + whole as u64)?;
        }
        if whole > 0 {
            self.queue.submit(file, slot, Way::Write, at, whole)?;
            self.asked += 1;
        }
        Ok(())
    }

    /// Pieces that were handed to the kernel so far.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// How many of them, from the first on, are known to be with the file.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Waits until all is written.
    pub fn settle(&mut self, file: &File) -> io::Result<()> {
        (0..DEPTH).try_for_each(|slot| self.is_done(file, slot))?;
        self.written = self.asked;
        Ok(())
    }

    fn slot(&self) -> usize {
        (self.asked % DEPTH as u64) as usize
    }

    fn is_done(&mut self, file: &File, slot: usize) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other("an earlier piece was not written"));
        }
        let done = self.wait(file, slot);
        self.failed = done.is_err();
        done
    }

    fn wait(&mut self, file: &File, slot: usize) -> io::Result<()> {
        let Slot { at, bytes, is_under_way, answer } = self.queue.slots[slot];
        if !is_under_way && answer.is_none() {
            return Ok(());
        }
        let mut went = self.queue.wait(slot)?;
        while went < bytes {
            let more = file.write_at(&self.queue.memory(slot)[went..bytes], at + went as u64)?;
            if more == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            went += more;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file below the folder of builds, which is on a disk; none where that has no `O_DIRECT`.
    fn on_disk(name: &str) -> Option<(File, File)> {
        let path = std::path::Path::new("/var/tmp").join(format!("linerate-{name}-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        match past_cache(&file, true) {
            Ok(direct) => Some((file, direct)),
            Err(error) => {
                println!("SKIP: direct_file: {error}: {}", error.source);
                None
            }
        }
    }

    fn content(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at * 7 % 251) as u8).collect()
    }

    #[test]
    fn every_length_comes_back_byte_for_byte() {
        for bytes in
            [1, 4095, 4096, 4097, PIECE - 1, PIECE, PIECE + 1, DEPTH * PIECE, DEPTH * PIECE + 4097, 5_000_001]
        {
            let Some((cached, direct)) = on_disk("lengths") else { return };
            let content = content(bytes);
            cached.set_len(bytes as u64).unwrap();
            let (mut writer, mut at) = (Writer::new().unwrap(), 0);
            while at < bytes {
                let room = writer.room(&direct).unwrap();
                let length = room.len().min(bytes - at);
                room[..length].copy_from_slice(&content[at..at + length]);
                writer.write(&direct, &cached, at as u64, length).unwrap();
                assert!(writer.asked() - writer.written() <= DEPTH as u64, "no more than there is room for");
                at += length;
            }
            writer.settle(&direct).unwrap();
            assert_eq!(writer.written(), writer.asked());
            assert_eq!(cached.metadata().unwrap().len(), bytes as u64, "no block too much");
            let mut found = vec![0; bytes];
            cached.read_exact_at(&mut found, 0).unwrap();
            assert!(found == content, "written: {bytes}");
            let (mut reader, mut found) = (Reader::new().unwrap(), Vec::new());
            while found.len() < bytes {
                let piece = reader.read(&direct, found.len() as u64, bytes as u64).unwrap();
                assert!(!piece.is_empty());
                found.extend_from_slice(piece);
            }
            assert!(found == content, "read: {bytes}");
        }
    }

    #[test]
    fn a_reader_goes_where_it_is_sent() {
        let Some((cached, direct)) = on_disk("places") else { return };
        let content = content(3 * PIECE + 100);
        cached.write_all_at(&content, 0).unwrap();
        let mut reader = Reader::new().unwrap();
        let end = content.len() as u64;
        for at in [PIECE, 0, 2 * PIECE] {
            let piece = reader.read(&direct, at as u64, end).unwrap();
            assert!(piece == &content[at..at + PIECE]);
        }
        cached.set_len(PIECE as u64 + 5).unwrap();
        let mut reader = Reader::new().unwrap();
        assert_eq!(reader.read(&direct, 0, end).unwrap().len(), PIECE);
        let error = reader.read(&direct, PIECE as u64, end).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn after_a_piece_that_failed_nothing_is_written() {
        let Some((cached, direct)) = on_disk("failed") else { return };
        // A descriptor that may not be written.
        let object = format!("/proc/self/fd/{}", direct.as_raw_fd());
        let read_only = File::open(object).unwrap();
        let mut writer = Writer::new().unwrap();
        writer.room(&read_only).unwrap().fill(7);
        writer.write(&read_only, &cached, 0, PIECE).unwrap();
        for _ in 0..2 {
            assert!(writer.settle(&read_only).is_err());
            assert_eq!((writer.asked(), writer.written()), (1, 0));
        }
        assert!(writer.room(&read_only).is_err());
    }

    #[test]
    fn memory_has_no_disk_to_go_to() {
        let path = std::path::Path::new("/dev/shm").join(format!("linerate-direct-{}", std::process::id()));
        let Ok(file) = File::options().read(true).write(true).create_new(true).open(&path) else {
            return println!("SKIP: memory_has_no_disk_to_go_to: no /dev/shm");
        };
        std::fs::remove_file(&path).unwrap();
        let error = past_cache(&file, true).unwrap_err();
        assert!(error.source.to_string().contains("in memory alone"), "{error}");
    }
}
