//! One way without pause. The receiver's stamps, one each `messages` messages, are the result.

use super::buffer::at_once;
use super::{Clock, Link, Walk, push_all};
use crate::plan::Block;
use std::io;

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
    let at_once = at_once(block);
    let slice_bytes = block.message_bytes * block.messages;
    let mut moved = 0;
    for _ in 0..block.slices {
        let mut left = slice_bytes;
        while left > 0 {
            let asked = at_once.min(left as usize);
            let came = link.pull(walk.next(asked))?;
            walk.give_back(asked, came);
            left -= came as u64;
            moved += came as u64;
        }
        stamps.push(clock.now_ns());
    }
    Ok(moved)
}
