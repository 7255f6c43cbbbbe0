//! Ports that lose what the receiver cannot take, each with a stream beside it on which the ends settle it.

use crate::pattern::{Lossy, Measured, Part, SILENCE, Unreliable, play, poll};
use crate::plan::Block;
use crate::record::Granted;
use crate::transport::connection::channel::send_all;
use crate::transport::{Session, Spec, Task, by_task};
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::socket;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// One such port. It takes a message as a whole, or not at all.
pub trait Port: Send {
    /// The knobs as read back.
    fn granted(&self, spec: &Spec) -> Vec<Granted>;
    /// Both addresses.
    fn endpoints(&self) -> Option<String>;
    /// How long a call may wait in the kernel: to receive, to send.
    fn limit_waits(&self, receive: Duration, send: Duration) -> io::Result<()>;
    /// Sends one message, which may be empty, if there is room now; says whether it went.
    fn send_now(&mut self, message: &[u8]) -> io::Result<bool>;
    /// The same, waiting in the kernel for room; no after an interruption.
    fn send_waiting(&mut self, message: &[u8]) -> io::Result<bool>;
    /// Receives one message that is there already, into the first part of `room`.
    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>>;
    /// The same, waiting in the kernel; none after an interruption, `WouldBlock` at the limit.
    fn receive_waiting(&mut self, room: &mut [u8]) -> io::Result<Option<usize>>;
    /// Waits in the kernel until a message may be there, or the time is over.
    fn wait(&self, limit: Duration) -> io::Result<()>;
    /// Sends what was kept back so that more goes at once.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// How a trial is played: the usual engine, or the one that was asked for.
    fn engine(_spec: &Spec) -> Result<Play<Self>>
    where
        Self: Sized,
    {
        Ok(plain)
    }
}

/// How an engine plays a trial: its own links, with the loops compiled for them.
pub type Play<P> = fn(&mut Connected<P>, &Task, Wait, &[Block]) -> Result<Vec<Vec<Measured>>>;

/// One message a call.
pub fn plain<P: Port>(
    session: &mut Connected<P>,
    task: &Task,
    wait: Wait,
    blocks: &[Block],
) -> Result<Vec<Vec<Measured>>> {
    match wait {
        Wait::Polling => session.play(task, wait, blocks, |ends| Ok(Polling(ends))),
        Wait::Sleeping => session.play(task, wait, blocks, |ends| Ok(Sleeping { ends, sleep: Event })),
    }
}

/// An open session.
pub struct Connected<P> {
    spec: Spec,
    flows: Vec<Flow<P>>,
}

/// One flow.
pub struct Flow<P> {
    /// Where its messages go and come.
    pub port: P,
    beside: TcpStream,
    numbers: Numbers,
}

/// A number of which a part has come.
#[derive(Default)]
struct Numbers {
    bytes: [u8; 8],
    filled: usize,
}

impl<P: Port + 'static> Connected<P> {
    /// A session over connected ports.
    pub fn session(spec: Spec, flows: Vec<(P, TcpStream)>) -> Box<dyn Session> {
        let flows =
            flows.into_iter().map(|(port, beside)| Flow { port, beside, numbers: Numbers::default() });
        Box::new(Connected { flows: flows.collect(), spec })
    }
}

impl<P: Port> Connected<P> {
    /// Plays a trial over the links that `link` makes of the flows.
    pub fn play<'s, L: Lossy + Send>(
        &'s mut self,
        task: &Task,
        wait: Wait,
        blocks: &[Block],
        link: impl Fn(Ends<'s, P>) -> Result<L>,
    ) -> Result<Vec<Vec<Measured>>> {
        let patience = self.spec.patience();
        let parts = self.flows.iter_mut().enumerate().map(|(at, flow)| {
            let link = Unreliable::new(link(Ends { flow, patience })?);
            Ok(Part { link, does: task.does, cpu: task.cpu(at) })
        });
        play(parts.collect::<Result<_>>()?, wait, blocks)
    }
}

impl<P: Port> Session for Connected<P> {
    fn granted(&self) -> Vec<Granted> {
        self.flows.first().map_or(Vec::new(), |flow| flow.port.granted(&self.spec))
    }

    fn endpoints(&self) -> Vec<String> {
        self.flows.iter().filter_map(|flow| flow.port.endpoints()).collect()
    }

