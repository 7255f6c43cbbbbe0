//! Who sends what when: the timed loops, and what they need of a link.
//!
//! A loop is generic over its [`Link`] and its [`Clock`], so it is compiled for each engine apart and
//! asks nobody which one it has. Inside a loop nothing is allocated, locked, logged or looked up.
//! Over a link that loses nothing both ends run the same counts, so no end needs the other's word for
//! where a block ends. Over one that does, [`Unreliable`], they settle it on a stream beside it.
//!
//! This room stands below `transport`, whose sessions call it: one virtual call a trial.

mod arrivals;
mod awake;
mod buffer;
mod clock;
mod connect;
mod endless;
mod loops;
mod lossy;
mod messages;
mod multiplexer;
mod pacer;
mod passing;
mod play;
mod poll;
mod request;
mod stream;
#[cfg(test)]
mod tests;
mod whole;

pub use arrivals::STAMPED_BYTES;
pub use awake::Awake;
pub use buffer::{COLD_BYTES, RECEIVE_BYTES};
pub use clock::{Clock, Monotonic};
pub use connect::{ConnectionEnd, ConnectionLoops, GREETING};
pub use endless::{lead, run_beside};
pub use loops::{Drive, Driven, Loops};
pub use lossy::{Lossy, SILENCE, Unreliable};
pub use multiplexer::{Ready, may_multiplex, play_multiplexed};
pub use passing::{FileOrder, Filed, Filing, Gathered, Gathering, Passed, Passing, Posted, RowView};
pub use play::{Measured, Part, Start, play, play_here};
pub use poll::poll;

use crate::plan::Block;
use crate::record::{Latencies, Tally};
use crate::vocabulary::Sample;
use buffer::Walk;
use std::collections::BTreeMap;
use std::io;
pub use whole::{pull_all, push_all};

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
    /// How much of what was pushed is not known to have arrived; 0 where that cannot be told.
    fn outstanding(&self) -> io::Result<u64> {
        Ok(0)
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
