//! The messages of a program that is not ours, as this host's tracepoints see them: nothing of it is changed, and it does not notice
//! but by what the stamps cost, which is told by rounds that are not traced.

use super::seen::cycles;
use crate::observer::refusal;
use crate::observer::running::{Suspect, busiest_connection, name};
use crate::observer::tcp_info::Field;
use crate::record::{RunningRound, RunningTrace};
use crate::vocabulary::Privilege;
use crate::{Error, Result};
use linerate_sys::netlink::{SocketTable, TableSocket};
use linerate_sys::tracer::{Tracer, Watched};
use std::time::{Duration, Instant};

/// Rounds: from six on a median has an interval.
const ROUNDS: u32 = 8;

/// How often it is looked whether the room for stamps goes out.
const LOOK: Duration = Duration::from_millis(2);

/// Traces the busiest connection of a suspect for so long, or until it is to stop.
pub fn trace_program(suspect: Suspect, time: Duration, stop: &dyn Fn() -> bool) -> Result<RunningTrace> {
    if let Some(refusal) = refusal(Privilege::Tracing) {
        return Err(Error::unavailable(format!("programs at tracepoints: {}", refusal.why), refusal.hint));
    }
    let (mut table, socket, process, network) = busiest_connection(suspect)?;
    let without = |error: linerate_sys::Error| {
        Error::unavailable(format!("programs at tracepoints: {error}: {}", error.source), super::NEEDS)
    };
    let mut tracer = Tracer::load(&[]).map_err(without)?;
    let watched = Watched {
        thread: 0,
        process: process.unwrap_or_default(),
        network: Some(network),
        local_port: socket.local.port(),
        remote_port: socket.remote.port(),
        datagrams: false,
        least_bytes: 0,
    };
    let part = time / (2 * ROUNDS);
    // Which comes first alternates: what drifts is in both alike.
    let rounds = rounds(|round| pair(&mut tracer, watched, &mut table, &socket, part, round % 2 == 1), stop)?;
    let missing = tracer.missing().iter().map(|name| (*name).to_owned()).collect();
    Ok(RunningTrace {
        name: name(suspect),
        process,
        local: socket.local,
        remote: socket.remote,
        missing,
        rounds,
    })
}

/// All rounds, or those until it is to stop, or until the program has ended, which takes nothing from what was seen of it.
fn rounds(
    mut one: impl FnMut(u32) -> Result<RunningRound>,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<RunningRound>> {
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        match one(round) {
            Ok(told) => rounds.push(told),
            Err(error) if rounds.is_empty() => return Err(error),
            Err(_) => break,
        }
        if stop() {
            break;
        }
    }
    Ok(rounds)
}

/// A traced time and one that is not.
fn pair(
    tracer: &mut Tracer,
    watched: Watched,
    table: &mut SocketTable,
    socket: &TableSocket,
    part: Duration,
    is_traced_first: bool,
) -> Result<RunningRound> {
    let mut told = RunningRound::default();
    for traced in [is_traced_first, !is_traced_first] {
        match traced {
            true => watch(tracer, watched, table, socket, part, &mut told)?,
            false => {
                let (before, begun) = (segments(table, socket)?, Instant::now());
                std::thread::sleep(part);
                told.untraced_ns = begun.elapsed().as_nanos() as u64;
                told.untraced_segments = segments(table, socket)?.saturating_sub(before);
            }
        }
    }
    Ok(told)
}

/// A time in which the tracepoints are watched; less where there is no more room.
fn watch(
    tracer: &mut Tracer,
    watched: Watched,
    table: &mut SocketTable,
    socket: &TableSocket,
    time: Duration,
    told: &mut RunningRound,
) -> Result<()> {
    tracer.begin(watched)?;
    let (before, begun) = (segments(table, socket), Instant::now());
    while begun.elapsed() < time && !tracer.is_nearly_full() {
        std::thread::sleep(LOOK);
    }
    told.traced_ns = begun.elapsed().as_nanos() as u64;
    let after = segments(table, socket);
    let (stamps, lost) = tracer.end()?;
    told.traced_segments = after?.saturating_sub(before?);
    told.lost_events = lost;
    (told.points, told.several) = cycles(&stamps);
    Ok(())
}

/// Segments with data that came on this connection.
fn segments(table: &mut SocketTable, socket: &TableSocket) -> Result<u64> {
    let ours = table.connections()?.into_iter().find(|one| one.cookie == socket.cookie);
    let ended = || Error::unavailable("the connection has ended while it was traced", "try a shorter --time");
    let came = Field::named("data_segs_in").and_then(|field| field.value(&ours?.info));
    came.ok_or_else(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_ends_keeps_its_rounds() {
        let ends_at = |end: u32| {
            move |round| match round == end {
                true => Err(Error::unavailable("it has ended", "none")),
                false => Ok(RunningRound::default()),
            }
        };
        let count = |end, stops| rounds(ends_at(end), &|| stops).map(|rounds| rounds.len()).ok();
        assert_eq!([count(0, false), count(1, false), count(3, false)], [None, Some(1), Some(3)]);
        assert_eq!([count(ROUNDS, false), count(3, true)], [Some(ROUNDS as usize), Some(1)]);
    }
}
