//! What is stamped beside the exchanges: nothing, or what the kernel tells any user (level 0).

use super::ids::{Ids, Of};
use super::sample::Sample;
use crate::Result;
use crate::record::TraceSide;
use crate::vocabulary::{ARRIVED, QUEUED, RETURNED, SEND, TRANSMITTED};
use linerate_sys::clock::{monotonic_ns, realtime_ns};
use linerate_sys::run_delay::RunDelay;
use linerate_sys::socket::{receive_now, receive_waiting, send_waiting};
use linerate_sys::stamps::{self, Passed, Sent};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Sees each exchange of an end; compiled into its loop.
pub trait Probe {
    /// An exchange is about to begin: of an end that answers the one that is expected next.
    fn begin(&mut self, _exchange: usize) {}
    /// The time by which exchanges are stamped.
    fn now(&self) -> u64;
    /// When a message had come and when the answer is about to go, where that is stamped.
    fn between(&mut self, exchange: usize) -> (u64, u64);
    /// Sends what the kernel takes.
    #[inline]
    fn send(&mut self, socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        send_waiting(socket, bytes)
    }
    /// Receives what is there, waiting for it in the kernel or not.
    fn receive(&mut self, socket: &impl AsFd, room: &mut [u8], waits: bool) -> io::Result<usize>;
    /// An exchange that was asked here is over.
    fn asked(&mut self, exchange: usize, sent: u64, returned: u64) -> io::Result<()>;
    /// One that was answered here is.
    fn answered(&mut self, exchange: usize, returned: u64, sent: u64) -> io::Result<()>;
    /// One that was lost on its way; whether this end had sent its message. A connection loses none.
    fn lost(&mut self, exchange: usize, was_sent: bool) -> io::Result<()>;
    /// What was seen of those that were stamped, but for the first exchanges; the round trips of all of an end that asked, 0 of one that was lost.
    fn end(&mut self, warm_up: usize, side: &mut TraceSide) -> io::Result<Vec<u64>>;
}

/// Only the round trips.
pub struct Untraced(Vec<u64>);

impl Untraced {
    /// Room for so many.
    pub fn new(exchanges: usize) -> Untraced {
        Untraced(Vec::with_capacity(exchanges))
    }
}

/// Receives what is there, waiting for it in the kernel or not.
#[inline]
pub fn received(socket: &impl AsFd, room: &mut [u8], waits: bool) -> io::Result<usize> {
    match waits {
        true => receive_waiting(socket, room)?.ok_or_else(|| io::ErrorKind::Interrupted.into()),
        false => receive_now(socket, room)?.ok_or_else(|| io::ErrorKind::WouldBlock.into()),
    }
}

impl Probe for Untraced {
    #[inline]
    fn now(&self) -> u64 {
        monotonic_ns()
    }

    #[inline]
    fn between(&mut self, _: usize) -> (u64, u64) {
        (0, 0)
    }

    #[inline]
    fn receive(&mut self, socket: &impl AsFd, room: &mut [u8], waits: bool) -> io::Result<usize> {
        received(socket, room, waits)
    }

    #[inline]
    fn asked(&mut self, _: usize, sent: u64, returned: u64) -> io::Result<()> {
        self.0.push(returned - sent);
        Ok(())
    }

    #[inline]
    fn answered(&mut self, _: usize, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn lost(&mut self, _: usize, was_sent: bool) -> io::Result<()> {
        self.0.extend(was_sent.then_some(0));
        Ok(())
    }

    fn end(&mut self, warm_up: usize, _: &mut TraceSide) -> io::Result<Vec<u64>> {
        Ok(self.0.split_off(warm_up.min(self.0.len())))
    }
}

/// The points at which a message is stamped here.
const POINTS: [&str; 5] = [SEND.name, QUEUED.name, TRANSMITTED.name, ARRIVED.name, RETURNED.name];
const AT_SEND: usize = 0;
const AT_QUEUED: usize = 1;
const AT_TRANSMITTED: usize = 2;
const AT_ARRIVED: usize = 3;
const AT_RETURNED: usize = 4;

/// No exchange: its stamps are kept nowhere.
const LOST: usize = usize::MAX;

/// How long what was sent last may take until its stamps are there.
const LAST: Duration = Duration::from_millis(100);

/// Level 0: the program's own stamps, the kernel's of the socket (`SO_TIMESTAMPING`), and how long the thread waited for its CPU.
pub struct Stamped<'s, S> {
    socket: &'s S,
    ids: Ids,
    exchanges: usize,
    sample: Sample,
    /// Whether the exchange under way is stamped.
    is_stamped: bool,
    /// Point after point, all exchanges; 0 is none.
    times: Vec<u64>,
    arrived: u64,
    run_delay: Option<RunDelay>,
    delay_before: u64,
    delays: Vec<u64>,
    strays: u64,
}

impl<'s, S: AsFd> Stamped<'s, S> {
    /// Asks the kernel for stamps of these exchanges.
    pub fn new(socket: &'s S, ids: Ids, exchanges: usize, sample: Sample) -> Result<Self> {
        match ids {
            Ids::Bytes { .. } => stamps::ask(socket)?,
            Ids::Datagrams(_) => stamps::ask_of_datagrams(socket)?,
        }
        Ok(Stamped {
            socket,
            ids,
            exchanges,
            sample,
            is_stamped: false,
            times: vec![0; POINTS.len() * exchanges],
            arrived: 0,
            run_delay: None,
            delay_before: 0,
            delays: Vec::with_capacity(exchanges),
            strays: 0,
        })
    }

    /// Asks for none any more.
    pub fn cease(&self) -> Result<()> {
        stamps::cease(self.socket).map_err(Into::into)
    }

