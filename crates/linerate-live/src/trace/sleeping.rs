//! How an end waits for a message: asleep in the kernel, or asking again and again.

use std::io;
use std::time::{Duration, Instant};

/// A way to wait, compiled into the loop.
pub trait Waiting {
    /// Whether the call that receives waits by itself.
    const SLEEPS: bool;
    /// Waits so long at most.
    fn new(patience: Duration) -> Self;
    /// Nothing was there; the error once it is too long.
    fn nothing_yet(&self, spins: &mut u32, since: &mut Option<Instant>) -> io::Result<()>;
}

/// In the kernel; SO_RCVTIMEO ends the wait.
pub struct Sleeping;

/// On its CPU.
pub struct Polling(Duration);

/// How often the time is looked at.
const LOOK: u32 = 1 << 12;

impl Waiting for Sleeping {
    const SLEEPS: bool = true;

    fn new(_: Duration) -> Self {
        Sleeping
    }

    #[inline]
    fn nothing_yet(&self, _: &mut u32, _: &mut Option<Instant>) -> io::Result<()> {
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Waiting for Polling {
    const SLEEPS: bool = false;

    fn new(patience: Duration) -> Self {
        Polling(patience)
    }

    #[inline]
    fn nothing_yet(&self, spins: &mut u32, since: &mut Option<Instant>) -> io::Result<()> {
        *spins = spins.wrapping_add(1);
        if !spins.is_multiple_of(LOOK) {
            return Ok(());
        }
        let begun = *since.get_or_insert_with(Instant::now);
        if begun.elapsed() > self.0 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}
