//! A file, or a folder, from one host to another: parallel streams that take range after range, each verified where it came.
//!
//! Both ends are asked by the controller, one request after the other: the source is opened, the destination's part is, the
//! ends meet, the bytes cross, and the part gets its name once both ends have told the same digest. That comparison goes by
//! control, not by the streams: what somebody changed on the way has another digest.
//!
//! | part | does |
//! |---|---|
//! | `ask` | what the controller asks, and what is answered |
//! | `range` | the file in ranges, and their digests |
//! | `tree` | a folder as one sequence of bytes |
//! | `source`, `sink` | the two files or folders, or memory in their place |
//! | `direct` | a file past the page cache |
//! | `part` | what is received, while it is not whole |
//! | `journal` | which ranges are there, for who resumes |
//! | `frame` | what stands before each range on a stream |
//! | `send`, `receive` | a stream's loop |
//! | `team` | the streams of an end: their threads, and what ends them |
//! | `whereabouts` | whether the destination is the source, or within it |
//! | `meter` | where a stream's time goes |
//! | `fault` | what speaks against it, and what to try |

pub mod ask;
mod direct;
mod fault;
mod frame;
mod journal;
mod list;
mod meter;
mod part;
mod range;
mod receive;
mod send;
mod sink;
mod source;
mod team;
mod tree;
mod whereabouts;

pub use ask::{
    Answered, FinishRequest, Held, OfferRequest, Opened, Prepared, ReceiveRequest, Request, SendRequest,
    SinkRequest, SourceRequest,
};

use crate::transport::Rendezvous;
use crate::{Error, Result};
use linerate_sys::clock::monotonic_ns;
use range::{Division, hex};
use sink::Sink;
use source::Source;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use team::Team;

/// What an agent has of the transfer under way; one at a time.
#[derive(Default)]
pub struct Transfers {
    source: Mutex<Option<Arc<Source>>>,
    sink: Mutex<Option<Arc<Sink>>>,
    meeting: Mutex<Option<(Rendezvous, u64)>>,
    moved: AtomicU64,
}

impl Transfers {
    /// Does what the controller asks.
    pub fn handle(&self, request: Request) -> Result<Answered> {
        match request {
            Request::Source(request) => {
                let (source, opened) = Source::open(&request)?;
                *lock(&self.source) = Some(Arc::new(source));
                Ok(Answered::Opened(opened))
            }
            Request::Sink(request) => {
                // The lock of an earlier one goes first.
                *lock(&self.sink) = None;
                let (sink, prepared) = Sink::open(&request)?;
                *lock(&self.sink) = Some(Arc::new(sink));
                Ok(Answered::Prepared(prepared))
            }
            Request::Offer(request) => {
                let (meeting, offer) = match &request.cipher {
                    None => Rendezvous::offer(&request.spec)?,
                    Some(cipher) => Rendezvous::offer_sealed(&request.spec, cipher)?,
                };
                *lock(&self.meeting) = Some((meeting, request.spec.patience_ms));
                Ok(Answered::Offered(offer))
            }
            Request::Send(request) => self.send(&request),
            Request::Receive(request) => self.receive(&request),
            Request::Progress => Ok(Answered::Moved(self.moved.load(Ordering::Relaxed))),
            Request::Finish(request) => {
                let sink = lock(&self.sink).take().ok_or_else(out_of_turn)?;
                sink.finish(&request).map(|()| Answered::Done)
            }
        }
    }

    fn team(&self, other: &crate::transport::Offer) -> Result<Team> {
        let (meeting, patience_ms) = lock(&self.meeting).take().ok_or_else(out_of_turn)?;
        Team::new(meeting.meet(other)?, patience_ms)
    }

    fn send(&self, request: &SendRequest) -> Result<Answered> {
        let source = lock(&self.source).take().ok_or_else(out_of_turn)?;
        let division = Division::new(source.bytes(), request.range_bytes)?;
        let job = send::Sending::new(&source, division, &request.held, request.verify)?;
        let mut team = self.team(&request.other)?;
        self.moved.store(0, Ordering::Relaxed);
        let begun = monotonic_ns();
        let mut end = team.play(begun, |stream, meter| job.play(stream, meter, &self.moved))?;
        source.is_unchanged()?;
        end.held_bytes = job.held_bytes();
        end.file_io = source.file_io();
        end.digest = job.digest()?.map(|digest| hex(&digest));
        end.done_ns = end.last_done_ns;
        Ok(Answered::Ended(Box::new(end)))
    }

    fn receive(&self, request: &ReceiveRequest) -> Result<Answered> {
        let sink = lock(&self.sink).clone().ok_or_else(out_of_turn)?;
        let job = receive::Receiving::new(&sink, request.verify);
        let mut team = self.team(&request.other)?;
        self.moved.store(0, Ordering::Relaxed);
        let begun = monotonic_ns();
        team.let_begin()?;
        let mut end = team.play(begun, |stream, meter| job.play(stream, meter, &self.moved))?;
        job.is_whole()?;
        sink.complete()?;
        end.held_bytes = job.held_bytes();
        end.file_io = sink.file_io();
        end.digest = job.digest()?.map(|digest| hex(&digest));
        end.sync_ns = request.sync.then(|| sink.sync()).transpose()?;
        end.done_ns = monotonic_ns() - begun;
        Ok(Answered::Ended(Box::new(end)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn out_of_turn() -> Error {
    Error::usage("a transfer was asked to go on that has not begun", "are both ends of the same version?")
}
