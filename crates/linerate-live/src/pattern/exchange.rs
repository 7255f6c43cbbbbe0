//! Both ends send a message at once and receive the other's (IMB PingPing). A stamp closes `messages` exchanges.
//!
//! Neither end may wait until its message has gone before it receives: with messages larger than what the
//! connection holds both would wait for ever.

use super::overlap::Crosses;
use super::{Clock, Link, Walk};
use crate::plan::Block;
use std::io;

/// Either end.
pub fn exchange<L: Link, K: Clock>(
    link: &mut L,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<u64> {
    let len = block.message_bytes as usize;
    for _ in 0..block.slices {
        for _ in 0..block.messages {
            let (message, room) = walk.next(2 * len).split_at_mut(len);
            cross(link, message, room)?;
        }
        stamps.push(clock.now_ns());
    }
    Ok(block.bytes())
}

/// A link whose ends may work while the kernel moves what it holds.
pub(super) struct Crossing<'l, L>(pub &'l mut L);

impl<L: Link> Crosses for Crossing<'_, L> {
    fn meet(&mut self) -> io::Result<()> {
        cross(self.0, &[0], &mut [0])
    }

    #[inline]
    fn cross(&mut self, message: &[u8], room: &mut [u8], mut work: impl FnMut()) -> io::Result<u64> {
        let mut sent = 0;
        while sent < message.len() {
            match self.0.push_now(&message[sent..])? {
                0 => break,
                went => sent += went,
            }
        }
        work();
        cross(self.0, &message[sent..], room)?;
        Ok(room.len() as u64)
    }
}

/// Sends all of one and fills all of the other, whichever moves.
#[inline]
pub(super) fn cross<L: Link>(link: &mut L, message: &[u8], room: &mut [u8]) -> io::Result<()> {
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
