//! Receiving by mapping the pages that came: `TCP_ZEROCOPY_RECEIVE`.

use super::plain::own;
use super::{Pull, Setup, count};
use crate::Result;
use crate::pattern::Kernel;
use linerate_sys::mapped_receive::Window;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// The most that is mapped at once, and the least, so that a stream of small messages is the sender's test.
const MOST: usize = 4 << 20;
const LEAST: usize = 64 << 10;

/// A window onto the socket.
pub struct Mapped<const WAITS: bool> {
    socket: TcpStream,
    window: Window,
    told: (u64, u64),
    patience: Duration,
}

impl<const WAITS: bool> Pull for Mapped<WAITS> {
    const NAME: &'static str = "zero-copy";

    fn open(setup: &Setup) -> Result<Self> {
        let socket = own(setup.socket)?;
        let window = Window::onto(&socket, setup.largest.clamp(LEAST, MOST))?;
        Ok(Mapped { socket, window, told: (0, 0), patience: setup.patience })
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        self.window.receive::<WAITS>(&self.socket, bytes, self.patience)
    }

    fn account(&mut self, kernel: &mut Kernel) -> io::Result<()> {
        let (mapped, copied) = self.window.counts();
        count(kernel, "zero-copy.mapped-bytes", mapped - self.told.0);
        count(kernel, "zero-copy.copied-bytes", copied - self.told.1);
        self.told = (mapped, copied);
        Ok(())
    }
}
