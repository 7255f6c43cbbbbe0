//! Takes many datagrams a call and hands them out one by one.

use super::{Carried, Control, Sharing, packing};
use crate::Result;
use crate::pages::Pages;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd};

/// Room for any packet.
const ANY_PACKET: usize = 64 << 10;

/// Datagrams that came with one call.
#[derive(Debug)]
pub struct Receiver {
    buffers: Pages,
    /// The bytes of each buffer.
    each: usize,
    headers: Vec<libc::mmsghdr>,
    vectors: Vec<libc::iovec>,
    controls: Vec<Control>,
    /// Packets that came, and the one that is handed out: its number, its next byte, its datagrams' length.
    came: usize,
    packet: usize,
    at: usize,
    step: usize,
    began: bool,
    carried: Carried,
}

// SAFETY: the pointers inside lead to memory of this value's own.
unsafe impl Send for Receiver {}

impl Receiver {
    /// Takes datagrams of at most this length; of longer ones the front.
    pub fn new(sharing: Sharing, len: usize) -> Result<Receiver> {
        let (_, count) = packing(sharing, len, true);
        let each = if sharing == Sharing::Packets { ANY_PACKET } else { len.max(1) };
        let mut receiver = Receiver {
            buffers: Pages::filled(count * each)?,
            each,
            // SAFETY: all zeroes is an empty message: no name, no data.
            headers: vec![unsafe { zeroed::<libc::mmsghdr>() }; count],
            vectors: vec![libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; count],
            controls: vec![Control([0; 64]); count],
            came: 0,
            packet: 0,
            at: 0,
            step: 0,
            began: true,
            carried: Carried::default(),
        };
        (0..count).for_each(|packet| receiver.prepare(packet, sharing == Sharing::Packets));
        Ok(receiver)
    }

    fn prepare(&mut self, packet: usize, is_joined: bool) {
        let start = packet * self.each;
        self.vectors[packet] =
            libc::iovec { iov_base: self.buffers[start..].as_mut_ptr().cast(), iov_len: self.each };
        let message = &mut self.headers[packet].msg_hdr;
        message.msg_iov = &raw mut self.vectors[packet];
        message.msg_iovlen = 1;
        if is_joined {
            message.msg_control = self.controls[packet].0.as_mut_ptr().cast();
        }
    }

    /// What was carried so far.
    pub fn carried(&self) -> Carried {
        self.carried
    }

    /// Whether the datagram that was handed out last was the first of its packet; so says it before there was one.
    #[inline]
    pub fn began_packet(&self) -> bool {
        self.began
    }

    /// The next datagram; none when there is none now.
    #[inline]
    pub fn next<const WAITS: bool>(&mut self, socket: &impl AsFd) -> io::Result<Option<&[u8]>> {
        if self.packet == self.came {
            if !self.receive::<WAITS>(socket)? {
                return Ok(None);
            }
            self.open(0);
        }
        let len = self.headers[self.packet].msg_len as usize;
        let (start, end) = (self.at, len.min(self.at + self.step));
        let place = self.packet * self.each;
        self.began = start == 0;
        self.carried.datagrams += 1;
        if end == len {
            let next = self.packet + 1;
            if next < self.came { self.open(next) } else { self.packet = next }
        } else {
            self.at = end;
        }
        Ok(Some(&self.buffers[place + start..place + end]))
    }

    #[inline]
    fn open(&mut self, packet: usize) {
        let len = self.headers[packet].msg_len as usize;
        (self.packet, self.at) = (packet, 0);
        self.step = joined(&self.headers[packet].msg_hdr).filter(|step| *step > 0).unwrap_or(len);
    }

    #[inline]
    fn receive<const WAITS: bool>(&mut self, socket: &impl AsFd) -> io::Result<bool> {
        (self.came, self.packet) = (0, 0);
        for header in &mut self.headers {
            // The kernel wrote here how much it told.
            let room = if header.msg_hdr.msg_control.is_null() { 0 } else { size_of::<Control>() };
            header.msg_hdr.msg_controllen = room as _;
        }
        let flags = if WAITS { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
        // SAFETY: the headers, and all that they point at, belong to this value and live through the call; no
        // reference to the buffers is out, for handing one out borrows this value.
        let came = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as _,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        if came < 0 {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                // With a limit to its wait the socket says the same when it is over.
                Some(libc::EINTR | libc::EAGAIN) => Ok(false),
                _ => Err(error),
            };
        }
        self.came = came as usize;
        self.carried.calls += 1;
        self.carried.packets += came as u64;
        Ok(came > 0)
    }
}

/// The length of a packet's datagrams, where the kernel says that it joined some.
#[inline]
fn joined(message: &libc::msghdr) -> Option<usize> {
    // SAFETY: the kernel filled the message; the macro looks at its lengths.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    let is_it = (header.cmsg_level, header.cmsg_type) == (libc::SOL_UDP, libc::UDP_GRO);
    // SAFETY: this control message holds a number (net/ipv4/udp.c, udp_cmsg_recv).
    is_it.then(|| unsafe { libc::CMSG_DATA(header).cast::<libc::c_int>().read_unaligned() } as usize)
}
