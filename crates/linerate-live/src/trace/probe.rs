//! What is stamped beside the exchanges: nothing, or what the kernel tells any user.

use crate::Result;
use crate::record::TraceSide;
use crate::vocabulary::{ARRIVED, QUEUED, RETURNED, SEND, TRANSMITTED};
use linerate_sys::clock::{monotonic_ns, realtime_ns};
use linerate_sys::run_delay::RunDelay;
use linerate_sys::socket::{receive_now, receive_waiting};
use linerate_sys::stamps::{self, Passed, Sent};
use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Sees each exchange of an end; compiled into its loop.
pub trait Probe {
    /// An exchange is about to begin.
    fn begin(&mut self) {}
    /// The time by which exchanges are stamped.
    fn now(&self) -> u64;
    /// When a message had come and when the answer is about to go, where that is stamped.
    fn between(&self) -> (u64, u64);
    /// Receives what is there, waiting for it in the kernel or not.
    fn receive(&mut self, socket: &TcpStream, room: &mut [u8], waits: bool) -> io::Result<usize>;
    /// An exchange that was asked here is over.
    fn asked(&mut self, exchange: usize, sent: u64, returned: u64) -> io::Result<()>;
    /// One that was answered here is.
    fn answered(&mut self, exchange: usize, returned: u64, sent: u64) -> io::Result<()>;
    /// What was seen but for the first exchanges; the round trips of an end that asked.
    fn end(&mut self, warm_up: usize, side: &mut TraceSide) -> io::Result<Vec<u64>>;
}

/// Sees what another one does, of a program that takes its time before it answers: a fault that is put in by hand.
pub struct Slow<'p, P> {
    probe: &'p mut P,
    pause: Duration,
}

impl<'p, P> Slow<'p, P> {
    /// Waits so long before each answer.
    pub fn new(probe: &'p mut P, pause: Duration) -> Self {
        Slow { probe, pause }
    }
}

impl<P: Probe> Probe for Slow<'_, P> {
    fn begin(&mut self) {
        self.probe.begin();
    }

    fn now(&self) -> u64 {
        self.probe.now()
    }

    fn between(&self) -> (u64, u64) {
        let (returned, _) = self.probe.between();
        std::thread::sleep(self.pause);
        (returned, self.probe.between().1)
    }

    fn receive(&mut self, socket: &TcpStream, room: &mut [u8], waits: bool) -> io::Result<usize> {
        self.probe.receive(socket, room, waits)
    }

    fn asked(&mut self, exchange: usize, sent: u64, returned: u64) -> io::Result<()> {
        self.probe.asked(exchange, sent, returned)
    }

    fn answered(&mut self, exchange: usize, returned: u64, sent: u64) -> io::Result<()> {
        self.probe.answered(exchange, returned, sent)
    }

    fn end(&mut self, warm_up: usize, side: &mut TraceSide) -> io::Result<Vec<u64>> {
        self.probe.end(warm_up, side)
    }
}

/// Only the round trips.
pub struct Untraced(Vec<u64>);

impl Untraced {
    /// Room for so many.
    pub fn new(exchanges: usize) -> Untraced {
        Untraced(Vec::with_capacity(exchanges))
    }
}

