//! Kernel time stamps of what a socket sends and receives, for any user: `SO_TIMESTAMPING`.
//!
//! They are of `CLOCK_REALTIME`. Stamps of what was sent come by the socket's error queue, each with an id: for TCP the
//! place in the stream of the last byte that a call sent, for UDP the number of the datagram. Documentation/networking/timestamping.rst.

use crate::option;
use crate::{Error, Result};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// include/uapi/linux/net_tstamp.h, of which libc has not all.
const TX_SOFTWARE: i32 = 1 << 1;
const RX_SOFTWARE: i32 = 1 << 3;
const SOFTWARE: i32 = 1 << 4;
const OPT_ID: i32 = 1 << 7;
const TX_SCHED: i32 = 1 << 8;
const OPT_TSONLY: i32 = 1 << 11;
const OPT_ID_TCP: i32 = 1 << 16;

/// What every kernel since 4.0 knows of these: stamps of all that comes, and what those of what is sent are like.
const ALL: i32 = RX_SOFTWARE | SOFTWARE | OPT_ID | OPT_TSONLY;

/// The stamps of what is sent, which each call asks for itself (Linux 4.6): a call that does not pays for none.
const OF_CALL: i32 = TX_SOFTWARE | TX_SCHED;

/// include/uapi/linux/errqueue.h: the origin of such a message, and what it tells of.
const ORIGIN_TIMESTAMPING: u8 = 4;
const OF_DRIVER: u32 = 0;
const OF_QUEUE: u32 = 1;

/// How long the other end may take to acknowledge what it has: delayed acknowledgements take 40 to 200 ms.
const ACKNOWLEDGED: Duration = Duration::from_secs(5);

/// The call, as errors name it.
const CALL: &str = "setsockopt(SO_TIMESTAMPING)";

/// Room for the control messages of one call: stamps, and the error that carries the id.
const CONTROL: usize = 256;

/// `struct sock_extended_err`.
#[repr(C)]
#[derive(Clone, Copy)]
struct ExtendedError {
    number: u32,
    origin: u8,
    kind: u8,
    code: u8,
    pad: u8,
    info: u32,
    data: u32,
}

/// Where what was sent had come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// The queueing discipline was given it.
    Queued,
    /// The driver was.
    Transmitted,
}

/// A stamp of what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// Where it was taken.
    pub passed: Passed,
    /// Which byte or datagram it is of, counted from 0 since the stamps were asked for; modulo 2³².
    pub id: u32,
    /// When: `CLOCK_REALTIME`.
    pub ns: u64,
}

/// Room for control messages, aligned as they must be.
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

/// Asks for stamps of all that is received from now on, and of what [`send`] sends; ids begin with the next byte.
pub fn ask(socket: &impl AsFd) -> Result<()> {
    let set = option::set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, ALL | OPT_ID_TCP);
    if set.is_ok() { Ok(()) } else { ask_before_6_2(socket) }
}

/// The same of a socket of datagrams: ids count those that are stamped.
pub fn ask_of_datagrams(socket: &impl AsFd) -> Result<()> {
    // Off first: only that begins to count anew (sock_set_timestamping(), net/core/sock.c).
    cease(socket)?;
    option::set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, ALL)
        .map_err(|e| Error::new(CALL, "socket", e))
}

/// Linux before 6.2 counts from what is not acknowledged yet, which is the next byte where nothing is under way.
fn ask_before_6_2(socket: &impl AsFd) -> Result<()> {
    let begun = Instant::now();
    while under_way(socket)? > 0 {
        if begun.elapsed() > ACKNOWLEDGED {
            let late = io::Error::from(io::ErrorKind::TimedOut);
            return Err(Error::new(CALL, "bytes that the other end does not acknowledge", late));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    option::set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, ALL)
        .map_err(|e| Error::new(CALL, "socket", e))
}

/// Segments that were sent and are not acknowledged: `tcpi_unacked` of linux/tcp.h.
fn under_way(socket: &impl AsFd) -> Result<u32> {
    const UNACKED: usize = 24;
    let info = crate::tcp_info::tcp_info(socket)?;
    let bytes = info.get(UNACKED..UNACKED + 4).and_then(|bytes| bytes.try_into().ok());
    Ok(bytes.map_or(0, u32::from_ne_bytes))
}

/// Asks for none any more.
pub fn cease(socket: &impl AsFd) -> Result<()> {
    let set = option::set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, 0);
    set.map_err(|e| Error::new(CALL, "socket", e))
}

