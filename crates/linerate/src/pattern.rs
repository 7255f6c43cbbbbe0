//! Who sends what when: the timed loops, and what they need of a link.
//!
//! A loop is generic over its [`Link`] and its [`Clock`], so it is compiled for each engine apart and
//! asks nobody which one it has. Inside a loop nothing is allocated, locked, logged or looked up;
//! both ends run the same counts, so no end needs the other's word for where a block ends.
//!
//! This room stands below `transport`, whose sessions call it: one virtual call a trial.

mod awake;
mod buffer;
mod ping_pong;
mod play;
mod stream;
#[cfg(test)]
mod tests;

pub use play::{Measured, Part, play};

use crate::plan::Block;
use crate::vocabulary::Does;
use buffer::Walk;
use std::io;
use std::time::Duration;

/// One direction or both of one connection, as one engine drives it.
pub trait Link {
    /// Sends the first part of `bytes`, waiting until at least one byte went; says how many did.
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Fills the first part of `bytes`, waiting until at least one byte came; says how many did.
    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize>;
}

/// Where the time comes from: the machine, or a test.
pub trait Clock {
    /// Nanoseconds since some fixed moment.
    fn now_ns(&self) -> u64;
}

/// The machine's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&self) -> u64 {
        linerate_sys::clock::monotonic_ns()
    }
}

/// Runs one block's loop; returns the bytes that this end moved in its direction.
fn run<L: Link, K: Clock>(
    does: Does,
    link: &mut L,
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<u64> {
    match does {
        Does::Pings => ping_pong::ping(link, clock, block, walk, stamps),
        Does::Echoes => ping_pong::echo(link, block, walk),
        Does::Sends | Does::Copies => stream::send(link, clock, block, walk, stamps),
        Does::Receives => stream::receive(link, clock, block, walk, stamps),
    }
}

/// Sends all of `bytes`.
#[inline]
fn push_all<L: Link>(link: &mut L, bytes: &[u8]) -> io::Result<u64> {
    let mut moved = 0;
    while moved < bytes.len() {
        moved += link.push(&bytes[moved..])?;
    }
    Ok(moved as u64)
}

/// Fills all of `bytes`.
#[inline]
fn pull_all<L: Link>(link: &mut L, bytes: &mut [u8]) -> io::Result<u64> {
    let mut moved = 0;
    while moved < bytes.len() {
        moved += link.pull(&mut bytes[moved..])?;
    }
    Ok(moved as u64)
}

/// How often a polling end asks before it looks at the clock.
const ASKS_A_LOOK: u32 = 1 << 14;

/// Asks until something moved, or nothing did for longer than `limit`.
#[inline]
pub fn poll(limit: Duration, mut ask: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    let mut since = None;
    loop {
        for _ in 0..ASKS_A_LOOK {
            let moved = ask()?;
            if moved > 0 {
                return Ok(moved);
            }
        }
        let now = linerate_sys::clock::monotonic_ns();
        if now - *since.get_or_insert(now) > limit.as_nanos() as u64 {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}
