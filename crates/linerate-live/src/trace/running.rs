//! The messages of a program that is not ours, as this host's tracepoints see them: nothing of it is changed, and it does not notice
//! but by what the stamps cost, which is told by rounds that are not traced.

use super::WAYS;
use super::end::header_bytes;
use super::seen::cycles;
use crate::observer::running::{Suspect, busiest_connection, name, sent_beside};
use crate::observer::tcp_info::Field;
use crate::record::{RunningRound, RunningTrace, Unobserved};
use crate::{Error, Result};
use linerate_sys::netlink::{SocketTable, TableSocket};
use linerate_sys::tracer::{Point, Stamp, Stamping, Watched};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Rounds: from six on a median has an interval.
const ROUNDS: u32 = 8;

/// How often it is looked whether the room for stamps goes out.
const LOOK: Duration = Duration::from_millis(2);

/// The level that tells a program's packets by the threads that send them.
const BY_THREADS: u8 = 2;

/// More than what an acknowledgement has beside the headers of a message: Ethernet's header, and four blocks of SACK.
const TOLD_BYTES: u32 = 14 + 36 + 1;

/// What stamps the messages, at which level, and what would have for less.
struct Seeing {
    tracer: Box<dyn Stamping>,
    level: u8,
    refused: Vec<Unobserved>,
}

impl Seeing {
    /// The first way that is had, of those that are wanted where this level is asked for.
    fn open(level: u8) -> Result<Seeing> {
        let mut refused = Vec::new();
        for way in WAYS.iter().filter(|way| way.is_wanted(level)) {
            match (way.stamp)() {
                Ok(tracer) => return Ok(Seeing { tracer, level: way.level, refused }),
                Err(why) => refused.push(way.refused(why)),
            }
        }
        let told: Vec<String> = refused.iter().map(|one| format!("{}: {}", one.observer, one.why)).collect();
        let hint = refused.first().map_or("try --level 1", |one| one.hint.as_str());
        Err(Error::unavailable(told.join("; "), hint))
    }
}

/// The connection, and what is watched of it.
struct Connection {
    table: SocketTable,
    socket: TableSocket,
    watched: Watched,
}

