//! Memory that begins on a page and has been touched: no page fault falls into a timed loop.

use crate::{Error, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// No page is smaller.
const LEAST_PAGE: usize = 4096;

/// A private region of memory, page-aligned, present from the start.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the region belongs to this value alone.
unsafe impl Send for Pages {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps `len` bytes and fills them with what no compressor can shrink.
    pub fn filled(len: usize) -> Result<Pages> {
        let mut pages = Pages::mapped(len)?;
        fill(&mut pages);
        Ok(pages)
    }

    /// Maps `len` bytes that are only read: all its pages are the kernel's one page of zeros, as in memory that a program
    /// got and never wrote. A write would make a page of its own of it.
    pub fn zeros(len: usize) -> Result<Pages> {
        let pages = Pages::mapped(len)?;
        pages.iter().step_by(LEAST_PAGE).for_each(|byte| {
            std::hint::black_box(*byte);
        });
        Ok(pages)
    }

    fn mapped(len: usize) -> Result<Pages> {
        let len = len.max(1);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice aliases nothing.
        let start = unsafe {
            mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let start = start.map_err(|e| Error::new("mmap", format!("{len} bytes"), e))?;
        let start = NonNull::new(start.cast()).ok_or_else(|| Error::last("mmap", "a null address"))?;
        Ok(Pages { start, len })
    }
}

/// Marsaglia's xorshift64: fast, and no byte repeats in a way that a compressor would find.
fn fill(bytes: &mut [u8]) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for word in bytes.chunks_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let len = word.len();
        word.copy_from_slice(&state.to_le_bytes()[..len]);
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the region was mapped with this length, and no reference outlives its owner.
        // A failure would leak the mapping, which ends with the process.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is readable, initialised, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is writable, and `&mut self` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::Pages;

    #[test]
    fn pages_are_aligned_and_not_empty() {
        let pages = Pages::filled(100_001).unwrap();
        assert_eq!(pages.as_ptr() as usize % 4096, 0);
        let zeroes = pages.iter().filter(|byte| **byte == 0).count();
        assert!(zeroes < pages.len() / 128, "{zeroes} zeroes");
    }
}
