//! Whether whoever a process works for is still there, by a descriptor of which nothing is read.

use crate::{Error, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::stdio::dup2_stdin;
use std::fs::File;

/// Takes the standard input for itself: what this process starts reads nothing from it.
pub fn take_input() -> Result<OwnedFd> {
    let failed = |e| Error::new("dup", "standard input", e);
    let taken = std::io::stdin().as_fd().try_clone_to_owned().map_err(failed)?;
    let nothing = File::open("/dev/null").map_err(|e| Error::new("open", "/dev/null", e))?;
    dup2_stdin(&nothing).map_err(|errno| Error::new("dup2", "/dev/null", errno))?;
    Ok(taken)
}

/// Sleeps until the other end of a pipe or a socket is gone; for ever where there is none, as of a file.
pub fn wait_for_end(line: &impl AsFd) -> Result<()> {
    loop {
        // What comes on it is for somebody else, and wakes nobody here.
        match poll(&mut [PollFd::new(line, PollFlags::RDHUP)], None) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::new("poll", "lifeline", errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// Waits on one end, while the other one speaks and goes.
    fn told(line: impl AsFd + Send + 'static, mut other: impl Write) {
        let (tell, end) = channel();
        std::thread::spawn(move || tell.send(wait_for_end(&line).is_ok()));
        other.write_all(b"not for it").unwrap();
        assert!(end.recv_timeout(Duration::from_millis(50)).is_err(), "what comes is no end");
        drop(other);
        assert_eq!(end.recv_timeout(Duration::from_secs(20)), Ok(true));
    }

    #[test]
    fn the_end_of_a_pipe_and_of_a_socket_is_noticed() {
        let (line, other) = std::io::pipe().unwrap();
        told(line, other);
        let (line, other) = UnixStream::pair().unwrap();
        told(line, other);
    }
}
