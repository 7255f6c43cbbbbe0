//! Moving pages instead of bytes: vmsplice(2) and splice(2) through a pipe.

use crate::pages::Pages;
use crate::{Error, Result};
use rustix::io::Errno;
use rustix::pipe::{
    IoSliceRaw, PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with, splice,
};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// What the pipe is asked to hold: an ordinary user gets no more (pipe(7), pipe-max-size).
const WANTED_BYTES: usize = 1 << 20;

/// A pipe that pages pass through.
#[derive(Debug)]
pub struct Passage {
    read: OwnedFd,
    write: OwnedFd,
    /// Bytes in the pipe.
    holds: usize,
    capacity: usize,
}

impl Passage {
    /// An empty one.
    pub fn new() -> Result<Passage> {
        let fail = |call| move |e: Errno| Error::new(call, "pipe", e);
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(fail("pipe2"))?;
        // Where it is refused the pipe is smaller, and more calls are made.
        let _ = fcntl_setpipe_size(&write, WANTED_BYTES);
        let capacity = fcntl_getpipe_size(&write).map_err(fail("fcntl(F_GETPIPE_SZ)"))?;
        Ok(Passage { read, write, holds: 0, capacity })
    }

    /// Bytes that it can hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Sends `len` bytes of `pages` from `at` on: their pages go into the pipe and from there to the socket.
    /// What is in the pipe already is the first part of them. Says how many bytes left the pipe: 0 when the
    /// socket takes none now.
    ///
    /// The kernel says nobody when it is done with a page, so `pages` must never be written again; the caller
    /// has them shared, which keeps everyone from it.
    #[inline]
    pub fn send<const WAITS: bool>(
        &mut self,
        socket: &impl AsFd,
        pages: &Pages,
        (at, len): (usize, usize),
    ) -> io::Result<usize> {
        if self.holds == 0 {
            self.holds = self.gather(&pages[at..at + len])?;
        }
        let moved = answer::<WAITS>(splice(
            &self.read,
            None,
            socket,
            None,
            self.holds,
            SpliceFlags::MOVE | if WAITS { SpliceFlags::empty() } else { SpliceFlags::NONBLOCK },
        ))?;
        self.holds -= moved;
        Ok(moved)
    }

    #[inline]
    fn gather(&self, bytes: &[u8]) -> io::Result<usize> {
        let slices = [IoSliceRaw::from_slice(bytes)];
        // The pipe is empty and takes a page at least. Its end is never full, so nothing waits here.
        // SAFETY: the slice is readable through the call; the kernel keeps the pages alive by references of
        // its own, and only ever reads them.
        match unsafe { rustix::pipe::vmsplice(&self.write, &slices, SpliceFlags::NONBLOCK) } {
            Err(Errno::INTR | Errno::AGAIN) => Ok(0),
            answer => Ok(answer?),
        }
    }

    /// Takes up to `len` bytes from a socket and drops them, their pages unread; none when there is nothing
    /// now, `Some(0)` at the end.
    #[inline]
    pub fn discard<const WAITS: bool>(
        &mut self,
        socket: &impl AsFd,
        nowhere: &Nowhere,
        len: usize,
    ) -> io::Result<Option<usize>> {
        let flags = SpliceFlags::MOVE | if WAITS { SpliceFlags::empty() } else { SpliceFlags::NONBLOCK };
        let came = match splice(socket, None, &self.write, None, len.min(self.capacity), flags) {
            Err(Errno::INTR) => return Ok(None),
            Err(Errno::AGAIN) if !WAITS => return Ok(None),
            came => came?,
        };
        let mut left = came;
        while left > 0 {
            left -= splice(&self.read, None, &nowhere.0, None, left, SpliceFlags::MOVE)?;
        }
        Ok(Some(came))
    }
}

#[inline]
fn answer<const WAITS: bool>(moved: rustix::io::Result<usize>) -> io::Result<usize> {
    match moved {
        Err(Errno::INTR) => Ok(0),
        Err(Errno::AGAIN) if !WAITS => Ok(0),
        moved => Ok(moved?),
    }
}

/// Where pages go that nobody wants (null(4)).
#[derive(Debug)]
pub struct Nowhere(File);

impl Nowhere {
    /// Opens it.
    pub fn open() -> Result<Nowhere> {
        let path = "/dev/null";
        let file = OpenOptions::new().write(true).open(path);
        Ok(Nowhere(file.map_err(|e| Error::new("open", path, e))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn pages_arrive_as_they_are_from_any_place() {
        let pages = Pages::filled(300_000).unwrap();
        let (near, mut far) = pair();
        let mut passage = Passage::new().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (mut at, end) in [(0, 300_000), (1, 2), (4095, 70_000)] {
                    while at < end {
                        at += passage.send::<true>(&near, &pages, (at, end - at)).unwrap();
                    }
                }
            });
            for (at, end) in [(0, 300_000), (1, 2), (4095, 70_000)] {
                let mut came = vec![0; end - at];
                far.read_exact(&mut came).unwrap();
                assert!(came == pages[at..end], "{at} to {end}");
            }
        });
    }

    #[test]
    fn what_is_discarded_is_counted() {
        let (mut near, far) = pair();
        far.set_nonblocking(true).unwrap();
        let (mut passage, nowhere) = (Passage::new().unwrap(), Nowhere::open().unwrap());
        assert!(passage.capacity() >= 4096);
        assert_eq!(passage.discard::<false>(&far, &nowhere, 10).unwrap(), None);
        near.write_all(&[1; 100]).unwrap();
        far.set_nonblocking(false).unwrap();
        assert_eq!(passage.discard::<true>(&far, &nowhere, 60).unwrap(), Some(60));
        assert_eq!(passage.discard::<true>(&far, &nowhere, 60).unwrap(), Some(40));
        drop(near);
        assert_eq!(passage.discard::<true>(&far, &nowhere, 60).unwrap(), Some(0));
    }
}
