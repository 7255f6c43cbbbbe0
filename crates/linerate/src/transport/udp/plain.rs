//! One datagram a call.

use super::Ends;
use crate::pattern::{Lossy, SILENCE, poll};
use linerate_sys::socket;
use std::io;
use std::time::Duration;

/// Asks the kernel again and again.
pub struct Polling<'s>(pub Ends<'s>);

/// Sleeps in the kernel.
pub struct Sleeping<'s>(pub Ends<'s>);

impl Lossy for Polling<'_> {
    #[inline]
    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        // A datagram goes as a whole; an empty one counts as one byte here, or it would be sent for ever.
        let port = &self.0.flow.port;
        poll(self.0.patience, || socket::send_datagram_now(port, datagram).map(usize::from)).map(drop)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        let port = &self.0.flow.port;
        let ask = || Ok(socket::receive_now(port, room)?.map_or(0, |length| length + 1));
        match poll(SILENCE, ask) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            came => Ok(Some(came? - 1)),
        }
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.receive_now(room)
    }

    fn tell(&mut self, number: u64) -> io::Result<()> {
        self.0.tell(number)
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        self.0.hear(limit)
    }

    fn patience(&self) -> Duration {
        self.0.patience
    }
}

impl Lossy for Sleeping<'_> {
    #[inline]
    fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        while !socket::send_datagram(&self.0.flow.port, datagram)? {}
        Ok(())
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match socket::receive_waiting(&self.0.flow.port, room) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            answer => answer,
        }
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.receive_now(room)
    }

    fn tell(&mut self, number: u64) -> io::Result<()> {
        self.0.tell(number)
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        self.0.hear(limit)
    }

    fn patience(&self) -> Duration {
        self.0.patience
    }
}
