//! Where messages lie: one buffer that stays in the caches, or a walk through more than they hold.

use crate::plan::Block;
use crate::vocabulary::{Cache, Content, Does};
use crate::{Error, Result};
use linerate_sys::messages::{LINE, stride};
use linerate_sys::pages::Pages;
use std::sync::Mutex;

/// A cold walk's region: twice the last level of most caches, and at most this much however large
/// a cache a virtual machine claims to have.
pub const COLD_BYTES: usize = 64 << 20;

/// The least that a receiver asks for at once. A stream of small messages is the sender's test: a
/// receiver that read as little as the sender writes would measure itself.
pub const RECEIVE_BYTES: usize = 64 << 10;

/// What a receiver asks for at once in this block, at most: so much memory it has.
pub(super) fn at_once(block: &Block) -> usize {
    match block.read_bytes {
        0 => RECEIVE_BYTES.max(block.message_bytes as usize),
        asked => (asked as usize).min(COLD_BYTES),
    }
}

/// Regions that are not in use. Filling one takes long, so a worker keeps them from trial to trial.
static FREE: Mutex<Vec<Pages>> = Mutex::new(Vec::new());

/// A region, given back when dropped, unless it is of zeros.
#[derive(Debug)]
pub struct Region {
    pages: Option<Pages>,
    is_kept: bool,
}

impl Region {
    /// A region that is large enough for all these blocks.
    pub fn for_blocks(blocks: &[Block], does: Does) -> Result<Region> {
        let len = blocks.iter().map(|block| span(block, does)).max().unwrap_or(0);
        if does == Does::Sends && blocks.iter().all(|block| block.content == Content::Zeros) {
            return Ok(Region { pages: Some(Pages::zeros(len)?), is_kept: false });
        }
        let mut free = FREE.lock().map_err(|_| Error::peer("this worker", "a thread panicked", ""))?;
        let fitting = free.iter().enumerate().filter(|(_, pages)| pages.len() >= len);
        let best = fitting.min_by_key(|(_, pages)| pages.len()).map(|(index, _)| index);
        let pages = best.map(|index| free.swap_remove(index));
        let pages = pages.map_or_else(|| Pages::filled(len), Ok)?;
        Ok(Region { pages: Some(pages), is_kept: true })
    }

    /// The walk that a block asks for.
    pub fn walk(&mut self, block: &Block, does: Does) -> Walk<'_> {
        let bytes = self.pages.as_deref_mut().unwrap_or_default();
        let len = span(block, does).min(bytes.len());
        Walk { bytes: &mut bytes[..len], at: 0 }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let kept = self.pages.take().filter(|_| self.is_kept);
        if let (Some(pages), Ok(mut free)) = (kept, FREE.lock()) {
            free.push(pages);
        }
    }
}

/// The bytes that a block's messages walk through.
fn span(block: &Block, does: Does) -> usize {
    let message = block.message_bytes as usize;
    let least = match does {
        Does::Receives => at_once(block),
        // What goes and what comes are under way at once.
        Does::Exchanges | Does::Overlaps => 2 * message,
        Does::Connects | Does::Accepts => super::GREETING + message,
        Does::Requests => message + RECEIVE_BYTES.max(message),
        _ => message,
    };
    match block.cache {
        Cache::Hot => least,
        Cache::Cold => least.max(COLD_BYTES),
    }
}

/// Gives out one message's bytes after the other, from the start again at the end.
#[derive(Debug)]
pub struct Walk<'r> {
    bytes: &'r mut [u8],
    at: usize,
}

