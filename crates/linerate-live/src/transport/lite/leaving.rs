//! A message on its way out: header and payload in one call, from where they lie.

use super::wire::{HEADER_BYTES, Header};
use linerate_sys::socket;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;

/// A message that a call sends from where it lies, or that the layer was given.
#[derive(Debug)]
pub struct Leaving<B> {
    header: [u8; HEADER_BYTES],
    payload: B,
    went: usize,
}

impl<B: AsRef<[u8]>> Leaving<B> {
    /// Nothing of it went yet; an error where it is longer than a message may be.
    pub fn new(tag: u32, payload: B) -> io::Result<Leaving<B>> {
        let header = Header::for_payload(tag, payload.as_ref())?.to_wire();
        Ok(Leaving { header, payload, went: 0 })
    }

    /// Whether all of it went.
    #[inline]
    pub fn is_gone(&self) -> bool {
        self.went == HEADER_BYTES + self.payload.as_ref().len()
    }

    /// Sends what goes at once; says how much.
    #[inline]
    pub fn go(&mut self, socket: &OwnedFd) -> io::Result<usize> {
        let payload = self.payload.as_ref();
        let went = match self.header.get(self.went..) {
            Some(header) if !header.is_empty() => {
                socket::send_parts_now(socket, &[IoSlice::new(header), IoSlice::new(payload)])?
            }
            _ => socket::send_now(socket, &payload[self.went - HEADER_BYTES..])?,
        };
        self.went += went;
        Ok(went)
    }

    /// What was sent.
    pub fn into_payload(self) -> B {
        self.payload
    }
}