    #[inline]
    fn put(&mut self, point: usize, exchange: usize, ns: u64) {
        if exchange >= self.exchanges {
            return;
        }
        if let Some(time) = self.times.get_mut(point * self.exchanges + exchange) {
            *time = ns;
        }
    }

    #[inline]
    fn over(&mut self, exchange: usize, sent: u64, returned: u64) -> io::Result<()> {
        self.put(AT_SEND, exchange, sent);
        self.put(AT_RETURNED, exchange, returned);
        let arrived = std::mem::take(&mut self.arrived);
        if !self.sample.has(exchange) {
            return Ok(());
        }
        self.put(AT_ARRIVED, exchange, arrived);
        if let Ids::Datagrams(of) = &mut self.ids {
            of.push(exchange);
        }
        self.settle()
    }

    /// What is told of every exchange that is stamped, also of one that was lost.
    #[inline]
    fn settle(&mut self) -> io::Result<()> {
        self.drain()?;
        if let Some(delay) = self.delay() {
            self.delays.push(delay.saturating_sub(self.delay_before));
            self.delay_before = delay;
        }
        Ok(())
    }

    fn delay(&self) -> Option<u64> {
        self.run_delay.as_ref().and_then(RunDelay::read)
    }

    /// Takes the stamps that are there.
    #[inline]
    fn drain(&mut self) -> io::Result<()> {
        while let Some(sent) = stamps::next_sent(self.socket)? {
            self.take(sent);
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, Sent { passed, id, ns }: Sent) {
        let exchange = match self.ids.message_of(id, self.exchanges) {
            Of::Exchange(exchange) => exchange,
            Of::Part => return,
            Of::None => return self.strays += 1,
        };
        let point = match passed {
            Passed::Queued => AT_QUEUED,
            Passed::Transmitted => AT_TRANSMITTED,
        };
        self.put(point, exchange, ns);
    }

    fn column(&self, point: usize) -> &[u64] {
        &self.times[point * self.exchanges..(point + 1) * self.exchanges]
    }
}

impl<S: AsFd> Probe for Stamped<'_, S> {
    #[inline]
    fn begin(&mut self, exchange: usize) {
        self.is_stamped = self.sample.has(exchange);
        // The count is of the thread that opens it: the loop's own.
        let is_first = self.run_delay.is_none() && self.delays.is_empty();
        if is_first {
            self.run_delay = RunDelay::open().ok();
        }
        // Where all are stamped it was read when the one before was over.
        if is_first || self.is_stamped && self.sample.leaves_out() {
            self.delay_before = self.delay().unwrap_or(self.delay_before);
        }
    }

    #[inline]
    fn now(&self) -> u64 {
        realtime_ns()
    }

    #[inline]
    fn between(&mut self, exchange: usize) -> (u64, u64) {
        // Of datagrams another one may have come than was expected.
        self.is_stamped = self.sample.has(exchange);
        if self.is_stamped { (realtime_ns(), realtime_ns()) } else { (0, 0) }
    }

    #[inline]
    fn send(&mut self, socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        if self.is_stamped { stamps::send(socket, bytes) } else { send_waiting(socket, bytes) }
    }

    #[inline]
    fn receive(&mut self, socket: &impl AsFd, room: &mut [u8], waits: bool) -> io::Result<usize> {
        if !self.is_stamped {
            return received(socket, room, waits);
        }
        let (bytes, arrived) = stamps::receive(socket, room, waits)?;
        self.arrived = arrived.unwrap_or(self.arrived);
        Ok(bytes)
    }

    #[inline]
    fn asked(&mut self, exchange: usize, sent: u64, returned: u64) -> io::Result<()> {
        self.over(exchange, sent, returned)
    }

    #[inline]
    fn answered(&mut self, exchange: usize, returned: u64, sent: u64) -> io::Result<()> {
        self.over(exchange, sent, returned)
    }

    #[inline]
    fn lost(&mut self, exchange: usize, was_sent: bool) -> io::Result<()> {
        if !self.sample.has(exchange) {
            return Ok(());
        }
        if !was_sent {
            // It is told with the next one that came, whose arrival is known already.
            self.delays.extend(self.run_delay.as_ref().map(|_| 0));
            return Ok(());
        }
        if let Ids::Datagrams(of) = &mut self.ids {
            of.push(LOST);
        }
        self.arrived = 0;
        self.settle()
    }

    fn end(&mut self, warm_up: usize, side: &mut TraceSide) -> io::Result<Vec<u64>> {
        let begun = Instant::now();
        while self.sample.stamped(self.column(AT_TRANSMITTED), 0).last() == Some(&0) && begun.elapsed() < LAST
        {
            self.drain()?;
            std::thread::yield_now();
        }
        let first =
            self.column(AT_SEND).iter().chain(self.column(AT_ARRIVED)).copied().filter(|ns| *ns > 0).min();
        let first = first.unwrap_or_default();
        for (point, name) in POINTS.iter().enumerate() {
            let counted = self.sample.stamped(self.column(point), warm_up);
            let since = |ns: &u64| ns.checked_sub(first).filter(|_| *ns > 0);
            side.points.insert((*name).into(), counted.iter().map(since).collect());
        }
        // A count for each that is stamped, or none.
        let stamped = self.sample.stamped(&vec![(); self.exchanges], 0).len();
        let counted = self.sample.stamped(&vec![(); self.exchanges], warm_up).len();
        let is_counted = self.delays.len() == stamped;
        side.run_delay_ns = if is_counted { self.delays.split_off(stamped - counted) } else { Vec::new() };
        side.stray_events = self.strays;
        let times = self.column(AT_SEND).iter().zip(self.column(AT_RETURNED)).skip(warm_up);
        Ok(times.map(|(sent, returned)| returned.saturating_sub(*sent)).collect())
    }
}

#[cfg(test)]
mod tests;
