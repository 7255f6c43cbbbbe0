//! libfabric, loaded at run time: tagged messages between two endpoints (fabric(7), rdma/fi_tagged.h of libfabric 1.17).
//!
//! Few calls are symbols of the library; the others are functions in tables of its objects. Nothing moves but while a
//! queue is asked what is done.

mod layout;
mod opened;

use crate::library::Library;
use crate::messages::{Messages, Windows, parts};
use crate::under_way::UnderWay;
use crate::{Error, Result};
use layout::{Done, Failed, Inject, Receive, Send};
use opened::Opened;
use std::ffi::{c_int, c_void};
use std::io;
use std::net::Ipv4Addr;
use std::ptr::null_mut;

/// The most messages that are under way at once.
pub const WINDOW: usize = 64;

/// The tag of every message, and the bits of it that do not count: none.
const TAG: u64 = 77;
const NONE: u64 = 0;
/// `FI_ADDR_UNSPEC`: from whoever sends.
const ANY: u64 = u64::MAX;
/// `-FI_EAGAIN`: nothing is done, or there is no room now; `-FI_EAVAIL`: an operation failed.
const AGAIN: isize = -11;
const SOME_FAILED: isize = -259;
/// So many completions are read at once.
const AT_ONCE: usize = 8;
/// A first message, how many of them go each way, and a large one.
const FIRST: [u8; 5] = [1, 2, 3, 4, 5];
const FIRST_MESSAGES: usize = 100;
const LARGE: usize = 4 << 20;
/// What nothing is written to stays so.
const CANARY: u8 = 0xa5;

/// An operation that is under way. The provider has the first part (`struct fi_context2`) until it is done.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Operation {
    lent: [u64; 8],
    is_done: bool,
    error: c_int,
    len: usize,
    tag: u64,
}

/// One of two ranks: an endpoint, and the other one's address. Its configuration is the environment's (`FI_*`).
pub struct Rank {
    opened: Opened,
    send: Send,
    inject: Inject,
    receive: Receive,
    peer: u64,
    /// Where they are they stay: the library knows them by their place.
    operations: Box<[Operation; WINDOW]>,
    done: [Done; AT_ONCE],
}

// SAFETY: the endpoint was opened for calls of several threads one after the other (`FI_THREAD_DOMAIN`), and every call takes
// the rank by an exclusive reference.
unsafe impl std::marker::Send for Rank {}

impl Rank {
    /// An endpoint of the first provider that there is; at this address of its own, where there is one.
    pub fn open(library: &Library, at: Option<Ipv4Addr>) -> Result<Rank> {
        let opened = Opened::open(library, at)?;
        // SAFETY: the library opened the endpoint for tagged messages, and its table of them is there.
        let tagged = unsafe { &*(*opened.endpoint).tagged };
        let (send, inject, receive) = (tagged.send, tagged.inject, tagged.receive);
        let operations = Box::new([Operation::default(); WINDOW]);
        Ok(Rank { opened, send, inject, receive, peer: 0, operations, done: [Done::default(); AT_ONCE] })
    }

    /// Where the other rank finds it.
    pub fn address(&mut self) -> Result<Vec<u8>> {
        self.opened.name()
    }

    /// The other rank is where this address says.
    pub fn connect(&mut self, address: &[u8]) -> Result<()> {
        self.peer = self.opened.insert(address)?;
        Ok(())
    }

    /// The provider and the domain's name, as the library tells them.
    pub fn about(&self) -> [String; 2] {
        self.opened.about()
    }

    /// First messages each way, small and large: by them the connection is made, and they show whether the structures are
    /// the library's own. Both ranks call it, one of them as the `first`.
    pub fn check(&mut self, first: bool) -> Result<()> {
        let mut room = vec![CANARY; LARGE];
        let checked = (0..FIRST_MESSAGES).try_for_each(|_| {
            if first {
                self.send(&FIRST)?;
            }
            self.came_as_sent(&mut room[..FIRST.len() * 2])?;
            if first { Ok(()) } else { self.send(&FIRST) }
        });
        checked.map_err(|why| Error::new("fi_trecv", "a first message", why))?;
        let exchanged = self.exchange(&vec![CANARY; LARGE], &mut room);
        let len = exchanged.map_err(|why| Error::new("fi_trecv", "a first large message", why))?;
        match len == LARGE && room.iter().all(|byte| *byte == CANARY) {
            true => Ok(()),
            false => Err(failed("fi_trecv", io::Error::other(format!("{len} of {LARGE} B came")))),
        }
    }

