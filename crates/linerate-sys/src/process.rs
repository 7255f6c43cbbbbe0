//! Another process, held by a descriptor (`pidfd_open(2)`): its number may be given to another one, the
//! descriptor never is.

use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};
use std::time::{Duration, Instant};
use std::{fs, io};

/// The field of `/proc/PID/stat` with the start time, counted from 1 (`proc_pid_stat(5)`).
const START_TIME: usize = 22;

/// The first field after the command's name, which is in parentheses and may hold anything.
const AFTER_NAME: usize = 3;

/// A signal that ends a process or has it stand still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Asks it to end: it may tidy up first.
    Terminate,
    /// Ends it: it may not.
    Kill,
    /// It stands still.
    Stop,
    /// It goes on.
    Continue,
}

impl Signal {
    /// As the kernel calls it.
    pub(crate) fn number(self) -> rustix::process::Signal {
        match self {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
            Signal::Stop => rustix::process::Signal::STOP,
            Signal::Continue => rustix::process::Signal::CONT,
        }
    }
}

/// A process.
#[derive(Debug)]
pub struct Process {
    pid: u32,
    descriptor: OwnedFd,
}

impl Process {
    /// The process that has this number now; none where there is no such process.
    pub fn open(pid: u32) -> Result<Option<Process>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        match pidfd_open(number, PidfdFlags::empty()) {
            Ok(descriptor) => Ok(Some(Process { pid, descriptor })),
            Err(Errno::SRCH) => Ok(None),
            Err(errno) => Err(Error::new("pidfd_open", format!("process {pid}"), errno)),
        }
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// When it started, in clock ticks since the machine did; none where it has ended. With the number it
    /// names a process once and for all, until the machine starts again.
    pub fn start_time(&self) -> Result<Option<u64>> {
        let path = format!("/proc/{}/stat", self.pid);
        let stat = match fs::read(&path) {
            Ok(stat) => stat,
            Err(_) if self.has_ended()? => return Ok(None),
            Err(source) => return Err(Error::new("read", path, source)),
        };
        // It was this process's file if it had its number to the end of the reading.
        if self.has_ended()? {
            return Ok(None);
        }
        let strange = || Error::new("read", path, io::ErrorKind::InvalidData);
        start_time_in(&stat).ok_or_else(strange).map(Some)
    }

    /// Sends a signal; a process that has ended does not hear it.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        match pidfd_send_signal(&self.descriptor, signal.number()) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(Error::new("pidfd_send_signal", format!("process {}", self.pid), errno)),
        }
    }

    /// Whether it has ended, though its parent may not have heard of it yet.
    pub fn has_ended(&self) -> Result<bool> {
        self.wait(Duration::ZERO)
    }

    /// Sleeps until it has ended, at most so long; says whether it has.
    pub fn wait(&self, longest: Duration) -> Result<bool> {
        let deadline = Instant::now() + longest;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.descriptor, PollFlags::IN)], Some(&timeout)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::new("poll", format!("process {}", self.pid), errno)),
            }
        }
    }
}

fn start_time_in(stat: &[u8]) -> Option<u64> {
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(&stat[name_ends + 1..]).ok()?;
    fields.split_ascii_whitespace().nth(START_TIME - AFTER_NAME)?.parse().ok()
}

/// The user that the calling process acts as.
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Ends the calling process at once: no handler runs, for one of them may be what hangs.
pub fn end_this() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn odd_names_do_not_shift_the_fields() {
        let stat = b"7 (a) 9 (b c) S 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        assert_eq!(start_time_in(stat), Some(12345));
        assert_eq!(start_time_in(b"7 (a) S 1 7"), None);
        assert_eq!(start_time_in(b""), None);
    }

    #[test]
    fn a_process_has_a_start_time_until_it_ends() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::open(child.id()).unwrap().unwrap();
        assert!(process.start_time().unwrap().is_some());
        assert!(!process.has_ended().unwrap());
        process.signal(Signal::Kill).unwrap();
        assert!(process.wait(Duration::from_secs(20)).unwrap());
        // It is a zombie now, which still has its number and its file.
        assert_eq!(process.start_time().unwrap(), None);
        child.wait().unwrap();
        process.signal(Signal::Terminate).unwrap();
        assert!(Process::open(0).unwrap().is_none());
        assert!(Process::open(u32::MAX).unwrap().is_none());
    }
}
