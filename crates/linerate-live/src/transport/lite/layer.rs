//! The layer's calls: tagged messages between two ends, blocking and asynchronous.
//!
//! A blocking call takes its bytes from where they lie and returns when they are sent or there. An asynchronous one is
//! given its bytes, moves them whether or not another call is made, and gives them back when it is waited for.

use super::engine::{Engine, Lent, Ticket, Unexpected};
use super::leaving::Leaving;
use super::progress::Shared;
use crate::Result;
use crate::pattern::poll;
use linerate_sys::{socket, thread};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// It asks the kernel again and again.
    Polling,
    /// It sleeps in the kernel.
    Sleeping,
}

/// An asynchronous request: its bytes stay with the layer until it is waited for.
#[derive(Debug)]
#[must_use = "its bytes come back to who waits for it"]
pub struct Request {
    ticket: Ticket,
    receives: bool,
}

/// What a request gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The bytes that it was given: what was sent, or the room of a receive.
    pub bytes: Vec<u8>,
    /// Of a receive, the bytes of the message that came; they are the first of the room.
    pub came: usize,
}

/// One of two ends.
#[derive(Debug)]
pub struct Layer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    waits: Waits,
    /// How long nothing may move.
    patience: Duration,
}

/// How often who polls for room to send looks at what comes meanwhile: each look holds up the kernel, which takes in the
/// other end's acknowledgements on the same socket.
const LOOK_EVERY: u32 = 64;

/// What a call waits for.
#[derive(Default)]
struct Call<'c> {
    own: Option<Leaving<&'c [u8]>>,
    lent: Lent<'c>,
    request: Option<&'c Request>,
    /// How often there was no room to send.
    full: u32,
}

impl Layer {
    /// An end over a connected stream socket, of which nobody else sends or receives. With `threaded` a thread of its
    /// own makes progress while no call is made; without, nothing moves then. A call in which nothing moves for
    /// `patience` fails.
    ///
    /// After an error all calls fail, for the stream has lost its place: with `InvalidData` where the other end sent
    /// what is no message or is longer than its receive's room, `UnexpectedEof` where it is gone, `TimedOut` or
    /// `WouldBlock` where nothing moved, and `Other` where more came than is held for receives to be posted.
    pub fn open(socket: impl Into<OwnedFd>, threaded: bool, patience: Duration) -> Result<Layer> {
        let shared = Arc::new(Shared::new(socket.into())?);
        socket::limit_waits(shared.socket(), patience)?;
        let moves = shared.clone();
        let thread = threaded.then(|| thread::start("progress", move || moves.progress())).transpose()?;
        Ok(Layer { shared, thread, waits: Waits::Sleeping, patience })
    }

    /// How calls wait from now on.
    pub fn wait_by(&mut self, waits: Waits) {
        self.waits = waits;
    }

    /// Sends a message; returns when the kernel has all of it.
    #[inline]
    pub fn send(&mut self, tag: u32, bytes: &[u8]) -> io::Result<()> {
        let own = Some(Leaving::new(tag, bytes)?);
        self.call(tag, Call { own, ..Call::default() }).map(drop)
    }

    /// Waits for the next message of this tag; says how many bytes it has. One that is longer than the room is an error.
    #[inline]
    pub fn receive(&mut self, tag: u32, room: &mut [u8]) -> io::Result<usize> {
        let each = room.len();
        self.receive_all(tag, room, each, 1)
    }

    /// Receives so many messages of this tag into rooms of `each` bytes, one after the other, all posted before the
    /// first is waited for; says how many bytes came. Fewer rooms than that are an error of kind `InvalidInput`.
    #[inline]
    pub fn receive_all(
        &mut self,
        tag: u32,
        rooms: &mut [u8],
        each: usize,
        messages: usize,
    ) -> io::Result<usize> {
        let lent = Lent::new(rooms, each, messages)?;
        self.call(tag, Call { lent, ..Call::default() })
    }

    /// Sends a message while it receives another one, both of this tag; says how many bytes came.
    #[inline]
    pub fn exchange(&mut self, tag: u32, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        let (own, each) = (Some(Leaving::new(tag, bytes)?), room.len());
        self.call(tag, Call { own, lent: Lent::new(room, each, 1)?, ..Call::default() })
    }

    /// Begins to send a message; behind all that were begun before.
    pub fn start_send(&mut self, tag: u32, bytes: Vec<u8>) -> io::Result<Request> {
        let ticket = self.shared.call(self.thread.is_some(), |engine| engine.start_send(tag, bytes))?;
        Ok(Request { ticket, receives: false })
    }

