//! Whole frames to and from an interface: packet(7) sockets with the header of virtio-net in front.
//!
//! With that header (`PACKET_VNET_HDR`) a super-packet stays whole and a checksum that nobody has computed
//! yet stays so: what is read from one interface can be written to another as it is.

use crate::option::{self, Plain};
use crate::{Error, Result};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Bytes of `struct virtio_net_hdr` (linux/virtio_net.h), which stand before each frame.
pub const VNET_HEADER: usize = 10;

/// The longest frame with its header: a super-packet of 64 KiB, the Ethernet header with two tags.
pub const LARGEST: usize = VNET_HEADER + 22 + (64 << 10);

/// Frames that one call moves at most.
pub const BATCH: usize = 32;

/// `PACKET_IGNORE_OUTGOING` of linux/if_packet.h.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

/// Room for one control message with a `struct timespec`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; 64]);

/// A frame that came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Its bytes, the header of virtio-net included.
    pub bytes: usize,
    /// When the kernel took it from the interface, by `CLOCK_REALTIME`; none where it did not say.
    pub realtime_ns: Option<u64>,
}

/// A frame to be sent, in two parts: header of virtio-net and first bytes, then the rest.
#[derive(Debug, Clone, Copy)]
pub struct Departure<'f> {
    /// The first bytes.
    pub head: &'f [u8],
    /// What follows them.
    pub body: &'f [u8],
}

/// All frames of one interface.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    interface: String,
}

