//! recv(2) that never waits, and a sleep until all that is asked for is there.

use super::plain::own;
use super::{Pull, Setup};
use crate::Result;
use linerate_sys::{low_water, socket};
use std::io;
use std::net::TcpStream;
use std::time::Duration;

struct Marked {
    water: low_water::LowWater<TcpStream>,
    patience: Duration,
}

impl Marked {
    fn open(setup: &Setup) -> Result<Marked> {
        Ok(Marked { water: low_water::LowWater::new(own(setup.socket)?), patience: setup.patience })
    }

    /// What `take` finds, after a sleep where it found nothing.
    #[inline]
    fn pull<const WAITS: bool>(
        &mut self,
        bytes: &mut [u8],
        take: fn(&TcpStream, &mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<Option<usize>> {
        match take(self.water.socket(), bytes)? {
            None if WAITS => {
                self.water.wait(bytes.len(), self.patience)?;
                take(self.water.socket(), bytes)
            }
            came => Ok(came),
        }
    }
}

/// Into the buffer.
pub struct LowWater<const WAITS: bool>(Marked);

impl<const WAITS: bool> Pull for LowWater<WAITS> {
    const NAME: &'static str = "low-water";

    fn open(setup: &Setup) -> Result<Self> {
        Marked::open(setup).map(LowWater)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.pull::<WAITS>(bytes, socket::receive_now)
    }
}

/// Thrown away, `MSG_TRUNC`.
pub struct DiscardLowWater<const WAITS: bool>(Marked);

impl<const WAITS: bool> Pull for DiscardLowWater<WAITS> {
    const NAME: &'static str = "discard-low-water";

    fn open(setup: &Setup) -> Result<Self> {
        Marked::open(setup).map(DiscardLowWater)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.pull::<WAITS>(bytes, socket::discard_now)
    }
}
