//! Patterns of whole messages: each loop once, over connections that keep order and over ranks alike.
//!
//! Three kinds of end have loops of their own for the same patterns, because their machine code must differ: a datagram
//! may be lost, and is then told so ([`lossy`](super::lossy)); a thread of many connections leaves one where it would
//! wait ([`multiplexer`](super::multiplexer)); a receive that is posted before belongs to the exchange before
//! ([`posted`](super::passing)).

mod exchange;
mod overlap;
mod ping_pong;
mod stop_and_wait;

use super::{Clock, Link, Moved, Walk, pull_all, push_all};
use crate::plan::Block;
use crate::vocabulary::Does;
use linerate_sys::messages::Messages;
use overlap::{Arithmetic, overlap};
use std::io;

pub(super) use exchange::cross;

/// A link whose ends know how long each message is.
pub(super) struct Whole<'l, L>(pub &'l mut L);

impl<L: Link> Messages for Whole<'_, L> {
    #[inline]
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        push_all(self.0, message).map(drop)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        pull_all(self.0, room).map(|came| came as usize)
    }

    #[inline]
    fn exchange(&mut self, message: &[u8], room: &mut [u8]) -> io::Result<usize> {
        exchange::cross(self.0, message, room).map(|()| room.len())
    }

    /// The kernel moves what it holds while this end works.
    #[inline]
    fn exchange_at_work(
        &mut self,
        message: &[u8],
        room: &mut [u8],
        mut work: impl FnMut(),
    ) -> io::Result<usize> {
        let mut sent = 0;
        while sent < message.len() {
            match self.0.push_now(&message[sent..])? {
                0 => break,
                went => sent += went,
            }
        }
        work();
        self.exchange(&message[sent..], room)
    }
}

/// Readies for a block, before its time begins.
pub(super) fn prepare(does: Does) {
    if does == Does::Overlaps {
        Arithmetic::ready();
    }
}

/// Runs one block's loop.
pub(super) fn run<M: Messages, K: Clock>(
    does: Does,
    link: &mut M,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<Moved> {
    let bytes = match does {
        Does::Pings => ping_pong::ping(link, clock, block, walk, stamps),
        Does::Echoes => ping_pong::echo(link, block, walk),
        Does::Exchanges => exchange::exchange(link, clock, block, walk, stamps),
        Does::Delivers => stop_and_wait::deliver(link, clock, block, walk, stamps),
        Does::Acknowledges => stop_and_wait::acknowledge(link, block, walk),
        Does::Overlaps => {
            return overlap((link, &mut Arithmetic::default()), clock, block, walk, stamps);
        }
        // What makes connections, what searches where nothing is lost, what only ranks do.
        _ => Err(io::ErrorKind::Unsupported.into()),
    }?;
    Ok(Moved { bytes, ..Moved::default() })
}
