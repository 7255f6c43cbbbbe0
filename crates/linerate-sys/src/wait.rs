//! How long calls on sockets wait, and what waits for a socket.

use crate::option;
use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use socket2::SockRef;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Lets every later blocking call on the socket wait at most this long.
pub fn limit_waits(socket: &impl AsFd, limit: Duration) -> Result<()> {
    let set = |e| Error::new("setsockopt(SO_RCVTIMEO)", "socket", e);
    let socket = SockRef::from(socket);
    socket.set_read_timeout(Some(limit)).map_err(set)?;
    socket.set_write_timeout(Some(limit)).map_err(set)
}

/// Lets whoever waits on a stream socket sleep until so many bytes are there, or no more can come (SO_RCVLOWAT, socket(7)).
pub fn wake_at(socket: &impl AsFd, bytes: usize) -> Result<()> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    option::set(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
        .map_err(|e| Error::new("setsockopt(SO_RCVLOWAT)", "socket", e))
}

/// Waits until something can be read or accepted, or the time is over, or a signal came; says whether it can.
pub fn wait_readable(source: &impl AsFd, limit: Duration) -> Result<bool> {
    let mut waiting = [PollFd::new(source, PollFlags::IN)];
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    match poll(&mut waiting, Some(&limit)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(Error::new("poll", "socket", error)),
    }
}

/// Waits until something can be read from any of them, or the time is over, or a signal came.
pub fn wait_any_readable<'s>(sources: impl Iterator<Item = BorrowedFd<'s>>, limit: Duration) -> Result<()> {
    let mut waiting: Vec<PollFd<'_>> =
        sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)).collect();
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    match poll(&mut waiting, Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(Error::new("poll", "sockets", error)),
    }
}

/// Waits until something can be read, or also sent where `out`, or the time is over, or a signal came; says
/// whether the time was over.
pub fn wait_ready(socket: &impl AsFd, out: bool, limit: Duration) -> Result<bool> {
    wait_events(socket, if out { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN }, limit)
}

/// Waits until something can be sent, or the time is over, or a signal came; says whether the time was over.
pub fn wait_writable(socket: &impl AsFd, limit: Duration) -> Result<bool> {
    wait_events(socket, PollFlags::OUT, limit)
}

fn wait_events(socket: &impl AsFd, events: PollFlags, limit: Duration) -> Result<bool> {
    let mut waiting = [PollFd::new(socket, events)];
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    match poll(&mut waiting, Some(&limit)) {
        Ok(ready) => Ok(ready == 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(Error::new("poll", "socket", error)),
    }
}

/// Waits until `port` can be read (or written, where that is wanted too), or `beside` can be read, or the
/// time is over; says whether `beside` can.
pub fn wait_for(
    port: &impl AsFd,
    also_writable: bool,
    beside: Option<&impl AsFd>,
    limit: Duration,
) -> io::Result<bool> {
    let flags = if also_writable { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
    let first = PollFd::new(port, flags);
    let mut waiting = match beside {
        Some(beside) => [first, PollFd::new(beside, PollFlags::IN)],
        // Its answer is not looked at.
        None => [first, PollFd::new(port, PollFlags::empty())],
    };
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    match poll(&mut waiting, Some(&limit)) {
        Ok(_) => Ok(beside.is_some() && !waiting[1].revents().is_empty()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Lets calls that accept from this listener wait, at most this long; without a limit they do not wait at all.
pub fn wait_to_accept(listener: &impl AsFd, limit: Option<Duration>) -> Result<()> {
    let listener = SockRef::from(listener);
    let set = |e| Error::new("setsockopt(SO_RCVTIMEO)", "listener", e);
    listener.set_read_timeout(limit).map_err(set)?;
    listener.set_nonblocking(limit.is_none()).map_err(|e| Error::new("fcntl", "listener", e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::TcpOptions;

    #[test]
    fn who_accepts_waits_as_long_as_was_said() {
        let listener = TcpOptions::default().listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        for (limit, range) in [(None, 0..20), (Some(50), 50..2000)] {
            wait_to_accept(&listener, limit.map(Duration::from_millis)).unwrap();
            let begun = std::time::Instant::now();
            assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
            assert!(range.contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
        }
    }
}
