//! Two byte rings, one each way, in memory that two processes map.
//!
//! Each ring has one producer and one consumer. Positions count bytes since the start and never wrap
//! in practice (2^64); each lies on cache lines of its own, and each end keeps a copy of the other's
//! last known position, so that a line crosses between the CPUs only when something moved.
//! A sleeping end raises a flag and waits on it as a futex; the other end lowers it after it moved.

use crate::{Error, Result};
use rustix::fs::{MemfdFlags, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

/// Bytes of one ring: fits in L2 beside the message, and holds several of the pieces below.
const CAPACITY: usize = 256 << 10;
/// What is published at once, so that the consumer copies one piece while the producer writes the next.
const PIECE: usize = 16 << 10;
const HEADER: usize = 4096;
const RING: usize = HEADER + CAPACITY;

/// The positions of one ring; each on two cache lines of its own, because the CPU fetches lines in pairs.
#[repr(C)]
struct Header {
    produced: Lines<AtomicU64>,
    consumed: Lines<AtomicU64>,
    producer_sleeps: Lines<AtomicU32>,
    consumer_sleeps: Lines<AtomicU32>,
}

#[repr(C, align(128))]
struct Lines<T>(T);

/// The mapping of both rings.
#[derive(Debug)]
struct Map {
    start: NonNull<u8>,
    file: File,
}

// SAFETY: the mapping is only reached through atomics and through byte ranges that the positions
// give to one end at a time.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

/// Both rings, as one process sees them.
#[derive(Debug, Clone)]
pub struct SharedRings(Arc<Map>);

/// The end that writes.
#[derive(Debug)]
pub struct Producer {
    map: Arc<Map>,
    ring: usize,
    produced: u64,
    consumed: u64,
}

/// The end that reads.
#[derive(Debug)]
pub struct Consumer {
    map: Arc<Map>,
    ring: usize,
    produced: u64,
    consumed: u64,
}

impl SharedRings {
    /// Makes new memory without a name: it vanishes with the last process that maps it.
    pub fn create() -> Result<SharedRings> {
        let fd = memfd_create("linerate-rings", MemfdFlags::CLOEXEC)
            .map_err(|e| Error::new("memfd_create", "shared rings", e))?;
        ftruncate(&fd, 2 * RING as u64).map_err(|e| Error::new("ftruncate", "shared rings", e))?;
        Self::map(File::from(fd))
    }

    /// Maps the memory of another process of the same user, by its descriptor there.
    pub fn open(process: u32, descriptor: i32) -> Result<SharedRings> {
        let path = format!("/proc/{process}/fd/{descriptor}");
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(|e| Error::new("open", &path, e))?;
        let size = fstat(&file).map_err(|e| Error::new("fstat", &path, e))?.st_size;
        if size != 2 * RING as i64 {
            return Err(Error::new("open", &path, std::io::Error::other("not a pair of rings")));
        }
        Self::map(file)
    }

    /// What another process needs to open the same memory: this process and its descriptor.
    pub fn place(&self) -> (u32, i32) {
        (std::process::id(), self.0.file.as_raw_fd())
    }

    /// The two ends of the side that created the rings, or of the side that opened them.
    ///
    /// At any time at most one producer and one consumer of each ring may be in use.
    pub fn ends(&self, creator: bool) -> (Producer, Consumer) {
        let (outward, inward) = if creator { (0, 1) } else { (1, 0) };
        let position = |ring| {
            let header = self.0.header(ring);
            (header.produced.0.load(Ordering::Acquire), header.consumed.0.load(Ordering::Acquire))
        };
        let (produced, consumed) = position(outward);
        let producer = Producer { map: self.0.clone(), ring: outward, produced, consumed };
        let (produced, consumed) = position(inward);
        let consumer = Consumer { map: self.0.clone(), ring: inward, produced, consumed };
        (producer, consumer)
    }

    fn map(file: File) -> Result<SharedRings> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing of this process.
        let start = unsafe { mmap(std::ptr::null_mut(), 2 * RING, access, flags, file.as_fd(), 0) };
        let start = start.map_err(|e| Error::new("mmap", "shared rings", e))?;
        let start = NonNull::new(start.cast()).ok_or_else(|| Error::last("mmap", "a null address"))?;
        Ok(SharedRings(Arc::new(Map { start, file })))
    }
}

impl Map {
    fn header(&self, ring: usize) -> &Header {
        // SAFETY: each ring starts on a page with a header of atomics, for which all bits are values.
        unsafe { &*self.start.as_ptr().add(ring * RING).cast::<Header>() }
    }

    /// The address of a position in a ring's data, and the bytes up to the ring's end.
    fn data(&self, ring: usize, position: u64) -> (*mut u8, usize) {
        let offset = position as usize % CAPACITY;
        // SAFETY: the offset lies inside the ring's data.
        (unsafe { self.start.as_ptr().add(ring * RING + HEADER + offset) }, CAPACITY - offset)
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: mapped with this length; every user holds the Arc that owns this value.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), 2 * RING) };
    }
}