/// Traces the busiest connection of a suspect for so long, or until it is to stop.
pub fn trace_program(
    suspect: Suspect,
    level: u8,
    time: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<RunningTrace> {
    let mut seeing = Seeing::open(level)?;
    let (table, socket, process, network) = busiest_connection(suspect)?;
    if seeing.level == BY_THREADS && process.is_none() {
        let what =
            "whose connection it is cannot be told, and without BTF what goes out is told by its thread";
        return Err(Error::unavailable(what, "name the program: --pid PID"));
    }
    let header = header_bytes(!socket.local.ip().to_canonical().is_ipv4(), &socket.info);
    let watched = Watched {
        thread: 0,
        process: process.unwrap_or_default(),
        network: Some(network),
        local_port: socket.local.port(),
        remote_port: socket.remote.port(),
        cookie: socket.cookie,
        datagrams: false,
        // What comes is known by TCP, which looks for data itself.
        least_bytes: [header + TOLD_BYTES, header + 1],
    };
    let mut connection = Connection { table, socket, watched };
    let part = time / (2 * ROUNDS);
    // Which comes first alternates: what drifts is in both alike.
    let one = |round| {
        let told = pair(&mut seeing, &mut connection, part, round % 2 == 1);
        told.map_err(|error| {
            if connection.segments_received().is_err() { Cut::Over(error) } else { Cut::Refused(error) }
        })
    };
    let rounds = rounds(one, stop)?;
    let missing = seeing.tracer.missing().into_iter().map(str::to_owned).collect();
    Ok(RunningTrace {
        name: name(suspect),
        process,
        local: connection.socket.local,
        remote: connection.socket.remote,
        level: seeing.level,
        refused: seeing.refused,
        missing,
        rounds,
    })
}

/// Why a round has no end.
enum Cut {
    /// The connection is over.
    Over(Error),
    /// It cannot be told of.
    Refused(Error),
}

/// All rounds, or those until it is to stop, or until the program has ended, which takes nothing from what was seen of it.
fn rounds(
    mut one: impl FnMut(u32) -> std::result::Result<RunningRound, Cut>,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<RunningRound>> {
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        match one(round) {
            Ok(told) => rounds.push(told),
            Err(Cut::Over(_)) if !rounds.is_empty() => break,
            Err(Cut::Over(error) | Cut::Refused(error)) => return Err(error),
        }
        if stop() {
            break;
        }
    }
    Ok(rounds)
}

/// A traced time and one that is not.
fn pair(
    seeing: &mut Seeing,
    connection: &mut Connection,
    part: Duration,
    is_traced_first: bool,
) -> Result<RunningRound> {
    let mut told = RunningRound::default();
    for traced in [is_traced_first, !is_traced_first] {
        match traced {
            true => watch(seeing, connection, part, &mut told)?,
            false => {
                let (before, begun) = (connection.segments_received()?, Instant::now());
                std::thread::sleep(part);
                told.untraced_ns = begun.elapsed().as_nanos() as u64;
                told.untraced_segments = connection.segments_received()?.saturating_sub(before);
            }
        }
    }
    Ok(told)
}

/// A time in which the tracepoints are watched; less where there is no more room.
fn watch(
    seeing: &mut Seeing,
    connection: &mut Connection,
    time: Duration,
    told: &mut RunningRound,
) -> Result<()> {
    let is_by_threads = seeing.level == BY_THREADS;
    let sent_before = if is_by_threads { Some(connection.sent()?) } else { None };
    let tracer = &mut seeing.tracer;
    tracer.begin(connection.watched)?;
    let (before, begun) = (connection.segments_received(), Instant::now());
    while begun.elapsed() < time && !tracer.is_nearly_full() {
        std::thread::sleep(LOOK);
    }
    told.traced_ns = begun.elapsed().as_nanos() as u64;
    let after = connection.segments_received();
    let (stamps, lost) = tracer.end()?;
    told.traced_segments = after?.saturating_sub(before?);
    told.lost_events = lost;
    if let Some(sent_before) = sent_before {
        is_alone(&stamps, &sent_before, &connection.sent()?)?;
    }
    (told.points, told.several) = cycles(&stamps);
    Ok(())
}

impl Connection {
    /// A counter of this connection.
    fn counted(&mut self, counter: &str) -> Result<u64> {
        let ours = self.table.connections()?.into_iter().find(|one| one.cookie == self.socket.cookie);
        let ended =
            || Error::unavailable("the connection has ended while it was traced", "try a shorter --time");
        let value = Field::named(counter).and_then(|field| field.value(&ours?.info));
        value.ok_or_else(ended)
    }

    /// Segments with data that came on this connection.
    fn segments_received(&mut self) -> Result<u64> {
        self.counted("data_segs_in")
    }

    /// Segments with data that the program has sent: on this connection, and on its others.
    fn sent(&mut self) -> Result<Sent> {
        let beside = sent_beside(&mut self.table, self.watched.process, &self.socket)?;
        Ok(Sent { here: self.counted("data_segs_out")?, beside })
    }
}

/// Segments with data that a program has sent: on the connection that is watched, and on its others by their numbers.
#[derive(Clone)]
struct Sent {
    here: u64,
    beside: BTreeMap<u64, u64>,
}

/// What the program's threads sent is all of this connection, where nothing else tells it.
fn is_alone(stamps: &[Stamp], before: &Sent, after: &Sent) -> Result<()> {
    let queued = stamps.iter().filter(|stamp| stamp.point == Point::Queued).count() as u64;
    // One that has ended meanwhile is not there any more.
    let is_silent =
        |(cookie, sent): (&u64, &u64)| before.beside.get(cookie).copied().unwrap_or_default() == *sent;
    if after.beside.iter().all(is_silent) && queued <= after.here.saturating_sub(before.here) {
        return Ok(());
    }
    Err(Error::unavailable(
        "the program sends elsewhere too, and without BTF what goes out is told by its thread alone",
        "trace it on a kernel with BTF (CONFIG_DEBUG_INFO_BTF), or while it has one connection",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_sends_elsewhere_is_no_part_of_a_connection() {
        let queued = |count| vec![Stamp { ns: 1, point: Point::Queued }; count];
        let sent = |here, beside: &[(u64, u64)]| Sent { here, beside: beside.iter().copied().collect() };
        let before = sent(10, &[(7, 3), (8, 100)]);
        let is_ok = |count, after: &Sent| is_alone(&queued(count), &before, after).is_ok();
        assert!(is_ok(5, &sent(15, &[(7, 3), (8, 100)])));
        assert!(is_ok(5, &sent(15, &[(7, 3)])), "another one has ended, and sent nothing");
        assert!(is_ok(1, &sent(15, &[(7, 3)])), "super-packets are of several segments");
        assert!(!is_ok(5, &sent(15, &[(7, 4)])), "another connection");
        assert!(!is_ok(5, &sent(15, &[(9, 1)])), "a new one");
        assert!(!is_ok(6, &sent(15, &[])), "datagrams, or a connection that is gone");
    }

    #[test]
    fn a_program_that_ends_keeps_its_rounds() {
        let ends_at = |end: u32| {
            move |round| match round == end {
                true => Err(Cut::Over(Error::unavailable("it has ended", "none"))),
                false => Ok(RunningRound::default()),
            }
        };
        let refused = |round| match round {
            3 => Err(Cut::Refused(Error::unavailable("it sends elsewhere", "none"))),
            _ => Ok(RunningRound::default()),
        };
        assert!(rounds(refused, &|| false).is_err());
        let count = |end, stops| rounds(ends_at(end), &|| stops).map(|rounds| rounds.len()).ok();
        assert_eq!([count(0, false), count(1, false), count(3, false)], [None, Some(1), Some(3)]);
        assert_eq!([count(ROUNDS, false), count(3, true)], [Some(ROUNDS as usize), Some(1)]);
    }
}
