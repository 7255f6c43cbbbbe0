//! Memory that engines send from and nobody ever writes again.

use crate::pattern::COLD_BYTES;
use crate::plan::Block;
use crate::vocabulary::Cache;
use crate::{Error, Result};
use linerate_sys::memory_file::MemoryFile;
use linerate_sys::pages::Pages;
use std::sync::{Arc, Mutex};

/// Messages start on cache lines of their own, as they do in a block's buffer.
const LINE: usize = 64;

/// A kind of memory. What is not in use is kept: filling it takes long, and since it is never written again
/// it may be used anew while the kernel still reads it.
pub trait Backing: Sized + Send + Sync + 'static {
    /// New memory of at least this length.
    fn filled(len: usize) -> Result<Self>;
    /// Its length.
    fn length(&self) -> usize;
    /// What is not in use.
    fn free() -> &'static Mutex<Vec<Arc<Self>>>;
}

impl Backing for Pages {
    fn filled(len: usize) -> Result<Self> {
        Ok(Pages::filled(len)?)
    }

    fn length(&self) -> usize {
        self.len()
    }

    fn free() -> &'static Mutex<Vec<Arc<Self>>> {
        static FREE: Mutex<Vec<Arc<Pages>>> = Mutex::new(Vec::new());
        &FREE
    }
}

impl Backing for MemoryFile {
    fn filled(len: usize) -> Result<Self> {
        Ok(MemoryFile::filled(len)?)
    }

    fn length(&self) -> usize {
        self.len()
    }

    fn free() -> &'static Mutex<Vec<Arc<Self>>> {
        static FREE: Mutex<Vec<Arc<MemoryFile>>> = Mutex::new(Vec::new());
        &FREE
    }
}

/// Where the next message lies.
pub struct Source<K: Backing> {
    kept: Arc<K>,
    span: usize,
    at: usize,
    /// What is left of the message that has begun.
    left: usize,
}

impl<K: Backing> Source<K> {
    /// Memory for messages of at most this length.
    pub fn with_largest(largest: usize) -> Result<Source<K>> {
        let kept: Arc<K> = take(largest)?;
        Ok(Source { span: kept.length(), kept, at: 0, left: 0 })
    }

    /// Readies for a block: the walk through the memory is the one of the block's own buffer.
    pub fn begin(&mut self, block: &Block) -> Result<()> {
        let message = (block.message_bytes as usize).max(1);
        self.span = match block.cache {
            Cache::Hot => message,
            Cache::Cold => message.max(COLD_BYTES),
        };
        if self.span > self.kept.length() {
            let larger = take(self.span)?;
            let smaller = std::mem::replace(&mut self.kept, larger);
            K::free().lock().map_err(|_| panicked())?.push(smaller);
        }
        (self.at, self.left) = (0, 0);
        Ok(())
    }

    /// The memory.
    #[inline]
    pub fn content(&self) -> &K {
        &self.kept
    }

    /// Where the next `len` bytes lie: the rest of a message that has begun, or a new one.
    #[inline]
    pub fn next(&mut self, len: usize) -> (usize, usize) {
        if self.left == 0 {
            self.at = if self.at + len > self.span { 0 } else { self.at };
            self.left = len;
        }
        (self.at, self.left)
    }

    /// So many of them went.
    #[inline]
    pub fn advance(&mut self, bytes: usize) {
        self.left -= bytes;
        self.at += bytes;
        if self.left == 0 {
            self.at = self.at.next_multiple_of(LINE);
        }
    }
}

fn panicked() -> Error {
    Error::peer("this worker", "a thread panicked", "")
}

/// What is in use by nobody but those that keep it.
fn take<K: Backing>(len: usize) -> Result<Arc<K>> {
    let mut free = K::free().lock().map_err(|_| panicked())?;
    let fitting = free.iter().enumerate().filter(|(_, kept)| kept.length() >= len);
    let best = fitting.min_by_key(|(_, kept)| kept.length()).map(|(index, _)| index);
    match best {
        Some(index) => Ok(free.swap_remove(index)),
        None => K::filled(len).map(Arc::new),
    }
}

impl<K: Backing> Drop for Source<K> {
    fn drop(&mut self) {
        if let Ok(mut free) = K::free().lock() {
            free.push(self.kept.clone());
        }
    }
}
