//! Frames of a type and key of one's own: packet(7) sockets that send and receive many at once.
//!
//! The kernel passes on frames of the type with the key behind their Ethernet header, and no others: neither
//! what a stranger sends nor what belongs to another socket reaches the program.

use crate::option;
use crate::{Error, Result};
use socket2::{Domain, SockFilter, Socket, Type};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

/// Bytes of an Ethernet header: two addresses and a type.
pub const ETHERNET: usize = 14;

/// The longest frame of ordinary Ethernet, without its checksum.
pub const LONGEST: usize = 1514;

/// Frames that one call moves at most.
pub const BATCH: usize = 32;

/// `PACKET_IGNORE_OUTGOING` of linux/if_packet.h.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

/// A frame, or room for one.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Its bytes, from the destination's address on.
    pub bytes: [u8; LONGEST],
    /// How many of them there are.
    pub length: usize,
}

impl Default for Frame {
    fn default() -> Self {
        Frame { bytes: [0; LONGEST], length: 0 }
    }
}

/// The frames of one type and key on one interface.
#[derive(Debug)]
pub struct FrameSocket {
    socket: Socket,
}

impl FrameSocket {
    /// Opens it on an interface of the calling thread's network namespace.
    pub fn open(index: u32, ether_type: u16, key: u64) -> Result<FrameSocket> {
        let object = || format!("interface {index}");
        let fail = |call| move |e: io::Error| Error::new(call, object(), e);
        // Protocol 0 receives nothing before the socket is bound.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None).map_err(fail("socket(AF_PACKET)"))?;
        socket.attach_filter(&keyed(key)).map_err(fail("setsockopt(SO_ATTACH_FILTER)"))?;
        let options = [
            ("setsockopt(PACKET_QDISC_BYPASS)", libc::PACKET_QDISC_BYPASS),
            ("setsockopt(PACKET_IGNORE_OUTGOING)", PACKET_IGNORE_OUTGOING),
        ];
        for (call, name) in options {
            option::set(&socket, libc::SOL_PACKET, name, 1).map_err(fail(call))?;
        }
        let socket = FrameSocket { socket };
        socket.bind(index, ether_type)?;
        Ok(socket)
    }

    fn bind(&self, index: u32, ether_type: u16) -> Result<()> {
        // SAFETY: sockaddr_ll is plain numbers, for which all zeroes is a value.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ether_type.to_be();
        address.sll_ifindex = index.cast_signed();
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address lives through the call, and its length is given.
        let answer = unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), length) };
        if answer == 0 { Ok(()) } else { Err(Error::last("bind(AF_PACKET)", format!("interface {index}"))) }
    }

    /// The interface's own Ethernet address.
    pub fn hardware_address(&self) -> Result<[u8; 6]> {
        // SAFETY: sockaddr_ll is plain numbers, for which all zeroes is a value.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: address and length live through the call; the kernel writes at most so many bytes.
        let answer =
            unsafe { libc::getsockname(self.socket.as_raw_fd(), (&raw mut address).cast(), &raw mut length) };
        if answer != 0 {
            return Err(Error::last("getsockname(AF_PACKET)", "interface"));
        }
        let [a, b, c, d, e, f, ..] = address.sll_addr;
        Ok([a, b, c, d, e, f])
    }

    /// How long a call that waits does: to receive, to send.
    pub fn limit_waits(&self, receive: Duration, send: Duration) -> io::Result<()> {
        self.socket.set_read_timeout(Some(receive))?;
        self.socket.set_write_timeout(Some(send))
    }

    /// Sends frames in their order, at most [`BATCH`], and tells how many went; waits for room where that is
    /// wanted. The error is of the first.
    pub fn send(&self, frames: &mut [Frame], waits: bool) -> io::Result<usize> {
        let (mut messages, count) = (Messages::new(), frames.len().min(BATCH));
        messages.point_to(&mut frames[..count], |frame| frame.length.min(LONGEST));
        let flags = if waits { 0 } else { libc::MSG_DONTWAIT };
        // SAFETY: each of `count` messages points to one part, which lives through the call and tells its
        // length; the kernel only reads it.
        let sent = unsafe {
            libc::sendmmsg(self.socket.as_raw_fd(), messages.headers.as_mut_ptr(), count as u32, flags)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(sent as usize) }
    }

    /// Receives what has come, at most [`BATCH`] frames; waits for the first where that is wanted, as long as
    /// the socket's limit says. A frame that is longer than its room is cut.
    pub fn receive(&self, rooms: &mut [Frame], waits: bool) -> io::Result<usize> {
        let (mut messages, count) = (Messages::new(), rooms.len().min(BATCH));
        messages.point_to(&mut rooms[..count], |_| LONGEST);
        let flags = if waits { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
        // SAFETY: each of `count` messages points to one part, which lives through the call and tells its
        // length.
        let received = unsafe {
            libc::recvmmsg(
                self.socket.as_raw_fd(),
                messages.headers.as_mut_ptr(),
                count as u32,
                flags,
                std::ptr::null_mut(),
            )
        };
        if received < 0 {
            return Err(io::Error::last_os_error());
        }
        for (room, message) in rooms.iter_mut().zip(&messages.headers).take(received as usize) {
            room.length = (message.msg_len as usize).min(LONGEST);
        }
        Ok(received as usize)
    }
}

