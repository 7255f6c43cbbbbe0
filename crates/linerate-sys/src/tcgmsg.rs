//! TCGMSG, loaded at run time: the calls that message passing between two of its nodes needs (tcgmsg.h of Global Arrays 5.8).
//!
//! It reports no errors: on the first one it says a line and ends the process, and the other node's with it.

use crate::library::Library;
use crate::messages::parts;
use crate::{Error, Result};
use std::ffi::{c_char, c_int, c_long, c_void};
use std::io;
use std::ptr::null_mut;

/// The type of every message.
const TYPE: c_long = 78;
/// Whether a call returns only when its message has left, or come.
const AT_ONCE: c_long = 0;
const IN_FULL: c_long = 1;
/// `MPI_THREAD_SERIALIZED`, as MPICH and Open MPI have it.
const SERIALIZED: c_int = 2;
/// A first message.
const FIRST: [u8; 5] = [1, 2, 3, 4, 5];

type InitThread = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;
type Begin = unsafe extern "C" fn(c_int, *mut *mut c_char);
type Number = unsafe extern "C" fn() -> c_long;
type Send = unsafe extern "C" fn(c_long, *mut c_void, c_long, c_long, c_long);
type Receive = unsafe extern "C" fn(c_long, *mut c_void, c_long, *mut c_long, c_long, *mut c_long, c_long);
type Wait = unsafe extern "C" fn(c_long);
type End = unsafe extern "C" fn();

/// One of two nodes, between its beginning and [`leave`](Node::leave).
pub struct Node {
    send: Send,
    receive: Receive,
    wait: Wait,
    end: End,
    own: c_long,
}

impl Node {
    /// `tcg_pbegin`, over an MPI that threads may call one after the other; there must be two nodes.
    pub fn begin(library: &Library) -> Result<Node> {
        // SAFETY: tcgmsg.h and the MPI standard give each symbol this type.
        let (init, begin, [own, all], end) = unsafe {
            let numbers =
                [library.function::<Number>("tcg_nodeid")?, library.function::<Number>("tcg_nnodes")?];
            let init = library.function::<InitThread>("MPI_Init_thread")?;
            (init, library.function::<Begin>("tcg_pbegin")?, numbers, library.function::<End>("tcg_pend")?)
        };
        // SAFETY: as above.
        let (send, receive, wait) = unsafe {
            let receive = library.function::<Receive>("tcg_rcv")?;
            (library.function::<Send>("tcg_snd")?, receive, library.function::<Wait>("tcg_waitcom")?)
        };
        let mut provided = 0;
        // SAFETY: null arguments are allowed since MPI 2; the number is written to for the time of the call.
        let begun = unsafe { init(null_mut(), null_mut(), SERIALIZED, &raw mut provided) };
        if begun != 0 || provided < SERIALIZED {
            let why = io::Error::other("the MPI below allows calls from one thread only");
            return Err(Error::new("MPI_Init_thread", "the library", why));
        }
        let mut name = *b"linerate\0";
        let mut words = [name.as_mut_ptr().cast::<c_char>(), null_mut()];
        // SAFETY: one word and its end, both there for the time of the call; the others take nothing.
        let (own, all) = unsafe {
            begin(1, words.as_mut_ptr());
            (own(), all())
        };
        if all != 2 {
            let why = format!("{all} nodes know of each other, not 2: does its launcher belong to it?");
            return Err(Error::new("tcg_nnodes", "the library", io::Error::other(why)));
        }
        Ok(Node { send, receive, wait, end, own })
    }

    /// Its number: 0 or 1.
    pub fn number(&self) -> usize {
        usize::from(self.own != 0)
    }

    fn peer(&self) -> c_long {
        1 - self.own
    }

    /// Exchanges a first message and looks at it.
    pub fn check(&mut self) -> Result<()> {
        let mut room = [0; 2 * FIRST.len()];
        let came = self.exchange(&FIRST, &mut room);
        let is_it = came.as_ref().is_ok_and(|came| room[..*came] == FIRST);
        let other = || Error::new("tcg_rcv", "a first message", io::Error::other("it was another one"));
        is_it.then_some(()).ok_or_else(other)
    }

    /// Sends a message; returns when it has left.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(bytes, IN_FULL)
    }

    #[inline]
    fn put(&mut self, bytes: &[u8], whole: c_long) -> io::Result<()> {
        let length = c_long::try_from(bytes.len()).map_err(io::Error::other)?;
        // SAFETY: the library reads so many bytes and writes none; what has not left yet is waited for by each caller.
        unsafe { (self.send)(TYPE, bytes.as_ptr().cast_mut().cast(), length, self.peer(), whole) };
        Ok(())
    }

    /// Waits for a message; says how many bytes came. One that is longer than its room ends the process.
    #[inline]
    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let length = c_long::try_from(room.len()).map_err(io::Error::other)?;
        let (mut came, mut from) = (-1, -1);
        // SAFETY: the library writes at most so many bytes, and both numbers, for the time of the call.
        unsafe {
            let room = room.as_mut_ptr().cast();
            (self.receive)(TYPE, room, length, &raw mut came, self.peer(), &raw mut from, IN_FULL);
        }
        usize::try_from(came).map_err(|_| io::Error::other("no message came"))
    }

    /// Sends a message while it receives the other node's; says how many bytes came.
    #[inline]
    pub fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        self.exchange_at_work(bytes, room, || ())
    }

    /// The same, with work in between. There are no receives to be posted: what comes is taken after the work.
    #[inline]
    pub fn exchange_at_work(
        &mut self,
        bytes: &[u8],
        room: &mut [u8],
        mut work: impl FnMut(),
    ) -> io::Result<usize> {
        self.put(bytes, AT_ONCE)?;
        work();
        let came = self.receive(room);
        self.settle();
        came
    }

    /// Sends so many [`parts`] of a region, all under way at once.
    #[inline]
    pub fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        let sent = parts(region, len, messages).try_for_each(|bytes| self.put(bytes, AT_ONCE));
        self.settle();
        sent
    }

    /// Waits until all that was sent has left.
    #[inline]
    fn settle(&mut self) {
        // SAFETY: it takes a number.
        unsafe { (self.wait)(self.peer()) };
    }

    /// `tcg_pend`: nothing may be called after it.
    pub fn leave(&mut self) {
        // SAFETY: it takes nothing; the process ends after it.
        unsafe { (self.end)() };
    }
}
