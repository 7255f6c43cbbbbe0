//! Both ends send a message at once and receive the other's (IMB PingPing). A stamp closes `messages` exchanges.
//!
//! Neither end may wait until its message has gone before it receives: with messages larger than what the
//! connection holds both would wait for ever.

use crate::pattern::{Clock, Link, Walk};
use crate::plan::Block;
use linerate_sys::messages::Messages;
use std::io;

/// Either end.
pub(super) fn exchange<M: Messages, K: Clock>(
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
            let (message, room) = walk.next(2 * len).split_at_mut(len);
            came += link.exchange(message, room)? as u64;
        }
        stamps.push(clock.now_ns());
    }
    Ok(came)
}

/// Sends all of one and fills all of the other, whichever moves.
#[inline]
pub fn cross<L: Link>(link: &mut L, message: &[u8], room: &mut [u8]) -> io::Result<()> {
    let (mut sent, mut came) = (0, 0);
    while sent < message.len() || came < room.len() {
        let mut moved = 0;
        if sent < message.len() {
            let went = link.push_now(&message[sent..])?;
            (sent, moved) = (sent + went, went);
        }
        if came < room.len() {
            let now = link.pull_now(&mut room[came..])?;
            (came, moved) = (came + now, moved + now);
        }
        if moved == 0 {
            link.idle(sent < message.len(), u64::MAX)?;
        }
    }
    Ok(())
}
