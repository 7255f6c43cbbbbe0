//! One exchange after the other between two hosts, with a stamp at each point of its way that the host lets this program see.
//!
//! | part | does |
//! |---|---|
//! | `ask` | what the controller asks of an end, and what is answered |
//! | `capture` | the packets of a stream, as they pass the interface |
//! | `datagrams` | the timed loops of messages that may be lost |
//! | `end` | an end of the connection, and the blocks that it plays |
//! | `exchange` | the timed loops: who asks, and who answers |
//! | `ids` | which message a stamp is of |
//! | `probe` | what is stamped beside them: nothing, or what any user may see (level 0) |
//! | `running` | the messages of a program that is not ours (`--pid`, `--port`) |
//! | `sample` | which exchanges are stamped |
//! | `seen` | what the tracepoints stamped meanwhile (levels 1 and 2), put to its exchange |
//! | `sleeping` | how the ends wait |
//! | `slow` | a program that takes its time |
//! | `stream` | blocks of a stream, and what is seen beside them |
//! | `timed` | the program's own times beside what tracepoints see (levels 1 and 2) |
//!
//! Nothing of a probe runs between the call that sends and the return of the one that receives but the clock that the program
//! reads itself; what a kernel's stamp costs it costs there, and is measured against blocks without any.

pub mod ask;
mod capture;
mod datagrams;
mod end;
mod exchange;
mod ids;
mod probe;
mod running;
mod sample;
mod seen;
mod sleeping;
mod slow;
mod stream;
mod timed;

pub use ask::{
    Answered, BlockRequest, CaptureRequest, Captured, MeetRequest, Met, OfferRequest, Played, Request,
    SharedPrograms, StreamRequest, check_ids,
};

pub use capture::CALL;
pub use running::trace_program;

use crate::observer::{machine_id, refusal};
use crate::plan::Setting;
use crate::record::Unobserved;
use crate::transport::{Rendezvous, Spec, port_beside};
use crate::unit::BitRate;
use crate::vocabulary::{Privilege, SHIM_READ_RATE};
use crate::{Error, Result};
use end::{End, Programs};
use linerate_sys::tracer::{Counting, Point, Rings, Stamping, Tracer, own_network};
use linerate_sys::{namespace, probe as allowed, socket, thread};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What an agent has of the trace under way; one at a time.
#[derive(Default)]
pub struct Traces {
    meeting: Mutex<Option<(Rendezvous, Spec, Option<BitRate>)>>,
    end: Mutex<Option<End>>,
}

impl Traces {
    /// Does what the controller asks.
    pub fn handle(&self, request: Request) -> Result<Answered> {
        match request {
            Request::Offer(request) => {
                *lock(&self.end) = None;
                let (meeting, offer) = Rendezvous::offer(&request.spec)?;
                let is_rate = |setting: &&Setting| setting.knob == SHIM_READ_RATE.name;
                let read_rate = request.spec.settings.iter().rfind(is_rate);
                let read_rate = read_rate.and_then(|setting| setting.value.parse().ok());
                *lock(&self.meeting) = Some((meeting, request.spec, read_rate));
                Ok(Answered::Offered(offer))
            }
            Request::Meet(request) => {
                let (meeting, spec, read_rate) = lock(&self.meeting).take().ok_or_else(out_of_turn)?;
                let patience = Duration::from_millis(spec.patience_ms.clamp(100, 600_000));
                let (socket, _) = meeting.meet(&request.other)?.pop().ok_or_else(out_of_turn)?;
                let port = request.datagrams.then(|| port_beside(&spec, &socket)).transpose()?;
                socket::limit_waits(&socket, patience)?;
                let (programs, mut met) = may_see(&request);
                met.programs = programs.tracer.as_deref().and_then(shared_programs);
                *lock(&self.end) = Some(End::new(socket, port, patience, programs, read_rate)?);
                Ok(Answered::Met(met))
            }
            Request::Share(others) => {
                lock(&self.end).as_ref().ok_or_else(out_of_turn)?.share(&others);
                Ok(Answered::Done)
            }
            Request::Block(request) => {
                let end = lock(&self.end);
                let end = end.as_ref().ok_or_else(out_of_turn)?;
                Ok(Answered::Played(Box::new(apart(|| end.block(&request))?)))
            }
            Request::Capture(request) => {
                let end = lock(&self.end);
                let end = end.as_ref().ok_or_else(out_of_turn)?;
                Ok(Answered::Captured(Box::new(capture::capture(end.socket(), &request)?)))
            }
            Request::Stream(request) => {
                let end = lock(&self.end);
                let end = end.as_ref().ok_or_else(out_of_turn)?;
                Ok(Answered::Streamed(Box::new(apart(|| stream::stream(end, &request))?)))
            }
            Request::End => {
                *lock(&self.end) = None;
                Ok(Answered::Done)
            }
        }
    }
}

/// On a thread of its own: it is bound to a CPU, which who serves the controller is not.
fn apart<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let panicked = || Error::peer("this process", "a thread panicked", "please report it");
    thread::together("trace", [work])?.pop().ok_or_else(panicked)?.map_err(|_| panicked())?
}

/// A way to see more than any user may.
struct Way {
    /// The level that it makes.
    level: u8,
    /// What is refused where it is not had, as it is told.
    name: &'static str,
    /// Whether it is tried where it was not asked for by its level.
    is_worth_a_try: fn() -> bool,
    /// What it sees by, and the points that this kernel has not; or why not.
    see: fn(&MeetRequest) -> Seen,
    /// What stamps the messages of a program that is not ours.
    stamp: fn() -> Opened<Box<dyn Stamping>>,
}

