//! One end of a connection with its loops, behind one pointer: which engine it has is asked once a block, never in a
//! loop.

use super::{Kernel, Link, Monotonic, Moved, Walk, messages, request, stream};
use super::{pull_all, push_all};
use crate::plan::Block;
use crate::vocabulary::Does;
use std::io;

/// One end of a connection, of a rank, or of a thread's many connections, with the loops that fit it.
pub trait Loops: Send {
    /// Readies for a block, before its time begins.
    fn prepare(&mut self, _does: Does, _block: &Block) -> io::Result<()> {
        Ok(())
    }
    /// Agrees with the other end that a block begins.
    fn agree(&mut self, does: Does, duplex: bool) -> io::Result<()>;
    /// Runs one block's loop.
    fn run(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved>;
    /// Says what the kernel did for the block, after its time has ended.
    fn counters(&mut self, _kernel: &mut Kernel) -> io::Result<()> {
        Ok(())
    }
    /// The block failed: what else goes over this connection need not wait any longer.
    fn abort(&mut self) {}
}

impl<L: Link + Send> Loops for L {
    fn prepare(&mut self, does: Does, block: &Block) -> io::Result<()> {
        messages::prepare(does);
        self.begin(block)
    }

    /// The receiver says go, after it has taken the time and all of the block before. Without it the
    /// sender would run ahead by what the buffers hold, and a receiver that was late would find a
    /// whole block waiting and read it faster than any wire can bring it. A rate may come out low by a
    /// round trip this way, never high. The pause is too short for the sender's window to shrink.
    fn agree(&mut self, does: Does, duplex: bool) -> io::Result<()> {
        match (does, duplex) {
            (Does::Receives, false) => push_all(self, &[0]).map(drop),
            (Does::Sends, false) => pull_all(self, &mut [0]).map(drop),
            // Both ends' receivers say go, each before its own end's sender uses the same direction.
            (Does::Receives, true) => {
                push_all(self, &[0])?;
                pull_all(self, &mut [0]).map(drop)
            }
            // Neither begins before both are there.
            (Does::Exchanges | Does::Overlaps, _) => messages::cross(self, &[0], &mut [0]),
            _ => Ok(()),
        }
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        run_link(self, does, &Monotonic, block, walk, stamps)
    }

    fn counters(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        self.account(kernel)
    }

    fn abort(&mut self) {
        self.give_up();
    }
}

/// A block's loop over a link, by any clock.
pub(super) fn run_link<L: Link, K: super::Clock>(
    link: &mut L,
    does: Does,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<Moved> {
    let moved = match does {
        Does::Sends | Does::Copies => moved(stream::send(link, clock, block, walk, stamps)?),
        Does::Receives => moved(stream::receive(link, clock, block, walk, stamps)?),
        Does::Requests => request::request(link, clock, block, walk)?,
        _ => messages::run(does, &mut messages::Whole(link), clock, block, walk, stamps)?,
    };
    // Who keeps the time has been answered.
    if !does.keeps_time() {
        link.finish()?;
    }
    Ok(moved)
}

fn moved(bytes: u64) -> Moved {
    Moved { bytes, ..Moved::default() }
}

/// A link that has its loops with it.
pub trait Drive: Link + Loops {}

impl<L: Link + Loops> Drive for L {}

/// The loops of whichever link it is, each compiled for that link.
impl Loops for Box<dyn Drive + '_> {
    fn prepare(&mut self, does: Does, block: &Block) -> io::Result<()> {
        (**self).prepare(does, block)
    }

    fn agree(&mut self, does: Does, duplex: bool) -> io::Result<()> {
        (**self).agree(does, duplex)
    }

    fn run(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        (**self).run(does, block, walk, stamps)
    }

    fn counters(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        (**self).counters(kernel)
    }

    fn abort(&mut self) {
        (**self).abort();
    }
}

/// Whichever link it is as a link: what stands before it pays a call through a pointer for each message.
pub struct Driven<'s>(pub Box<dyn Drive + 's>);

impl Link for Driven<'_> {
    fn begin(&mut self, block: &Block) -> io::Result<()> {
        self.0.begin(block)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        self.0.account(kernel)
    }

    fn outstanding(&self) -> io::Result<u64> {
        self.0.outstanding()
    }

    fn give_up(&mut self) {
        self.0.give_up();
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes)
    }

    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.pull(bytes)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.finish()
    }

    fn push_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push_now(bytes)
    }

    fn pull_now(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.pull_now(bytes)
    }

    fn idle(&mut self, out: bool, until_ns: u64) -> io::Result<()> {
        self.0.idle(out, until_ns)
    }
}
