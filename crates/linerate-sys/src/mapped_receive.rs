//! Receiving by mapping the pages that came (`TCP_ZEROCOPY_RECEIVE`, linux/tcp.h): bytes that fill whole
//! pages are mapped, the others are copied.

use crate::socket::{receive_now, receive_waiting, wait_readable};
use crate::{Error, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::mem::size_of;
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// A number of linux/tcp.h that libc does not have.
const TCP_ZEROCOPY_RECEIVE: libc::c_int = 35;

/// The page, which is 4 KiB or more everywhere; what is no multiple of a larger one is copied.
const PAGE: usize = 4096;

/// `struct tcp_zerocopy_receive` (linux/tcp.h).
#[repr(C)]
#[derive(Debug, Default)]
struct Request {
    address: u64,
    length: u32,
    recv_skip_hint: u32,
    inq: u32,
    err: i32,
    copybuf_address: u64,
    copybuf_len: i32,
    flags: u32,
    msg_control: u64,
    msg_controllen: u64,
    msg_flags: u32,
    reserved: u32,
}

/// A window of memory into which a socket's pages are mapped.
#[derive(Debug)]
pub struct Window {
    start: *mut std::ffi::c_void,
    len: usize,
    mapped: u64,
    copied: u64,
}

// SAFETY: the window belongs to this value alone; nothing else refers to it.
unsafe impl Send for Window {}

impl Window {
    /// A window of at least `len` bytes onto this socket.
    pub fn onto(socket: &TcpStream, len: usize) -> Result<Window> {
        let len = len.next_multiple_of(PAGE).max(PAGE);
        // SAFETY: a new mapping at an address of the kernel's choice aliases nothing; it is read-only.
        let start = unsafe { mmap(std::ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, socket, 0) };
        let start = start.map_err(|e| Error::new("mmap", "TCP socket", e))?;
        let mut window = Window { start, len, mapped: 0, copied: 0 };
        // An empty queue is no error, and a stream at its end shows when it is received from; a kernel that
        // knows no such option says so.
        let tried = window.take(socket, &mut [], 0);
        let tried = tried.map_err(|e| Error::new("getsockopt(TCP_ZEROCOPY_RECEIVE)", "TCP socket", e));
        match tried {
            Err(error) if error.is_refusal() => return Err(error),
            _ => {}
        }
        Ok(window)
    }

    /// Bytes that were mapped, and bytes that were copied, so far.
    pub fn counts(&self) -> (u64, u64) {
        (self.mapped, self.copied)
    }

    /// Receives what is there, up to the length of `room`: mapped where pages are whole, until the next call;
    /// copied into `room` where not. None when there is nothing now, `Some(0)` at the end.
    pub fn receive<const WAITS: bool>(
        &mut self,
        socket: &TcpStream,
        room: &mut [u8],
        limit: Duration,
    ) -> io::Result<Option<usize>> {
        if WAITS && !wait_readable(socket, limit).map_err(|error| error.source)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let len = room.len().min(self.len);
        let (came, to_copy) = match self.take(socket, room, len) {
            // The stream is at its end, which a plain receive tells from an error.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => (0, room.len()),
            answer => answer?,
        };
        if came > 0 {
            return Ok(Some(came));
        }
        let room = &mut room[..if to_copy == 0 { len } else { to_copy.min(len) }];
        let copied = if WAITS { receive_waiting(socket, room)? } else { receive_now(socket, room)? };
        self.copied += copied.unwrap_or(0) as u64;
        Ok(copied)
    }

    /// One call: the bytes that came, and those that the kernel wants copied.
    fn take(&mut self, socket: &TcpStream, room: &mut [u8], len: usize) -> io::Result<(usize, usize)> {
        let mut request = Request {
            address: self.start as u64,
            length: (len & !(PAGE - 1)) as u32,
            copybuf_address: room.as_mut_ptr() as u64,
            // What is copied comes on top of what is mapped: both together are no more than was asked for.
            copybuf_len: (len & (PAGE - 1)) as i32,
            ..Request::default()
        };
        let mut size = size_of::<Request>() as libc::socklen_t;
        // SAFETY: the request lives through the call and its size is given. The kernel replaces pages of this
        // window, of which no reference exists, and writes at most `copybuf_len` bytes into `room`.
        let answer = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::IPPROTO_TCP,
                TCP_ZEROCOPY_RECEIVE,
                (&raw mut request).cast(),
                &raw mut size,
            )
        };
        if answer != 0 {
            return Err(io::Error::last_os_error());
        }
        if request.err != 0 {
            return Err(io::Error::from_raw_os_error(request.err.abs()));
        }
        let copied = request.copybuf_len.max(0) as usize;
        let mapped = request.length as usize;
        self.mapped += mapped as u64;
        self.copied += copied as u64;
        Ok((mapped + copied, request.recv_skip_hint as usize))
    }

    /// What was mapped by the last call, up to `len` bytes of it.
    #[cfg(test)]
    fn shown(&self, len: usize) -> &[u8] {
        // SAFETY: the caller says how much the last call mapped; it stays until the next one.
        unsafe { std::slice::from_raw_parts(self.start.cast::<u8>().cast_const(), len.min(self.len)) }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the window was mapped with this length, and no reference to it exists.
        // A failure would leak the mapping, which ends with the process.
        let _ = unsafe { munmap(self.start, self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_file::MemoryFile;
    use crate::pages::Pages;
    use std::net::TcpListener;

    /// Pages of a file are mapped where a segment holds whole ones; the rest is copied; nothing is lost.
    #[test]
    fn every_byte_is_mapped_or_copied() {
        const LEN: usize = 1 << 20;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let far = listener.accept().unwrap().0;
        let mut window = Window::onto(&far, 256 << 10).unwrap();
        let (file, pages) = (MemoryFile::filled(LEN).unwrap(), Pages::filled(LEN).unwrap());
        let limit = Duration::from_secs(5);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut at = 0;
                while at < LEN {
                    at += file.send::<true>(&near, at, LEN - at).unwrap();
                }
            });
            let mut at = 0;
            let mut room = vec![0; 256 << 10];
            for want in [65_536, 5000, 1, 256 << 10, 4096, 70_001].into_iter().cycle() {
                let len = want.min(LEN - at);
                let before = window.counts();
                let came = window.receive::<true>(&far, &mut room[..len], limit).unwrap().unwrap_or(0);
                let mapped = (window.counts().0 - before.0) as usize;
                assert!(came <= len, "{came} of {len}");
                assert!(window.shown(mapped) == &pages[at..at + mapped], "at {at}");
                assert!(room[..came - mapped] == pages[at + mapped..at + came], "at {at}, {mapped} mapped");
                at += came;
                if at == LEN {
                    break;
                }
            }
        });
        let (mapped, copied) = window.counts();
        assert_eq!(mapped + copied, LEN as u64);
        assert_eq!(window.receive::<false>(&far, &mut [0; 9000], limit).unwrap(), None);
        drop(near);
        assert_eq!(window.receive::<true>(&far, &mut [0; 9000], limit).unwrap(), Some(0));
        let mut late = Window::onto(&far, 4096).unwrap();
        assert_eq!(late.receive::<true>(&far, &mut [0; 9000], limit).unwrap(), Some(0));
    }
}
