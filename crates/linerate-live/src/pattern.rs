//! Who sends what when: the timed loops, and what they need of a link.
//!
//! A loop is generic over its [`Link`] and its [`Clock`], so it is compiled for each engine apart and
//! asks nobody which one it has. Inside a loop nothing is allocated, locked, logged or looked up.
//! Over a link that loses nothing both ends run the same counts, so no end needs the other's word for
//! where a block ends. Over one that does, [`Unreliable`], they settle it on a stream beside it.
//!
//! This room stands below `transport`, whose sessions call it: one virtual call a trial.

mod awake;
mod buffer;
mod clock;
mod connect;
mod crowd;
mod endless;
mod exchange;
mod journal;
mod lossy;
mod overlap;
mod pacer;
mod passing;
mod ping_pong;
mod play;
mod poll;
mod request;
mod run;
mod stream;
#[cfg(test)]
mod tests;
mod whole;

pub use awake::Awake;
pub use buffer::COLD_BYTES;
pub use clock::{Clock, Monotonic};
pub use connect::{Caller, Calling, GREETING};
pub use crowd::{Ready, may_crowd, play_crowds};
pub use endless::{lead, run_beside};
pub use journal::STAMPED_BYTES;
pub use lossy::{Lossy, SILENCE, Unreliable};
pub use passing::{Gathered, Gathering, Passed, Passing, Posted};
pub use play::{Measured, Part, play, play_here};
pub use poll::poll;
pub use run::{Drive, Driven, Runs};
pub use stream::RECEIVE_BYTES;

use crate::plan::Block;
use crate::record::{Latencies, Tally};
use crate::vocabulary::{Does, Sample};
use buffer::Walk;
use overlap::Arithmetic;
use std::collections::BTreeMap;
use std::io;
use whole::{pull_all, push_all};

/// What the kernel says it did for a block, by name.
pub type Kernel = BTreeMap<String, u64>;

/// One direction or both of one connection, as one engine drives it.
pub trait Link {
    /// Readies for a block, before its time begins.
    fn begin(&mut self, _block: &Block) -> io::Result<()> {
        Ok(())
    }
    /// Says what the kernel did for the block, after its time has ended.
    fn account(&mut self, _kernel: &mut Kernel) -> io::Result<()> {
        Ok(())
    }
    /// The block failed: what else goes over this connection need not wait any longer.
    fn give_up(&mut self) {}
    /// Sends the first part of `bytes`, waiting until at least one byte went; says how many did.
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Receives the first part of `bytes`, waiting until at least one byte came; says how many did. An engine
    /// that receives elsewhere leaves `bytes` as they are.
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize>;
    /// Sees to it that all that was pushed arrives, where that takes this end's doing.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Sends what can be sent at once; 0 where nothing can.
    fn push_now(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Receives what is there; 0 where nothing is.
    fn pull_now(&mut self, _bytes: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Nothing moved: waits as this end waits until something came, or can go where there is something `out`, and
    /// no longer than until this moment of the monotonic clock. An end that polls returns at once.
    fn idle(&mut self, _out: bool, _until_ns: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// What one end moved in one block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moved {
    /// Bytes in this end's direction.
    pub bytes: u64,
    /// Datagrams that came, where they may be lost.
    pub messages: Option<u64>,
    /// Datagrams that did not come.
    pub lost: Option<u64>,
    /// What else was counted.
    pub tally: Option<Box<Tally>>,
    /// What else was timed.
    pub samples: Vec<(Sample, Latencies)>,
}

/// One end of a connection with the loops that fit it.
pub trait Loops {
    /// Readies for a block, before its time begins.
    fn begin(&mut self, _does: Does, _block: &Block) -> io::Result<()> {
        Ok(())
    }
    /// Says what the kernel did for the block, after its time has ended.
    fn account(&mut self, _kernel: &mut Kernel) -> io::Result<()> {
        Ok(())
    }
    /// The block failed: what else goes over this connection need not wait any longer.
    fn give_up(&mut self) {}
    /// Agrees with the other end that a block begins.
    fn agree(&mut self, does: Does, duplex: bool) -> io::Result<()>;
    /// Runs one block's loop.
    fn run<K: Clock>(
        &mut self,
        does: Does,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved>;
}

impl<L: Link> Loops for L {
    fn begin(&mut self, does: Does, block: &Block) -> io::Result<()> {
        if does == Does::Overlaps {
            Arithmetic::ready();
        }
        Link::begin(self, block)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        Link::account(self, kernel)
    }

    fn give_up(&mut self) {
        Link::give_up(self);
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
            (Does::Exchanges | Does::Overlaps, _) => exchange::cross(self, &[0], &mut [0]),
            _ => Ok(()),
        }
    }

    fn run<K: Clock>(
        &mut self,
        does: Does,
        clock: &K,
        block: &Block,
        walk: &mut Walk<'_>,
        stamps: &mut Vec<u64>,
    ) -> io::Result<Moved> {
        let bytes = match does {
            Does::Pings => ping_pong::ping(self, clock, block, walk, stamps),
            Does::Echoes => ping_pong::echo(self, block, walk),
            Does::Sends | Does::Copies => stream::send(self, clock, block, walk, stamps),
            Does::Receives => stream::receive(self, clock, block, walk, stamps),
            Does::Exchanges => exchange::exchange(self, clock, block, walk, stamps),
            Does::Requests => return request::request(self, clock, block, walk),
            Does::Overlaps => {
                let both = (&mut exchange::Crossing(self), &mut Arithmetic::default());
                return overlap::overlap(both, clock, block, walk, stamps);
            }
            // What makes connections, what searches where nothing is lost, what only ranks do.
            _ => return Err(io::ErrorKind::Unsupported.into()),
        }?;
        if matches!(does, Does::Sends | Does::Echoes) {
            self.finish()?;
        }
        Ok(Moved { bytes, ..Moved::default() })
    }
}
