//! Many datagrams a call (sendmmsg(2), recvmmsg(2)), and many a packet on the way through the stack: cut by
//! the kernel where they leave it (`UDP_SEGMENT`), joined where they arrive (`UDP_GRO`, udp(7)).

mod receive;
#[cfg(test)]
mod tests;

pub use receive::Receiver;

use crate::pages::Pages;
use crate::{Error, Result, option};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd};

/// Datagrams that a call carries one by one.
const BATCH: usize = 64;
/// The most packets that a call carries where each has many datagrams, and what they may take together: the buffers of more
/// would leave the caches on their way round.
const PACKETS: usize = 8;
const CALL_BYTES: usize = 64 << 10;
/// The most bytes of a packet: 65535 less the headers of IPv6 and UDP.
const MOST_BYTES: usize = 65_487;
/// The most datagrams of one (`UDP_MAX_SEGMENTS`, linux/udp.h), from this version of Linux on; the first one is what all take.
const MOST_SEGMENTS: [((u32, u32), usize); 2] = [((0, 0), 64), ((6, 9), 128)];

/// How datagrams share calls and packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// A packet each.
    Calls,
    /// Packets of many.
    Packets,
}

/// What was carried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Carried {
    /// Calls that carried something.
    pub calls: u64,
    /// Packets, each of one datagram or more.
    pub packets: u64,
    /// Datagrams.
    pub datagrams: u64,
}

/// Room for one control message, aligned as one.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy)]
struct Control([u8; 64]);

/// Whether the kernel knows how to cut, asked without changing anything.
pub fn can_segment(socket: &impl AsFd) -> Result<()> {
    let set = option::set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, 0);
    set.map_err(|e| Error::new("setsockopt(UDP_SEGMENT)", "UDP socket", e))
}

/// Bytes of a head that is copied by two moves, not by a call.
const HEAD: usize = 16;

/// Copies a datagram's head; both have the same length.
#[inline]
pub fn copy_head(to: &mut [u8], from: &[u8]) {
    match (<&mut [u8; HEAD]>::try_from(&mut *to), <&[u8; HEAD]>::try_from(from)) {
        (Ok(to), Ok(from)) => *to = *from,
        _ => to.copy_from_slice(from),
    }
}

/// Lets packets of many datagrams arrive whole.
pub fn receive_joined(socket: &impl AsFd) -> Result<()> {
    let set = option::set(socket, libc::SOL_UDP, libc::UDP_GRO, 1);
    set.map_err(|e| Error::new("setsockopt(UDP_GRO)", "UDP socket", e))
}

/// How many datagrams of a length share a packet, where they may, and how many packets a call.
fn packing(sharing: Sharing, len: usize, fits: bool) -> (usize, usize) {
    if sharing == Sharing::Calls {
        return (1, BATCH);
    }
    // A datagram that is longer than a packet cannot share one.
    let per_packet = if fits { (MOST_BYTES / len.max(1)).clamp(1, most_segments()) } else { 1 };
    (per_packet, (CALL_BYTES / (per_packet * len.max(1))).clamp(1, PACKETS))
}

fn most_segments() -> usize {
    let kernel = rustix::system::uname();
    let version = version(kernel.release().to_str().unwrap_or_default());
    let known = MOST_SEGMENTS.iter().rev().find(|(since, _)| version >= *since);
    known.map_or(1, |(_, most)| *most)
}

/// Of `6.18.44-amd64` the 6 and the 18.
fn version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The bytes of a packet on the way to the peer of a connected socket, its headers left out.
fn largest_payload(socket: &impl AsFd) -> usize {
    const HEADERS: [(libc::c_int, libc::c_int, usize); 2] =
        [(libc::SOL_IP, libc::IP_MTU, 28), (libc::SOL_IPV6, libc::IPV6_MTU, 48)];
    let mtu = HEADERS.iter().filter_map(|(level, name, headers)| {
        let mtu = option::get::<libc::c_int>(socket, *level, *name).ok()?;
        usize::try_from(mtu).ok()?.checked_sub(*headers)
    });
    mtu.min().unwrap_or(0)
}

/// Collects datagrams of one length and sends them together.
#[derive(Debug)]
pub struct Sender {
    slots: Pages,
    len: usize,
    /// Datagrams a packet, and in all.
    per_packet: usize,
    room: usize,
    /// Datagrams that are collected, those of them in the last packet if it is not full, and packets that went.
    filled: usize,
    in_packet: usize,
    gone: usize,
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
    controls: Vec<Control>,
    carried: Carried,
}

// SAFETY: the pointers inside lead to memory of this value's own.
unsafe impl Send for Sender {}

