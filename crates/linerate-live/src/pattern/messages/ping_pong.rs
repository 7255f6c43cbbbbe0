//! A message there and back, then the next one. A stamp closes `messages` round trips.

use crate::pattern::{Clock, Walk};
use crate::plan::Block;
use linerate_sys::messages::Messages;
use std::io;

/// The end that starts each round trip and keeps the time.
pub(super) fn ping<M: Messages, K: Clock>(
    link: &mut M,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<u64> {
    let len = block.message_bytes as usize;
    let mut came = 0;
    for _ in 0..block.slices {
        for _ in 0..block.messages {
            let message = walk.next(len);
            link.send(message)?;
            came += link.receive(message)? as u64;
        }
        stamps.push(clock.now_ns());
    }
    Ok(came)
}

/// The end that returns each message from the buffer that it came into.
pub(super) fn echo<M: Messages>(link: &mut M, block: &Block, walk: &mut Walk<'_>) -> io::Result<u64> {
    let len = block.message_bytes as usize;
    let mut came = 0;
    for _ in 0..block.messages * u64::from(block.slices) {
        let message = walk.next(len);
        came += link.receive(message)? as u64;
        link.send(message)?;
    }
    Ok(came)
}
