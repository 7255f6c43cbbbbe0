//! One exchange after the other between two hosts, with a stamp at each point of its way that the host lets this program see.
//!
//! | part | does |
//! |---|---|
//! | `ask` | what the controller asks of an end, and what is answered |
//! | `exchange` | the timed loops: who asks, and who answers |
//! | `probe` | what is stamped beside them: nothing, what any user may see (level 0), or the program's own times (level 1) |
//! | `seen` | what the tracepoints stamped meanwhile (level 1), put to its exchange |
//! | `sleeping` | how the ends wait |
//!
//! Nothing of a probe runs between the call that sends and the return of the one that receives but the clock that the program
//! reads itself; what a kernel's stamp costs it costs there, and is measured against blocks without any.

pub mod ask;
mod exchange;
mod probe;
mod seen;
mod sleeping;

pub use ask::{Answered, BlockRequest, MeetRequest, Met, OfferRequest, Played, Request};

use crate::observer::{refusal, tcp_info};
use crate::pattern::Awake;
use crate::record::{TraceSide, Unobserved};
use crate::transport::Rendezvous;
use crate::vocabulary::{
    ARRIVED, LOCKED, PROBED, Privilege, QUEUED, READY as READY_AT, RECEIVED, RUNNING, TRANSMITTED, WAKING, WOKEN, Wait,
};
use crate::{Error, Result};
use exchange::{answer, ask as ask_all};
use linerate_sys::tracer::{Point, Tracer, Watched};
use linerate_sys::{clock, socket, thread};
use probe::{Probe, Stamped, Timed, Untraced};
use sleeping::{Polling, Sleeping, Waiting};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Exchanges before those that count: caches and the kernel's paths are warm then.
const WARM_UP: usize = 50;

/// The most bytes of a message, and exchanges of a block: ids of stamps are of 32 bits, and answers are lines.
const MOST_BYTES: u64 = 64 << 10;
const MOST_EXCHANGES: u32 = 4000;

/// The byte by which the end that answers says that it listens.
const READY: u8 = 1;

/// How long the kernel may take until it stamps what comes: a work item turns it on (net_enable_timestamp).
const TURNED_ON: Duration = Duration::from_millis(30);

/// What the other end is called.
const OTHER: &str = "the other end of the trace";

/// What an agent has of the trace under way; one at a time.
#[derive(Default)]
pub struct Traces {
    meeting: Mutex<Option<(Rendezvous, u64)>>,
    end: Mutex<Option<End>>,
}

/// An end of the connection.
struct End {
    socket: TcpStream,
    patience: Duration,
    /// Where level 1 is wanted, and had.
    tracer: Option<Mutex<Tracer>>,
}

impl Traces {
    /// Does what the controller asks.
    pub fn handle(&self, request: Request) -> Result<Answered> {
        match request {
            Request::Offer(request) => {
                *lock(&self.end) = None;
                let (meeting, offer) = Rendezvous::offer(&request.spec)?;
                *lock(&self.meeting) = Some((meeting, request.spec.patience_ms));
                Ok(Answered::Offered(offer))
            }
            Request::Meet(request) => {
                let (meeting, patience_ms) = lock(&self.meeting).take().ok_or_else(out_of_turn)?;
                let patience = Duration::from_millis(patience_ms.clamp(100, 600_000));
                let socket = meeting.meet(&request.other)?.pop().ok_or_else(out_of_turn)?;
                socket::limit_waits(&socket, patience)?;
                let (tracer, met) = may_see(request.level);
                *lock(&self.end) = Some(End { socket, patience, tracer: tracer.map(Mutex::new) });
                Ok(Answered::Met(met))
            }
            Request::Block(request) => {
                let end = lock(&self.end);
                let end = end.as_ref().ok_or_else(out_of_turn)?;
                // A thread of its own: it is bound to a CPU, which who serves the controller is not.
                let played = thread::together("trace", [|| end.block(&request)])?.pop();
                let panicked = || Error::peer("this process", "a thread panicked", "please report it");
                let played = played.ok_or_else(panicked)?.map_err(|_| panicked())??;
                Ok(Answered::Played(Box::new(played)))
            }
            Request::End => {
                *lock(&self.end) = None;
                Ok(Answered::Done)
            }
        }
    }
}

/// The points that tracepoints stamp, and what they are called in recordings.
const STAMPED: &[(Point, &str)] = &[
    (Point::Locked, LOCKED.name),
    (Point::Queued, QUEUED.name),
    (Point::Transmitted, TRANSMITTED.name),
    (Point::Arrived, ARRIVED.name),
    (Point::Received, RECEIVED.name),
    (Point::Probed, PROBED.name),
    (Point::Ready, READY_AT.name),
    (Point::Waking, WAKING.name),
    (Point::Woken, WOKEN.name),
    (Point::Running, RUNNING.name),
];

