//! One thread wakes another: the kernel's cheapest way, `eventfd`.

use crate::{Error, Result};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// Signalled by one thread, waited for by another.
#[derive(Debug)]
pub struct EventCounter {
    counter: OwnedFd,
}

impl EventCounter {
    /// A counter that has not been signalled.
    pub fn new() -> Result<EventCounter> {
        let counter = eventfd(0, EventfdFlags::CLOEXEC).map_err(|e| Error::new("eventfd", "counter", e))?;
        Ok(EventCounter { counter })
    }

    /// Signals it; whoever waits is woken.
    pub fn signal(&self) -> Result<()> {
        loop {
            match write(&self.counter, &1u64.to_ne_bytes()) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(Error::new("write", "eventfd", error)),
            }
        }
    }

    /// Sleeps in the kernel until it was signalled since the last wait.
    pub fn wait(&self) -> Result<()> {
        loop {
            match read(&self.counter, &mut [0u8; 8]) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(Error::new("read", "eventfd", error)),
            }
        }
    }

    /// Sleeps until it is signalled, or `socket` can be read or written where that is waited for, or the time is over, or
    /// a signal came; says whether it was signalled. A socket of which nothing is waited for wakes nobody, not even when
    /// its other end goes.
    pub fn wait_beside(
        &self,
        socket: &impl AsFd,
        [readable, writable]: [bool; 2],
        limit: Duration,
    ) -> Result<bool> {
        let mut events = PollFlags::empty();
        events.set(PollFlags::IN, readable);
        events.set(PollFlags::OUT, writable);
        let mut waiting = [PollFd::new(&self.counter, PollFlags::IN), PollFd::new(socket, events)];
        let count = if events.is_empty() { 1 } else { 2 };
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        match poll(&mut waiting[..count], Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Error::new("poll", "eventfd and socket", error)),
        }
        let is_signalled = !waiting[0].revents().is_empty();
        if is_signalled {
            self.wait()?;
        }
        Ok(is_signalled)
    }
}

/// A system call that does nothing but enter and leave the kernel: `getppid`.
#[inline]
pub fn enter_kernel() {
    std::hint::black_box(rustix::process::getppid());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_beside_wakes_where_it_is_waited_for() {
        let (counter, limit) = (EventCounter::new().unwrap(), Duration::from_secs(5));
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(!counter.wait_beside(&far, [false, true], limit).unwrap());
        crate::socket::send_now(&near, b"x").unwrap();
        assert!(!counter.wait_beside(&far, [true, false], limit).unwrap());
        drop(near);
        let begun = std::time::Instant::now();
        assert!(!counter.wait_beside(&far, [false, false], Duration::from_millis(30)).unwrap());
        assert!(begun.elapsed() >= Duration::from_millis(30), "who hung up woke nobody");
        counter.signal().unwrap();
        assert!(counter.wait_beside(&far, [false, false], limit).unwrap());
        assert!(!counter.wait_beside(&far, [false, false], Duration::ZERO).unwrap());
    }

    #[test]
    fn a_thread_is_woken_as_often_as_it_waits() {
        let (there, back) = (EventCounter::new().unwrap(), EventCounter::new().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10 {
                    there.wait().unwrap();
                    back.signal().unwrap();
                }
            });
            for _ in 0..10 {
                there.signal().unwrap();
                back.wait().unwrap();
            }
        });
    }
}
