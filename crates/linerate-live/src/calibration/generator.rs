//! What the sending side can do at most: the bare loops, and each engine against a receiver that throws away.

use super::{Found, ROUNDS};
use crate::pattern::{Link, Measured, Part, RECEIVE_BYTES, play, poll};
use crate::plan::{Block, Setting};
use crate::record::Ceiling;
use crate::statistic::Estimate;
use crate::transport::{Offer, Session, Spec, Task, named};
use crate::vocabulary::{Cache, Does, Family, Pattern, Place, RUNGS, TRANSPORTS, Wait};
use crate::{Error, Result};
use linerate_sys::low_water::LowWater;
use linerate_sys::{socket, thread};
use std::hint::black_box;
use std::io;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

/// The sizes at which layers are compared by latency and by throughput, with messages to find the rate by.
const SIZES: [(u64, u64); 2] = [(64, 2000), (1 << 20, 10)];

/// What a round should take about.
const ROUND_NS: f64 = 10e6;

/// What is thrown away at once.
const ROOM: usize = 1 << 20;

const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn calibrate(cpus: &[u32], settings: &[Setting], found: &mut Found) -> Result<()> {
    let first = cpus.first().copied();
    for does in [Does::Sends, Does::Pings] {
        let alone = |blocks: &[Block]| {
            let measured = play(vec![Part { link: Nothing, does, cpu: first }], Wait::Polling, blocks)?;
            Ok(measured.into_iter().flatten().collect())
        };
        let engine = Engine { transport: None, does, wait: None };
        found.ceilings.extend(engine.ceiling(SIZES[0], alone)?);
    }
    for rung in discarding() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            if wait == Wait::Polling && cpus.len() < 2 {
                found
                    .left_out(&format!("generator {} {wait}", rung.transport.name), "polling needs two CPUs");
                continue;
            }
            let engine = Engine { transport: Some(rung.transport.name), does: Does::Sends, wait: Some(wait) };
            for size in SIZES {
                let sent = |blocks: &[Block]| discarded(rung.transport.name, settings, wait, cpus, blocks);
                found.ceilings.extend(engine.ceiling(size, sent)?);
            }
        }
    }
    Ok(())
}

/// One generator: a loop, and how it drives its transport.
struct Engine {
    transport: Option<&'static str>,
    does: Does,
    wait: Option<Wait>,
}

impl Engine {
    /// Finds the rate with a few messages, then plays rounds of one length.
    fn ceiling(
        &self,
        (message_bytes, few): (u64, u64),
        play: impl Fn(&[Block]) -> Result<Vec<Measured>>,
    ) -> Result<Option<Ceiling>> {
        let probes = play(&[block(message_bytes, few); 2])?;
        let message_ns = probes.last().map_or(f64::NAN, |probe| probe.flow.duration_ns as f64 / few as f64);
        let messages = ((ROUND_NS / message_ns.max(0.1)) as u64).max(1);
        let rounds = play(&[block(message_bytes, messages); ROUNDS + 1])?;
        let rate = |round: &Measured| messages as f64 * 1e9 / round.flow.duration_ns.max(1) as f64;
        Ok(Estimate::from_values(rounds.iter().skip(1).map(rate)).map(|rate| Ceiling {
            transport: self.transport.map(String::from),
            does: self.does,
            wait: self.wait,
            message_bytes,
            messages_per_s: rate.into(),
        }))
    }
}

/// The rungs in a host whose receiver can throw away: those over streams that other hosts can reach too.
fn discarding() -> impl Iterator<Item = &'static crate::vocabulary::Rung> {
    let over_sockets =
        |name: &str| TRANSPORTS.iter().any(|t| t.name == name && t.crosses_hosts && t.reliable);
    RUNGS.iter().filter(move |rung| {
        // The other family is the same transport.
        rung.place == Place::InHost
            && rung.family == Family::V4
            && !rung.on_request
            && rung.patterns.contains(&Pattern::Stream)
            && over_sockets(rung.transport.name)
    })
}

fn block(message_bytes: u64, messages: u64) -> Block {
    Block { message_bytes, messages, slices: 1, lead: 0, cache: Cache::Hot, ..Block::default() }
}