impl Producer {
    /// Writes what fits of one piece, and says how much; 0 when the ring is full.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let wanted = bytes.len().min(PIECE);
        let mut space = self.space();
        if space < wanted {
            self.consumed = self.map.header(self.ring).consumed.0.load(Ordering::Acquire);
            space = self.space();
        }
        let (address, to_end) = self.map.data(self.ring, self.produced);
        let len = wanted.min(space).min(to_end);
        // SAFETY: `len` bytes from `address` lie in the ring's data, and the consumer does not read
        // them before `produced` passes them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address, len) };
        self.produced += len as u64;
        self.map.header(self.ring).produced.0.store(self.produced, Ordering::Release);
        len
    }

    /// Saturating, because the positions lie in memory that another process may write.
    #[inline]
    fn space(&self) -> usize {
        CAPACITY.saturating_sub(self.produced.saturating_sub(self.consumed) as usize)
    }

    /// Wakes the consumer if it sleeps.
    #[inline]
    pub fn notify(&self) {
        wake(&self.map.header(self.ring).consumer_sleeps.0);
    }

    /// Sleeps until the consumer took something; may return early, and returns when the time ran out.
    pub fn sleep(&self, limit: Duration) {
        let header = self.map.header(self.ring);
        sleep(&header.producer_sleeps.0, limit, || header.consumed.0.load(Ordering::Acquire) != self.consumed)
    }
}

impl Consumer {
    /// Reads what is there and fits, and says how much; 0 when the ring is empty.
    #[inline]
    pub fn pull(&mut self, bytes: &mut [u8]) -> usize {
        let mut filled = (self.produced.saturating_sub(self.consumed) as usize).min(CAPACITY);
        if filled == 0 {
            self.produced = self.map.header(self.ring).produced.0.load(Ordering::Acquire);
            filled = (self.produced.saturating_sub(self.consumed) as usize).min(CAPACITY);
        }
        let (address, to_end) = self.map.data(self.ring, self.consumed);
        let len = bytes.len().min(filled).min(to_end).min(PIECE);
        if len == 0 {
            return 0;
        }
        // SAFETY: `len` bytes from `address` lie in the ring's data, and the producer does not write
        // them before `consumed` passes them.
        unsafe { std::ptr::copy_nonoverlapping(address, bytes.as_mut_ptr(), len) };
        self.consumed += len as u64;
        self.map.header(self.ring).consumed.0.store(self.consumed, Ordering::Release);
        len
    }

    /// Wakes the producer if it sleeps.
    #[inline]
    pub fn notify(&self) {
        wake(&self.map.header(self.ring).producer_sleeps.0);
    }

    /// Sleeps until the producer wrote something; may return early, and returns when the time ran out.
    pub fn sleep(&self, limit: Duration) {
        let header = self.map.header(self.ring);
        sleep(&header.consumer_sleeps.0, limit, || header.produced.0.load(Ordering::Acquire) != self.produced)
    }
}

/// The fence orders the position's store before the flag's load: either this end sees the flag, or
/// the sleeper sees the new position (Dekker).
#[inline]
fn wake(sleeps: &AtomicU32) {
    fence(Ordering::SeqCst);
    if sleeps.load(Ordering::Relaxed) != 0 {
        sleeps.store(0, Ordering::Release);
        // A wake-up that fails only costs the sleeper its time limit.
        let _ = futex::wake(sleeps, futex::Flags::empty(), 1);
    }
}

/// A waker that saw the flag of an earlier sleep may end this one: the caller asks again.
fn sleep(sleeps: &AtomicU32, limit: Duration, ready: impl Fn() -> bool) {
    sleeps.store(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    if !ready() {
        let limit = futex::Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        // Whatever ends the wait (a wake-up, a lowered flag, a signal, the limit), the caller looks.
        let _ = futex::wait(sleeps, futex::Flags::empty(), 1, Some(&limit));
    }
    sleeps.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(total: usize, sleeping: bool) {
        let rings = SharedRings::create().unwrap();
        let (process, descriptor) = rings.place();
        let other = SharedRings::open(process, descriptor).unwrap();
        let (mut producer, _) = rings.ends(true);
        let (_, mut consumer) = other.ends(false);
        let sender = std::thread::spawn(move || {
            let mut sent = 0usize;
            while sent < total {
                let piece: Vec<u8> = (sent..total.min(sent + 70_000)).map(|i| (i * 7 % 251) as u8).collect();
                let moved = producer.push(&piece);
                producer.notify();
                sent += moved;
                if moved == 0 && sleeping {
                    producer.sleep(Duration::from_secs(5));
                }
            }
        });
        let mut buffer = vec![0; 50_000];
        let mut received = 0usize;
        while received < total {
            let moved = consumer.pull(&mut buffer);
            consumer.notify();
            for (i, byte) in buffer[..moved].iter().enumerate() {
                assert_eq!(*byte, ((received + i) * 7 % 251) as u8);
            }
            received += moved;
            if moved == 0 && sleeping {
                consumer.sleep(Duration::from_secs(5));
            }
        }
        sender.join().unwrap();
    }

    #[test]
    fn every_byte_arrives_in_order() {
        transfer(3_000_000, false);
        transfer(3_000_000, true);
    }

    #[test]
    fn an_empty_ring_gives_nothing_and_the_wait_ends() {
        let rings = SharedRings::create().unwrap();
        let (_, mut consumer) = rings.ends(false);
        assert_eq!(consumer.pull(&mut [0; 8]), 0);
        consumer.sleep(Duration::from_millis(1));
        assert_eq!(consumer.pull(&mut [0; 8]), 0);
    }

    #[test]
    fn what_is_not_a_ring_is_refused() {
        let file = File::open("/proc/self/exe").unwrap();
        assert!(SharedRings::open(std::process::id(), file.as_raw_fd()).is_err());
        assert!(SharedRings::open(std::process::id(), -1).is_err());
    }
}