impl Way {
    /// What asks for the first way takes the next one where it is refused.
    fn is_wanted(&self, level: u8) -> bool {
        self.level == level || 0 < level && level < self.level && (self.is_worth_a_try)()
    }

    fn refused(&self, (why, hint): Refused) -> Unobserved {
        Unobserved { observer: self.name.into(), why, hint: hint.into() }
    }
}

/// Why, and what to do about it.
type Refused = (String, &'static str);

/// What a tracer comes to.
type Opened<T> = std::result::Result<T, Refused>;

/// What is seen by, and the points that are missing.
type Seen = std::result::Result<(Programs, Vec<String>), Refused>;

/// The one that costs less first.
const WAYS: [Way; 2] = [
    Way {
        level: 1,
        name: "programs at tracepoints",
        is_worth_a_try: || true,
        see: by_programs,
        stamp: || Ok(Box::new(programs()?)),
    },
    Way {
        level: 2,
        name: "rings of tracepoints",
        is_worth_a_try: is_root_of_all,
        see: by_rings,
        stamp: || Ok(Box::new(rings()?)),
    },
];

/// What sees more than any user may, as far as that is wanted; and else why not.
fn may_see(request: &MeetRequest) -> (Programs, Met) {
    let mut met = Met { level: 0, refused: Vec::new(), missing: Vec::new(), programs: None };
    let wanted = |way: &&Way| way.is_wanted(request.level) && !(request.streams && way.level > request.level);
    for way in WAYS.iter().filter(wanted) {
        match (way.see)(request) {
            Ok((programs, missing)) => {
                (met.level, met.missing) = (way.level, missing);
                return (programs, met);
            }
            Err(refused) => met.refused.push(way.refused(refused)),
        }
    }
    (Programs::default(), met)
}

fn by_programs(request: &MeetRequest) -> Seen {
    match request.streams {
        true => counting(),
        false => programs().map(|tracer| stamping(tracer, request)),
    }
}

/// Programs that stamp.
fn programs() -> Opened<Tracer> {
    loaded(|| Tracer::load(&[]))
}

/// Programs, where this host lets them be had.
fn loaded<T>(load: impl FnOnce() -> linerate_sys::Result<T>) -> Opened<T> {
    if let Some(refusal) = refusal(Privilege::Tracing) {
        return Err((refusal.why.clone(), refusal.hint));
    }
    load().map_err(|error| (format!("{error}: {}", error.source), NEEDS))
}

/// Rings that stamp.
fn rings() -> Opened<Rings> {
    let hint = "run as root; it needs tracefs, which the kernel may be built without";
    Rings::open(&[]).map_err(|error| (format!("{error}: {}", error.source), hint))
}

fn by_rings(request: &MeetRequest) -> Seen {
    if request.streams || request.datagrams {
        let why = "only the messages of a connection of TCP are told there: nothing else names the ports of what comes";
        return Err((why.into(), "try --level 1"));
    }
    if request.bytes < u64::from(TOLD_BYTES) {
        let why = format!(
            "messages below {TOLD_BYTES} B are not told from acknowledgements there, which have no more"
        );
        return Err((why, "try --bytes 64B"));
    }
    rings().map(|rings| stamping(rings, request))
}

/// More than what an acknowledgement has beside the headers of a message: Ethernet's header, and two blocks of SACK.
const TOLD_BYTES: u32 = 14 + 20 + 1;

/// Whether this is root, and nobody's root alone.
fn is_root_of_all() -> bool {
    allowed::is_root() && !namespace::is_below_first_user_namespace().unwrap_or(true)
}

/// What stamps exchanges, and the points that this kernel has not: datagrams have none of TCP's.
fn stamping(tracer: impl Stamping + 'static, request: &MeetRequest) -> (Programs, Vec<String>) {
    let is_missing =
        |point: Point| tracer.lacks(point) && !(request.datagrams && seen::OF_TCP.contains(&point));
    let missing = seen::OUT.iter().chain(seen::IN).filter(|(point, _)| is_missing(*point));
    let missing = missing.map(|(_, name)| (*name).to_owned()).collect();
    (Programs { tracer: Some(Box::new(tracer)), counting: None }, missing)
}

/// What another end on this kernel needs to know of what stamps here; none where it has room for one end.
fn shared_programs(tracer: &dyn Stamping) -> Option<SharedPrograms> {
    let (maps, network) = (tracer.maps()?, own_network().ok()?);
    let missing = tracer.missing().into_iter().map(String::from).collect();
    let (watched, lanes) = (maps.watched, maps.lanes);
    Some(SharedPrograms { machine: machine_id(), network, missing, watched, lanes })
}

/// What counts streams, and the tracepoints that this kernel has not.
fn counting() -> Seen {
    let counting = loaded(|| Counting::load(&[]))?;
    let missing = counting.missing().iter().map(|name| (*name).to_owned()).collect();
    Ok((Programs { tracer: None, counting: Some(counting) }, missing))
}

/// What would do where programs cannot be loaded.
const NEEDS: &str = "level 1 needs Linux 5.12 with BTF: CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux";

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn out_of_turn() -> Error {
    Error::usage("a trace was asked to go on that has not begun", "are both ends of the same version?")
}
