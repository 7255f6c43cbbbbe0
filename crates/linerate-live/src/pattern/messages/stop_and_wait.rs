//! A message one way and a word back, then the next message. A stamp closes `messages` of them.

use crate::pattern::{Clock, Walk};
use crate::plan::Block;
use linerate_sys::messages::Messages;
use std::io;

/// The end that sends, waits for the word and keeps the time. A message counts when the other end has said that it came.
pub(super) fn deliver<M: Messages, K: Clock>(
    link: &mut M,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<u64> {
    let len = block.message_bytes as usize;
    let mut delivered = 0;
    for _ in 0..block.slices {
        for _ in 0..block.messages {
            link.send(walk.next(len))?;
            link.receive(&mut [0])?;
            delivered += len as u64;
        }
        stamps.push(clock.now_ns());
    }
    Ok(delivered)
}

/// The end that receives all of a message, and then says so.
pub(super) fn acknowledge<M: Messages>(link: &mut M, block: &Block, walk: &mut Walk<'_>) -> io::Result<u64> {
    let len = block.message_bytes as usize;
    let mut came = 0;
    for _ in 0..block.messages * u64::from(block.slices) {
        came += link.receive(walk.next(len))? as u64;
        link.send(&[0])?;
    }
    Ok(came)
}
