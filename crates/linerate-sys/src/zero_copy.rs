//! Sending without a copy, and hearing whether there was one after all (`MSG_ZEROCOPY`,
//! Documentation/networking/msg_zerocopy.rst).
//!
//! Each call has a number. The socket's error queue tells which numbers are done with, and whether the
//! kernel copied their bytes because the path could not take the pages themselves.

use crate::{Error, Result, option};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Calls that may be under way at once: the kernel charges each notification to the socket's option memory,
/// of which there are 128 KiB (net.core.optmem_max).
const MOST_UNDER_WAY: u64 = 64;

/// Origin and code of a notification (linux/errqueue.h).
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;
const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;

/// What became of the calls of one socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Calls that went without a copy in the call itself.
    pub sends: u64,
    /// Calls that the kernel has told to be done with.
    pub done: u64,
    /// Of these, calls whose bytes it copied later.
    pub copied: u64,
}

impl Usage {
    /// What happened since.
    pub fn since(self, before: Usage) -> Usage {
        Usage {
            sends: self.sends - before.sends,
            done: self.done - before.done,
            copied: self.copied - before.copied,
        }
    }
}

/// Sends without a copy on one socket.
#[derive(Debug, Default)]
pub struct ZeroCopy {
    usage: Usage,
}

impl ZeroCopy {
    /// Allows it on this socket.
    pub fn on(socket: &impl AsFd) -> Result<ZeroCopy> {
        let set = option::set(socket, libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1);
        set.map_err(|e| Error::new("setsockopt(SO_ZEROCOPY)", "socket", e))?;
        Ok(ZeroCopy::default())
    }

    /// Sends what the socket takes; 0 when it takes nothing now, or as many calls are under way as may be.
    /// The bytes must not be changed before the kernel is done with them, or others arrive than were meant.
    #[inline]
    pub fn send<const WAITS: bool>(
        &mut self,
        socket: &impl AsFd,
        bytes: &[u8],
        limit: Duration,
    ) -> io::Result<usize> {
        if self.under_way() >= MOST_UNDER_WAY {
            self.hear(socket)?;
            if WAITS && self.under_way() >= MOST_UNDER_WAY {
                wait_for_word(socket, limit)?;
                self.hear(socket)?;
            }
            if self.under_way() >= MOST_UNDER_WAY {
                return if WAITS { Err(io::ErrorKind::TimedOut.into()) } else { Ok(0) };
            }
        }
        let flags = libc::MSG_ZEROCOPY | libc::MSG_NOSIGNAL | if WAITS { 0 } else { libc::MSG_DONTWAIT };
        // SAFETY: the bytes are readable through the call. Their pages are kept alive by references of the
        // kernel's own, which only ever reads them.
        let sent =
            unsafe { libc::send(socket.as_fd().as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
        if sent >= 0 {
            self.usage.sends += 1;
            return Ok(sent as usize);
        }
        self.refused::<WAITS>(socket, io::Error::last_os_error(), limit)
    }

    #[cold]
    fn refused<const WAITS: bool>(
        &mut self,
        socket: &impl AsFd,
        error: io::Error,
        limit: Duration,
    ) -> io::Result<usize> {
        match error.raw_os_error() {
            Some(libc::EINTR) => Ok(0),
            Some(libc::EAGAIN) if !WAITS => Ok(0),
            // No memory for one more notification: others must be heard first.
            Some(libc::ENOBUFS) if self.under_way() > 0 => {
                if WAITS {
                    wait_for_word(socket, limit)?;
                }
                self.hear(socket).map(|()| 0)
            }
            _ => Err(error),
        }
    }

    /// Calls that the kernel has not told to be done with.
    pub fn under_way(&self) -> u64 {
        self.usage.sends - self.usage.done
    }

    /// What became of all calls so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Hears what is there to be heard.
    pub fn hear(&mut self, socket: &impl AsFd) -> io::Result<()> {
        while self.under_way() > 0
            && let Some(word) = word(socket)?
        {
            let calls = u64::from(word.last.wrapping_sub(word.first)) + 1;
            self.usage.done += calls.min(self.under_way());
            self.usage.copied += if word.copied { calls } else { 0 };
        }
        Ok(())
    }

    /// Waits until nothing is under way any more, or for so long; says whether nothing is.
    pub fn settle(&mut self, socket: &impl AsFd, limit: Duration) -> io::Result<bool> {
        self.hear(socket)?;
        while self.under_way() > 0 && wait_for_word(socket, limit)? {
            let before = self.usage.done;
            self.hear(socket)?;
            if self.usage.done == before {
                // Another error than a notification is there.
                break;
            }
        }
        Ok(self.under_way() == 0)
    }
}

/// A notification: the numbers of the calls, and whether they were copied.
struct Word {
    first: u32,
    last: u32,
    copied: bool,
}

/// The error queue shows as an error of the socket, whatever else is asked for.
fn wait_for_word(socket: &impl AsFd, limit: Duration) -> io::Result<bool> {
    let mut waiting = [PollFd::new(socket, PollFlags::empty())];
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    Ok(poll(&mut waiting, Some(&limit))? > 0)
}

/// Room for a control message, aligned as one.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// Takes one notification from the error queue; none when there is none.
fn word(socket: &impl AsFd) -> io::Result<Option<Word>> {
    let mut control = Control([0; 128]);
    // SAFETY: all zeroes is an empty message: no name, no data.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the message and its room live through the call, and the lengths are theirs.
    let came = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut message, flags) };
    if came < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(None),
            _ => Err(error),
        };
    }
    Ok(read(&message))
}

fn read(message: &libc::msghdr) -> Option<Word> {
    // SAFETY: the kernel filled the message; the macro looks at its lengths.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    let is_error = matches!(
        (header.cmsg_level, header.cmsg_type),
        (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
    );
    let least = size_of::<libc::cmsghdr>() + size_of::<libc::sock_extended_err>();
    if !is_error || (header.cmsg_len as usize) < least {
        return None;
    }
    // SAFETY: the control message is long enough for this structure, which plain numbers make.
    let error = unsafe { libc::CMSG_DATA(header).cast::<libc::sock_extended_err>().read_unaligned() };
    (error.ee_origin == SO_EE_ORIGIN_ZEROCOPY).then_some(Word {
        first: error.ee_info,
        last: error.ee_data,
        copied: error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::Pages;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn every_call_is_told_of_once() {
        for place in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(place).unwrap();
            let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let mut far = listener.accept().unwrap().0;
            let pages = Pages::filled(100_000).unwrap();
            let mut zero_copy = ZeroCopy::on(&near).unwrap();
            let limit = Duration::from_secs(5);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let mut came = vec![0; pages.len()];
                        far.read_exact(&mut came).unwrap();
                        assert!(came == *pages);
                    }
                });
                for _ in 0..200 {
                    let mut at = 0;
                    while at < pages.len() {
                        at += zero_copy.send::<true>(&near, &pages[at..], limit).unwrap();
                        assert!(zero_copy.under_way() <= MOST_UNDER_WAY);
                    }
                }
            });
            assert!(zero_copy.settle(&near, limit).unwrap());
            let usage = zero_copy.usage();
            assert!(usage.sends >= 200 && usage.done == usage.sends, "{usage:?}");
            // A loopback interface cannot take the pages of a sender.
            assert_eq!(usage.copied, usage.sends);
            assert_eq!(usage.since(usage), Usage::default());
        }
    }
}