    /// The length and the tag are told, and what lies behind them is untouched.
    fn came_as_sent(&mut self, room: &mut [u8]) -> io::Result<()> {
        room.fill(CANARY);
        let len = self.receive(room)?;
        let (came, behind) = room.split_at(FIRST.len());
        let is_whole = came == FIRST && behind.iter().all(|byte| *byte == CANARY);
        let tag = self.operations[0].tag;
        match (tag, len) == (TAG, FIRST.len()) && is_whole {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "its structures are others: a first message came with tag {tag} and {len} B"
            ))),
        }
    }

    /// Private: the buffer must stay until [`finish`](Rank::finish).
    #[inline]
    fn start_send(&mut self, bytes: &[u8], number: usize) -> io::Result<()> {
        let endpoint = self.opened.endpoint.cast();
        let (at, len) = (bytes.as_ptr().cast(), bytes.len());
        if len <= self.opened.inject_bytes {
            // Its buffer is free when the call returns.
            let operation = &mut self.operations[number];
            (operation.is_done, operation.error) = (true, 0);
            // SAFETY: the bytes are there for the time of the call.
            return self.retry_while_full(|rank| unsafe { (rank.inject)(endpoint, at, len, rank.peer, TAG) });
        }
        let context = self.begin_operation(number);
        // SAFETY: every caller finishes it while it still borrows the buffer; the context stays where it is.
        self.retry_while_full(|rank| unsafe {
            (rank.send)(endpoint, at, len, null_mut(), rank.peer, TAG, context)
        })
    }

    /// Private, for the same reason.
    #[inline]
    fn start_receive(&mut self, room: &mut [u8], number: usize) -> io::Result<()> {
        let endpoint = self.opened.endpoint.cast();
        let (at, len) = (room.as_mut_ptr().cast(), room.len());
        let context = self.begin_operation(number);
        // SAFETY: as with `start_send`.
        self.retry_while_full(|rank| unsafe {
            (rank.receive)(endpoint, at, len, null_mut(), ANY, TAG, NONE, context)
        })
    }

    #[inline]
    fn begin_operation(&mut self, number: usize) -> *mut c_void {
        let operation = &mut self.operations[number];
        (operation.is_done, operation.error) = (false, 0);
        std::ptr::from_mut(operation).cast()
    }

    /// Calls until there is room for it.
    #[inline]
    fn retry_while_full(&mut self, call: impl Fn(&Rank) -> isize) -> io::Result<()> {
        loop {
            match call(self) {
                AGAIN => self.progress()?,
                answer => return check(answer as c_int),
            }
        }
    }

    /// Until an operation is done; how many bytes it had, where it is a receive.
    #[inline]
    fn finish(&mut self, number: usize) -> io::Result<usize> {
        while !self.operations[number].is_done {
            self.progress()?;
        }
        let Operation { error, len, .. } = self.operations[number];
        if error == 0 { Ok(len) } else { Err(refusal(error)) }
    }

    /// Asks what is done: `fi_cq_read`.
    #[inline]
    fn progress(&mut self) -> io::Result<()> {
        // SAFETY: there is room for so many completions.
        let count =
            unsafe { (self.opened.of_queue().read)(self.opened.queue, self.done.as_mut_ptr(), AT_ONCE) };
        if count == AGAIN {
            return Ok(());
        }
        let Ok(count) = usize::try_from(count) else { return self.take_failed(count) };
        for place in 0..count.min(AT_ONCE) {
            let Done { context, len, tag, .. } = self.done[place];
            let operation = self.operation(context)?;
            (operation.is_done, operation.len, operation.tag) = (true, len, tag);
        }
        Ok(())
    }

    /// The one whose context this is: what the library tells must be one of ours.
    #[inline]
    fn operation(&mut self, context: usize) -> io::Result<&mut Operation> {
        let offset = context.wrapping_sub(self.operations.as_ptr() as usize);
        let at = offset / size_of::<Operation>();
        match self.operations.get_mut(at) {
            Some(operation) if offset.is_multiple_of(size_of::<Operation>()) => Ok(operation),
            _ => Err(io::Error::other("its structures are others: what is done is nothing of ours")),
        }
    }

    #[cold]
    fn take_failed(&mut self, answer: isize) -> io::Result<()> {
        if answer != SOME_FAILED {
            return check(answer as c_int);
        }
        let mut failed = Failed::default();
        // SAFETY: there is room for one.
        let count = unsafe { (self.opened.of_queue().read_error)(self.opened.queue, &mut failed, 0) };
        if count != 1 {
            return check(count as c_int);
        }
        match self.operation(failed.context) {
            Ok(operation) => {
                (operation.is_done, operation.error) = (true, failed.error.max(1));
                Ok(())
            }
            Err(_) => Err(refusal(failed.error)),
        }
    }

    /// Closes all of it.
    pub fn leave(&mut self) {
        self.opened.close();
    }
}