/// What sees more than any user may, as far as that is wanted; and else why not.
fn may_see(level: u8) -> (Option<Tracer>, Met) {
    let mut met = Met { level: 0, refused: Vec::new(), missing: Vec::new() };
    let mut refuse = |why: String, hint: &str| {
        met.refused.push(Unobserved { observer: TRACEPOINTS.into(), why, hint: hint.into() });
    };
    if level == 0 {
        return (None, met);
    }
    if let Some(refusal) = refusal(Privilege::Tracing) {
        refuse(refusal.why.clone(), refusal.hint);
        return (None, met);
    }
    match Tracer::load(&[]) {
        Ok(tracer) => {
            let missing = STAMPED.iter().filter(|(point, _)| tracer.lacks(*point));
            met.missing = missing.map(|(_, name)| (*name).to_owned()).collect();
            met.level = 1;
            (Some(tracer), met)
        }
        Err(error) => {
            let hint = "level 1 needs Linux 5.8 with BTF: CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux";
            refuse(format!("{error}: {}", error.source), hint);
            (None, met)
        }
    }
}

/// What is refused, as it is told.
const TRACEPOINTS: &str = "tracepoints";

impl End {
    fn block(&self, request: &BlockRequest) -> Result<Played> {
        request.check(MOST_BYTES, MOST_EXCHANGES)?;
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
            true => {
                let mut probe = Stamped::new(&self.socket, request.bytes as usize, exchanges, ready)?;
                std::thread::sleep(TURNED_ON);
                let played = self.play(request, exchanges, &mut probe);
                // Whatever came of it: stamps cost the whole host.
                probe.cease()?;
                played?
            }
        };
        played.kept_awake = awake.is_some();
        Ok(played)
    }

    /// A block that the tracepoints see.
    fn play_watched(&self, request: &BlockRequest, exchanges: usize) -> Result<Played> {
        let tracer = self.tracer.as_ref().ok_or_else(out_of_turn)?;
        let mut tracer = lock(tracer);
        let port = |address: io::Result<SocketAddr>| address.map(|address| address.port());
        let fail = |error| Error::io("getsockname", "the connection", error);
        tracer.begin(Watched {
            thread: thread::current().number(),
            local_port: port(self.socket.local_addr()).map_err(fail)?,
            remote_port: port(self.socket.peer_addr()).map_err(fail)?,
        })?;
        let mut probe = Timed::new(exchanges);
        let played = self.play(request, exchanges, &mut probe);
        let (stamps, lost) = tracer.end()?;
        let mut played = played?;
        let own = probe.own();
        let first = own.0.iter().chain(own.1).min().copied().unwrap_or_default();
        // What was stamped before the program's first time is as far behind it as the first message's way took.
        let first = stamps.first().map_or(first, |stamp| stamp.ns.min(first));
        let strays = seen::put_beside(&stamps, request.asks, own, first, &mut played.side);
        for column in played.side.points.values_mut() {
            column.drain(..WARM_UP.min(column.len()));
        }
        played.side.lost_events = lost;
        played.side.stray_events = strays;
        // The tracepoints' clock is not set by anybody.
        played.side.clock_step_ns = 0;
        Ok(played)
    }

    fn play<P: Probe>(&self, request: &BlockRequest, exchanges: usize, probe: &mut P) -> Result<Played> {
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
        let (message, mut room) = (vec![0x55; request.bytes as usize], vec![0; request.bytes as usize]);
        let before = (connection(&self.socket), thread::scheduling(), clock_offset());
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
                ask_all(&self.socket, &message, &mut room, exchanges, probe, &waiting)
            }
            false => exchange::send_whole(&self.socket, &[READY])
                .and_then(|()| answer(&self.socket, &message, &mut room, exchanges, probe, &waiting)),
        }
        .map_err(|error| self.failed(&error))?;
        let after = (connection(&self.socket), thread::scheduling(), clock_offset());
        let mut side = TraceSide {
            clock_step_ns: before.2.abs_diff(after.2),
            cpu_ns: after.1.cpu_ns - before.1.cpu_ns,
            voluntary_switches: after.1.voluntary_switches - before.1.voluntary_switches,
            involuntary_switches: after.1.involuntary_switches - before.1.involuntary_switches,
            tcp: tcp_info::moved(&before.0, &after.0),
            ..TraceSide::default()
        };
        let round_trips_ns = probe.end(WARM_UP, &mut side).map_err(|error| self.failed(&error))?;
        Ok(Played { round_trips_ns, side, kept_awake: false })
    }

    fn failed(&self, error: &io::Error) -> Error {
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

/// How far the time of day is ahead of the clock that nobody sets: it moves where the time of day is set.
fn clock_offset() -> u64 {
    /// Something else may run between the two readings; the narrowest pair counts.
    const PAIRS: u32 = 9;
    let pair = |_| {
        let (before, day, after) = (clock::monotonic_ns(), clock::realtime_ns(), clock::monotonic_ns());
        (after - before, day.wrapping_sub(before + (after - before) / 2))
    };
    (0..PAIRS).map(pair).min().map_or(0, |(_, offset)| offset)
}

/// What the kernel knows of the connection.
fn connection(socket: &TcpStream) -> Vec<u8> {
    linerate_sys::tcp_info::tcp_info(socket).unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn out_of_turn() -> Error {
    Error::usage("a trace was asked to go on that has not begun", "are both ends of the same version?")
}
