//! Waiting for several sockets at once (epoll(7)), level-triggered.

use crate::{Error, Result};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Bytes to read, or the end.
    Readable,
    /// Room to write.
    Writable,
}

impl Until {
    fn flags(self) -> EventFlags {
        match self {
            Until::Readable => EventFlags::IN | EventFlags::RDHUP,
            Until::Writable => EventFlags::OUT,
        }
    }
}

/// Sockets of which some are to become ready.
pub struct Readiness {
    epoll: OwnedFd,
    ready: Vec<Event>,
}

impl Readiness {
    /// Watches nothing yet; tells of at most so many at once.
    pub fn new(most: usize) -> Result<Readiness> {
        let epoll = epoll::create(CreateFlags::CLOEXEC);
        let epoll = epoll.map_err(|e| Error::new("epoll_create1", "a set of sockets", e))?;
        Ok(Readiness { epoll, ready: Vec::with_capacity(most.max(1)) })
    }

    /// Watches a socket, called by this number from now on.
    pub fn watch(&self, socket: &impl AsFd, number: usize, until: Until) -> Result<()> {
        let added = epoll::add(&self.epoll, socket, EventData::new_u64(number as u64), until.flags());
        added.map_err(|e| Error::new("epoll_ctl(EPOLL_CTL_ADD)", "socket", e))
    }

    /// Waits for something else of a socket that is watched.
    #[inline]
    pub fn change(&self, socket: &impl AsFd, number: usize, until: Until) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, EventData::new_u64(number as u64), until.flags())?)
    }

    /// Watches it no longer.
    pub fn leave(&self, socket: &impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Waits until some are ready, or the time is over, or a signal came; gives their numbers.
    #[inline]
    pub fn wait(&mut self, limit: Duration) -> io::Result<impl Iterator<Item = usize> + '_> {
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        self.ready.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.ready), Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.ready.iter().map(|event| event.data.u64() as usize))
    }

    /// The same with a limit to the nanosecond, or none, on any kernel: epoll_pwait2(2) is of Linux 5.11, and
    /// epoll_wait(2) counts milliseconds. What it costs does not grow with what is watched.
    pub fn wait_ns(&mut self, limit_ns: Option<u64>) -> io::Result<impl Iterator<Item = usize> + '_> {
        let limit = limit_ns
            .map(|ns| Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ });
        let mut set = [PollFd::new(&self.epoll, PollFlags::IN)];
        self.ready.clear();
        match poll(&mut set, limit.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => {
                let room = rustix::buffer::spare_capacity(&mut self.ready);
                epoll::wait(&self.epoll, room, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(self.ready.iter().map(|event| event.data.u64() as usize))
    }
}

// SAFETY: an event's data is a number of ours here, never a pointer.
unsafe impl Send for Readiness {}

impl std::fmt::Debug for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readiness").field("epoll", &self.epoll).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_wait_ends_at_its_nanosecond_or_with_what_came() {
        let (mut near, far) = UnixStream::pair().unwrap();
        let mut readiness = Readiness::new(4).unwrap();
        readiness.watch(&far, 3, Until::Readable).unwrap();
        let began = std::time::Instant::now();
        assert_eq!(readiness.wait_ns(Some(200_000)).unwrap().count(), 0);
        assert!(began.elapsed() >= Duration::from_micros(200));
        near.write_all(b"x").unwrap();
        assert_eq!(readiness.wait_ns(None).unwrap().collect::<Vec<_>>(), [3]);
        assert_eq!(readiness.wait_ns(Some(0)).unwrap().collect::<Vec<_>>(), [3], "until it is read");
    }

    #[test]
    fn only_what_is_ready_is_told() {
        let (mut near, far) = UnixStream::pair().unwrap();
        let (_silent, other) = UnixStream::pair().unwrap();
        let mut readiness = Readiness::new(4).unwrap();
        readiness.watch(&far, 7, Until::Readable).unwrap();
        readiness.watch(&other, 8, Until::Readable).unwrap();
        assert_eq!(readiness.wait(Duration::ZERO).unwrap().count(), 0);
        near.write_all(b"x").unwrap();
        assert_eq!(readiness.wait(Duration::from_secs(5)).unwrap().collect::<Vec<_>>(), [7]);
        readiness.leave(&far).unwrap();
        assert_eq!(readiness.wait(Duration::ZERO).unwrap().count(), 0);
        readiness.watch(&near, 9, Until::Writable).unwrap();
        assert_eq!(readiness.wait(Duration::from_secs(5)).unwrap().collect::<Vec<_>>(), [9]);
        readiness.change(&near, 9, Until::Readable).unwrap();
        assert_eq!(readiness.wait(Duration::ZERO).unwrap().count(), 0);
    }
}