    fn waits_on(&self) -> Vec<BorrowedFd<'_>> {
        self.flows.iter().map(|flow| flow.beside.as_fd()).collect()
    }

    fn trial(&mut self, tasks: &[Task], wait: Wait, blocks: &[Block]) -> Result<Vec<Vec<Vec<Measured>>>> {
        let [task] = tasks else {
            return Err(Error::usage(format!("{} takes one task an end", self.spec.transport), ""));
        };
        if self.flows.is_empty() {
            return Err(Error::peer("this session", "was closed by an earlier error", ""));
        }
        let (patience, count) = (self.spec.patience(), self.flows.len());
        for flow in &self.flows {
            let limited = flow.port.limit_waits(SILENCE, patience);
            limited.map_err(|e| Error::io("setsockopt", &*self.spec.transport, e))?;
        }
        let engine = P::engine(&self.spec)?;
        let played = engine(self, task, wait, blocks);
        if played.is_err() {
            // The other end may wait until it hears of it.
            self.flows.clear();
        }
        Ok(by_task(played?, count))
    }
}

/// Both sockets of a flow.
pub struct Ends<'s, P> {
    pub flow: &'s mut Flow<P>,
    /// How long nothing may move.
    pub patience: Duration,
}

/// Asks the kernel again and again.
struct Polling<'s, P>(Ends<'s, P>);

/// Sleeps in the kernel.
pub struct Sleeping<'s, P, S> {
    pub ends: Ends<'s, P>,
    /// What ends a receiver's sleep.
    pub sleep: S,
}

/// What ends the sleep of a receiver that finds nothing.
pub trait Sleep {
    /// Receives one message; none after an interruption, `WouldBlock` at the socket's limit.
    fn receive<P: Port>(&mut self, port: &mut P, room: &mut [u8]) -> io::Result<Option<usize>>;
}

/// The next message: its sender wakes the receiver.
struct Event;

impl Sleep for Event {
    #[inline]
    fn receive<P: Port>(&mut self, port: &mut P, room: &mut [u8]) -> io::Result<Option<usize>> {
        port.receive_waiting(room)
    }
}

impl<P: Port> Ends<'_, P> {
    /// Tells the other end a number.
    pub fn tell(&mut self, number: u64) -> io::Result<()> {
        self.flow.port.flush()?;
        send_all(&self.flow.beside, &number.to_le_bytes())
    }

    /// The other end's number, if it comes in time.
    pub fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        let Flow { port, beside, numbers } = &mut *self.flow;
        port.flush()?;
        socket::wait_readable(beside, limit).map_err(|error| error.source)?;
        match socket::receive_now(beside, &mut numbers.bytes[numbers.filled..])? {
            Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            came => numbers.filled += came.unwrap_or(0),
        }
        if numbers.filled < numbers.bytes.len() {
            return Ok(None);
        }
        numbers.filled = 0;
        Ok(Some(u64::from_le_bytes(numbers.bytes)))
    }

    /// An error once the other end has gone: it sends no datagram that would say so.
    pub fn check(&self) -> io::Result<()> {
        let beside = &self.flow.beside;
        let is_readable = socket::wait_readable(beside, Duration::ZERO).map_err(|error| error.source)?;
        match is_readable && beside.peek(&mut [0])? == 0 {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(()),
        }
    }
}

impl<P: Port> Lossy for Polling<'_, P> {
    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.0.flow.port.flush()
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        // A message goes as a whole; an empty one counts as one byte here, or it would be sent for ever.
        let port = &mut self.0.flow.port;
        poll(self.0.patience, || port.send_now(message).map(usize::from)).map(drop)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        let port = &mut self.0.flow.port;
        let ask = || Ok(port.receive_now(room)?.map_or(0, |length| length + 1));
        match poll(SILENCE, ask) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(None),
            came => Ok(Some(came? - 1)),
        }
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.flow.port.receive_now(room)
    }

    fn tell(&mut self, number: u64) -> io::Result<()> {
        self.0.tell(number)
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        self.0.hear(limit)
    }

    fn check(&self) -> io::Result<()> {
        self.0.check()
    }

    fn patience(&self) -> Duration {
        self.0.patience
    }
}

impl<P: Port, S: Sleep> Lossy for Sleeping<'_, P, S> {
    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.ends.flow.port.flush()
    }

    #[inline]
    fn receive_until(&mut self, room: &mut [u8], until_ns: u64) -> io::Result<Option<usize>> {
        let left = until_ns.saturating_sub(linerate_sys::clock::monotonic_ns());
        self.ends.flow.port.wait(Duration::from_nanos(left).min(self.ends.patience))?;
        self.ends.flow.port.receive_now(room)
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        while !self.ends.flow.port.send_waiting(message)? {}
        Ok(())
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match self.sleep.receive(&mut self.ends.flow.port, room) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            answer => answer,
        }
    }

    fn receive_now(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        self.ends.flow.port.receive_now(room)
    }

    fn tell(&mut self, number: u64) -> io::Result<()> {
        self.ends.tell(number)
    }

    fn hear(&mut self, limit: Duration) -> io::Result<Option<u64>> {
        self.ends.hear(limit)
    }

    fn check(&self) -> io::Result<()> {
        self.ends.check()
    }

    fn patience(&self) -> Duration {
        self.ends.patience
    }
}
