//! Which way of messages the programs stamp now: a word of what is watched, which this process maps and changes between two messages.

use super::WATCHED;
use crate::{Error, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// As the source has them.
pub(super) const ENDS: usize = 2;

/// Words from one end's `struct watched` to the next, each on a multiple of 8 B (array_map_alloc(), kernel/bpf/arraymap.c), and where its
/// last one is.
const WORDS: usize = WATCHED.next_multiple_of(8) / size_of::<u32>();
const PLACE: usize = WATCHED / size_of::<u32>() - 1;

/// Bytes of all of them.
const BYTES: usize = ENDS * WORDS * size_of::<u32>();

/// The ways, as the source has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ways(u32);

impl Ways {
    /// Neither.
    pub const NONE: Ways = Ways(0);
    /// Messages that go out.
    pub const OUT: Ways = Ways(1);
    /// Messages that come in.
    pub const IN: Ways = Ways(2);
    /// Both.
    pub const BOTH: Ways = Ways(3);

    /// These and the others.
    pub fn with(self, others: Ways) -> Ways {
        Ways(self.0 | others.0)
    }

    /// As the source reads it.
    pub(super) fn word(self) -> u32 {
        self.0
    }
}

/// The map of what is watched, mapped.
struct Mapped(NonNull<AtomicU32>);

// SAFETY: the mapping is only reached through atomics, and belongs to this value.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

/// Turns stamps of an end on and off without a call.
#[derive(Clone)]
pub struct Switch(Arc<Mapped>, usize);

impl Switch {
    /// Maps the map behind this descriptor, for an end.
    pub(super) fn map(map: impl AsFd, end: usize) -> Result<Switch> {
        assert!(end < ENDS);
        // SAFETY: a new shared mapping at an address of the kernel's choice aliases nothing of ours; the map has this length, or the
        // call fails (array_map_mmap(), kernel/bpf/arraymap.c).
        let start = unsafe {
            mmap(std::ptr::null_mut(), BYTES, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, map, 0)
        };
        let start = start.map_err(|e| Error::new("mmap", "what is watched", e))?;
        let null = || Error::new("mmap", "what is watched", io::Error::from(io::ErrorKind::InvalidData));
        let start = NonNull::new(start.cast()).ok_or_else(null)?;
        Ok(Switch(Arc::new(Mapped(start)), end * WORDS + PLACE))
    }

    /// Stamps what goes these ways from now on.
    #[inline]
    pub fn set(&self, ways: Ways) {
        // SAFETY: the mapping is a page, aligned to one, and lives as long as `self`; who reads beside us is the kernel, whole words.
        let word = unsafe { self.0.0.add(self.1).as_ref() };
        word.store(ways.0, Ordering::Release);
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference outlives its owner. A failure would leak the mapping, which ends
        // with the process.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), BYTES) };
    }
}
