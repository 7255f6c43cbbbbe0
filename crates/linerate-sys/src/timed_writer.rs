//! Writing to a pipe of which nobody may read: a write waits for room so long, and no longer.

use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::time::Duration;

/// A pipe's writing end. What finds no room in its time fails with [`ErrorKind::TimedOut`].
#[derive(Debug)]
pub struct TimedWriter<W> {
    writer: W,
    longest: Duration,
}

impl<W: AsFd> TimedWriter<W> {
    /// Of an end that this process alone has: how it is written to is a property of the end.
    pub fn new(writer: W, longest: Duration) -> Result<TimedWriter<W>> {
        let failed = |errno| Error::new("fcntl", "pipe", errno);
        let flags = fcntl_getfl(&writer).map_err(failed)?;
        fcntl_setfl(&writer, flags | OFlags::NONBLOCK).map_err(failed)?;
        Ok(TimedWriter { writer, longest })
    }
}

impl<W: Write + AsFd> Write for TimedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.writer.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return written,
            }
            let (tv_sec, tv_nsec) = (self.longest.as_secs() as i64, self.longest.subsec_nanos().into());
            let ready =
                poll(&mut [PollFd::new(&self.writer, PollFlags::OUT)], Some(&Timespec { tv_sec, tv_nsec }));
            match ready {
                Ok(0) => return Err(ErrorKind::TimedOut.into()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_full_pipe_ends_a_write_and_a_reader_takes_all() {
        let (reader, writer) = io::pipe().unwrap();
        let mut writer = TimedWriter::new(writer, Duration::from_millis(20)).unwrap();
        let much = vec![7; 1 << 20];
        assert_eq!(writer.write_all(&much).unwrap_err().kind(), ErrorKind::TimedOut);
        drop(reader);
        assert_eq!(writer.write_all(&much).unwrap_err().kind(), ErrorKind::BrokenPipe);
        let (mut reader, writer) = io::pipe().unwrap();
        let mut writer = TimedWriter::new(writer, Duration::from_secs(20)).unwrap();
        let reads = std::thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).unwrap();
            all.len()
        });
        writer.write_all(&much).unwrap();
        drop(writer);
        assert_eq!(reads.join().unwrap(), much.len());
    }
}
