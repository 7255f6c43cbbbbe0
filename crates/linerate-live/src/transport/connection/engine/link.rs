//! The two ways in which an end waits for a connection, as links.

use crate::pattern::{Link, poll};
use crate::transport::connection::channel::Channel;
use linerate_sys::{socket, tcp_info};
use std::io;
use std::time::Duration;

/// How often a polling end to which nothing moves asks before it looks at the clock.
const ASKS_A_LOOK: u32 = 1 << 14;

/// Asks the kernel again and again.
pub struct Polling<'s, C> {
    flow: &'s C,
    patience: Duration,
    /// How often nothing moved since something did, and since when.
    asked: u32,
    since_ns: u64,
}

/// Sleeps in the kernel.
pub struct Sleeping<'s, C> {
    pub flow: &'s C,
    pub patience: Duration,
}

impl<'s, C> Polling<'s, C> {
    pub fn new(flow: &'s C, patience: Duration) -> Polling<'s, C> {
        Polling { flow, patience, asked: 0, since_ns: 0 }
    }
}

impl<C: Channel> Link for Polling<'_, C> {
    fn outstanding(&self) -> io::Result<u64> {
        outstanding(self.flow)
    }

    fn give_up(&mut self) {
        socket::shut_down(self.flow);
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        poll(self.patience, || self.flow.send_now(bytes))
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        poll(self.patience, || bytes_or_closed(self.flow.receive_now(bytes)?))
    }

    #[inline]
    fn push_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at_once::<C>()?;
        let went = self.flow.send_now(bytes)?;
        self.asked = if went > 0 { 0 } else { self.asked };
        Ok(went)
    }

    #[inline]
    fn pull_now(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let came = bytes_or_closed(self.flow.receive_now(bytes)?)?;
        self.asked = if came > 0 { 0 } else { self.asked };
        Ok(came)
    }

    /// Looks at the clock now and then, whether this lasts too long.
    #[inline]
    fn idle(&mut self, _out: bool, until_ns: u64) -> io::Result<()> {
        self.asked += 1;
        if until_ns != u64::MAX || !self.asked.is_multiple_of(ASKS_A_LOOK) {
            return Ok(());
        }
        let now = linerate_sys::clock::monotonic_ns();
        if self.asked == ASKS_A_LOOK {
            self.since_ns = now;
        }
        let is_over = now - self.since_ns > self.patience.as_nanos() as u64;
        if is_over { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

impl<C: Channel> Link for Sleeping<'_, C> {
    fn outstanding(&self) -> io::Result<u64> {
        outstanding(self.flow)
    }

    fn give_up(&mut self) {
        socket::shut_down(self.flow);
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flow.send_waiting(bytes)
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        bytes_or_closed(self.flow.receive_waiting(bytes)?)
    }

    #[inline]
    fn push_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at_once::<C>()?;
        self.flow.send_now(bytes)
    }

    #[inline]
    fn pull_now(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        bytes_or_closed(self.flow.receive_now(bytes)?)
    }

    #[inline]
    fn idle(&mut self, out: bool, until_ns: u64) -> io::Result<()> {
        let left = Duration::from_nanos(until_ns.saturating_sub(linerate_sys::clock::monotonic_ns()));
        let was_over = socket::wait_ready(self.flow, out, left.min(self.patience)).map_err(|e| e.source)?;
        if was_over && until_ns == u64::MAX { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

/// What the other end's kernel has not acknowledged; 0 of a channel that does not say.
fn outstanding<C: Channel>(flow: &C) -> io::Result<u64> {
    flow.tcp().map_or(Ok(0), |socket| tcp_info::outstanding(socket).map_err(|error| error.source))
}

/// A channel whose calls would wait carries nothing that goes both ways at once.
#[inline]
fn at_once<C: Channel>() -> io::Result<()> {
    if C::AT_ONCE { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
}

/// No byte yet is 0; the end of the stream in mid-trial is an error.
#[inline]
pub fn bytes_or_closed(received: Option<usize>) -> io::Result<usize> {
    match received {
        Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Some(count) => Ok(count),
        None => Ok(0),
    }
}