/// Sends, waiting in the kernel until the socket took something, and asks for stamps of it; 0 after an interruption.
#[inline]
pub fn send(socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let mut control = Control([0; CONTROL]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: msghdr is plain numbers and pointers, for which all zeroes is a value.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: CMSG_SPACE and CMSG_LEN compute; the buffer is aligned and has room for one message of four bytes, which the macros of
    // cmsg(3) put at its begin.
    unsafe {
        header.msg_controllen = libc::CMSG_SPACE(size_of::<i32>() as u32) as _;
        let message = control.0.as_mut_ptr().cast::<libc::cmsghdr>();
        (*message).cmsg_level = libc::SOL_SOCKET;
        (*message).cmsg_type = libc::SO_TIMESTAMPING;
        (*message).cmsg_len = libc::CMSG_LEN(size_of::<i32>() as u32) as _;
        libc::CMSG_DATA(message).cast::<i32>().write_unaligned(OF_CALL);
    }
    // SAFETY: header, vector, bytes and control live through the call, which only reads them, and their lengths are given.
    let sent = unsafe { libc::sendmsg(socket.as_fd().as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) };
    match usize::try_from(sent) {
        Ok(bytes) => Ok(bytes),
        Err(_) => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            error => Err(error),
        },
    }
}

/// Receives; how many bytes came, and when the last packet of them came to this host, where that was stamped.
#[inline]
pub fn receive(socket: &impl AsFd, room: &mut [u8], waits: bool) -> io::Result<(usize, Option<u64>)> {
    let flags = if waits { 0 } else { libc::MSG_DONTWAIT };
    let mut control = Control([0; CONTROL]);
    let (bytes, header) = receive_message(socket, room, &mut control, flags)?;
    let mut stamp = None;
    each(&header, |kind, data| {
        if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) {
            stamp = software_stamp(data);
        }
    });
    Ok((bytes, stamp))
}

/// The next stamp of what was sent; none where none is there yet. What is no such stamp is skipped.
#[inline]
pub fn next_sent(socket: &impl AsFd) -> io::Result<Option<Sent>> {
    loop {
        let mut control = Control([0; CONTROL]);
        let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
        let header = match receive_message(socket, &mut [], &mut control, flags) {
            Ok((_, header)) => header,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        let (mut stamp, mut of) = (None, None);
        each(&header, |kind, data| match kind {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => stamp = software_stamp(data),
            (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR) => {
                of = passed(data);
            }
            _ => {}
        });
        if let (Some(ns), Some((passed, id))) = (stamp, of) {
            return Ok(Some(Sent { passed, id, ns }));
        }
    }
}

fn receive_message(
    socket: &impl AsFd,
    room: &mut [u8],
    control: &mut Control,
    flags: i32,
) -> io::Result<(usize, libc::msghdr)> {
    let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: msghdr is plain numbers and pointers, for which all zeroes is a value.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL as _;
    // SAFETY: header, vector, room and control live through the call, and their lengths are given.
    let came = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut header, flags) };
    match usize::try_from(came) {
        Ok(bytes) => {
            // The vector does not outlive this call.
            header.msg_iov = std::ptr::null_mut();
            Ok((bytes, header))
        }
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Each control message: level and type, and its bytes.
#[inline]
fn each(header: &libc::msghdr, mut told: impl FnMut((i32, i32), &[u8])) {
    // SAFETY: the kernel filled the control buffer that the header names, and told its length; the buffer is the caller's,
    // who holds it while this runs. The macros of cmsg(3) stay within that length.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(header);
        while let Some(message) = at.as_ref() {
            let length = message.cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize);
            let data = std::slice::from_raw_parts(libc::CMSG_DATA(at), length);
            told((message.cmsg_level, message.cmsg_type), data);
            at = libc::CMSG_NXTHDR(header, at);
        }
    }
}

/// The first of three times is that of the kernel's own clock; 0 is none.
fn software_stamp(data: &[u8]) -> Option<u64> {
    let number = |at: usize| Some(i64::from_ne_bytes(data.get(at..at + 8)?.try_into().ok()?));
    let ns = u64::try_from(number(0)?).ok()?.checked_mul(1_000_000_000)?.checked_add(number(8)? as u64)?;
    (ns > 0).then_some(ns)
}