    /// Begins to receive a message of this tag into this room, all of which may be written to.
    pub fn start_receive(&mut self, tag: u32, room: Vec<u8>) -> io::Result<Request> {
        let ticket = self.shared.call(self.thread.is_some(), |engine| engine.start_receive(tag, room))?;
        Ok(Request { ticket, receives: true })
    }

    /// Works; meanwhile a signal interrupts this thread and moves what can be moved. The work may not allocate, lock or
    /// print, for the signal's handler stands in the middle of it.
    pub fn work_interrupted(&mut self, work: impl FnOnce()) -> io::Result<()> {
        self.shared.work_interrupted(work)
    }

    /// Whether a request is done; moves nothing.
    pub fn is_done(&self, request: &Request) -> io::Result<bool> {
        self.shared.call(self.thread.is_some(), |engine| Ok(engine.is_done(request.ticket)))
    }

    /// Waits for a request.
    pub fn wait(&mut self, request: Request) -> io::Result<Done> {
        let (waits, patience) = (self.waits, self.patience);
        let mut call = Call { request: Some(&request), ..Call::default() };
        self.shared.call(self.thread.is_some(), |engine| {
            call.wait(engine, self.shared.socket(), waits, patience)?;
            let (bytes, came) = engine.take_done(request.ticket).ok_or(io::ErrorKind::NotFound)?;
            Ok(Done { bytes, came })
        })
    }

    /// Waits for all of these, in whatever order they are done; gives what they gave in their own.
    pub fn wait_all(&mut self, requests: Vec<Request>) -> io::Result<Vec<Done>> {
        requests.into_iter().map(|request| self.wait(request)).collect()
    }

    #[inline]
    fn call(&mut self, tag: u32, mut call: Call<'_>) -> io::Result<usize> {
        let (waits, patience) = (self.waits, self.patience);
        self.shared.call(self.thread.is_some(), |engine| {
            engine.post(tag, &mut call.lent)?;
            call.wait(engine, self.shared.socket(), waits, patience)?;
            Ok(call.lent.came)
        })
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        self.shared.end();
        if let Some(thread) = self.thread.take() {
            // One that panicked has ended as well.
            let _ = thread.join();
        }
    }
}

impl Call<'_> {
    #[inline]
    fn wait(
        &mut self,
        engine: &mut Engine,
        socket: &OwnedFd,
        waits: Waits,
        patience: Duration,
    ) -> io::Result<()> {
        while !self.is_done(engine) {
            match waits {
                Waits::Polling => drop(poll(patience, || Ok(usize::from(self.step(engine, false)?)))?),
                Waits::Sleeping => self.sleep(engine, socket, patience)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn is_done(&self, engine: &Engine) -> bool {
        self.is_sent()
            && self.lent.is_full()
            && self.request.is_none_or(|request| engine.is_done(request.ticket))
    }

    #[inline]
    fn is_sent(&self) -> bool {
        self.own.as_ref().is_none_or(Leaving::is_gone)
    }

    /// Moves what can be moved, out first; says whether anything was. Waits for something to come where it `sleeps`.
    #[inline]
    fn step(&mut self, engine: &mut Engine, sleeps: bool) -> io::Result<bool> {
        if engine.push(self.own.as_mut())? {
            return Ok(true);
        }
        // Who only sends looks seldom at what comes: it must, for the other end may wait for room as well.
        if !self.is_sent() && self.lent.is_full() && self.request.is_none() && !sleeps {
            self.full = self.full.wrapping_add(1);
            if !self.full.is_multiple_of(LOOK_EVERY) {
                return Ok(false);
            }
        }
        let receives = !self.lent.is_full() || self.request.is_some_and(|request| request.receives);
        let other = if receives { Unexpected::InTheWay } else { Unexpected::Held };
        engine.pull(&mut self.lent, other, sleeps)
    }

    /// Moves something, sleeping until it can: in the call that receives where nothing is to be sent.
    #[inline]
    fn sleep(&mut self, engine: &mut Engine, socket: &OwnedFd, patience: Duration) -> io::Result<()> {
        let sends = !self.is_sent() || engine.needs()[1];
        if self.step(engine, !sends)? || !sends {
            return Ok(());
        }
        let is_over = if engine.is_held_up() {
            socket::wait_writable(socket, patience)
        } else {
            socket::wait_ready(socket, true, patience)
        };
        match is_over.map_err(|error| error.source)? {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(()),
        }
    }
}
