//! An end of the connection: the blocks that it plays, with what is stamped beside them.

use super::ask::{BlockRequest, Played, SharedPrograms};
use super::datagrams::{self, Ends};
use super::exchange::{self, answer, ask, cuts};
use super::ids::Ids;
use super::probe::{Probe, Stamped, Untraced};
use super::sample::{Sample, WARM_UP};
use super::seen;
use super::sleeping::{Polling, Sleeping, Waiting};
use super::slow::Slow;
use super::timed::Timed;
use crate::observer::tcp_info;
use crate::pattern::Awake;
use crate::record::TraceSide;
use crate::unit::BitRate;
use crate::vocabulary::Wait;
use crate::{Error, Result};
use linerate_sys::tracer::{Beside, Counting, MapIds, Stamping, Watched, Ways};
use linerate_sys::{clock, thread};
use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most bytes of a message, and exchanges of a block: ids of stamps are of 32 bits, and answers are lines.
const MOST_BYTES: u64 = 64 << 10;
const MOST_EXCHANGES: u32 = 4000;

/// The longest that a slow reader waits before it answers: less than any patience.
const MOST_PAUSE: Duration = Duration::from_secs(1);

/// What a segment carries at least of a longer message.
const SMALL: u64 = 500;

/// The byte by which the end that answers says that it listens.
const READY: u8 = 1;

/// How long the kernel may take until it stamps what comes: a work item turns it on (net_enable_timestamp).
const TURNED_ON: Duration = Duration::from_millis(30);

/// What the other end is called.
const OTHER: &str = "the other end of the trace";

/// Programs at tracepoints: of exchanges or of streams, or none.
#[derive(Default)]
pub struct Programs {
    /// Of exchanges.
    pub tracer: Option<Box<dyn Stamping>>,
    /// Of streams.
    pub counting: Option<Counting>,
}

/// A port of datagrams beside the connection.
struct Port {
    port: UdpSocket,
    /// Blocks that were played: both ends have played as many.
    blocks: AtomicU32,
    /// The longest that an exchange took.
    longest: Mutex<Option<Duration>>,
}

/// An end of the connection.
pub struct End {
    socket: TcpStream,
    /// Where messages go as datagrams.
    datagrams: Option<Port>,
    patience: Duration,
    /// Where more is wanted than any user sees, and had.
    tracer: Option<Mutex<Box<dyn Stamping>>>,
    /// The same of streams.
    counting: Option<Mutex<Counting>>,
    /// What the answering program takes at most of what comes, where such a fault is put in.
    read_rate: Option<BitRate>,
}

impl End {
    /// Two ends have met.
    pub fn new(
        socket: TcpStream,
        port: Option<UdpSocket>,
        patience: Duration,
        programs: Programs,
        read_rate: Option<BitRate>,
    ) -> Result<End> {
        let datagrams = port.map(|port| -> Result<Port> {
            port.set_read_timeout(Some(datagrams::LOOK))
                .map_err(|e| Error::io("setsockopt(SO_RCVTIMEO)", "the port", e))?;
            Ok(Port { port, blocks: AtomicU32::new(0), longest: Mutex::new(None) })
        });
        let datagrams = datagrams.transpose()?;
        let (tracer, counting) = (programs.tracer.map(Mutex::new), programs.counting.map(Mutex::new));
        Ok(End { socket, datagrams, patience, tracer, counting, read_rate })
    }

