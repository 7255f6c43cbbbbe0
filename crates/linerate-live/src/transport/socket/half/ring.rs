//! io_uring(7): a request into a queue, and one call that hands it over and waits for its answer.

use super::source::Source;
use super::{Pull, Push, Setup, count};
use crate::Result;
use crate::pattern::Kernel;
use crate::plan::Block;
use linerate_sys::pages::Pages;
use linerate_sys::ring::{Ring, Shots};
use linerate_sys::zero_copy::Usage;
use std::io;

/// A request to send.
pub struct RingSend<const WAITS: bool>(Ring);

impl<const WAITS: bool> Push for RingSend<WAITS> {
    const NAME: &'static str = "io-uring";

    fn open(setup: &Setup) -> Result<Self> {
        Ok(RingSend(Ring::onto(setup.socket, setup.patience)?))
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send::<WAITS>(bytes)
    }
}

/// A request to receive.
pub struct RingReceive<const WAITS: bool>(Ring);

impl<const WAITS: bool> Pull for RingReceive<WAITS> {
    const NAME: &'static str = "io-uring";

    fn open(setup: &Setup) -> Result<Self> {
        Ok(RingReceive(Ring::onto(setup.socket, setup.patience)?))
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.receive::<WAITS>(bytes)
    }
}

/// A request to send without a copy, from memory that is never written again.
pub struct RingZeroCopy<const WAITS: bool> {
    ring: Ring,
    source: Source<Pages>,
    told: Usage,
}

impl<const WAITS: bool> Push for RingZeroCopy<WAITS> {
    const NAME: &'static str = "io-uring-zero-copy";
    const OWNS_MEMORY: bool = true;

    fn open(setup: &Setup) -> Result<Self> {
        let ring = Ring::onto(setup.socket, setup.patience)?;
        Ok(RingZeroCopy { ring, source: Source::with_largest(setup.largest)?, told: Usage::default() })
    }

    fn begin(&mut self, block: &Block) -> Result<()> {
        self.source.begin(block)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (at, len) = self.source.next(bytes.len());
        let sent = self.ring.send_zero_copy::<WAITS>(&self.source.content()[at..at + len])?;
        self.source.advance(sent);
        Ok(sent)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        // A word that does not come is missing from the count of those that were heard.
        let _ = self.ring.settle();
        count_zero_copies(kernel, self.ring.usage(), &mut self.told);
        Ok(())
    }
}

/// What became of the sends without a copy since the last time.
pub(super) fn count_zero_copies(kernel: &mut Kernel, usage: Usage, told: &mut Usage) {
    let new = usage.since(*told);
    *told = usage;
    count(kernel, "zero-copy.sends", new.sends);
    count(kernel, "zero-copy.heard", new.done);
    count(kernel, "zero-copy.copied", new.copied);
}

/// One standing request, into buffers that the kernel was given. They are used where they are.
pub struct RingShots<const WAITS: bool> {
    shots: Shots,
    told: u64,
}

impl<const WAITS: bool> Pull for RingShots<WAITS> {
    const NAME: &'static str = "io-uring-multishot";

    fn open(setup: &Setup) -> Result<Self> {
        Ok(RingShots { shots: Shots::onto(setup.socket, setup.patience)?, told: 0 })
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(self.shots.receive::<WAITS>(bytes.len())?.map(<[u8]>::len))
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        let rearmed = self.shots.rearmed();
        count(kernel, "multishot.rearms", rearmed - self.told);
        self.told = rearmed;
        Ok(())
    }
}
