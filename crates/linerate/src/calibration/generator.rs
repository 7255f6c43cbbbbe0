//! What the sending side can do at most: the bare loops, and each engine against a receiver that throws away.

use super::{Found, ROUNDS};
use crate::pattern::{Link, Measured, Part, play, poll};
use crate::plan::{Block, Setting};
use crate::record::Ceiling;
use crate::statistic::Estimate;
use crate::transport::{Offer, Session, Spec, Task, named};
use crate::vocabulary::{Cache, Does, Pattern, Place, RUNGS, TRANSPORTS, Wait};
use crate::{Error, Result};
use linerate_sys::{socket, thread};
use std::hint::black_box;
use std::io;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

/// The sizes at which layers are compared by latency and by throughput, with the messages of a round.
const SIZES: [(u64, u64); 2] = [(64, 20_000), (1 << 20, 150)];

/// The messages of a bare loop's round.
const BARE: u64 = 400_000;

/// What is thrown away at once.
const ROOM: usize = 1 << 20;

const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn calibrate(cpus: &[u32], settings: &[Setting], found: &mut Found) -> Result<()> {
    let first = cpus.first().copied();
    for does in [Does::Sends, Does::Pings] {
        let block = block(SIZES[0].0, BARE);
        let parts = vec![Part { link: Nothing, does, cpu: first }];
        let measured = play(parts, Wait::Polling, &vec![block; ROUNDS + 1])?;
        found.ceiling(None, does, None, &block, measured.into_iter().flatten());
    }
    for rung in discarding() {
        for wait in [Wait::Sleeping, Wait::Polling] {
            if wait == Wait::Polling && cpus.len() < 2 {
                found.left_out(&format!("generator {} {wait}", rung.id), "polling needs two CPUs");
                continue;
            }
            for (message_bytes, messages) in SIZES {
                let block = block(message_bytes, messages);
                let measured = discarded(rung.transport, settings, wait, cpus, &block)?;
                found.ceiling(Some(rung.transport), Does::Sends, Some(wait), &block, measured.into_iter());
            }
        }
    }
    Ok(())
}

/// The rungs in a host whose receiver can throw away: those over the sockets that other hosts can reach too.
fn discarding() -> impl Iterator<Item = &'static crate::vocabulary::Rung> {
    let over_sockets = |name: &str| TRANSPORTS.iter().any(|t| t.name == name && t.crosses_hosts);
    RUNGS.iter().filter(move |rung| {
        rung.place == Place::InHost
            && rung.patterns.contains(&Pattern::Stream)
            && over_sockets(rung.transport)
    })
}

fn block(message_bytes: u64, messages: u64) -> Block {
    Block { message_bytes, messages, slices: 1, lead: 0, cache: Cache::Hot }
}

impl Found {
    /// Messages a second of each round after a first one.
    fn ceiling(
        &mut self,
        transport: Option<&str>,
        does: Does,
        wait: Option<Wait>,
        block: &Block,
        rounds: impl Iterator<Item = Measured>,
    ) {
        let messages = (block.messages * u64::from(block.slices)) as f64;
        let rates = rounds.skip(1).map(|round| messages * 1e9 / round.flow.duration_ns.max(1) as f64);
        self.ceilings.extend(Estimate::of(rates).map(|rate| Ceiling {
            transport: transport.map(String::from),
            does,
            wait,
            message_bytes: block.message_bytes,
            messages_per_s: rate.into(),
        }));
    }
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

/// The sender's rounds, the first one included. It runs as in any trial; the other end answers with the
/// one byte that says go, and throws away what comes.
fn discarded(
    transport: &str,
    settings: &[Setting],
    wait: Wait,
    cpus: &[u32],
    block: &Block,
) -> Result<Vec<Measured>> {
    let [receiver, mut sender] = open(transport, settings)?;
    let here = || Error::peer(transport, "has no socket to receive from", "");
    let socket = receiver.sockets().first().copied().ok_or_else(here)?;
    let blocks = vec![*block; ROUNDS + 1];
    let of = |index: usize| cpus.get(index % cpus.len().max(1)).copied();
    let task = [Task { does: Does::Sends, cpus: of(0).into_iter().collect() }];
    std::thread::scope(|scope| {
        let discarding = scope.spawn(|| discard(socket, wait, of(1), &blocks));
        let measured = sender.trial(&task, wait, &blocks);
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
    let broken = |error| Error::io("recv(MSG_TRUNC)", "loopback connection", error);
    for block in blocks {
        socket.write_all(&[0]).map_err(broken)?;
        let mut left = block.bytes();
        while left > 0 {
            let room = &mut room[..ROOM.min(left as usize)];
            let came = match wait {
                Wait::Sleeping => gone(socket::discard_waiting(socket, room)),
                Wait::Polling => poll(PATIENCE, || gone(socket::discard_now(socket, room))),
            };
            left -= came.map_err(broken)? as u64;
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
    fn every_engine_sends_all_to_a_receiver_that_throws_away() {
        let cpus = thread::allowed_cpus().unwrap();
        for rung in discarding() {
            for wait in [Wait::Sleeping, Wait::Polling] {
                let block = block(70_000, 20);
                let rounds = discarded(rung.transport, &[], wait, &cpus, &block).unwrap();
                assert_eq!(rounds.len(), ROUNDS + 1);
                assert!(rounds.iter().all(|round| round.flow.bytes == block.bytes()), "{wait}");
            }
        }
        assert!(discarding().count() > 0);
    }
}
