//! The loops over a link with virtual time: what was put in must come out, without time passing.

use super::buffer::Region;
use super::{Clock, Link, Loops};
use crate::plan::Block;
use crate::vocabulary::{Cache, Does};
use std::cell::Cell;
use std::io;
use std::rc::Rc;

/// Virtual nanoseconds, moved by the link alone.
#[derive(Debug, Clone, Default)]
struct Virtual(Rc<Cell<u64>>);

impl Clock for Virtual {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }
}

/// A wire with an echo at its far end: a push costs alpha and beta a byte, a pull as much, and either
/// moves at most `piece` bytes at once. After `breaks_at` bytes the peer is gone.
struct Simulated {
    clock: Virtual,
    alpha_ns: u64,
    beta_ns: u64,
    piece: usize,
    breaks_at: u64,
    /// Bytes left of a message whose start was paid.
    paid: usize,
    moved: u64,
}

impl Simulated {
    fn new(clock: &Virtual) -> Simulated {
        Simulated {
            clock: clock.clone(),
            alpha_ns: 1000,
            beta_ns: 2,
            piece: usize::MAX,
            breaks_at: u64::MAX,
            paid: 0,
            moved: 0,
        }
    }

    fn carry(&mut self, len: usize) -> io::Result<usize> {
        if self.moved >= self.breaks_at {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let start = if self.paid == 0 { self.alpha_ns } else { 0 };
        let now = len.min(self.piece);
        self.paid = len - now;
        self.moved += now as u64;
        self.clock.0.set(self.clock.0.get() + start + self.beta_ns * now as u64);
        Ok(now)
    }
}

impl Link for Simulated {
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.carry(bytes.len())
    }

    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.carry(bytes.len())
    }
}

fn block(message_bytes: u64, messages: u64, slices: u32) -> Block {
    Block { message_bytes, messages, slices, lead: 0, cache: Cache::Hot, ..Block::default() }
}

/// Runs one loop; gives the bytes and the stamps.
fn play(does: Does, link: &mut Simulated, block: &Block) -> io::Result<(u64, Vec<u64>)> {
    let mut region = Region::for_blocks(std::slice::from_ref(block), does).unwrap();
    let (clock, mut stamps) = (link.clock.clone(), Vec::new());
    let moved = link.run(does, &clock, block, &mut region.walk(block, does), &mut stamps)?;
    Ok((moved.bytes, stamps))
}

#[test]
fn a_round_trip_costs_two_ways() {
    for (size, piece) in [(1, usize::MAX), (64, 64), (100_000, 4096)] {
        let clock = Virtual::default();
        let mut link = Simulated { piece, ..Simulated::new(&clock) };
        let (bytes, stamps) = play(Does::Pings, &mut link, &block(size, 3, 5)).unwrap();
        let round_trip = 2 * (1000 + 2 * size);
        let expected: Vec<u64> = (1..=5).map(|slice| slice * 3 * round_trip).collect();
        assert_eq!((bytes, stamps), (15 * size, expected), "{size} B in pieces of {piece}");
    }
}

#[test]
fn a_sender_pays_for_each_message_and_a_receiver_reads_many_at_once() {
    let clock = Virtual::default();
    let (bytes, stamps) = play(Does::Sends, &mut Simulated::new(&clock), &block(1000, 10, 4)).unwrap();
    assert_eq!((bytes, stamps.last()), (40_000, Some(&(40 * 3000))));

    let clock = Virtual::default();
    let (bytes, stamps) = play(Does::Receives, &mut Simulated::new(&clock), &block(1000, 10, 4)).unwrap();
    assert_eq!((bytes, stamps.last()), (40_000, Some(&(4 * (1000 + 2 * 10_000)))));
}

#[test]
fn a_receiver_stamps_at_the_byte_where_a_slice_ends() {
    let clock = Virtual::default();
    let mut link = Simulated { piece: 777, alpha_ns: 0, ..Simulated::new(&clock) };
    let (bytes, stamps) = play(Does::Receives, &mut link, &block(5000, 2, 3)).unwrap();
    assert_eq!((bytes, stamps), (30_000, vec![20_000, 40_000, 60_000]));
}

#[test]
fn a_peer_that_goes_away_ends_every_loop() {
    for does in [Does::Pings, Does::Echoes, Does::Sends, Does::Receives] {
        let clock = Virtual::default();
        let mut link = Simulated { breaks_at: 5000, ..Simulated::new(&clock) };
        let error = play(does, &mut link, &block(1000, 10, 10)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{does:?}");
    }
}