#[inline]
fn received(socket: &TcpStream, room: &mut [u8], waits: bool) -> io::Result<usize> {
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
    fn between(&self) -> (u64, u64) {
        (0, 0)
    }

    #[inline]
    fn receive(&mut self, socket: &TcpStream, room: &mut [u8], waits: bool) -> io::Result<usize> {
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

    fn end(&mut self, warm_up: usize, _: &mut TraceSide) -> io::Result<Vec<u64>> {
        Ok(self.0.split_off(warm_up.min(self.0.len())))
    }
}

/// Level 1: the program's own stamps, by the clock of the tracepoints, which see the rest meanwhile.
pub struct Timed {
    sent: Vec<u64>,
    returned: Vec<u64>,
}

impl Timed {
    /// Room for so many.
    pub fn new(exchanges: usize) -> Timed {
        Timed { sent: Vec::with_capacity(exchanges), returned: Vec::with_capacity(exchanges) }
    }

    /// When each exchange's message was sent, and when what was received had come.
    pub fn own(&self) -> (&[u64], &[u64]) {
        (&self.sent, &self.returned)
    }
}

impl Probe for Timed {
    #[inline]
    fn now(&self) -> u64 {
        monotonic_ns()
    }

    #[inline]
    fn between(&self) -> (u64, u64) {
        (monotonic_ns(), monotonic_ns())
    }

    #[inline]
    fn receive(&mut self, socket: &TcpStream, room: &mut [u8], waits: bool) -> io::Result<usize> {
        received(socket, room, waits)
    }

    #[inline]
    fn asked(&mut self, _: usize, sent: u64, returned: u64) -> io::Result<()> {
        self.sent.push(sent);
        self.returned.push(returned);
        Ok(())
    }

    #[inline]
    fn answered(&mut self, exchange: usize, returned: u64, sent: u64) -> io::Result<()> {
        self.asked(exchange, sent, returned)
    }

    fn end(&mut self, warm_up: usize, _: &mut TraceSide) -> io::Result<Vec<u64>> {
        let times = self.sent.iter().zip(&self.returned).skip(warm_up);
        Ok(times.map(|(sent, returned)| returned.saturating_sub(*sent)).collect())
    }
}

/// The points at which a message is stamped here.
const POINTS: [&str; 5] = [SEND.name, QUEUED.name, TRANSMITTED.name, ARRIVED.name, RETURNED.name];
const AT_SEND: usize = 0;
const AT_QUEUED: usize = 1;
const AT_TRANSMITTED: usize = 2;
const AT_ARRIVED: usize = 3;
const AT_RETURNED: usize = 4;

/// How long what was sent last may take until its stamps are there.
const LAST: Duration = Duration::from_millis(100);

/// Level 0: the program's own stamps, the kernel's of the socket (`SO_TIMESTAMPING`), and how long the thread waited for its CPU.
pub struct Stamped<'s> {
    socket: &'s TcpStream,
    /// Where the calls end in which a message goes; the last one is its end.
    cuts: Vec<usize>,
    /// Bytes that are sent before the first message.
    ahead: u64,
    exchanges: usize,
    /// Point after point, all exchanges; 0 is none.
    times: Vec<u64>,
    arrived: u64,
    run_delay: Option<RunDelay>,
    delay_before: u64,
    delays: Vec<u64>,
    strays: u64,
}

