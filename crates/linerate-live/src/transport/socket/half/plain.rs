//! One call a message, in which the kernel copies, or is told to throw away.

use super::{Pull, Push, Setup};
use crate::transport::socket::coalescing;
use crate::{Error, Result};
use linerate_sys::socket;
use std::io;
use std::net::TcpStream;

/// Another descriptor of the same socket: a half outlives the borrow that made it.
pub(super) fn own(socket: &TcpStream) -> Result<TcpStream> {
    socket.try_clone().map_err(|e| Error::io("dup", "TCP socket", e))
}

/// send(2).
pub struct Write<const WAITS: bool>(TcpStream);

impl<const WAITS: bool> Push for Write<WAITS> {
    const NAME: &'static str = "write";

    fn open(setup: &Setup) -> Result<Self> {
        own(setup.socket).map(Write)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if WAITS { socket::send_waiting(&self.0, bytes) } else { socket::send_now(&self.0, bytes) }
    }
}

/// recv(2): whatever is there.
pub struct Read<const WAITS: bool>(TcpStream);

impl<const WAITS: bool> Pull for Read<WAITS> {
    const NAME: &'static str = "read";

    fn open(setup: &Setup) -> Result<Self> {
        own(setup.socket).map(Read)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        if WAITS { socket::receive_waiting(&self.0, bytes) } else { socket::receive_now(&self.0, bytes) }
    }
}

/// recv(2) that never waits; where there is nothing, a timer ends the sleep.
pub struct Coalescing<const WAITS: bool>(TcpStream, coalescing::Coalescing);

impl<const WAITS: bool> Pull for Coalescing<WAITS> {
    const NAME: &'static str = "coalescing";

    fn open(setup: &Setup) -> Result<Self> {
        Ok(Coalescing(own(setup.socket)?, coalescing::Coalescing::default()))
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        if !WAITS {
            return socket::receive_now(&self.0, bytes);
        }
        let now = |from: &mut TcpStream, room: &mut [u8]| socket::receive_now(from, room);
        let waiting = |from: &mut TcpStream, room: &mut [u8]| socket::receive_waiting(from, room);
        self.1.receive(&mut self.0, bytes, now, waiting)
    }
}

/// recv(2) that comes back when all is there, `MSG_WAITALL`. Without waiting it takes what is there, and the
/// loop asks until the message is whole.
pub struct WaitAll<const WAITS: bool>(TcpStream);

impl<const WAITS: bool> Pull for WaitAll<WAITS> {
    const NAME: &'static str = "wait-all";

    fn open(setup: &Setup) -> Result<Self> {
        own(setup.socket).map(WaitAll)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        if WAITS { socket::receive_all(&self.0, bytes) } else { socket::receive_now(&self.0, bytes) }
    }
}

/// recv(2) that throws away, `MSG_TRUNC`: the receiver's copy is left out.
pub struct Discard<const WAITS: bool>(TcpStream);

impl<const WAITS: bool> Pull for Discard<WAITS> {
    const NAME: &'static str = "discard";

    fn open(setup: &Setup) -> Result<Self> {
        own(setup.socket).map(Discard)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        if WAITS { socket::discard_waiting(&self.0, bytes) } else { socket::discard_now(&self.0, bytes) }
    }
}