impl Walk<'_> {
    /// The next `len` bytes; `len` must not exceed the region.
    #[inline]
    pub fn next(&mut self, len: usize) -> &mut [u8] {
        let start = if self.at + len > self.bytes.len() { 0 } else { self.at };
        self.at = start + len.next_multiple_of(LINE);
        &mut self.bytes[start..start + len]
    }

    /// Takes back what of the last `len` bytes was not filled: a cold walk that left it out would touch a small part of its
    /// region only, which the caches keep.
    #[inline]
    pub fn give_back(&mut self, len: usize, filled: usize) {
        self.at -= len.next_multiple_of(LINE) - filled.next_multiple_of(LINE);
    }

    /// The next messages of `len` bytes, as many of `messages` as the region holds, apart as
    /// [`parts`](linerate_sys::messages::parts) takes them.
    #[inline]
    pub fn window(&mut self, len: usize, messages: usize) -> &mut [u8] {
        let others = self.bytes.len().saturating_sub(len) / stride(len);
        self.next(others.min(messages.saturating_sub(1)) * stride(len) + len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(message_bytes: u64, cache: Cache) -> Block {
        Block { message_bytes, messages: 1, slices: 1, lead: 0, cache, ..Block::default() }
    }

    fn distinct_starts(block: Block, calls: usize) -> usize {
        let mut region = Region::for_blocks(&[block], Does::Sends).unwrap();
        let mut walk = region.walk(&block, Does::Sends);
        let starts = (0..calls).map(|_| walk.next(block.message_bytes as usize).as_ptr() as usize);
        starts.collect::<std::collections::BTreeSet<_>>().len()
    }

    #[test]
    fn cold_windows_go_on_and_hot_ones_stay() {
        let windows = |cache, messages| -> Vec<(usize, usize)> {
            let block = block(1000, cache);
            let mut region = Region::for_blocks(&[block], Does::Sends).unwrap();
            let mut walk = region.walk(&block, Does::Sends);
            let all = [(); 3].map(|()| {
                let window = walk.window(1000, messages);
                (window.as_ptr() as usize, window.len())
            });
            all.iter().map(|(at, len)| (at - all[0].0, *len)).collect()
        };
        assert_eq!(windows(Cache::Hot, 64), [(0, 1000); 3]);
        let bytes = 63 * 1024 + 1000;
        assert_eq!(windows(Cache::Cold, 64), [(0, bytes), (64 << 10, bytes), (128 << 10, bytes)]);
        // Of messages that fill the region there is one, and a walk that would not hold the next window begins again.
        assert_eq!(windows(Cache::Cold, COLD_BYTES).iter().map(|window| window.0).max(), Some(0));
    }

    #[test]
    fn what_was_not_filled_comes_next() {
        const WHOLE: usize = 1 << 20;
        let starts = |cache| -> Vec<usize> {
            let block = Block { read_bytes: WHOLE as u64, ..block(64, cache) };
            let mut region = Region::for_blocks(&[block], Does::Receives).unwrap();
            let mut walk = region.walk(&block, Does::Receives);
            let mut next = |filled| {
                let at = walk.next(WHOLE).as_ptr() as usize;
                walk.give_back(WHOLE, filled);
                at
            };
            let all = [100, WHOLE, 1, 0, 64].map(&mut next);
            all.iter().map(|at| at - all[0]).collect()
        };
        assert_eq!(starts(Cache::Cold), [0, 128, 128 + WHOLE, 192 + WHOLE, 192 + WHOLE]);
        assert_eq!(starts(Cache::Hot), [0; 5]);
    }

    #[test]
    fn only_what_is_sent_is_zeros() {
        let zeros = Block { content: Content::Zeros, ..block(9999, Cache::Hot) };
        let first = |block: Block, does| {
            let mut region = Region::for_blocks(&[block], does).unwrap();
            let bytes = region.walk(&block, does).next(9999).to_vec();
            bytes.iter().any(|byte| *byte != 0)
        };
        assert!(!first(zeros, Does::Sends));
        assert!(first(block(9999, Cache::Hot), Does::Sends) && first(zeros, Does::Receives));
    }

    #[test]
    fn hot_walks_stay_and_cold_ones_move() {
        assert_eq!(distinct_starts(block(1 << 20, Cache::Hot), 10), 1);
        assert_eq!(distinct_starts(block(1 << 20, Cache::Cold), 1000), 64);
    }
}
