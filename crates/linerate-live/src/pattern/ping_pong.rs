//! A message there and back, then the next one. A stamp closes `messages` round trips.

use super::{Clock, Link, Walk, pull_all, push_all};
use crate::plan::Block;
use std::io;

/// The end that starts each round trip and keeps the time.
pub fn ping<L: Link, K: Clock>(
    link: &mut L,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<u64> {
    let len = block.message_bytes as usize;
    let mut moved = 0;
    for _ in 0..block.slices {
        for _ in 0..block.messages {
            let message = walk.next(len);
            moved += push_all(link, message)?;
            pull_all(link, message)?;
        }
        stamps.push(clock.now_ns());
    }
    Ok(moved)
}

/// The end that returns each message from the buffer that it came into.
pub fn echo<L: Link>(link: &mut L, block: &Block, walk: &mut Walk<'_>) -> io::Result<u64> {
    let len = block.message_bytes as usize;
    let mut moved = 0;
    for _ in 0..block.messages * u64::from(block.slices) {
        let message = walk.next(len);
        pull_all(link, message)?;
        moved += push_all(link, message)?;
    }
    Ok(moved)
}
