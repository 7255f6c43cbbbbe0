//! Pipes between two processes: one each way, opened by the other process through `/proc`.
//!
//! A pipe has no time limit of its own: a call that waits ends when bytes move or when the other end
//! is closed, as it is when its process ends.

use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::PathBuf;

/// How long a reader may take to go away once it has what it wanted.
const PARTING: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Whether it is a pipe that nobody reads any more, or not in a moment.
pub fn is_unread(stream: impl AsFd) -> bool {
    let is_pipe = fstat(&stream).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo);
    // Nothing is asked for: what is wrong with it is told anyway.
    is_pipe
        && poll(&mut [PollFd::new(&stream, PollFlags::empty())], Some(&PARTING)).is_ok_and(|told| told > 0)
}

/// Both pipes as one process uses them: one to read, the other to write.
#[derive(Debug)]
pub struct Pipes {
    read: File,
    write: File,
}

/// Pipes that are not shared yet: the ends for the other process are still held here.
#[derive(Debug)]
pub struct NewPipes {
    here: Pipes,
    there: Pipes,
}

impl NewPipes {
    /// Makes two pipes. `capacity` is asked for where it is set; what was granted can be read back.
    pub fn create(capacity: Option<usize>) -> Result<NewPipes> {
        let make = || pipe_with(PipeFlags::CLOEXEC).map_err(|e| Error::new("pipe2", "pipe", e));
        let ((inward, from_there), (to_there, outward)) = (make()?, make()?);
        for pipe in [&from_there, &outward] {
            let _ = capacity.map(|bytes| fcntl_setpipe_size(pipe, bytes));
        }
        Ok(NewPipes {
            here: Pipes { read: inward.into(), write: outward.into() },
            there: Pipes { read: to_there.into(), write: from_there.into() },
        })
    }

    /// What the other process needs: this process, and the descriptors that it reads and writes.
    pub fn place(&self) -> (u32, i32, i32) {
        (std::process::id(), self.there.read.as_raw_fd(), self.there.write.as_raw_fd())
    }

    /// This process's ends, once the other one has opened its own: from now on either notices when the
    /// other is gone.
    pub fn keep(self) -> Pipes {
        self.here
    }

    /// This process's ends, before.
    pub fn own(&self) -> &Pipes {
        &self.here
    }
}

impl Pipes {
    /// Opens the ends that another process of the same user holds for this one.
    pub fn open(process: u32, read: i32, write: i32) -> Result<Pipes> {
        let path = |descriptor| PathBuf::from(format!("/proc/{process}/fd/{descriptor}"));
        let open = |options: &mut OpenOptions, descriptor| {
            let path = path(descriptor);
            let fail = |e: io::Error| Error::new("open", path.display().to_string(), e);
            let file = options.open(&path).map_err(fail)?;
            let mode = fstat(&file).map_err(|e| fail(e.into()))?.st_mode;
            match FileType::from_raw_mode(mode) {
                FileType::Fifo => Ok(file),
                _ => Err(fail(io::Error::other("not a pipe"))),
            }
        };
        Ok(Pipes {
            read: open(OpenOptions::new().read(true), read)?,
            write: open(OpenOptions::new().write(true), write)?,
        })
    }

    /// The bytes that the outward pipe holds.
    pub fn capacity(&self) -> Result<usize> {
        fcntl_getpipe_size(&self.write).map_err(|e| Error::new("fcntl(F_GETPIPE_SZ)", "pipe", e))
    }

    /// Whether calls wait for bytes or room.
    pub fn set_waiting(&self, waiting: bool) -> Result<()> {
        for file in [&self.read, &self.write] {
            let fail = |e| Error::new("fcntl(F_SETFL)", "pipe", e);
            let mut flags = fcntl_getfl(file).map_err(fail)?;
            flags.set(OFlags::NONBLOCK, !waiting);
            fcntl_setfl(file, flags).map_err(fail)?;
        }
        Ok(())
    }

    /// Writes what the pipe takes; 0 when it takes nothing now.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        match rustix::io::write(&self.write, bytes) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            answer => Ok(answer?),
        }
    }

    /// Reads what is there; none when there is nothing now, `Some(0)` when the other end is closed.
    #[inline]
    pub fn receive(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.read, bytes) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            answer => Ok(Some(answer?)),
        }
    }
}

/// The end that is read.
impl AsFd for Pipes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_cross_until_an_end_is_gone() {
        let new = NewPipes::create(Some(128 << 10)).unwrap();
        let (process, read, write) = new.place();
        let there = Pipes::open(process, read, write).unwrap();
        let here = new.keep();
        assert_eq!((here.capacity().unwrap(), there.capacity().unwrap()), (128 << 10, 128 << 10));
        let mut room = [0; 8];
        for (from, to) in [(&here, &there), (&there, &here)] {
            to.set_waiting(false).unwrap();
            assert_eq!(to.receive(&mut room).unwrap(), None);
            assert_eq!(from.send(b"abc").unwrap(), 3);
            assert_eq!(to.receive(&mut room).unwrap(), Some(3));
        }
        drop(there);
        assert_eq!(here.receive(&mut room).unwrap(), Some(0));
        assert_eq!(here.send(b"abc").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn what_is_not_a_pipe_is_refused() {
        let file = File::open("/dev/null").unwrap();
        let fd = file.as_raw_fd();
        assert!(
            Pipes::open(std::process::id(), fd, fd).unwrap_err().source.to_string().contains("not a pipe")
        );
    }
}
