//! One socket driven by a pair of queues shared with the kernel (io_uring(7)).
//!
//! A call puts one request into the queue, enters the kernel once, and leaves when the request is done: the
//! memory that it names is borrowed for no longer. Requests that go on after the call use memory that the
//! ring owns, and are ended before the ring is.

use crate::{Error, Result};
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

/// Requests that fit into the queue; answers have twice the room and more in the kernel.
const ENTRIES: u32 = 128;

/// Which request an answer belongs to.
const ONCE: u64 = 1;
const ZERO_COPY: u64 = 2;
const MULTISHOT: u64 = 3;
const CANCEL: u64 = 4;

/// Zero-copy requests that may wait for the word that they are done with.
const MOST_UNDER_WAY: u64 = 64;

/// Ask for the word whether there was a copy, and its bit in the word (linux/io_uring.h).
const IORING_SEND_ZC_REPORT_USAGE: u16 = 1 << 3;
const IORING_NOTIF_USAGE_ZC_COPIED: u32 = 1 << 31;

/// Run what the kernel has left to do for this thread (linux/io_uring.h).
const ENTER_GETEVENTS: u32 = 1;

/// A ring with its own descriptor of one socket.
pub struct Ring {
    ring: IoUring,
    socket: OwnedFd,
    limit: Duration,
    usage: crate::zero_copy::Usage,
    /// Answers of a multishot request that nobody has taken yet: bytes or error, and the answer's flags.
    arrived: VecDeque<(i32, u32)>,
}

/// An answer as it is in the queue.
type Answer = (u64, i32, u32);

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("socket", &self.socket)
            .field("usage", &self.usage)
            .finish_non_exhaustive()
    }
}

impl Ring {
    /// A ring for this socket. Nothing may take longer than `limit`.
    pub fn onto(socket: &impl AsFd, limit: Duration) -> Result<Ring> {
        let fail = |e| Error::new("io_uring_setup", format!("a ring of {ENTRIES}"), e);
        // The thread enters the kernel anyway: nobody need interrupt it (from Linux 5.19 on).
        let ring = IoUring::builder().setup_coop_taskrun().build(ENTRIES);
        let ring = ring.or_else(|_| IoUring::new(ENTRIES)).map_err(fail)?;
        let socket = socket.as_fd().try_clone_to_owned().map_err(|e| Error::new("dup", "socket", e))?;
        let arrived = VecDeque::with_capacity(2 * ENTRIES as usize);
        Ok(Ring { ring, socket, limit, usage: Default::default(), arrived })
    }

    fn fd(&self) -> types::Fd {
        types::Fd(self.socket.as_raw_fd())
    }

    /// Sends what the socket takes; 0 when it takes nothing now.
    #[inline]
    pub fn send<const WAITS: bool>(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let entry = opcode::Send::new(self.fd(), bytes.as_ptr(), length(bytes.len()))
            .flags(libc::MSG_NOSIGNAL)
            .build()
            .user_data(ONCE);
        // SAFETY: `once` returns when the request is over; the bytes are borrowed for so long.
        outcome(unsafe { self.submit_and_wait::<WAITS>(&entry) }?).map(|sent| sent.unwrap_or(0))
    }

    /// Receives what is there; none when there is nothing now, `Some(0)` at the end.
    #[inline]
    pub fn receive<const WAITS: bool>(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        let entry =
            opcode::Recv::new(self.fd(), room.as_mut_ptr(), length(room.len())).build().user_data(ONCE);
        // SAFETY: as above; the room is borrowed for this call alone.
        outcome(unsafe { self.submit_and_wait::<WAITS>(&entry) }?)
    }

    /// Sends without a copy; 0 when the socket takes nothing now. The bytes must not be changed before the
    /// kernel is done with them, or others arrive than were meant.
    #[inline]
    pub fn send_zero_copy<const WAITS: bool>(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.under_way() >= MOST_UNDER_WAY {
            self.settle_to::<WAITS>(MOST_UNDER_WAY / 2)?;
        }
        let entry = opcode::SendZc::new(self.fd(), bytes.as_ptr(), length(bytes.len()))
            .flags(libc::MSG_NOSIGNAL)
            .zc_flags(IORING_SEND_ZC_REPORT_USAGE)
            .build()
            .user_data(ZERO_COPY);
        // SAFETY: the answer about the bytes is awaited. After it the kernel may still read their pages, which
        // it keeps alive by references of its own.
        let answer = unsafe { self.submit_and_wait::<WAITS>(&entry) }?;
        if cqueue::more(answer.2) {
            self.usage.sends += 1;
        }
        outcome(answer).map(|sent| sent.unwrap_or(0))
    }

    /// Requests without a copy that the kernel has not told to be done with.
    pub fn under_way(&self) -> u64 {
        self.usage.sends - self.usage.done
    }

