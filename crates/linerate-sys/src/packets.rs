//! The packets of one TCP connection as they pass an interface, both ways, cut to their headers: packet(7) with a filter in the kernel.

use crate::option;
use crate::{Error, Result};
use socket2::{Domain, SockFilter, Socket, Type};
use std::io;
use std::mem::{size_of, zeroed};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Bytes of each packet that are kept: Ethernet, IPv6 and TCP with all of its options fit.
pub const KEPT: usize = 128;

/// `PACKET_STATISTICS` of linux/if_packet.h.
const PACKET_STATISTICS: libc::c_int = 6;

/// `PACKET_OUTGOING` of linux/if_packet.h.
const OUTGOING: u8 = 4;

/// `ARPHRD_LOOPBACK` of linux/if_arp.h: there each packet passes twice, on its way out and in.
const LOOPBACK: u16 = 772;

/// The room for packets that nobody has read yet.
const WAITING: usize = 8 << 20;

/// How long a call waits for a packet.
const LOOK: Duration = Duration::from_millis(50);

/// Room for a stamp.
const CONTROL: usize = 64;

/// A packet's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// When it passed: `CLOCK_REALTIME`.
    pub ns: u64,
    /// Bytes of it that are kept.
    pub kept: usize,
    /// Bytes that it had.
    pub length: usize,
    /// Whether this end of the connection sent it.
    pub outgoing: bool,
}

/// What listens.
#[derive(Debug)]
pub struct Packets {
    socket: Socket,
    ports: [u16; 2],
}

#[repr(C, align(8))]
struct Control([u8; CONTROL]);

impl Packets {
    /// Begins to keep packets of a TCP connection at an interface of the calling thread's network namespace: of what goes between
    /// these ports, its own one first.
    pub fn open(interface: u32, ports: [u16; 2]) -> Result<Packets> {
        let fail = |call| move |e: io::Error| Error::new(call, format!("interface {interface}"), e);
        // Protocol 0 receives nothing before the socket is bound.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None).map_err(fail("socket(AF_PACKET)"))?;
        socket.attach_filter(&between(ports)).map_err(fail("setsockopt(SO_ATTACH_FILTER)"))?;
        crate::socket::raise_receive_buffer(&socket, WAITING);
        option::set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
            .map_err(fail("setsockopt(SO_TIMESTAMPNS)"))?;
        socket.set_read_timeout(Some(LOOK)).map_err(fail("setsockopt(SO_RCVTIMEO)"))?;
        // SAFETY: sockaddr_ll is plain numbers, for which all zeroes is a value.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = interface.cast_signed();
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address lives through the call, and its length is given.
        let answer = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
        match answer {
            0 => Ok(Packets { socket, ports }),
            _ => Err(Error::last("bind(AF_PACKET)", format!("interface {interface}"))),
        }
    }

    /// The next packet, its head in `room`; none where none came for a while.
    pub fn next(&self, room: &mut [u8; KEPT]) -> io::Result<Option<Head>> {
        loop {
            // SAFETY: both are plain numbers and pointers, for which all zeroes is a value.
            let (mut from, mut header): (libc::sockaddr_ll, libc::msghdr) = unsafe { (zeroed(), zeroed()) };
            let mut control = Control([0; CONTROL]);
            let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: KEPT };
            header.msg_name = (&raw mut from).cast();
            header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            header.msg_iov = &raw mut part;
            header.msg_iovlen = 1;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL as _;
            // SAFETY: what the header points to lives through the call, and all lengths are given.
            let length = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut header, libc::MSG_TRUNC) };
            let Ok(length) = usize::try_from(length) else {
                let error = io::Error::last_os_error();
                return match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                    _ => Err(error),
                };
            };
            if from.sll_hatype == LOOPBACK && from.sll_pkttype == OUTGOING {
                continue;
            }
            let ns = stamp(&header).unwrap_or_else(crate::clock::realtime_ns);
            let kept = length.min(KEPT);
            // Both ends may be at this interface.
            let outgoing = match from.sll_hatype == LOOPBACK {
                true => source(&room[..kept]) == Some(self.ports[0]),
                false => from.sll_pkttype == OUTGOING,
            };
            return Ok(Some(Head { ns, kept, length, outgoing }));
        }
    }

    /// Packets that there was no room for since this was last asked.
    pub fn dropped(&self) -> Result<u64> {
        let [_, dropped, _] = option::get::<[u32; 3]>(&self.socket, libc::SOL_PACKET, PACKET_STATISTICS)
            .map_err(|e| Error::new("getsockopt(PACKET_STATISTICS)", "socket", e))?;
        Ok(dropped.into())
    }
}

