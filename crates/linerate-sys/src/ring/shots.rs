//! One request that receives again and again, into buffers that the ring was given (multishot).

use super::{Answer, MULTISHOT, Ring, opcode};
use crate::pages::Pages;
use crate::{Error, Result};
use io_uring::cqueue;
use io_uring::types::BufRingEntry;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// Buffers, a power of two, and the bytes of each. More than the second-level cache holds would be slower
/// than one that stays in it.
const BUFFERS: u16 = 8;
const BUFFER_BYTES: usize = 64 << 10;
const GROUP: u16 = 0;

/// A socket that is received from by one standing request.
#[derive(Debug)]
pub struct Shots {
    ring: Ring,
    /// The ring of free buffers, which the kernel reads: a page, and no write past its entries.
    free: Pages,
    /// The buffers, one after the other.
    buffers: Pages,
    tail: u16,
    /// The buffer that is being handed out: its number, and what of it is left.
    open: Option<(u16, usize, usize)>,
    /// The buffer that was handed out whole: the kernel gets it back when nobody can look at it any more.
    spent: Option<u16>,
    stands: bool,
    rearmed: u64,
}

impl Shots {
    /// A ring with its buffers for this socket. Nothing may take longer than `limit`.
    pub fn onto(socket: &impl AsFd, limit: Duration) -> Result<Shots> {
        let ring = Ring::onto(socket, limit)?;
        let (free, buffers) = (Pages::filled(4096)?, Pages::filled(BUFFER_BYTES * usize::from(BUFFERS))?);
        let mut shots =
            Shots { ring, free, buffers, tail: 0, open: None, spent: None, stands: false, rearmed: 0 };
        // Whatever the page held, the tail begins at 0.
        shots.free.fill(0);
        for buffer in 0..BUFFERS {
            shots.give(buffer);
        }
        let place = shots.free.as_ptr() as u64;
        // SAFETY: the page holds as many entries; it and the buffers live as long as the ring, which goes first.
        let registered =
            unsafe { shots.ring.ring.submitter().register_buf_ring_with_flags(place, BUFFERS, GROUP, 0) };
        registered.map_err(|e| Error::new("io_uring_register", "a ring of buffers", e))?;
        Ok(shots)
    }

    /// How often the request had to be made again, because no buffer was free.
    pub fn rearmed(&self) -> u64 {
        self.rearmed
    }

    /// Hands out what came, at most `len` bytes; none when there is nothing now, `Some` of nothing at the end.
    #[inline]
    pub fn receive<const WAITS: bool>(&mut self, len: usize) -> io::Result<Option<&[u8]>> {
        if let Some(buffer) = self.spent.take() {
            self.give(buffer);
        }
        if self.open.is_none() {
            match self.arrive::<WAITS>()? {
                Some(0) => return Ok(Some(&[])),
                None => return Ok(None),
                Some(_) => {}
            }
        }
        let Some((buffer, at, left)) = self.open else { return Ok(None) };
        let out = left.min(len);
        self.open = (left > out).then_some((buffer, at + out, left - out));
        if self.open.is_none() {
            self.spent = Some(buffer);
        }
        let start = usize::from(buffer) * BUFFER_BYTES + at;
        Ok(Some(&self.buffers[start..start + out]))
    }

    /// Opens the next buffer that came; none when there is none now.
    #[inline]
    fn arrive<const WAITS: bool>(&mut self) -> io::Result<Option<usize>> {
        let begun = crate::clock::monotonic_ns();
        while self.ring.arrived.is_empty() {
            if !self.stands {
                self.submit_standing();
            } else {
                self.gather();
                if !self.ring.arrived.is_empty() {
                    break;
                }
            }
            self.ring.enter::<WAITS>()?;
            self.gather();
            if !WAITS && self.ring.arrived.is_empty() {
                return Ok(None);
            }
            if self.ring.arrived.is_empty() {
                self.ring.check(begun)?;
            }
        }
        let Some((result, flags)) = self.ring.arrived.pop_front() else { return Ok(None) };
        if !cqueue::more(flags) {
            self.stands = false;
        }
        match (result, cqueue::buffer_select(flags)) {
            (1.., Some(buffer)) => {
                self.open = Some((buffer, 0, result as usize));
                Ok(Some(result as usize))
            }
            (0, _) => Ok(Some(0)),
            (error, _) if [libc::ENOBUFS, libc::EAGAIN, libc::EINTR].contains(&-error) => {
                self.rearmed += 1;
                Ok(None)
            }
            (error, _) => Err(io::Error::from_raw_os_error(-error)),
        }
    }

    #[inline]
    fn gather(&mut self) {
        while let Some(answer) = self.ring.next() {
            self.ring.sort(answer);
        }
    }

    /// Makes the request.
    fn submit_standing(&mut self) {
        let entry = opcode::RecvMulti::new(self.ring.fd(), GROUP).build().user_data(MULTISHOT);
        // SAFETY: it receives into the ring's own buffers, which live as long as the ring; `drop` ends it.
        unsafe { self.ring.push(&entry) };
        self.stands = true;
    }

    /// Gives a buffer back to the kernel.
    #[inline]
    fn give(&mut self, buffer: u16) {
        let place = usize::from(self.tail & (BUFFERS - 1));
        let start = self.free.as_mut_ptr().cast::<BufRingEntry>();
        let address = self.buffers.as_ptr() as u64 + (usize::from(buffer) * BUFFER_BYTES) as u64;
        // SAFETY: the page begins with `BUFFERS` entries and `place` is one of them. The kernel reads an entry
        // only after the tail has passed it. The tail lies in the first entry, where that entry has nothing.
        unsafe {
            let entry = &mut *start.add(place);
            entry.set_addr(address);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(start).cast_mut().cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }

    /// Ends the request, so that it takes no byte that is meant for another one.
    fn end(&mut self) -> io::Result<()> {
        if !self.stands {
            return Ok(());
        }
        self.ring.cancel(MULTISHOT);
        let begun = crate::clock::monotonic_ns();
        loop {
            self.ring.enter::<true>()?;
            while let Some(answer) = self.ring.next() {
                if is_last(answer) {
                    return Ok(());
                }
            }
            self.ring.check(begun)?;
        }
    }
}

fn is_last((whose, _, flags): Answer) -> bool {
    whose == MULTISHOT && !cqueue::more(flags)
}

impl Drop for Shots {
    fn drop(&mut self) {
        // An answer that ended it may be among those that nobody took.
        self.stands &= self.ring.arrived.iter().all(|(_, flags)| cqueue::more(*flags));
        // What cannot be ended is ended with the ring.
        let _ = self.end();
    }
}