fn passed(data: &[u8]) -> Option<(Passed, u32)> {
    if data.len() < size_of::<ExtendedError>() {
        return None;
    }
    // SAFETY: the bytes are there, any of them make a value of this type, and they are read unaligned.
    let error: ExtendedError = unsafe { data.as_ptr().cast::<ExtendedError>().read_unaligned() };
    if error.origin != ORIGIN_TIMESTAMPING {
        return None;
    }
    match error.info {
        OF_DRIVER => Some((Passed::Transmitted, error.data)),
        OF_QUEUE => Some((Passed::Queued, error.data)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::realtime_ns;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream, UdpSocket};

    #[test]
    fn stamps_of_each_call_carry_its_last_byte() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (receiver, _) = listener.accept().unwrap();
        sender.set_nodelay(true).unwrap();
        ask(&sender).unwrap();
        let mut ids = Vec::new();
        for length in [10, 7] {
            let before = realtime_ns();
            assert_eq!(send(&sender, &vec![1; length]).unwrap(), length);
            // What asks for none has none.
            sender.write_all(&[2]).unwrap();
            let mut room = [0; 64];
            let (came, stamp) = receive(&receiver, &mut room, true).unwrap();
            assert!(came >= length && stamp.is_none(), "not asked for there");
            while came < length + 1 && receive(&receiver, &mut room, true).unwrap().0 == 0 {}
            while let Some(sent) = next_sent(&sender).unwrap() {
                assert!(sent.ns >= before && sent.ns <= realtime_ns(), "{sent:?}");
                ids.push((sent.passed, sent.id));
            }
        }
        assert!(
            ids.contains(&(Passed::Transmitted, 9)) && ids.contains(&(Passed::Transmitted, 17)),
            "{ids:?}"
        );
        assert!(
            ids.contains(&(Passed::Queued, 9)) && ids.iter().all(|(_, id)| [9, 17].contains(id)),
            "{ids:?}"
        );
        sender.write_all(&[0; 5]).unwrap();
        assert_eq!(next_sent(&sender).unwrap(), None);
    }

    #[test]
    fn stamps_of_datagrams_carry_their_number() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        for _ in 0..2 {
            ask_of_datagrams(&sender).unwrap();
            let mut ids = Vec::new();
            for length in [10, 7, 900] {
                assert_eq!(send(&sender, &vec![1; length]).unwrap(), length);
                sender.send(&[2]).unwrap();
                while let Some(sent) = next_sent(&sender).unwrap() {
                    ids.push((sent.passed, sent.id));
                }
            }
            let expected = (0..3).flat_map(|id| [(Passed::Queued, id), (Passed::Transmitted, id)]);
            assert_eq!(ids, expected.collect::<Vec<_>>(), "they begin anew");
        }
    }

    #[test]
    fn older_kernels_count_from_the_next_byte_too() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_receiver, _) = listener.accept().unwrap();
        sender.set_nodelay(true).unwrap();
        // Some of these are under way still.
        for _ in 0..50 {
            sender.write_all(&[0; 10]).unwrap();
        }
        ask_before_6_2(&sender).unwrap();
        assert_eq!(send(&sender, &[1; 7]).unwrap(), 7);
        let sent = (0..5000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            next_sent(&sender).unwrap()
        });
        assert_eq!(sent.map(|sent| sent.id), Some(6));
    }

    #[test]
    fn what_is_received_is_stamped_once_asked_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (receiver, _) = listener.accept().unwrap();
        ask(&receiver).unwrap();
        // The kernel begins to stamp a moment later: net_enable_timestamp() leaves it to a work item.
        let stamp = (0..1000).find_map(|_| {
            sender.write_all(&[1]).unwrap();
            let came = receive(&receiver, &mut [0; 8], true).unwrap().1;
            std::thread::sleep(std::time::Duration::from_millis(1));
            came
        });
        assert!(stamp.is_some_and(|ns| ns <= realtime_ns()), "{stamp:?}");
        assert_eq!(receive(&receiver, &mut [0; 8], false).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn short_control_messages_are_no_stamps() {
        assert_eq!((software_stamp(&[0; 8]), software_stamp(&[0; 48])), (None, None));
        assert_eq!(passed(&[0; 15]), None);
        assert_eq!(software_stamp(&[0xff; 48]), None);
    }
}