impl Messages for Rank {
    /// `fi_tinject` or `fi_tsend` to the other rank, and progress until its buffer is free.
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.start_send(bytes, 0)?;
        self.finish(0).map(drop)
    }

    /// `fi_trecv`, and progress until a message is there; how many bytes came.
    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.start_receive(room, 0)?;
        self.finish(0)
    }

    #[inline]
    fn exchange_at_work(
        &mut self,
        bytes: &[u8],
        room: &mut [u8],
        mut work: impl FnMut(),
    ) -> io::Result<usize> {
        self.start_receive(room, 0)?;
        let started = self.start_send(bytes, 1);
        let under_way = UnderWay;
        work();
        under_way.over();
        // Both end before the buffers may go.
        let sent = started.and_then(|()| self.finish(1));
        let came = self.finish(0);
        sent.and(came)
    }
}

impl Windows for Rank {
    /// Sends so many [`parts`] of a region at once, then waits for all.
    #[inline]
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        let messages = messages.min(WINDOW);
        let mut started = 0;
        let sent = parts(region, len, messages).enumerate().try_for_each(|(number, bytes)| {
            self.start_send(bytes, number)?;
            started = number + 1;
            Ok(())
        });
        let mut outcome = sent;
        for number in 0..started {
            outcome = self.finish(number).and(outcome);
        }
        outcome
    }

    /// Receives a message into each of these rooms of `len` bytes, all of them posted before the first is waited for.
    /// How many bytes came.
    #[inline]
    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
        let messages = messages.min(WINDOW);
        if len.checked_mul(messages).is_none_or(|bytes| bytes > rooms.len()) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut started = 0;
        let rooms = rooms.chunks_exact_mut(len.max(1)).take(messages);
        let posted = rooms.enumerate().try_for_each(|(number, room)| {
            self.start_receive(room, number)?;
            started = number + 1;
            Ok(())
        });
        let mut outcome = posted.map(|()| 0);
        for number in 0..started {
            let one = self.finish(number);
            outcome = outcome.and_then(|came| Ok(came + one?));
        }
        outcome
    }
}

fn failed(call: &'static str, why: io::Error) -> Error {
    Error::new(call, "the library", why)
}

/// What a negative answer says: errors are those of the system, and some more (rdma/fi_errno.h).
#[inline]
fn check(answer: c_int) -> io::Result<()> {
    if answer >= 0 { Ok(()) } else { Err(refusal(-answer)) }
}

#[cold]
fn refusal(error: c_int) -> io::Error {
    let known = [
        (61, "FI_ENODATA: no provider has what is asked for"),
        (256, "FI_EOTHER"),
        (257, "FI_ETOOSMALL"),
        (259, "FI_EAVAIL"),
        (265, "FI_ETRUNC: the message is longer than the room for it"),
    ];
    match known.iter().find(|(code, _)| *code == error) {
        Some((_, words)) => io::Error::other(*words),
        None if error < 256 => io::Error::from_raw_os_error(error),
        None => io::Error::other(format!("libfabric error {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn an_answer_is_told_in_words() {
        check(1).unwrap();
        assert!(check(-61).unwrap_err().to_string().starts_with("FI_ENODATA"));
        assert_eq!(check(-12).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(check(-999).unwrap_err().to_string(), "libfabric error 999");
    }

    #[test]
    fn what_is_no_libfabric_has_no_rank() {
        let math = Library::open(Path::new("libm.so.6")).unwrap();
        let error = Rank::open(&math, None).err().unwrap();
        assert_eq!((error.call, error.object.as_str()), ("dlsym", "fi_dupinfo"));
    }
}
