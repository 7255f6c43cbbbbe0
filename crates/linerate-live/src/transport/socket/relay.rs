//! A known fault on the way: a relay that stores and forwards, and waits before messages of some size.
//!
//! It stands between the two ends of a TCP session, in the passive end's process, with connections of its
//! own. A *message* is what came in one direction since the other direction last moved: of a ping-pong,
//! exactly its messages. The byte with which a message reaches the threshold is held back by the delay,
//! and all after it; what came before has gone on at once. Or it is the small answers that wait, those of
//! the passive end: until more has come than they have, or the delay is over.

use crate::transport::Spec;
use crate::transport::connection::family::GREETING_LEN;
use crate::transport::connection::place::Protocol;
use crate::unit::{Bytes, Nanoseconds};
use crate::{Error, Result};
use linerate_sys::socket::{self, TcpOptions};
use linerate_sys::thread::{self, lower_timer_slack};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is read at once.
const ROOM: usize = 256 << 10;

/// How long the inner end may take to be reached: it is in this process.
const REACHED: Duration = Duration::from_secs(5);

/// The direction to the passive end, and the one from it.
const REQUESTS: usize = 0;
const ANSWERS: usize = 1;

/// Delay and threshold, where a relay was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relay {
    delay: Duration,
    threshold: u64,
    /// The size from which on nothing waits, where small answers do.
    below: Option<u64>,
}

/// The relay's listener; dropping it ends the thread that accepts.
#[derive(Debug)]
pub struct Accepting {
    listener: Arc<TcpListener>,
    stop: Arc<AtomicBool>,
}

/// How far both directions have come since the last turn.
#[derive(Default)]
struct Turns {
    /// Which direction moved last: 0 or 1.
    last: AtomicU64,
    /// Bytes that came in that direction since it did.
    came: [AtomicU64; 2],
}

impl Relay {
    /// The relay among a session's settings.
    pub fn from_spec(spec: &Spec) -> Option<Relay> {
        let delay = spec.parsed::<Nanoseconds>("relay.delay")?.0 as u64;
        let threshold = spec.parsed::<Bytes>("relay.threshold").map_or(1, |bytes| bytes.0);
        let below = spec.parsed::<Bytes>("relay.below").map(|bytes| bytes.0);
        (delay > 0).then_some(Relay { delay: Duration::from_nanos(delay), threshold, below })
    }

    /// Listens beside the inner listener, which is reached through it from now on.
    pub fn stand_before(
        self,
        inner: SocketAddr,
        spec: &Spec,
        options: TcpOptions,
    ) -> Result<(Accepting, SocketAddr)> {
        let listener = spec.bind(Protocol::Tcp, |place| options.listen(place, 256))?;
        let address = listener.local_addr().map_err(|e| Error::io("getsockname", "relay", e))?;
        let accepting = Accepting { listener: Arc::new(listener), stop: Arc::default() };
        let (listener, stop) = (accepting.listener.clone(), accepting.stop.clone());
        thread::start("relay", move || {
            while let Ok((outer, _)) = listener.accept()
                && !stop.load(Ordering::Acquire)
            {
                let options = options.clone();
                // A connection that fails ends by itself; both ends notice.
                let _ = thread::start("relay", move || self.carry(outer, inner, &options));
            }
        })?;
        Ok((accepting, address))
    }

    /// Passes the greeting on, and then both directions.
    fn carry(self, mut outer: TcpStream, inner: SocketAddr, options: &TcpOptions) -> Option<()> {
        let mut greeting = [0; GREETING_LEN];
        outer.set_read_timeout(Some(REACHED)).ok()?;
        outer.read_exact(&mut greeting).ok()?;
        outer.set_read_timeout(None).ok()?;
        let mut inside = options.connect(inner, REACHED).ok()?;
        inside.set_write_timeout(None).ok()?;
        inside.write_all(&greeting).ok()?;
        let turns = Turns::default();
        std::thread::scope(|scope| {
            let requests = || self.forward(REQUESTS, &outer, &inside, &turns);
            thread::start_within(scope, "relay", requests).ok()?;
            self.forward(ANSWERS, &inside, &outer, &turns);
            Some(())
        })
    }

    /// One direction until it ends; then the other one ends too.
    fn forward(self, direction: usize, from: &TcpStream, to: &TcpStream, turns: &Turns) {
        // Without it a wait is up to 50 us longer.
        let _ = lower_timer_slack();
        let mut room = vec![0; ROOM];
        while let Ok(count @ 1..) = { from }.read(&mut room)
            && self.carry_on(direction, count, (from, &mut room), to, turns).is_ok()
        {}
        for stream in [from, to] {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Passes on what came, the first bytes of `room`, as it is to be held.
    fn carry_on(
        self,
        direction: usize,
        count: usize,
        (from, room): (&TcpStream, &mut [u8]),
        mut to: &TcpStream,
        turns: &Turns,
    ) -> io::Result<()> {
        let below = match self.below {
            None => return self.pass(direction, &room[..count], to, turns),
            Some(_) if direction != ANSWERS => {
                turns.count(direction, count as u64);
                return to.write_all(&room[..count]);
            }
            Some(below) => below,
        };
        let before = turns.count(direction, count as u64);
        let missing = below.saturating_sub(before) as usize;
        let more = self.gather(from, &mut room[count..], missing.saturating_sub(count))?;
        turns.count(direction, more as u64);
        to.write_all(&room[..count + more])
    }

    /// Waits until so many more bytes have come, but no longer than the delay.
    fn gather(self, from: &TcpStream, room: &mut [u8], missing: usize) -> io::Result<usize> {
        let until = Instant::now() + self.delay;
        let mut came = 0;
        while came < missing
            && let Some(left) = until.checked_duration_since(Instant::now())
        {
            socket::wait_readable(from, left).map_err(|error| error.source)?;
            match socket::receive_now(from, &mut room[came..])? {
                // The end comes again at the next reading.
                Some(0) => break,
                count => came += count.unwrap_or(0),
            }
        }
        Ok(came)
    }

    /// Passes on what came, and waits before the byte that reaches the threshold.
    fn pass(self, direction: usize, bytes: &[u8], mut to: &TcpStream, turns: &Turns) -> io::Result<()> {
        let before = turns.count(direction, bytes.len() as u64);
        let after = before + bytes.len() as u64;
        if before >= self.threshold || after < self.threshold {
            return to.write_all(bytes);
        }
        let (at_once, held) = bytes.split_at((self.threshold - 1 - before) as usize);
        to.write_all(at_once)?;
        std::thread::sleep(self.delay);
        to.write_all(held)
    }
}

impl Turns {
    /// Notes bytes that came; gives those that the message had before.
    fn count(&self, direction: usize, count: u64) -> u64 {
        if self.last.swap(direction as u64, Ordering::AcqRel) != direction as u64 {
            self.came[direction].store(0, Ordering::Release);
        }
        self.came[direction].fetch_add(count, Ordering::AcqRel)
    }
}

impl Drop for Accepting {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // It listens no longer, which also wakes the thread.
        socket::shut_down(&self.listener);
    }
}