    /// What became of the requests without a copy.
    pub fn usage(&self) -> crate::zero_copy::Usage {
        self.usage
    }

    /// Waits until nothing is under way any more; says whether nothing is.
    pub fn settle(&mut self) -> io::Result<bool> {
        self.settle_to::<true>(0)?;
        Ok(self.under_way() == 0)
    }

    fn settle_to<const WAITS: bool>(&mut self, least: u64) -> io::Result<()> {
        let begun = crate::clock::monotonic_ns();
        while self.under_way() > least {
            self.enter::<WAITS>()?;
            while let Some(answer) = self.next() {
                self.sort(answer);
            }
            self.check(begun)?;
        }
        Ok(())
    }

    /// Runs one request to its end.
    ///
    /// # Safety
    ///
    /// What the request names must live until this returns.
    #[inline]
    unsafe fn submit_and_wait<const WAITS: bool>(&mut self, entry: &squeue::Entry) -> io::Result<Answer> {
        let wanted = entry.get_user_data();
        // SAFETY: the caller answers for what the request names.
        unsafe { self.push(entry) };
        let mut begun = None;
        loop {
            self.enter::<WAITS>()?;
            while let Some(answer) = self.next() {
                if answer.0 == wanted && !cqueue::notif(answer.2) {
                    return Ok(answer);
                }
                self.sort(answer);
            }
            let begun = *begun.get_or_insert_with(crate::clock::monotonic_ns);
            if let Err(late) = self.check(begun) {
                return self.give_up(wanted, late);
            }
        }
    }

    /// # Safety
    ///
    /// What the request names must live until it is over.
    #[inline]
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        let mut queue = self.ring.submission();
        // Every request before was submitted by the call that made it, so there is room.
        // SAFETY: the caller answers for what the request names.
        let pushed = unsafe { queue.push(entry) };
        debug_assert!(pushed.is_ok(), "the queue is full");
    }

    /// Hands over what is in the queue; waits for an answer if it is to, for so long at most.
    #[inline]
    fn enter<const WAITS: bool>(&mut self) -> io::Result<()> {
        let entered = if WAITS {
            let limit = types::Timespec::from(self.limit);
            self.ring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&limit))
        } else {
            let requests = self.ring.submission().len() as u32;
            // SAFETY: no argument is given, and the numbers are those of the queue.
            unsafe { self.ring.submitter().enter::<libc::sigset_t>(requests, 0, ENTER_GETEVENTS, None) }
        };
        match entered.as_ref().map_err(io::Error::raw_os_error) {
            Ok(_) | Err(Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)) => Ok(()),
            Err(_) => entered.map(drop),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<Answer> {
        let mut queue = self.ring.completion();
        queue.next().map(|entry| (entry.user_data(), entry.result(), entry.flags()))
    }

    /// Keeps what an answer says that nobody waits for now.
    #[inline]
    fn sort(&mut self, (whose, result, flags): Answer) {
        match whose {
            ZERO_COPY if cqueue::notif(flags) => {
                self.usage.done += 1;
                self.usage.copied += u64::from(result as u32 & IORING_NOTIF_USAGE_ZC_COPIED != 0);
            }
            MULTISHOT => self.arrived.push_back((result, flags)),
            _ => {}
        }
    }

    fn check(&self, begun: u64) -> io::Result<()> {
        let is_late = crate::clock::monotonic_ns() - begun > self.limit.as_nanos() as u64;
        if is_late { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }

    /// Ends a request that takes too long: its memory must not be used after the call.
    #[cold]
    fn give_up(&mut self, whose: u64, late: io::Error) -> io::Result<Answer> {
        self.cancel(whose);
        loop {
            self.enter::<true>()?;
            while let Some(answer) = self.next() {
                match answer {
                    (_, result, _) if answer.0 == whose && result > 0 => return Ok(answer),
                    _ if answer.0 == whose && !cqueue::notif(answer.2) => return Err(late),
                    _ => self.sort(answer),
                }
            }
        }
    }

    fn cancel(&mut self, whose: u64) {
        let entry = opcode::AsyncCancel::new(whose).build().user_data(CANCEL);
        // SAFETY: the request names no memory.
        unsafe { self.push(&entry) };
    }
}

/// What an answer means: bytes, nothing now, or an error.
#[inline]
fn outcome((_, result, _): Answer) -> io::Result<Option<usize>> {
    match result {
        0.. => Ok(Some(result as usize)),
        _ if [libc::EAGAIN, libc::EINTR].contains(&-result) => Ok(None),
        _ => Err(io::Error::from_raw_os_error(-result)),
    }
}

/// A request's length has 32 bits; a longer one is cut, as any send or receive may be.
#[inline]
fn length(len: usize) -> u32 {
    len.min(1 << 30) as u32
}

mod shots;
pub use shots::Shots;

#[cfg(test)]
mod tests;
