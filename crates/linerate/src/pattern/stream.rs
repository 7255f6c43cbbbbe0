//! One way without pause. The receiver's stamps, one each `messages` messages, are the result.

use super::{Clock, Link, Walk, push_all};
use crate::plan::Block;
use std::io;

/// The least that a receiver asks for at once. A stream of small messages is the sender's test: a
/// receiver that read as little as the sender writes would measure itself.
pub const RECEIVE_BYTES: usize = 64 << 10;

/// The end that sends: one call a message, as an application would.
pub fn send<L: Link, K: Clock>(
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
            moved += push_all(link, walk.next(len))?;
        }
        stamps.push(clock.now_ns());
    }
    Ok(moved)
}

/// The end that receives and keeps the time.
pub fn receive<L: Link, K: Clock>(
    link: &mut L,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<u64> {
    let at_once = RECEIVE_BYTES.max(block.message_bytes as usize);
    let slice_bytes = block.message_bytes * block.messages;
    let mut moved = 0;
    for _ in 0..block.slices {
        let mut left = slice_bytes;
        while left > 0 {
            let part = walk.next(at_once.min(left as usize));
            let came = link.pull(part)? as u64;
            left -= came;
            moved += came;
        }
        stamps.push(clock.now_ns());
    }
    Ok(moved)
}