/// A link that costs nothing: what is left is the loop.
struct Nothing;

impl Link for Nothing {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(black_box(bytes).len())
    }

    #[inline]
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        Ok(black_box(bytes).len())
    }
}

/// The sender's blocks. It runs as in any trial; the other end answers with the
/// one byte that says go, and throws away what comes.
fn discarded(
    transport: &str,
    settings: &[Setting],
    wait: Wait,
    cpus: &[u32],
    blocks: &[Block],
) -> Result<Vec<Measured>> {
    let [receiver, mut sender] = open(transport, settings)?;
    let here = || Error::peer(transport, "has no socket to receive from", "");
    let socket = receiver.sockets().first().copied().ok_or_else(here)?;
    let of = |index: usize| cpus.get(index % cpus.len().max(1)).copied();
    let task = [Task { does: Does::Sends, cpus: of(0).into_iter().collect() }];
    std::thread::scope(|scope| {
        let discarding = scope.spawn(|| discard(socket, wait, of(1), blocks));
        let measured = sender.trial(&task, wait, blocks);
        let panicked = |_| Err(Error::peer("a discarding thread", "panicked", "please report it"));
        let discarded = discarding.join().unwrap_or_else(panicked);
        let measured = measured?;
        discarded.map(|()| measured.into_iter().flatten().flatten().collect())
    })
}

/// Both ends of a session in this process, the passive one first.
fn open(transport: &str, settings: &[Setting]) -> Result<[Box<dyn Session>; 2]> {
    let spec = |passive| Spec {
        transport: transport.into(),
        flows: 1,
        passive,
        address: None,
        settings: settings.to_vec(),
        patience_ms: PATIENCE.as_millis() as u64,
    };
    let transport = named(transport)?;
    let (passive, offer) = transport.offer(&spec(true))?;
    let (active, _) = transport.offer(&spec(false))?;
    std::thread::scope(|scope| {
        let active = scope.spawn(|| active.join(&offer));
        let passive = passive.join(&Offer::Nothing);
        let panicked = |_| Err(Error::peer("a joining thread", "panicked", "please report it"));
        Ok([passive?, active.join().unwrap_or_else(panicked)?])
    })
}

fn discard(mut socket: &TcpStream, wait: Wait, cpu: Option<u32>, blocks: &[Block]) -> Result<()> {
    cpu.map_or(Ok(()), |cpu| thread::pin(&[cpu]))?;
    let mut room = vec![0; ROOM];
    let mut water = LowWater::new(socket);
    let broken = |error| Error::io("recv(MSG_TRUNC)", "loopback connection", error);
    for block in blocks {
        socket.write_all(&[0]).map_err(broken)?;
        let mut left = block.bytes();
        while left > 0 {
            let room = &mut room[..ROOM.min(left as usize)];
            let came = match wait {
                Wait::Sleeping => gone(socket::discard_now(socket, room)),
                Wait::Polling => poll(PATIENCE, || gone(socket::discard_now(socket, room))),
            };
            let came = came.map_err(broken)? as u64;
            if came == 0 {
                let wanted = RECEIVE_BYTES.max(block.message_bytes as usize).min(room.len());
                water.wait(wanted, PATIENCE).map_err(broken)?;
            }
            left -= came;
        }
    }
    Ok(())
}

/// No byte yet is 0; the end of the stream is an error.
fn gone(discarded: io::Result<Option<usize>>) -> io::Result<usize> {
    match discarded? {
        Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        count => Ok(count.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_sends_all_to_a_sink() {
        let cpus = thread::allowed_cpus().unwrap();
        for rung in discarding() {
            for wait in [Wait::Sleeping, Wait::Polling] {
                let blocks = [block(70_000, 5), block(1, 300), block(3 << 20, 2)];
                let rounds = discarded(rung.transport.name, &[], wait, &cpus, &blocks).unwrap();
                let bytes: Vec<u64> = rounds.iter().map(|round| round.flow.bytes).collect();
                assert_eq!(bytes, blocks.map(|block| block.bytes()), "{wait}");
            }
        }
        assert!(discarding().count() > 0);
    }
}
