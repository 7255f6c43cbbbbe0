//! Round trips of which every receive is posted before its message can come: what asynchronous programs do.

use super::{Passed, Passing};
use crate::pattern::{Clock, Kernel, Loops, Monotonic, Moved, Walk};
use crate::plan::Block;
use crate::vocabulary::Does;
use std::io;

/// A rank with these loops for round trips, and its own for the rest, where receives are posted anyway.
#[derive(Debug)]
pub struct Posted<P>(Passed<P>);

impl<P: Passing> Posted<P> {
    /// The loops over this one.
    pub fn new(link: P) -> Self {
        Posted(Passed::new(link))
    }

    /// The answer's receive is posted, then the message goes.
    fn ping<K: Clock>(
        &mut self,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<u64> {
        let mut came = 0;
        let len = block.message_bytes as usize;
        for _ in 0..block.slices {
            for _ in 0..block.messages {
                came += self.0.link.exchange(walk.next(len), &mut self.0.rooms[..len])? as u64;
            }
            stamps.push(clock.now_ns());
        }
        Ok(came)
    }

    /// The next message's receive is posted, then the answer goes: two rooms in turns.
    fn echo(&mut self, block: &Block) -> io::Result<u64> {
        let Passed { link, rooms } = &mut self.0;
        let (mut came_in, mut next) = rooms.split_at_mut(block.message_bytes as usize);
        let mut came = link.receive(came_in)? as u64;
        for _ in 1..u64::from(block.slices) * block.messages {
            came += link.exchange(came_in, next)? as u64;
            std::mem::swap(&mut came_in, &mut next);
        }
        link.send(came_in)?;
        Ok(came)
    }
}

impl<P: Passing + Send> Loops for Posted<P> {
    fn prepare(&mut self, does: Does, block: &Block) -> io::Result<()> {
        if matches!(does, Does::Pings | Does::Echoes) {
            let bytes = (block.message_bytes as usize).checked_mul(2).ok_or(io::ErrorKind::InvalidInput)?;
            // Written to, so that no page of it is missing in the loop.
            self.0.rooms.resize(bytes, 1);
        }
        self.0.prepare(does, block)
    }

    fn agree(&mut self, does: Does, duplex: bool) -> io::Result<()> {
        self.0.agree(does, duplex)
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let bytes = match does {
            Does::Pings => self.ping(&Monotonic, block, walk, stamps),
            Does::Echoes => self.echo(block),
            _ => return self.0.run(does, block, walk, stamps),
        }?;
        Ok(Moved { bytes, ..Moved::default() })
    }

    fn counters(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        self.0.counters(kernel)
    }
}
