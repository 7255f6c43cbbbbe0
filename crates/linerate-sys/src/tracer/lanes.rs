//! Where the programs put their stamps: an array that this process maps, a lane for each of some CPUs, so that the two ends of an
//! exchange write no line of memory together.

use super::{Point, Stamp};
use crate::{Error, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// As the source declares them: ends, the lanes of each, and the stamps that one has room for.
const ENDS: usize = super::switch::ENDS;
const LANES: usize = 4;
const STAMPS: usize = 65_536;

/// Words of a lane: the count and two packets, on a line of their own, and the stamps.
const AHEAD: usize = 8;
const WORDS: usize = AHEAD + STAMPS;

/// A stamp is a time with its point in the lowest bits.
const POINT_BITS: u32 = 4;

/// The array, mapped, and which end's lanes are meant.
pub(super) struct Lanes(NonNull<AtomicU64>, usize);

// SAFETY: the mapping is only reached through atomics, and belongs to this value.
unsafe impl Send for Lanes {}
// SAFETY: as above.
unsafe impl Sync for Lanes {}

impl Lanes {
    /// Maps the map behind this descriptor, for the lanes of an end.
    pub(super) fn map(map: impl AsFd, end: usize) -> Result<Lanes> {
        // SAFETY: a new shared mapping at an address of the kernel's choice aliases nothing of ours; the map has this length, or the
        // call fails (array_map_mmap(), kernel/bpf/arraymap.c).
        let start = unsafe {
            mmap(std::ptr::null_mut(), BYTES, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, map, 0)
        };
        let start = start.map_err(|e| Error::new("mmap", "lanes of stamps", e))?;
        let null = || Error::new("mmap", "lanes of stamps", io::Error::from(io::ErrorKind::InvalidData));
        Ok(Lanes(NonNull::new(start.cast()).ok_or_else(null)?, end))
    }

    /// The words of a lane.
    fn lane(&self, lane: usize) -> &[AtomicU64] {
        let lane = self.1 * LANES + lane;
        assert!(lane < ENDS * LANES);
        // SAFETY: the mapping has as many words as all lanes, is aligned to a page, and lives as long as `self`; who writes beside
        // us is the kernel, whole words at a time.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().add(lane * WORDS), WORDS) }
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
        let ahead = (0..LANES).flat_map(|lane| &self.lane(lane)[..AHEAD]);
        ahead.for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Whether a lane has taken three quarters of what it has room for.
    pub(super) fn is_nearly_full(&self) -> bool {
        const NEARLY: u64 = STAMPS as u64 / 4 * 3;
        (0..LANES).any(|lane| self.lane(lane)[0].load(Ordering::Relaxed) > NEARLY)
    }

    /// The stamps in the order of their times, and how many there was no room for.
    pub(super) fn take(&self) -> (Vec<Stamp>, u64) {
        let (mut stamps, mut lost) = (Vec::new(), 0);
        for words in (0..LANES).map(|lane| self.lane(lane)) {
            let count = words[0].load(Ordering::Acquire);
            let kept = usize::try_from(count).unwrap_or(usize::MAX).min(STAMPS);
            lost += count - kept as u64;
            let words = &words[AHEAD..AHEAD + kept];
            stamps.extend(words.iter().filter_map(|word| decoded(word.load(Ordering::Relaxed))));
        }
        // Lanes are by CPU, and an interrupt takes its place behind what it interrupts.
        stamps.sort_by_key(|stamp| (stamp.ns, stamp.point));
        (stamps, lost)
    }
}

/// Bytes of all lanes of all ends; the kernel maps whole pages.
const BYTES: usize = ENDS * LANES * WORDS * size_of::<u64>();

/// What the source makes of a time and a point; of a point that is none, nothing.
fn decoded(word: u64) -> Option<Stamp> {
    let point = *Point::ALL.get((word & ((1 << POINT_BITS) - 1)) as usize)?;
    Some(Stamp { ns: word >> POINT_BITS, point })
}

impl Drop for Lanes {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference outlives its owner. A failure would leak the mapping, which ends
        // with the process.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_another_form_are_none() {
        assert_eq!(decoded(5 << POINT_BITS | 9), Some(Stamp { ns: 5, point: Point::Running }));
        assert_eq!((decoded(u64::MAX), decoded(15)), (None, None));
    }
}