/// What one call is told of its frames.
struct Messages {
    headers: [libc::mmsghdr; BATCH],
    parts: [libc::iovec; BATCH],
}

impl Messages {
    fn new() -> Messages {
        // SAFETY: these are plain numbers and pointers, for which all zeroes is a value.
        unsafe { zeroed() }
    }

    fn point_to(&mut self, frames: &mut [Frame], length: impl Fn(&Frame) -> usize) {
        for ((header, part), frame) in self.headers.iter_mut().zip(&mut self.parts).zip(frames) {
            let iov_len = length(frame);
            *part = libc::iovec { iov_base: frame.bytes.as_mut_ptr().cast(), iov_len };
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
        }
    }
}

/// Passes frames that have the key behind their Ethernet header (classic BPF, networking/filter.rst).
fn keyed(key: u64) -> [SockFilter; 6] {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let (high, low) = ((key >> 32) as u32, key as u32);
    [
        SockFilter::new(LOAD_WORD, 0, 0, ETHERNET as u32),
        SockFilter::new(JUMP_IF_EQUAL, 0, 3, high),
        SockFilter::new(LOAD_WORD, 0, 0, ETHERNET as u32 + 4),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, low),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}

impl AsFd for FrameSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IEEE 802, local experimental EtherType 1.
    const TYPE: u16 = 0x88b5;
    const LOOPBACK: u32 = 1;

    fn frame(key: u64, length: usize) -> Frame {
        let mut frame = Frame { length, ..Frame::default() };
        frame.bytes[12..14].copy_from_slice(&TYPE.to_be_bytes());
        frame.bytes[14..22].copy_from_slice(&key.to_be_bytes());
        frame
    }

    #[test]
    fn only_frames_of_the_key_come() {
        let Ok(receiver) = FrameSocket::open(LOOPBACK, TYPE, 7) else {
            return println!("SKIP: this user may not open packet sockets");
        };
        let sender = FrameSocket::open(LOOPBACK, TYPE, 8).unwrap();
        crate::socket::limit_waits(&receiver, Duration::from_secs(5)).unwrap();
        let mut sent = [frame(7, 60), frame(9, 61), frame(7, LONGEST), frame(7 << 32, 62), frame(7, 100)];
        assert_eq!(sender.send(&mut sent, true).unwrap(), 5);
        let mut rooms = vec![Frame::default(); BATCH];
        let mut lengths = Vec::new();
        while lengths.len() < 3 {
            let count = receiver.receive(&mut rooms, true).unwrap();
            lengths.extend(rooms.iter().take(count).map(|room| room.length));
        }
        assert_eq!(lengths, [60, LONGEST, 100]);
        assert!(receiver.receive(&mut rooms, false).is_err(), "nothing else was for this key");
        assert!(sender.receive(&mut rooms, false).is_err());
        assert_eq!(sender.hardware_address().unwrap(), [0; 6]);
    }

    #[test]
    fn no_socket_for_no_interface() {
        assert!(FrameSocket::open(1 << 30, TYPE, 1).is_err());
    }
}
