//! A message layer of the program's own over one TCP connection: what message passing must cost at least.
//!
//! Tagged messages, blocking and asynchronous, that move whether or not a call is made: the counterpart of MP_Lite
//! (D. Turner, X. Chen: Protocol-dependent message-passing performance on Linux clusters, IEEE Cluster 2002).
//!
//! | file | duty |
//! |---|---|
//! | [`layer`] | the calls: send, receive, start, wait |
//! | `progress` | who moves the bytes: a call, else a thread |
//! | `engine` | moves messages over the socket |
//! | `matching` | which receive takes which message |
//! | `leaving` | a message on its way out |
//! | `ahead` | what was read and not yet sorted |
//! | `wire` | the header |

mod ahead;
mod engine;
pub mod layer;
mod leaving;
mod matching;
mod progress;
#[cfg(test)]
mod tests;
mod wire;

use super::connection::channel::Channel;
use super::connection::meeting::Meeting;
use super::{Offer, Pending, Session, Spec, Task, Transport, by_task, granted};
use crate::pattern::{Measured, Part, Passed, Passing, play};
use crate::plan::Block;
use crate::record::Granted;
use crate::vocabulary::Wait;
use crate::{Error, Result};
use layer::{Layer, Waits};
use linerate_sys::messages::{Messages, Windows, parts};
use linerate_sys::socket;
use std::io;
use std::net::TcpStream;
use std::os::fd::BorrowedFd;

/// The knob of who makes progress while no call is made.
const PROGRESS: &str = "lite.progress";

/// Its usual value, a thread of the layer's own, and a signal's handler.
const THREAD: &str = "thread";
const SIGNAL: &str = "signal";

/// The tag of every message of the loops: their order is that of one tag.
const TAG: u32 = 1;

/// The transport.
pub struct Lite;

/// The instance for the table.
pub const LITE: Lite = Lite;

impl Transport for Lite {
    fn name(&self) -> &'static str {
        "lite"
    }

    fn offer(&'static self, spec: &Spec) -> Result<(Box<dyn Pending>, Offer)> {
        if spec.flows != 1 {
            return Err(Error::unavailable("several flows between two ranks", "flows = [1]"));
        }
        let (meeting, offer) = Meeting::<TcpStream>::offer(spec)?;
        Ok((Box::new(End { spec: spec.clone(), meeting }), offer))
    }
}

/// An end that is about to meet the other one.
struct End {
    spec: Spec,
    meeting: Meeting<TcpStream>,
}

impl Pending for End {
    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.meeting.waits_on()
    }

    fn join(self: Box<Self>, other: &Offer) -> Result<Box<dyn Session>> {
        let End { spec, meeting } = *self;
        let missing = || Error::peer("the other end", "made no connection", "");
        let stream = meeting.meet(other)?.pop().ok_or_else(missing)?;
        let own = stream.try_clone().map_err(|e| Error::io("dup", "TCP socket", e))?;
        let layer = Layer::open(own, progress(&spec) == THREAD, spec.patience())?;
        Ok(Box::new(Open { spec, stream, layer: Some(layer) }))
    }
}

/// Who makes progress while no call is made.
fn progress(spec: &Spec) -> &str {
    spec.value(PROGRESS).unwrap_or(THREAD)
}

/// A session of two ranks, at one end.
struct Open {
    spec: Spec,
    stream: TcpStream,
    /// None after an error: the other end has heard of it.
    layer: Option<Layer>,
}

impl Session for Open {
    fn granted(&self) -> Vec<Granted> {
        let mut all = Channel::granted(&self.stream, &self.spec);
        // The layer has its own way to the kernel.
        all.retain(|one| !one.knob.ends_with("-engine"));
        all.push(granted(&self.spec, PROGRESS, progress(&self.spec)));
        all
    }

    fn endpoints(&self) -> Vec<String> {
        Channel::endpoints(&self.stream).into_iter().collect()
    }

    fn sockets(&self) -> Vec<&TcpStream> {
        vec![&self.stream]
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let [task] = tasks else {
            return Err(Error::unavailable("both directions at once between two ranks", "take ping-ping"));
        };
        let closed = || Error::peer("this session", "was closed by an earlier error", "");
        let layer = self.layer.as_mut().ok_or_else(closed)?;
        layer.wait_by(match wait {
            Wait::Polling => Waits::Polling,
            Wait::Sleeping => Waits::Sleeping,
        });
        let played = if progress(&self.spec) == SIGNAL {
            played(Rank::<true> { layer, lent: None }, task, wait, blocks)
        } else {
            played(Rank::<false> { layer, lent: None }, task, wait, blocks)
        };
        if played.is_err() {
            // The other end may sleep until it hears of it.
            socket::shut_down(&self.stream);
            self.layer = None;
        }
        played.map(|measured| by_task(measured, 1))
    }
}

fn played(
    rank: impl Passing + Send,
    task: &Task,
    wait: Wait,
    blocks: &[Block],
) -> Result<Vec<Vec<Measured>>> {
    play(vec![Part { link: Passed::new(rank), does: task.does, cpu: task.cpu(0) }], wait, blocks)
}

/// An end as the loops see it; one whose work signals may interrupt, or not.
struct Rank<'l, const SIGNALS: bool> {
    layer: &'l mut Layer,
    /// What an asynchronous exchange gives to the layer, which gives it back: what is sent, and a room.
    lent: Option<[Vec<u8>; 2]>,
}

impl<const SIGNALS: bool> Messages for Rank<'_, SIGNALS> {
    #[inline]
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.layer.send(TAG, bytes)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.layer.receive(TAG, room)
    }

    #[inline]
    fn exchange(&mut self, bytes: &[u8], room: &mut [u8]) -> io::Result<usize> {
        self.layer.exchange(TAG, bytes, room)
    }

    /// By asynchronous calls. Their bytes are the layer's until they are waited for: not those of this call.
    #[inline]
    fn exchange_at_work(
        &mut self,
        _bytes: &[u8],
        _room: &mut [u8],
        mut work: impl FnMut(),
    ) -> io::Result<usize> {
        let [bytes, room] = self.lent.take().ok_or(io::ErrorKind::InvalidInput)?;
        let received = self.layer.start_receive(TAG, room)?;
        let sent = self.layer.start_send(TAG, bytes)?;
        if SIGNALS {
            self.layer.work_interrupted(&mut work)?;
        } else {
            work();
        }
        let (received, sent) = (self.layer.wait(received)?, self.layer.wait(sent)?);
        self.lent = Some([sent.bytes, received.bytes]);
        Ok(received.came)
    }
}

impl<const SIGNALS: bool> Windows for Rank<'_, SIGNALS> {
    /// Each goes to the kernel from where it lies; what does not go at once goes while the call waits.
    fn send_window(&mut self, region: &[u8], len: usize, messages: usize) -> io::Result<()> {
        parts(region, len, messages).try_for_each(|bytes| self.layer.send(TAG, bytes))
    }

    fn receive_window(&mut self, rooms: &mut [u8], len: usize, messages: usize) -> io::Result<usize> {
        self.layer.receive_all(TAG, rooms, len, messages)
    }
}

impl<const SIGNALS: bool> Passing for Rank<'_, SIGNALS> {
    fn ready(&mut self, bytes: usize) -> io::Result<()> {
        // Written to, so that no page of it is missing in the loop.
        self.lent = Some([vec![1; bytes], vec![1; bytes]]);
        Ok(())
    }
}
