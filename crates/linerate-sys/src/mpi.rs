//! MPI, loaded at run time: the calls that message passing needs, and the constants of each ABI that is known.
//!
//! A handle is an `int` in MPICH's ABI and a pointer in all others. That decides how far apart the elements of an
//! array of them are, so all of this is compiled for both.

mod abi;
mod any;
mod collective;
mod control;
mod file;
mod reference;

pub use abi::{Abi, Handle, ThreadLevel};
pub use any::Mpi;
pub use collective::ELEMENT_BYTES;
pub use file::{Access, Rows};
pub use reference::{FileReference, Reference};

use crate::library::Library;
use crate::messages::parts;
use crate::under_way::UnderWay;
use crate::{Error, Result};
use abi::{Constants, Count};
use collective::Collectives;
use control::Controls;
use file::Files;
use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::null_mut;

/// The most messages that are under way at once.
pub const WINDOW: usize = 64;

/// The tag of every message.
const TAG: c_int = 77;
/// Room for a status; the largest of any ABI takes 32 bytes.
const STATUS: usize = 64;
/// What stands behind a status must not change.
const CANARY: u8 = 0xa5;
/// The lengths of the first messages.
const FIRST: [usize; 2] = [5, 300];
/// What a library's first call may use of the stack before it has set it.
const STACK: usize = 128 << 10;

type Init = unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
type Finalize = unsafe extern "C" fn() -> c_int;
type OfComm<H> = unsafe extern "C" fn(H, *mut c_int) -> c_int;
type SendTo<H> = unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H) -> c_int;
type ReceiveFrom<H> = unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut c_void) -> c_int;
type StartSend<H> = unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int;
type StartReceive<H> = unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int;
type WaitAll<H> = unsafe extern "C" fn(c_int, *mut H, *mut c_void) -> c_int;
type Probe<H> = unsafe extern "C" fn(c_int, c_int, H, *mut c_void) -> c_int;

struct Calls<H> {
    send: SendTo<H>,
    receive: ReceiveFrom<H>,
    start_send: StartSend<H>,
    start_receive: StartReceive<H>,
    wait_all: WaitAll<H>,
    count: Count<H>,
    probe: Probe<H>,
    finalize: Finalize,
}

/// One of an even number of ranks, between `MPI_Init` and `MPI_Finalize`: each of the first half has its peer in the
/// second one, with which it passes messages.
pub struct Rank<H> {
    calls: Calls<H>,
    collectives: Collectives<H>,
    controls: Option<Controls<H>>,
    files: Option<Files<H>>,
    constants: Constants<H>,
    /// What the library gave of what it was asked for.
    level: Option<ThreadLevel>,
    rank: c_int,
    ranks: usize,
    /// The other one.
    peer: c_int,
    /// Whose messages are received.
    source: c_int,
    requests: [H; WINDOW],
    /// What the library says of what came.
    statuses: [u64; WINDOW * STATUS / 8],
}

impl<H: Handle> Rank<H> {
    fn init(library: &Library, constants: Constants<H>, level: ThreadLevel, ranks: usize) -> Result<Rank<H>> {
        let asked = constants.levels[level as usize];
        // SAFETY: the MPI standard gives each symbol this type, with this ABI's handles.
        let (calls, init, rank_of, size_of) = unsafe {
            let calls = Calls {
                send: library.function::<SendTo<H>>("MPI_Send")?,
                receive: library.function::<ReceiveFrom<H>>("MPI_Recv")?,
                start_send: library.function::<StartSend<H>>("MPI_Isend")?,
                start_receive: library.function::<StartReceive<H>>("MPI_Irecv")?,
                wait_all: library.function::<WaitAll<H>>("MPI_Waitall")?,
                count: library.function::<Count<H>>("MPI_Get_count")?,
                probe: library.function::<Probe<H>>("MPI_Probe")?,
                finalize: library.function::<Finalize>("MPI_Finalize")?,
            };
            let init = library.function::<Init>("MPI_Init_thread")?;
            let rank_of = library.function::<OfComm<H>>("MPI_Comm_rank")?;
            (calls, init, rank_of, library.function::<OfComm<H>>("MPI_Comm_size")?)
        };
        let (mut rank, mut size, mut provided) = (0, 0, 0);
        clear_stack();
        // SAFETY: null arguments are allowed since MPI 2; the others are written to for the time of the call.
        let answers = unsafe {
            let begun = init(null_mut(), null_mut(), asked, &mut provided);
            [begun, rank_of(constants.world, &mut rank), size_of(constants.world, &mut size)]
        };
        let failed = |call| Error::new(call, "the library", io::Error::other("it failed"));
        answers.iter().all(|answer| *answer == 0).then_some(()).ok_or_else(|| failed("MPI_Init_thread"))?;
        if provided < asked {
            let why = io::Error::other(format!("it gives no thread level `{}` but {provided}", level.name()));
            return Err(Error::new("MPI_Init_thread", "the library", why));
        }
        if usize::try_from(size) != Ok(ranks) || !ranks.is_multiple_of(2) {
            // A launcher of another library starts each rank alone, and MPI says nothing of it.
            let why =
                format!("{size} ranks know of each other, not {ranks}: does its launcher belong to it?");
            return Err(Error::new("MPI_Comm_size", "the library", io::Error::other(why)));
        }
        let (requests, half) = ([constants.null_request; WINDOW], size / 2);
        let peer = if rank < half { rank + half } else { rank - half };
        let (collectives, statuses) = (Collectives::load(library)?, [0; WINDOW * STATUS / 8]);
        let (controls, level) =
            (Controls::load(library, constants.levels[0]), ThreadLevel::from_number(provided, &constants));
        let (source, files) = (peer, Files::load(library).ok());
        Ok(Rank {
            calls,
            collectives,
            controls,
            files,
            constants,
            level,
            rank,
            ranks,
            peer,
            source,
            requests,
            statuses,
        })
    }

