//! Handing open file descriptors from one process to another, with a message, over a Unix socket.

use crate::{Error, Result};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;

/// Descriptors that one message can carry (`SCM_MAX_FD` in the kernel's `include/net/scm.h`).
pub const MOST_DESCRIPTORS: usize = 253;

/// The longest message.
pub const LONGEST_MESSAGE: usize = 2 << 20;

/// So much of a message is one packet: a socket's buffer takes no more than its size at once.
const PACKET: usize = 32 << 10;

/// What a packet begins with: whether more of its message follows.
const LAST: u8 = 0;
const MORE: u8 = 1;

/// Two connected sockets that keep messages whole; reading ends when the other one is closed.
pub fn pair() -> Result<(OwnedFd, OwnedFd)> {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(|errno| Error::new("socketpair", "AF_UNIX", io::Error::from(errno)))
}

/// Sends one message with descriptors.
pub fn send(socket: impl AsFd, message: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<()> {
    if message.len() > LONGEST_MESSAGE {
        return Err(Error::new("sendmsg", "a message above 2 MiB", io::ErrorKind::InvalidInput));
    }
    let mut parts = message.chunks(PACKET).peekable();
    loop {
        let part = parts.next().unwrap_or_default();
        match parts.peek() {
            Some(_) => send_packet(&socket, MORE, part, &[])?,
            None => return send_packet(&socket, LAST, part, descriptors),
        }
    }
}

fn send_packet(socket: impl AsFd, follows: u8, part: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Error::new("sendmsg", "too many descriptors", io::ErrorKind::InvalidInput));
    }
    sendmsg(socket, &[IoSlice::new(&[follows]), IoSlice::new(part)], &mut control, SendFlags::NOSIGNAL)
        .map(drop)
        .map_err(|errno| Error::new("sendmsg", "a Unix socket", io::Error::from(errno)))
}

/// Waits for one message; an empty one means that the other end is gone. The descriptors are closed on
/// exec.
pub fn receive(socket: impl AsFd) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut message, mut descriptors) = (Vec::new(), Vec::new());
    loop {
        let (part, brought) = receive_packet(&socket)?;
        descriptors.extend(brought);
        let Some((follows, part)) = part.split_first() else { return Ok((Vec::new(), Vec::new())) };
        if message.len() + part.len() > LONGEST_MESSAGE || ![LAST, MORE].contains(follows) {
            return Err(Error::new("recvmsg", "what is no message", io::ErrorKind::InvalidData));
        }
        message.extend_from_slice(part);
        if *follows == LAST {
            return Ok((message, descriptors));
        }
    }
}

/// One packet; an empty one where the other end is gone.
fn receive_packet(socket: impl AsFd) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut packet = vec![0; 1 + PACKET];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut packet)];
    let received = match recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
        // It went without reading what was sent to it.
        Err(Errno::CONNRESET) => return Ok((Vec::new(), Vec::new())),
        received => {
            received.map_err(|errno| Error::new("recvmsg", "a Unix socket", io::Error::from(errno)))?
        }
    };
    let descriptors = control.drain().flat_map(|part| match part {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    let descriptors = descriptors.collect();
    // The kernel drops what the process may not open: RLIMIT_NOFILE.
    if received.flags.intersects(ReturnFlags::CTRUNC | ReturnFlags::TRUNC) {
        return Err(Error::new("recvmsg", "more than fits", io::Error::from_raw_os_error(libc::EMFILE)));
    }
    packet.truncate(received.bytes);
    Ok((packet, descriptors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};

    #[test]
    fn a_message_brings_its_descriptors() {
        let (near, far) = pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        send(&near, b"a pipe", &[writer.as_fd()]).unwrap();
        drop(writer);
        let (message, mut descriptors) = receive(&far).unwrap();
        assert_eq!((message.as_slice(), descriptors.len()), (&b"a pipe"[..], 1));
        File::from(descriptors.remove(0)).write_all(b"through").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn a_long_message_comes_whole() {
        let (near, far) = pair().unwrap();
        let long: Vec<u8> = (0..LONGEST_MESSAGE).map(|place| (place % 251) as u8).collect();
        let sent = long.clone();
        let (reader, _writer) = io::pipe().unwrap();
        let sender = std::thread::spawn(move || send(&near, &sent, &[reader.as_fd()]));
        let (message, descriptors) = receive(&far).unwrap();
        sender.join().unwrap().unwrap();
        assert!(message == long && descriptors.len() == 1);
        assert!(send(&far, &[0; LONGEST_MESSAGE + 1], &[]).is_err());
    }

    #[test]
    fn an_end_that_is_gone_is_an_empty_message() {
        for unread in [None, Some(b"unread")] {
            let (near, far) = pair().unwrap();
            if let Some(message) = unread {
                send(&far, message, &[]).unwrap();
            }
            drop(near);
            assert_eq!(receive(&far).unwrap().0, b"", "{unread:?}");
        }
    }
}