impl<'s> Stamped<'s> {
    /// Asks the kernel for stamps.
    pub fn new(socket: &'s TcpStream, cuts: Vec<usize>, exchanges: usize, ahead: u64) -> Result<Self> {
        stamps::ask(socket)?;
        Ok(Stamped {
            socket,
            cuts,
            ahead,
            exchanges,
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
        if let Some(time) = self.times.get_mut(point * self.exchanges + exchange) {
            *time = ns;
        }
    }

    #[inline]
    fn over(&mut self, exchange: usize, sent: u64, returned: u64) -> io::Result<()> {
        self.put(AT_SEND, exchange, sent);
        self.put(AT_RETURNED, exchange, returned);
        let arrived = std::mem::take(&mut self.arrived);
        self.put(AT_ARRIVED, exchange, arrived);
        self.drain()?;
        if let Some(delay) = self.run_delay.as_ref().and_then(RunDelay::read) {
            self.delays.push(delay.saturating_sub(self.delay_before));
            self.delay_before = delay;
        }
        Ok(())
    }

    /// Takes the stamps that are there.
    #[inline]
    fn drain(&mut self) -> io::Result<()> {
        while let Some(sent) = stamps::next_sent(self.socket)? {
            self.take(sent);
        }
        Ok(())
    }

    /// The id is the place of a message's last byte in the stream: of another byte it is of no message.
    #[inline]
    fn take(&mut self, Sent { passed, id, ns }: Sent) {
        let end = u64::from(id) + 1;
        let Some(behind) = end.checked_sub(self.ahead) else { return self.strays += 1 };
        // What is ahead of the messages has stamps too.
        if behind == 0 {
            return;
        }
        let message_bytes = self.cuts.last().map_or(1, |end| (*end).max(1)) as u64;
        let exchange = usize::try_from(behind / message_bytes).unwrap_or(usize::MAX);
        let within = behind % message_bytes;
        // Of a message that goes in several calls the last one counts.
        if within != 0 && self.cuts.contains(&(within as usize)) && exchange < self.exchanges {
            return;
        }
        if within != 0 || exchange > self.exchanges {
            return self.strays += 1;
        }
        let point = match passed {
            Passed::Queued => AT_QUEUED,
            Passed::Transmitted => AT_TRANSMITTED,
        };
        self.put(point, exchange - 1, ns);
    }

    fn column(&self, point: usize) -> &[u64] {
        &self.times[point * self.exchanges..(point + 1) * self.exchanges]
    }
}

impl Probe for Stamped<'_> {
    #[inline]
    fn begin(&mut self) {
        // The count is of the thread that opens it: the loop's own.
        if self.run_delay.is_none() && self.delays.is_empty() {
            self.run_delay = RunDelay::open().ok();
            self.delay_before = self.run_delay.as_ref().and_then(RunDelay::read).unwrap_or_default();
        }
    }

    #[inline]
    fn now(&self) -> u64 {
        realtime_ns()
    }

    #[inline]
    fn between(&self) -> (u64, u64) {
        (realtime_ns(), realtime_ns())
    }

    #[inline]
    fn receive(&mut self, socket: &TcpStream, room: &mut [u8], waits: bool) -> io::Result<usize> {
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

    fn end(&mut self, warm_up: usize, side: &mut TraceSide) -> io::Result<Vec<u64>> {
        let begun = Instant::now();
        while self.column(AT_TRANSMITTED).last() == Some(&0) && begun.elapsed() < LAST {
            self.drain()?;
            std::thread::yield_now();
        }
        let first =
            self.column(AT_SEND).iter().chain(self.column(AT_ARRIVED)).copied().filter(|ns| *ns > 0).min();
        let first = first.unwrap_or_default();
        for (point, name) in POINTS.iter().enumerate() {
            let counted = &self.column(point)[warm_up.min(self.exchanges)..];
            let since = |ns: &u64| ns.checked_sub(first).filter(|_| *ns > 0);
            side.points.insert((*name).into(), counted.iter().map(since).collect());
        }
        // A count for each exchange, or none.
        let is_counted = self.delays.len() == self.exchanges;
        side.run_delay_ns =
            if is_counted { self.delays.split_off(warm_up.min(self.exchanges)) } else { Vec::new() };
        side.stray_events = self.strays;
        let times = self.column(AT_SEND).iter().zip(self.column(AT_RETURNED)).skip(warm_up);
        Ok(times.map(|(sent, returned)| returned.saturating_sub(*sent)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn ids_of_no_message_are_counted_and_put_nowhere() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut stamped = Stamped::new(&socket, vec![0, 10], 3, 1).unwrap();
        let sent = |id| Sent { passed: Passed::Queued, id, ns: 7 };
        stamped.take(sent(0));
        assert_eq!(stamped.strays, 0, "the byte ahead of them");
        stamped.take(sent(10));
        stamped.take(sent(30));
        assert_eq!((stamped.strays, stamped.column(AT_QUEUED)), (0, &[7, 0, 7][..]));
        for id in [5, 29, 40, u32::MAX] {
            stamped.take(sent(id));
        }
        assert_eq!((stamped.strays, stamped.column(AT_QUEUED)), (4, &[7, 0, 7][..]));
        stamped.cuts = vec![0, 5, 10];
        stamped.take(sent(15));
        assert_eq!(stamped.strays, 4, "the first of two calls of the second message");
        stamped.take(sent(20));
        assert_eq!(stamped.column(AT_QUEUED), [7, 7, 7]);
    }
}