    /// Its number.
    pub fn rank(&self) -> usize {
        self.rank as usize
    }

    /// How many there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// From now on messages are received from whichever rank sends them (`MPI_ANY_SOURCE`), or from the other one.
    pub fn receive_from_any(&mut self, any: bool) {
        self.source = if any { self.constants.any_source } else { self.peer };
    }

    /// Waits until a message is there, and leaves it there: `MPI_Probe`.
    #[inline]
    pub fn wait_for_message(&mut self) -> io::Result<()> {
        let status = self.statuses.as_mut_ptr().cast();
        // SAFETY: the status has more room than that of any ABI.
        checked(unsafe { (self.calls.probe)(self.source, TAG, self.constants.world, status) })
    }

    /// `MPI_Send` to the other rank.
    #[inline(always)]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (count, byte, world) = (count(bytes)?, self.constants.byte, self.constants.world);
        // SAFETY: the buffer is there for the time of the call.
        checked(unsafe { (self.calls.send)(bytes.as_ptr().cast(), count, byte, self.peer, TAG, world) })
    }

    /// `MPI_Recv` from the other rank; how many bytes came.
    #[inline(always)]
    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let status = self.statuses.as_mut_ptr().cast();
        self.receive_with(room, status)?;
        self.received_bytes(0)
    }

    /// How many bytes the library says that a message had: as `MPI_Get_count` would.
    #[inline(always)]
    fn received_bytes(&self, number: usize) -> io::Result<usize> {
        let (mut bytes, at) = (0, number * self.constants.status_bytes);
        // SAFETY: the library has written so many statuses, each as long as its ABI has it, and there is room for
        // WINDOW of them.
        checked(unsafe {
            let status = self.statuses.as_ptr().cast::<u8>().add(at).cast();
            (self.calls.count)(status, self.constants.byte, &mut bytes)
        })?;
        usize::try_from(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    #[inline(always)]
    fn receive_with(&mut self, room: &mut [u8], status: *mut c_void) -> io::Result<()> {
        let (count, byte, world) = (count(room)?, self.constants.byte, self.constants.world);
        // SAFETY: the buffer is there for the time of the call, and the status is the ABI's word for none, or has
        // more room than that of any ABI.
        checked(unsafe {
            (self.calls.receive)(room.as_mut_ptr().cast(), count, byte, self.source, TAG, world, status)
        })
    }

    /// Sends a message while it receives the other rank's: `MPI_Irecv`, `MPI_Isend`, `MPI_Waitall`. How many bytes came.
    #[inline]
    pub fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        self.exchange_at_work(bytes, room, || ())
    }

    /// The same, with work between `MPI_Isend` and `MPI_Waitall`.
    #[inline]
    pub fn exchange_at_work(
        &mut self,
        bytes: &[u8],
        room: &mut [u8],
        mut work: impl FnMut(),
    ) -> io::Result<usize> {
        let received = self.start_receive(room, 0);
        let sent = received.and_then(|()| self.start_send(bytes, 1));
        let under_way = UnderWay;
        work();
        // Whatever was started ends before the buffers may go.
        let waited = self.wait_all(2, true);
        under_way.over();
        sent.and(waited)?;
        self.received_bytes(0)
    }

    /// Sends so many [`parts`] of a region at once: `MPI_Isend` each, then `MPI_Waitall`.
    #[inline]
    pub fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        let messages = messages.min(WINDOW);
        let mut all = parts(region, len, messages).enumerate();
        let started = all.try_for_each(|(number, bytes)| self.start_send(bytes, number));
        let waited = self.wait_all(messages, false);
        started.and(waited)
    }

    /// Receives a message into each of these rooms of `len` bytes, all of them posted before the first is waited for.
    /// How many bytes came.
    #[inline]
    pub fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
        let messages = messages.min(WINDOW);
        let mut rooms = rooms.chunks_exact_mut(len.max(1));
        let started = (0..messages).try_for_each(|number| match rooms.next() {
            Some(room) => self.start_receive(room, number),
            None => Err(io::ErrorKind::InvalidInput.into()),
        });
        let waited = self.wait_all(messages, true);
        started.and(waited)?;
        (0..messages).try_fold(0, |bytes, number| Ok(bytes + self.received_bytes(number)?))
    }

    /// Private: the buffer must stay until [`wait_all`](Rank::wait_all).
    #[inline]
    fn start_send(&mut self, bytes: &[u8], number: usize) -> io::Result<()> {
        let (count, byte, world) = (count(bytes)?, self.constants.byte, self.constants.world);
        let (peer, request) = (self.peer, &mut self.requests[number]);
        // SAFETY: every caller waits for all requests while it still borrows the buffer.
        checked(unsafe {
            (self.calls.start_send)(bytes.as_ptr().cast(), count, byte, peer, TAG, world, request)
        })
    }

    /// Private, for the same reason.
    #[inline]
    fn start_receive(&mut self, room: &mut [u8], number: usize) -> io::Result<()> {
        let (count, byte, world) = (count(room)?, self.constants.byte, self.constants.world);
        let (source, request) = (self.source, &mut self.requests[number]);
        // SAFETY: as with `start_send`.
        checked(unsafe {
            (self.calls.start_receive)(room.as_mut_ptr().cast(), count, byte, source, TAG, world, request)
        })
    }

    /// Requests that were never started are null, which is waited for at once.
    #[inline]
    fn wait_all(&mut self, messages: usize, receives: bool) -> io::Result<()> {
        let requests = &mut self.requests[..messages];
        let statuses = match receives {
            true => self.statuses.as_mut_ptr().cast(),
            false => self.constants.no_status as *mut c_void,
        };
        // SAFETY: they are requests, or null; the call leaves them null. There is room for as many statuses.
        checked(unsafe { (self.calls.wait_all)(messages as c_int, requests.as_mut_ptr(), statuses) })
    }

    /// Messages each way; where the number of bytes is found in a status as the library tells it, it is read there from now on.
    fn check(&mut self) -> io::Result<()> {
        let mut is_found = true;
        for len in FIRST {
            let message: Vec<u8> = (1..=len).map(|byte| byte as u8).collect();
            if self.rank < self.peer {
                self.send(&message)?;
            }
            is_found &= self.receives_whole(&message)?;
            if self.rank > self.peer {
                self.send(&message)?;
            }
        }
        if let Some(count) = self.constants.count.filter(|_| is_found) {
            self.calls.count = count;
        }
        Ok(())
    }

    /// The status says who sent it, with which tag, and how much; and what lies behind it is untouched. Whether the ABI's place
    /// for the number of bytes says the same.
    fn receives_whole(&mut self, message: &[u8]) -> io::Result<bool> {
        let (mut room, mut status) = ([0u8; 512], [CANARY; STATUS]);
        self.receive_with(&mut room, status.as_mut_ptr().cast())?;
        let word =
            |at: usize| c_int::from_ne_bytes([status[at], status[at + 1], status[at + 2], status[at + 3]]);
        let counted = |by: Count<H>| {
            let mut count = 0;
            // SAFETY: the library has just written the status.
            checked(unsafe { by(status.as_ptr().cast(), self.constants.byte, &mut count) }).map(|()| count)
        };
        let told = (word(self.constants.source_at), word(self.constants.tag_at), counted(self.calls.count)?);
        let (came, behind) = room.split_at(message.len());
        let is_whole = came == message && behind[0] == 0 && status[32..].iter().all(|byte| *byte == CANARY);
        match told == (self.peer, TAG, message.len() as c_int) && is_whole {
            true => Ok(self.constants.count.is_some_and(|by| counted(by).is_ok_and(|count| count == told.2))),
            false => Err(io::Error::other(format!("it is of another ABI: a first message came as {told:?}"))),
        }
    }
}

/// Leaves zeros where the next call has its variables. LAM 7.1.4 gives the kernel some that it has never set, which fails
/// where they are no address that could be.
#[inline(never)]
fn clear_stack() {
    std::hint::black_box(&mut [0_u8; STACK]);
}

/// MPI counts in `int`.
#[inline]
fn count(bytes: &[u8]) -> io::Result<c_int> {
    c_int::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Most errors end the process: `MPI_ERRORS_ARE_FATAL` is what a communicator begins with.
#[inline]
fn checked(answer: c_int) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(refusal(answer)) }
}

#[cold]
fn refusal(answer: c_int) -> io::Error {
    io::Error::other(format!("MPI error {answer}"))
}
