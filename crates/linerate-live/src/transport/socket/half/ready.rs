//! Calls that never wait, and epoll(7) where they find nothing to do.
//!
//! As a server does it that has many connections: it reads on until there is nothing, and only then asks
//! which connection has something.

use super::plain::own;
use super::{Pull, Push, Setup};
use crate::Result;
use linerate_sys::readiness::{Readiness, Until};
use linerate_sys::socket;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

struct Watched {
    socket: TcpStream,
    readiness: Readiness,
    limit: Duration,
}

impl Watched {
    fn open(setup: &Setup, until: Until, waits: bool) -> Result<Watched> {
        let (socket, readiness) = (own(setup.socket)?, Readiness::new(1)?);
        readiness.watch(&socket, 0, until)?;
        // Who does not wait looks only.
        Ok(Watched { socket, readiness, limit: if waits { setup.patience } else { Duration::ZERO } })
    }

    /// Waits until the socket is ready; says whether it is.
    #[inline]
    fn wait<const WAITS: bool>(&mut self) -> io::Result<bool> {
        let is_ready = self.readiness.wait(self.limit)?.next().is_some();
        if WAITS && !is_ready { Err(io::ErrorKind::TimedOut.into()) } else { Ok(is_ready) }
    }
}

/// send(2) without waiting, then epoll.
pub struct ReadyToSend<const WAITS: bool>(Watched);

impl<const WAITS: bool> Push for ReadyToSend<WAITS> {
    const NAME: &'static str = "epoll";

    fn open(setup: &Setup) -> Result<Self> {
        Watched::open(setup, Until::Writable, WAITS).map(ReadyToSend)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match socket::send_now(&self.0.socket, bytes)? {
            0 if self.0.wait::<WAITS>()? => socket::send_now(&self.0.socket, bytes),
            sent => Ok(sent),
        }
    }
}

/// recv(2) without waiting, then epoll.
pub struct ReadyToReceive<const WAITS: bool>(Watched);

impl<const WAITS: bool> Pull for ReadyToReceive<WAITS> {
    const NAME: &'static str = "epoll";

    fn open(setup: &Setup) -> Result<Self> {
        Watched::open(setup, Until::Readable, WAITS).map(ReadyToReceive)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        match socket::receive_now(&self.0.socket, bytes)? {
            None if self.0.wait::<WAITS>()? => socket::receive_now(&self.0.socket, bytes),
            came => Ok(came),
        }
    }
}
