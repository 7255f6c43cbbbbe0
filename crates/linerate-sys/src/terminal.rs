//! The terminal's size and its keys.

use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

/// Columns of the terminal on standard output; none when it is no terminal.
pub fn columns() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .ok()
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0)
}

/// The keys of the controlling terminal.
#[derive(Debug)]
pub struct Keyboard {
    terminal: File,
    woken: OwnedFd,
}

/// Ends a keyboard's wait when it is dropped.
#[derive(Debug)]
pub struct Wake {
    _end: OwnedFd,
}

/// Opens the keyboard of the controlling terminal.
pub fn keyboard() -> Result<(Keyboard, Wake)> {
    let terminal = File::open("/dev/tty").map_err(|e| Error::new("open", "/dev/tty", e))?;
    let (woken, end) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| Error::new("pipe2", "keyboard", e))?;
    Ok((Keyboard { terminal, woken }, Wake { _end: end }))
}

impl Keyboard {
    /// Sleeps until keys were pressed; none when the terminal is gone or the wait was ended.
    pub fn next_keys(&mut self) -> Option<Vec<u8>> {
        loop {
            let mut ready =
                [PollFd::new(&self.woken, PollFlags::IN), PollFd::new(&self.terminal, PollFlags::IN)];
            match poll(&mut ready, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return None,
                Ok(_) if !ready[0].revents().is_empty() => return None,
                Ok(_) => break,
            }
        }
        let mut keys = vec![0; 64];
        let read = self.terminal.read(&mut keys).ok().filter(|read| *read > 0)?;
        keys.truncate(read);
        Some(keys)
    }
}
