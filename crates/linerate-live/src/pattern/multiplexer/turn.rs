//! What one flow among many does when its turn comes. A turn ends where the flow would have to wait, or has had its part.

use super::super::buffer::at_once;
use super::super::{Clock, Walk};
use super::Ready;
use crate::plan::Block;
use crate::vocabulary::Does;
use linerate_sys::readiness::Until;
use std::io;

/// What a sender sends in its turn, while it can. With a small message a turn one would measure how it is asked which flow is
/// ready, and no packet would hold two messages.
pub(super) const TURN_BYTES: usize = 64 << 10;

/// One flow among many, in one block.
#[derive(Debug, Default, Clone)]
pub(super) struct Member {
    /// Whether it has something to send now, and waits for room.
    pub out: bool,
    /// Bytes of the slice, or of the message, that are still to be moved.
    pub left: usize,
    /// Messages of the slice, and slices.
    pub messages: u64,
    pub slices: u32,
    /// Bytes in this end's direction.
    pub moved: u64,
    pub stamps: Vec<u64>,
}

impl Member {
    /// One that begins a block.
    pub fn new(does: Does, block: &Block) -> Member {
        // Who echoes keeps no time: one stamp, at the end.
        let (messages, slices) = match does {
            Does::Echoes => (block.messages * u64::from(block.slices), 1),
            _ => (block.messages, block.slices),
        };
        Member {
            out: matches!(does, Does::Sends | Does::Pings),
            messages,
            slices,
            stamps: Vec::with_capacity(slices as usize),
            ..Member::default()
        }
    }

    /// What its next turn waits for.
    #[inline]
    pub fn until(&self) -> Until {
        if self.out { Until::Writable } else { Until::Readable }
    }

    /// What changes with every byte that moves.
    #[inline]
    pub fn progress(&self) -> (u64, usize) {
        (self.moved, self.left)
    }

    /// One message less of the slice. Says whether it was the last one of all.
    #[inline]
    fn counts<K: Clock>(&mut self, messages: u64, clock: &K) -> bool {
        self.messages -= 1;
        self.messages == 0 && self.closes(messages, clock)
    }

    /// Stamps a slice; says whether it was the last one.
    #[inline]
    fn closes<K: Clock>(&mut self, messages: u64, clock: &K) -> bool {
        self.stamps.push(clock.now_ns());
        self.messages = messages;
        self.slices -= 1;
        self.slices == 0
    }

    /// Sends of this message, or of its rest, what can go; says whether all of it went.
    #[inline]
    fn push<C: Ready>(&mut self, flow: &C, message: &[u8]) -> io::Result<bool> {
        if self.left == 0 {
            self.left = message.len();
        }
        let sent = flow.push_now(&message[message.len() - self.left..])?;
        self.left -= sent;
        self.moved += sent as u64;
        Ok(self.left == 0)
    }

    /// Receives of this message, or of its rest, what is there, and says how much; `left` is 0 when all of it came.
    #[inline]
    fn pull<C: Ready>(&mut self, flow: &C, room: &mut [u8]) -> io::Result<usize> {
        match flow.pull_now(room)? {
            Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            came => {
                let came = came.unwrap_or(0);
                self.left -= came;
                Ok(came)
            }
        }
    }

    /// The rest of a message that is to come, or the whole of the next one; says whether it is here.
    #[inline]
    fn pull_whole<C: Ready>(&mut self, flow: &C, message: &mut [u8]) -> io::Result<bool> {
        if self.left == 0 {
            self.left = message.len();
        }
        let begin = message.len() - self.left;
        self.pull(flow, &mut message[begin..])?;
        Ok(self.left == 0)
    }
}

/// A sender's turn. Says whether the flow is done.
#[inline]
pub(super) fn send<C: Ready, K: Clock>(
    flow: &C,
    member: &mut Member,
    (block, clock): (&Block, &K),
    walk: &mut Walk<'_>,
) -> io::Result<bool> {
    let end = member.moved + TURN_BYTES as u64;
    loop {
        if !member.push(flow, walk.next(block.message_bytes as usize))? {
            return Ok(false);
        }
        if member.counts(block.messages, clock) {
            return Ok(true);
        }
        if member.moved >= end {
            return Ok(false);
        }
    }
}

/// One call of a receiver: at most the rest of a slice.
#[inline]
pub(super) fn receive<C: Ready, K: Clock>(
    flow: &C,
    member: &mut Member,
    (block, clock): (&Block, &K),
    walk: &mut Walk<'_>,
) -> io::Result<bool> {
    if member.left == 0 {
        member.left = (block.message_bytes * block.messages) as usize;
    }
    let asked = at_once(block).min(member.left);
    let came = member.pull(flow, walk.next(asked))?;
    walk.give_back(asked, came);
    member.moved += came as u64;
    Ok(member.left == 0 && member.closes(block.messages, clock))
}

/// A pinger's turn: the answer, and the next message at once.
#[inline]
pub(super) fn ping<C: Ready, K: Clock>(
    flow: &C,
    member: &mut Member,
    (block, clock): (&Block, &K),
    walk: &mut Walk<'_>,
) -> io::Result<bool> {
    let message = walk.next(block.message_bytes as usize);
    if !member.out {
        if !member.pull_whole(flow, message)? {
            return Ok(false);
        }
        if member.counts(block.messages, clock) {
            return Ok(true);
        }
    }
    member.out = !member.push(flow, message)?;
    Ok(false)
}

/// An echoer's turn: a message, and its return at once.
#[inline]
pub(super) fn echo<C: Ready, K: Clock>(
    flow: &C,
    member: &mut Member,
    (block, clock): (&Block, &K),
    walk: &mut Walk<'_>,
) -> io::Result<bool> {
    let message = walk.next(block.message_bytes as usize);
    if !member.out && !member.pull_whole(flow, message)? {
        return Ok(false);
    }
    member.out = !member.push(flow, message)?;
    Ok(!member.out && member.counts(block.messages, clock))
}
