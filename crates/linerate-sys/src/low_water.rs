//! Sleeping until all of what is wanted is there: a socket's low-water mark (SO_RCVLOWAT, socket(7)).
//!
//! Who waits in recv(2) is woken by each packet that comes, takes it and sleeps again: eight times a MiB on loopback.
//! The mark wakes it once. It must never stand above what is still wanted, or the last bytes wake nobody; so each
//! wait sets its own, and recv(2) must never be what waits.

use crate::socket::{wait_ready, wake_at};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// The mark at most: the sender must find room while the receiver sleeps, and a buffer grows to 6 MiB by default.
const MOST: usize = 1 << 20;

/// The mark of a stream socket, by whoever is the only one to wait on it.
#[derive(Debug)]
pub struct LowWater<S: AsFd> {
    socket: S,
    mark: usize,
}

impl<S: AsFd> LowWater<S> {
    /// Of this socket, which has no mark yet.
    pub fn new(socket: S) -> LowWater<S> {
        LowWater { socket, mark: 1 }
    }

    /// The socket.
    #[inline]
    pub fn socket(&self) -> &S {
        &self.socket
    }

    /// Sleeps until so many bytes are there, or no more can come, or a signal came. `TimedOut` where that takes longer.
    #[inline]
    pub fn wait(&mut self, bytes: usize, limit: Duration) -> io::Result<()> {
        let mark = bytes.clamp(1, MOST);
        if mark != self.mark {
            wake_at(&self.socket, mark).map_err(|error| error.source)?;
            self.mark = mark;
        }
        let is_over = wait_ready(&self.socket, false, limit).map_err(|error| error.source)?;
        if is_over { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

impl<S: AsFd> Drop for LowWater<S> {
    fn drop(&mut self) {
        // The next one who waits on the socket is woken by each byte again.
        let _ = wake_at(&self.socket, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(5);

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn less_than_the_mark_wakes_nobody() {
        let (mut near, mut far) = pair();
        let mut water = LowWater::new(&far);
        near.write_all(&[1; 999]).unwrap();
        assert_eq!(water.wait(1000, SHORT).unwrap_err().kind(), ErrorKind::TimedOut);
        near.write_all(&[1]).unwrap();
        water.wait(1000, LONG).unwrap();
        water.wait(10, LONG).unwrap();
        assert_eq!(water.wait(1001, SHORT).unwrap_err().kind(), ErrorKind::TimedOut);
        drop(water);
        far.read_exact(&mut [0; 1000]).unwrap();
        near.write_all(&[1]).unwrap();
        assert!(crate::socket::wait_readable(&far, LONG).unwrap());
    }

    #[test]
    fn the_end_of_the_stream_wakes() {
        let (near, far) = pair();
        drop(near);
        LowWater::new(&far).wait(1 << 20, LONG).unwrap();
    }
}
