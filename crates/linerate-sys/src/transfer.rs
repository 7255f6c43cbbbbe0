//! Calls that move bytes over a socket: at once, or waiting in the kernel.

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, recv, recvmsg, send, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::TcpStream;
use std::os::fd::AsFd;

/// Sends what the socket takes at once; 0 when it takes nothing now.
#[inline]
pub fn send_now(socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        answer => Ok(answer?),
    }
}

/// Receives what is there; none when there is nothing now, `Some(0)` at the end of the stream.
#[inline]
pub fn receive_now(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(socket, bytes, RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.0)),
    }
}

/// Sends, waiting in the kernel until the socket took something.
#[inline]
pub fn send_waiting(socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    match send(socket, bytes, SendFlags::NOSIGNAL) {
        Err(Errno::INTR) => Ok(0),
        answer => Ok(answer?),
    }
}

/// Sends parts as one, as much as the socket takes at once; 0 when it takes nothing now.
#[inline]
pub fn send_parts_now(socket: &impl AsFd, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    match sendmsg(
        socket,
        parts,
        &mut SendAncillaryBuffer::default(),
        SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
    ) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        answer => Ok(answer?),
    }
}

/// The same, waiting in the kernel until the socket took something; 0 after an interruption.
#[inline]
pub fn send_parts_waiting(socket: &impl AsFd, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    match sendmsg(socket, parts, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL) {
        Err(Errno::INTR) => Ok(0),
        answer => Ok(answer?),
    }
}

/// Sends one datagram, which may be empty, if the socket has room now; says whether it went. What the
/// interface has no room for is lost, as on the way.
#[inline]
pub fn send_datagram_now(socket: &impl AsFd, bytes: &[u8]) -> io::Result<bool> {
    match send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(false),
        Err(Errno::NOBUFS) => Ok(true),
        answer => Ok(answer.map(|_| true)?),
    }
}

/// Sends one datagram, which may be empty, waiting for room; says whether it went.
#[inline]
pub fn send_datagram(socket: &impl AsFd, bytes: &[u8]) -> io::Result<bool> {
    match send(socket, bytes, SendFlags::NOSIGNAL) {
        Err(Errno::INTR) => Ok(false),
        Err(Errno::NOBUFS) => Ok(true),
        answer => Ok(answer.map(|_| true)?),
    }
}

/// Receives, waiting in the kernel until something is there; none after an interruption.
#[inline]
pub fn receive_waiting(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(socket, bytes, RecvFlags::empty()) {
        Err(Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.0)),
    }
}

/// Receives what is there into parts, one after the other; none when there is nothing now, `Some(0)` at the end.
#[inline]
pub fn receive_parts_now(socket: &impl AsFd, parts: &mut [IoSliceMut<'_>]) -> io::Result<Option<usize>> {
    match recvmsg(socket, parts, &mut RecvAncillaryBuffer::default(), RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.bytes)),
    }
}

/// The same, waiting in the kernel until something is there; none after an interruption.
#[inline]
pub fn receive_parts_waiting(socket: &impl AsFd, parts: &mut [IoSliceMut<'_>]) -> io::Result<Option<usize>> {
    match recvmsg(socket, parts, &mut RecvAncillaryBuffer::default(), RecvFlags::empty()) {
        Err(Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.bytes)),
    }
}

/// Receives, waiting in the kernel until `bytes` are full (`MSG_WAITALL`), or the end or an error came; none
/// after an interruption.
#[inline]
pub fn receive_all(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(socket, bytes, RecvFlags::WAITALL) {
        Err(Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.0)),
    }
}

/// Throws away at most as many bytes as `room` holds without copying them, waiting in the kernel until
/// something is there; none after an interruption. `room` stays as it is: with `MSG_TRUNC` the kernel
/// drops what a TCP socket received (tcp(7)).
#[inline]
pub fn discard_waiting(stream: &TcpStream, room: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(stream, room, RecvFlags::TRUNC) {
        Err(Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.1)),
    }
}

/// The same without waiting; none when there is nothing now.
#[inline]
pub fn discard_now(stream: &TcpStream, room: &mut [u8]) -> io::Result<Option<usize>> {
    match recv(stream, room, RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?.1)),
    }
}

/// Sends bytes of a file from the kernel's pages, waiting in the kernel until the socket took something; 0 at the end of the
/// file, none after an interruption. `at` moves on by what went.
#[inline]
pub fn send_file(
    socket: &impl AsFd,
    file: &impl AsFd,
    at: &mut u64,
    bytes: usize,
) -> io::Result<Option<usize>> {
    match rustix::fs::sendfile(socket, file, Some(at), bytes) {
        Err(Errno::INTR) => Ok(None),
        answer => Ok(Some(answer?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::TcpOptions;
    use std::time::Duration;

    #[test]
    fn nothing_to_do_is_neither_error_nor_end() {
        let options = TcpOptions::default();
        let listener = options.listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let client = options.connect(listener.local_addr().unwrap(), Duration::from_secs(5)).unwrap();
        let (server, _) = listener.accept().unwrap();
        assert_eq!(receive_now(&server, &mut [0; 8]).unwrap(), None);
        assert_eq!(send_now(&client, b"abc").unwrap(), 3);
        assert_eq!(receive_waiting(&server, &mut [0; 8]).unwrap(), Some(3));
        drop(client);
        assert_eq!(receive_waiting(&server, &mut [0; 8]).unwrap(), Some(0));
    }

    #[test]
    fn parts_are_filled_one_after_the_other() {
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        let (mut first, mut second) = ([0; 2], [0; 4]);
        let mut parts = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
        assert_eq!(receive_parts_now(&far, &mut parts).unwrap(), None);
        assert_eq!(send_parts_now(&near, &[IoSlice::new(b"ab"), IoSlice::new(b"c")]).unwrap(), 3);
        assert_eq!(receive_parts_waiting(&far, &mut parts).unwrap(), Some(3));
        drop(near);
        assert_eq!(receive_parts_now(&far, &mut parts).unwrap(), Some(0));
        assert_eq!((first, second), (*b"ab", *b"c\0\0\0"));
    }

    #[test]
    fn what_is_discarded_is_counted_and_not_copied() {
        let options = TcpOptions::default();
        let listener = options.listen("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let client = options.connect(listener.local_addr().unwrap(), Duration::from_secs(5)).unwrap();
        let (server, _) = listener.accept().unwrap();
        let mut room = [7; 4];
        assert_eq!(discard_now(&server, &mut room).unwrap(), None);
        assert_eq!(send_now(&client, b"abcdef").unwrap(), 6);
        assert_eq!(discard_waiting(&server, &mut room).unwrap(), Some(4));
        assert_eq!(room, [7; 4]);
        let mut rest = [0; 4];
        assert_eq!(receive_waiting(&server, &mut rest).unwrap(), Some(2));
        assert_eq!(&rest[..2], b"ef");
        drop(client);
        assert_eq!(discard_waiting(&server, &mut room).unwrap(), Some(0));
    }
}