    /// The connection.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// What counts streams here, where it is had.
    pub fn counting(&self) -> Option<MutexGuard<'_, Counting>> {
        self.counting.as_ref().map(|counting| counting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stamps by the programs of the other end, where they see this one: what tracepoints enter costs every exchange. Where they
    /// do not, or their maps are not had, its own ones stamp on.
    pub fn share(&self, others: &SharedPrograms) {
        let Some(tracer) = &self.tracer else { return };
        let mut tracer = tracer.lock().unwrap_or_else(PoisonError::into_inner);
        if super::shared_programs(&**tracer).is_some_and(|own| others.can_stamp_for(&own)) {
            let ids = MapIds { watched: others.watched, lanes: others.lanes };
            if let Ok(beside) = Beside::open(ids, &**tracer) {
                *tracer = Box::new(beside);
            }
        }
    }

    /// What the program that receives takes at most, where such a fault is put in.
    pub fn read_rate(&self) -> Option<BitRate> {
        self.read_rate
    }

    /// What the programs at tracepoints are to watch: this connection, and the calling thread.
    pub fn watched(&self, message_bytes: u64) -> Result<Watched> {
        let port = |address: io::Result<SocketAddr>| address.map(|address| address.port());
        let fail = |error| Error::io("getsockname", "the connection", error);
        let (local, remote) = match &self.datagrams {
            Some(Port { port, .. }) => (port.local_addr(), port.peer_addr()),
            None => (self.socket.local_addr(), self.socket.peer_addr()),
        };
        Ok(Watched {
            thread: thread::current().number(),
            process: 0,
            network: None,
            local_port: port(local).map_err(fail)?,
            remote_port: port(remote).map_err(fail)?,
            cookie: 0,
            datagrams: self.datagrams.is_some(),
            least_bytes: [self.header_bytes() + message_bytes.min(SMALL) as u32; 2],
        })
    }

    fn header_bytes(&self) -> u32 {
        let is_long = self.socket.local_addr().is_ok_and(|at| !at.ip().to_canonical().is_ipv4());
        header_bytes(is_long, &connection(&self.socket))
    }

    /// Plays a block.
    pub fn block(&self, request: &BlockRequest) -> Result<Played> {
        let [least, most] = match self.datagrams {
            Some(_) => [datagrams::LEAST_BYTES, datagrams::MOST_BYTES],
            None => [1, MOST_BYTES],
        };
        let counts_bytes = request.traced && self.datagrams.is_none() && self.tracer.is_none();
        request.check([least, most], MOST_EXCHANGES, counts_bytes)?;
        thread::pin(&[request.cpu])?;
        let awake = (request.wait == Wait::Sleeping).then(|| Awake::keep(&[request.cpu])).flatten();
        let exchanges = WARM_UP + request.exchanges as usize;
        let ready = match request.asks {
            true => 0,
            false => 1,
        };
        let mut played = match request.traced {
            false => self.play(request, exchanges, &mut Untraced::new(exchanges))?,
            true if self.tracer.is_some() => self.play_watched(request, exchanges)?,
            true => match &self.datagrams {
                Some(Port { port, .. }) => self.play_stamped(
                    request,
                    exchanges,
                    port,
                    Ids::Datagrams(Vec::with_capacity(exchanges)),
                )?,
                None => {
                    // Who answers sends in one call.
                    let calls = if request.asks { request.writes } else { 1 };
                    let ids = Ids::Bytes { cuts: cuts(request.bytes, calls), ahead: ready };
                    self.play_stamped(request, exchanges, &self.socket, ids)?
                }
            },
        };
        played.kept_awake = awake.is_some();
        Ok(played)
    }

    /// A block that any user sees.
    fn play_stamped<S: AsFd>(
        &self,
        request: &BlockRequest,
        exchanges: usize,
        socket: &S,
        ids: Ids,
    ) -> Result<Played> {
        let mut probe = Stamped::new(socket, ids, exchanges, Sample::new(request.every))?;
        std::thread::sleep(TURNED_ON);
        let played = self.play(request, exchanges, &mut probe);
        // Whatever came of it: stamps cost the whole host.
        let ceased = probe.cease();
        let played = played?;
        ceased?;
        Ok(played)
    }

    /// A block that the tracepoints see.
    fn play_watched(&self, request: &BlockRequest, exchanges: usize) -> Result<Played> {
        let tracer =
            self.tracer.as_ref().ok_or_else(|| Error::usage("no tracepoints are watched here", ""))?;
        let mut tracer = tracer.lock().unwrap_or_else(PoisonError::into_inner);
        let (sample, switch) = (Sample::new(request.every), tracer.switch());
        if sample.leaves_out() && switch.is_none() {
            let what = "what stamps here cannot leave an exchange out";
            return Err(Error::usage(what, "try --level 1, or leave out --every"));
        }
        tracer.begin(self.watched(request.bytes)?)?;
        let switch = switch.map(|switch| move |ways: Ways| switch.set(ways));
        let mut probe = Timed::new(exchanges, request.asks, sample, switch);
        let played = self.play(request, exchanges, &mut probe);
        let ended = tracer.end();
        let mut played = played?;
        let (stamps, lost) = ended?;
        let own = probe.own();
        let first = own.0.iter().chain(own.1).filter(|ns| **ns > 0).min().copied().unwrap_or_default();
        // What was stamped before the program's first time is as far behind it as the first message's way took.
        let first = stamps.first().map_or(first, |stamp| stamp.ns.min(first));
        let strays = seen::put_beside(&stamps, request.asks, own, first, &mut played.side);
        for column in played.side.points.values_mut() {
            *column = sample.stamped(column, WARM_UP);
        }
        played.side.lost_events = lost;
        played.side.stray_events = strays;
        // The tracepoints' clock is not set by anybody.
        played.side.clock_step_ns = 0;
        Ok(played)
    }

    fn play<P: Probe>(&self, request: &BlockRequest, exchanges: usize, probe: &mut P) -> Result<Played> {
        match self.read_rate {
            None => self.play_at_once(request, exchanges, probe),
            Some(rate) => {
                let pause = Duration::from_secs_f64(8.0 * request.bytes as f64 / rate.0);
                if pause > MOST_PAUSE {
                    let what =
                        format!("at {rate} a message of {} B takes longer than 1 s to read", request.bytes);
                    return Err(Error::usage(what, "try fewer --bytes, or a quicker reader"));
                }
                self.play_at_once(request, exchanges, &mut Slow::new(probe, pause))
            }
        }
    }

    fn play_at_once<P: Probe>(
        &self,
        request: &BlockRequest,
        exchanges: usize,
        probe: &mut P,
    ) -> Result<Played> {
        match request.wait {
            Wait::Sleeping => self.play_waiting::<P, Sleeping>(request, exchanges, probe),
            Wait::Polling => self.play_waiting::<P, Polling>(request, exchanges, probe),
        }
    }

    fn play_waiting<P: Probe, W: Waiting>(
        &self,
        request: &BlockRequest,
        exchanges: usize,
        probe: &mut P,
    ) -> Result<Played> {
        if let Some(port) = &self.datagrams {
            return self.play_datagrams::<P, W>(port, request, exchanges, probe);
        }
        let (message, mut room) = (vec![0x55; request.bytes as usize], vec![0; request.bytes as usize]);
        let cuts = cuts(request.bytes, request.writes);
        let (tcp, ahead) = (connection(&self.socket), clock::day_ahead_ns());
        let waiting = W::new(self.patience);
        match request.asks {
            true => {
                let mut ready = [0];
                exchange::receive_whole::<Untraced, Sleeping>(
                    &self.socket,
                    &mut ready,
                    &mut Untraced::new(0),
                    &Sleeping::new(self.patience),
                )
                .map_err(|error| self.failed(&error))?;
                ask(&self.socket, (&message, &cuts), &mut room, exchanges, probe, &waiting)
            }
            false => exchange::send_whole(&self.socket, &[READY], &mut Untraced::new(0))
                .and_then(|()| answer(&self.socket, &message, &mut room, exchanges, probe, &waiting)),
        }
        .map_err(|error| self.failed(&error))?;
        let mut side = TraceSide {
            clock_step_ns: stepped_ns(ahead),
            tcp: tcp_info::moved(&tcp, &connection(&self.socket)),
            ..TraceSide::default()
        };
        let round_trips_ns = probe.end(WARM_UP, &mut side).map_err(|error| self.failed(&error))?;
        Ok(Played { round_trips_ns, side, kept_awake: false, lost: Vec::new() })
    }

    fn play_datagrams<P: Probe, W: Waiting>(
        &self,
        Port { port, blocks, longest }: &Port,
        request: &BlockRequest,
        exchanges: usize,
        probe: &mut P,
    ) -> Result<Played> {
        let failed = |error: io::Error| self.failed(&error);
        let (mut message, mut room) = (vec![0x55; request.bytes as usize], vec![0; request.bytes as usize]);
        let block = blocks.fetch_add(1, Ordering::Relaxed);
        let ends = Ends { port, beside: &self.socket, block, patience: self.patience };
        datagrams::forget(port).map_err(failed)?;
        let (ahead, count) = (clock::day_ahead_ns(), exchanges as u32);
        let lost = match request.asks {
            true => {
                let mut longest = longest.lock().unwrap_or_else(PoisonError::into_inner);
                ends.ask::<P, W>(&mut message, &mut room, count, probe, &mut longest).map_err(failed)?
            }
            false => {
                ends.answer::<P, W>(&mut message, &mut room, count, probe).map_err(failed)?;
                Vec::new()
            }
        };
        let mut side = TraceSide { clock_step_ns: stepped_ns(ahead), ..TraceSide::default() };
        let round_trips_ns = probe.end(WARM_UP, &mut side).map_err(failed)?;
        let warm_up = WARM_UP as u32;
        let lost = lost.into_iter().filter_map(|exchange| exchange.checked_sub(warm_up)).collect();
        Ok(Played { round_trips_ns, side, kept_awake: false, lost })
    }

    /// Why an end cannot go on.
    pub fn failed(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::peer(
                OTHER,
                format!("answered nothing for {} s", self.patience.as_secs()),
                "see whether its host answers, and whether something between drops packets",
            ),
            kind => Error::hung_up(OTHER, format!("ended the connection ({kind})")),
        }
    }
}

/// How far the time of day was set since it was so far ahead.
fn stepped_ns(ahead_ns: i128) -> u64 {
    u64::try_from(ahead_ns.abs_diff(clock::day_ahead_ns())).unwrap_or(u64::MAX)
}

/// Bytes of the headers of IP, version 6 where they are long, and TCP, with the options that the connection has in every segment.
pub fn header_bytes(is_long: bool, tcp_info: &[u8]) -> u32 {
    /// `TCPI_OPT_TIMESTAMPS` of include/uapi/linux/tcp.h, in `tcpi_options`.
    const STAMPED: u8 = 1;
    const OPTIONS: usize = 5;
    let is_stamped = tcp_info.get(OPTIONS).is_some_and(|options| options & STAMPED > 0);
    (if is_long { 40 } else { 20 }) + (if is_stamped { 32 } else { 20 })
}

/// What the kernel knows of the connection.
pub fn connection(socket: &TcpStream) -> Vec<u8> {
    linerate_sys::tcp_info::tcp_info(socket).unwrap_or_default()
}

#[cfg(test)]
mod tests;
