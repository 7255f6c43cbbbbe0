//! A connection with its loops behind one pointer: which engine it has is asked once a block, never in a loop.

use super::{Kernel, Link, Loops, Monotonic, Moved, Walk};
use crate::plan::Block;
use crate::vocabulary::Does;
use std::io;

/// One end of a connection that can run blocks by the machine's clock.
pub trait Runs: Send {
    /// Readies for a block, before its time begins.
    fn ready(&mut self, does: Does, block: &Block) -> io::Result<()>;
    /// Agrees with the other end that a block begins.
    fn meet(&mut self, does: Does, duplex: bool) -> io::Result<()>;
    /// Runs one block's loop.
    fn go(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved>;
    /// Says what the kernel did for the block, after its time has ended.
    fn told(&mut self, kernel: &mut Kernel) -> io::Result<()>;
    /// The block failed: what else goes over this connection need not wait any longer.
    fn forsake(&mut self);
}

impl<L: Loops + Send> Runs for L {
    fn ready(&mut self, does: Does, block: &Block) -> io::Result<()> {
        self.begin(does, block)
    }

    fn meet(&mut self, does: Does, duplex: bool) -> io::Result<()> {
        self.agree(does, duplex)
    }

    fn go(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        self.run(does, &Monotonic, block, walk, stamps)
    }

    fn told(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        self.account(kernel)
    }

    fn forsake(&mut self) {
        self.give_up();
    }
}

/// A link that has its loops with it.
pub trait Drive: Link + Runs {}

impl<L: Link + Runs> Drive for L {}

/// The loops of whichever link it is, each compiled for that link.
impl Runs for Box<dyn Drive + '_> {
    fn ready(&mut self, does: Does, block: &Block) -> io::Result<()> {
        (**self).ready(does, block)
    }

    fn meet(&mut self, does: Does, duplex: bool) -> io::Result<()> {
        (**self).meet(does, duplex)
    }

    fn go(
        &mut self,
        does: Does,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        (**self).go(does, block, walk, stamps)
    }

    fn told(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        (**self).told(kernel)
    }

    fn forsake(&mut self) {
        (**self).forsake();
    }
}

/// Whichever link it is as a link: what stands before it pays a call through a pointer for each message.
pub struct Driven<'s>(pub Box<dyn Drive + 's>);

impl Link for Driven<'_> {
    fn begin(&mut self, block: &Block) -> io::Result<()> {
        Link::begin(&mut *self.0, block)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        Link::account(&mut *self.0, kernel)
    }

    fn give_up(&mut self) {
        Link::give_up(&mut *self.0);
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