impl Sender {
    /// Collects datagrams of this length, all with the same content.
    pub fn new(socket: &impl AsFd, sharing: Sharing, len: usize) -> Result<Sender> {
        let fits = len > 0 && len <= largest_payload(socket);
        let (per_packet, packets) = packing(sharing, len, fits);
        let room = per_packet * packets;
        let (content, mut slots) = (Pages::filled(len)?, Pages::filled(room * len)?);
        slots.chunks_exact_mut(len.max(1)).for_each(|slot| slot.copy_from_slice(&content[..slot.len()]));
        // SAFETY: all zeroes is an empty message: no name, no data.
        let headers = vec![unsafe { zeroed::<libc::mmsghdr>() }; packets];
        let vectors = vec![libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; packets];
        let controls = vec![Control([0; 64]); packets];
        let mut sender = Sender {
            slots,
            len,
            per_packet,
            room,
            filled: 0,
            in_packet: 0,
            gone: 0,
            vectors,
            headers,
            controls,
            carried: Carried::default(),
        };
        (0..packets).for_each(|packet| sender.prepare(packet));
        Ok(sender)
    }

    /// Points a header at its datagrams, as if all were there.
    fn prepare(&mut self, packet: usize) {
        let start = packet * self.per_packet * self.len;
        self.vectors[packet] = libc::iovec {
            iov_base: self.slots[start..].as_mut_ptr().cast(),
            iov_len: self.per_packet * self.len,
        };
        let message = &mut self.headers[packet].msg_hdr;
        message.msg_iov = &raw mut self.vectors[packet];
        message.msg_iovlen = 1;
        if self.per_packet == 1 {
            return;
        }
        let control = &mut self.controls[packet];
        message.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: it computes a length only.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<u16>() as u32) } as _;
        // SAFETY: the control has room for one header and a number, aligned, and lives as long as the message.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_UDP;
            (*header).cmsg_type = libc::UDP_SEGMENT;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as u32) as _;
            libc::CMSG_DATA(header).cast::<u16>().write_unaligned(self.len as u16);
        }
    }

    /// Puts `head` at the front of the next datagram. There must be room.
    #[inline]
    pub fn put(&mut self, head: &[u8]) {
        let start = self.filled * self.len;
        copy_head(&mut self.slots[start..start + head.len()], head);
        self.filled += 1;
        self.in_packet = if self.in_packet + 1 == self.per_packet { 0 } else { self.in_packet + 1 };
    }

    /// Whether the next datagram will be the first of a packet.
    #[inline]
    pub fn begins_packet(&self) -> bool {
        self.in_packet == 0
    }

    /// Whether they must be sent before the next one is put.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.filled == self.room
    }

    /// Whether nothing is left to be sent.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// What was carried so far.
    pub fn carried(&self) -> Carried {
        self.carried
    }

    /// Sends what is there, or a part of it; says whether something went. What the interface has no room for
    /// is lost, as on the way.
    #[inline]
    pub fn send<const WAITS: bool>(&mut self, socket: &impl AsFd) -> io::Result<bool> {
        let packets = self.filled.div_ceil(self.per_packet);
        let last = self.filled - (packets - 1) * self.per_packet;
        // The last packet may be a short one.
        self.vectors[packets - 1].iov_len = last * self.len;
        let flags = libc::MSG_NOSIGNAL | if WAITS { 0 } else { libc::MSG_DONTWAIT };
        let left = &mut self.headers[self.gone..packets];
        // SAFETY: the headers, and all that they point at, belong to this value and live through the call.
        let went = unsafe {
            libc::sendmmsg(socket.as_fd().as_raw_fd(), left.as_mut_ptr(), left.len() as _, flags as _)
        };
        let error = if went < 0 { io::Error::last_os_error().raw_os_error() } else { None };
        self.vectors[packets - 1].iov_len = self.per_packet * self.len;
        let went = match (went, error) {
            (0.., _) => went as usize,
            (_, Some(libc::EINTR)) => return Ok(false),
            (_, Some(libc::EAGAIN)) if !WAITS => return Ok(false),
            // The first one found no room.
            (_, Some(libc::ENOBUFS)) => 1,
            (_, error) => return Err(io::Error::from_raw_os_error(error.unwrap_or(0))),
        };
        self.gone += went;
        self.carried.calls += 1;
        self.carried.packets += went as u64;
        if self.gone == packets {
            self.carried.datagrams += self.filled as u64;
            (self.filled, self.in_packet, self.gone) = (0, 0, 0);
        }
        Ok(true)
    }
}