/// The ports of a connection, the end at `local` first.
pub fn ports(local: SocketAddr, remote: SocketAddr) -> [u16; 2] {
    [local.port(), remote.port()]
}

/// The port that a packet which passed the filter comes from.
fn source(head: &[u8]) -> Option<u16> {
    const ETHERNET: usize = 14;
    let half = |at: usize| Some(u16::from_be_bytes([*head.get(at)?, *head.get(at + 1)?]));
    match half(12)? {
        0x0800 => half(ETHERNET + usize::from(head.get(ETHERNET)? & 15) * 4),
        _ => half(ETHERNET + 40),
    }
}

/// The time in the only control message that was asked for.
fn stamp(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled the control buffer that the header names, which the caller holds, and told its length; the macros
    // of cmsg(3) stay within it.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(header).as_ref()?;
        if (message.cmsg_level, message.cmsg_type) != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
            return None;
        }
        let time = libc::CMSG_DATA(message).cast::<libc::timespec>().read_unaligned();
        Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

/// Passes TCP over IPv4 and IPv6 between two ports, both ways (classic BPF, networking/filter.rst). Fragments but the first have no
/// ports.
fn between([local, remote]: [u16; 2]) -> [SockFilter; 17] {
    const WORD_BEHIND: u16 = 0x40;
    const WORD: u16 = 0x20;
    const HALF: u16 = 0x28;
    const BYTE: u16 = 0x30;
    const HEADER_LENGTH: u16 = 0xb1;
    const GO_ON: u16 = 0x05;
    const IF_EQUAL: u16 = 0x15;
    const IF_SET: u16 = 0x45;
    const RETURN: u16 = 0x06;
    const TCP: u32 = 6;
    let pair = |from: u16, to: u16| u32::from(from) << 16 | u32::from(to);
    let op = SockFilter::new;
    [
        op(HALF, 0, 0, 12),
        op(IF_EQUAL, 0, 7, 0x0800),
        op(BYTE, 0, 0, 23),
        op(IF_EQUAL, 0, 12, TCP),
        op(HALF, 0, 0, 20),
        op(IF_SET, 10, 0, 0x1fff),
        op(HEADER_LENGTH, 0, 0, 14),
        op(WORD_BEHIND, 0, 0, 14),
        op(GO_ON, 0, 0, 4),
        op(IF_EQUAL, 0, 6, 0x86dd),
        op(BYTE, 0, 0, 20),
        op(IF_EQUAL, 0, 4, TCP),
        op(WORD, 0, 0, 54),
        op(IF_EQUAL, 1, 0, pair(local, remote)),
        op(IF_EQUAL, 0, 1, pair(remote, local)),
        op(RETURN, 0, 0, u32::MAX),
        op(RETURN, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn packets_of_the_connection_are_kept_and_no_others() {
        const INTERFACE: u32 = 1;
        for place in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(place).unwrap();
            let pair = || {
                let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                (one, listener.accept().unwrap().0)
            };
            let ((mut one, mut other), (mut stranger, _peer)) = (pair(), pair());
            let of_other = ports(other.local_addr().unwrap(), other.peer_addr().unwrap());
            let Ok(packets) = Packets::open(INTERFACE, of_other) else {
                return println!("SKIP: this user may not open packet sockets");
            };
            stranger.write_all(&[2; 3000]).unwrap();
            one.write_all(&[1; 1000]).unwrap();
            other.read_exact(&mut [0; 1000]).unwrap();
            other.write_all(&[3; 500]).unwrap();
            one.read_exact(&mut [0; 500]).unwrap();
            let (mut room, mut heads) = ([0; KEPT], Vec::new());
            while let Some(head) = packets.next(&mut room).unwrap() {
                heads.push(head);
            }
            // With a header of at most 86 bytes before them.
            let of = |least: usize| {
                heads.iter().filter(|head| (least..least + 90).contains(&head.length)).collect::<Vec<_>>()
            };
            let (coming, going) = (of(1000), of(500));
            let ([came], [went]) = (&coming[..], &going[..]) else { panic!("each once: {heads:?}") };
            assert!(!came.outgoing && went.outgoing && came.kept == KEPT && came.ns <= went.ns, "{heads:?}");
            assert!(
                heads.iter().all(|head| head.length < 1100) && packets.dropped().unwrap() == 0,
                "{heads:?}"
            );
        }
    }
}