impl PacketSocket {
    /// Opens it for an interface of the calling thread's network namespace, with room for so many bytes to
    /// wait, or as much of it as the kernel grants. What the interface itself sends is not received.
    pub fn open(interface: &str, index: u32, buffer_bytes: usize) -> Result<PacketSocket> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: it takes numbers only. Protocol 0 receives nothing before the socket is bound.
        let descriptor = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if descriptor < 0 {
            return Err(Error::last("socket(AF_PACKET)", interface));
        }
        // SAFETY: the descriptor is new, and nobody else's.
        let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let socket = PacketSocket { socket, interface: interface.into() };
        let options = [
            ("setsockopt(PACKET_VNET_HDR)", libc::SOL_PACKET, libc::PACKET_VNET_HDR),
            ("setsockopt(PACKET_QDISC_BYPASS)", libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS),
            ("setsockopt(PACKET_IGNORE_OUTGOING)", libc::SOL_PACKET, PACKET_IGNORE_OUTGOING),
            ("setsockopt(SO_TIMESTAMPNS)", libc::SOL_SOCKET, libc::SO_TIMESTAMPNS),
        ];
        for (call, level, name) in options {
            option::set(&socket, level, name, 1).map_err(|source| Error::new(call, interface, source))?;
        }
        // The limit of net.core.*mem_max holds for whoever may not force it.
        let bytes = libc::c_int::try_from(buffer_bytes).unwrap_or(libc::c_int::MAX);
        for (force, ask) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
        {
            option::set(&socket, libc::SOL_SOCKET, force, bytes)
                .or_else(|_| option::set(&socket, libc::SOL_SOCKET, ask, bytes))
                .map_err(|source| Error::new("setsockopt(SO_RCVBUF)", interface, source))?;
        }
        socket.bind(index)?;
        Ok(socket)
    }

    fn bind(&self, index: u32) -> Result<()> {
        // SAFETY: sockaddr_ll is plain numbers, for which all zeroes is a value.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index.cast_signed();
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address lives through the call, and its length is given.
        let answer = unsafe { libc::bind(self.socket.as_raw_fd(), (&raw const address).cast(), length) };
        if answer == 0 { Ok(()) } else { Err(Error::last("bind(AF_PACKET)", &*self.interface)) }
    }

    /// Bytes that may wait to be received, as the kernel counts them: with its own overhead.
    pub fn buffer_bytes(&self) -> Result<usize> {
        let bytes: libc::c_int = self.get("getsockopt(SO_RCVBUF)", libc::SOL_SOCKET, libc::SO_RCVBUF)?;
        Ok(bytes as usize)
    }

    /// Frames that came while no room was left, since the last call.
    pub fn drops(&self) -> Result<u64> {
        // `struct tpacket_stats` is two numbers, that of a later version three.
        let counts: [u32; 3] =
            self.get("getsockopt(PACKET_STATISTICS)", libc::SOL_PACKET, libc::PACKET_STATISTICS)?;
        Ok(u64::from(counts[1]))
    }

    fn get<T: Plain>(&self, call: &'static str, level: libc::c_int, name: libc::c_int) -> Result<T> {
        option::get(self, level, name).map_err(|source| Error::new(call, &*self.interface, source))
    }

    /// Receives what has come, at most [`BATCH`] frames, one into each buffer; 0 where nothing has.
    /// A frame that is longer than its buffer is cut, and its arrival still tells the length that was kept.
    pub fn receive(&self, buffers: &mut [Vec<u8>], arrivals: &mut [Arrival]) -> io::Result<usize> {
        let count = buffers.len().min(arrivals.len()).min(BATCH);
        // SAFETY: these are plain numbers and pointers, for which all zeroes is a value.
        let (mut messages, mut parts) = unsafe { zeroed::<([libc::mmsghdr; BATCH], [libc::iovec; BATCH])>() };
        let mut controls = [Control([0; 64]); BATCH];
        for (index, buffer) in buffers.iter_mut().take(count).enumerate() {
            parts[index] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut messages[index].msg_hdr;
            header.msg_iov = &raw mut parts[index];
            header.msg_iovlen = 1;
            header.msg_control = controls[index].0.as_mut_ptr().cast();
            header.msg_controllen = size_of::<Control>() as _;
        }
        // SAFETY: each of `count` messages points to one part and one control buffer, which live through the
        // call and tell their lengths.
        let received = unsafe {
            libc::recvmmsg(
                self.socket.as_raw_fd(),
                messages.as_mut_ptr(),
                count as libc::c_uint,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        if received < 0 {
            let error = io::Error::last_os_error();
            return if is_nothing(&error) { Ok(0) } else { Err(error) };
        }
        let received = received as usize;
        for (message, arrival) in messages.iter().zip(arrivals.iter_mut()).take(received) {
            *arrival =
                Arrival { bytes: message.msg_len as usize, realtime_ns: timestamp_ns(&message.msg_hdr) };
        }
        Ok(received)
    }

    /// Sends frames in their order, at most [`BATCH`], and tells how many went; the error is of the first.
    pub fn send(&self, frames: &[Departure<'_>]) -> io::Result<usize> {
        let count = frames.len().min(BATCH);
        // SAFETY: these are plain numbers and pointers, for which all zeroes is a value.
        let (mut messages, mut parts) =
            unsafe { zeroed::<([libc::mmsghdr; BATCH], [[libc::iovec; 2]; BATCH])>() };
        let part =
            |bytes: &[u8]| libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        for (index, frame) in frames.iter().take(count).enumerate() {
            parts[index] = [part(frame.head), part(frame.body)];
            messages[index].msg_hdr.msg_iov = parts[index].as_mut_ptr();
            messages[index].msg_hdr.msg_iovlen = if frame.body.is_empty() { 1 } else { 2 };
        }
        // SAFETY: each of `count` messages points to parts that live through the call and tell their lengths;
        // the kernel only reads them.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                messages.as_mut_ptr(),
                count as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(sent as usize) }
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// The time in the first control message, if it is one.
fn timestamp_ns(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled the control buffer, and its length with it; CMSG_FIRSTHDR looks at both.
    let control = unsafe { libc::CMSG_FIRSTHDR(header).as_ref() }?;
    if (control.cmsg_level, control.cmsg_type) != (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS) {
        return None;
    }
    // SAFETY: a message of this type has a timespec behind its header; it need not be aligned.
    let time = unsafe { libc::CMSG_DATA(control).cast::<libc::timespec>().read_unaligned() };
    Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::time::Duration;

    /// Loopback's frames; none, which is said, where this user may not see them.
    fn loopback() -> Option<PacketSocket> {
        let socket = PacketSocket::open("lo", 1, 1 << 20).ok();
        if socket.is_none() {
            println!("SKIP: this user may not open packet sockets");
        }
        socket
    }

    /// Sends a text from a socket to itself, and gives the frame that it came in, with its time.
    fn frame_of(socket: &PacketSocket, sender: &UdpSocket, text: &str) -> (Vec<u8>, Option<u64>) {
        sender.send_to(text.as_bytes(), sender.local_addr().unwrap()).unwrap();
        let mut buffers = vec![vec![0; 2048]; BATCH];
        let mut arrivals = [Arrival::default(); BATCH];
        loop {
            let came = crate::socket::wait_readable(socket, Duration::from_secs(5)).unwrap();
            assert!(came, "the frame did not come");
            let count = socket.receive(&mut buffers, &mut arrivals).unwrap();
            let mut came = buffers.iter().zip(&arrivals).take(count);
            if let Some((buffer, one)) =
                came.find(|(buffer, one)| buffer[..one.bytes].ends_with(text.as_bytes()))
            {
                return (buffer[..one.bytes].to_vec(), one.realtime_ns);
            }
        }
    }

    #[test]
    fn what_crosses_loopback_is_seen_with_its_time() {
        let Some(socket) = loopback() else { return };
        assert!(socket.buffer_bytes().unwrap() >= 1 << 16);
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert!(frame_of(&socket, &sender, "a message that is looked for").1.is_some());
        assert_eq!(socket.drops().unwrap(), 0);
    }

    #[test]
    fn packets_carry_the_code_point_asked_for() {
        let Some(socket) = loopback() else { return };
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        crate::socket::set_dscp(&sender, 46).unwrap();
        let (frame, _) = frame_of(&socket, &sender, "a message that carries a mark");
        // The second byte of the IP header, behind that of Ethernet.
        assert_eq!(frame[VNET_HEADER + 14 + 1], 46 << 2);
    }

    #[test]
    fn no_socket_for_no_interface() {
        assert!(PacketSocket::open("none", 1 << 30, 4096).is_err());
    }
}
