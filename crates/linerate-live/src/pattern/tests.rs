//! The loops over a link with virtual time: what was put in must come out, without time passing.

use super::buffer::Region;
use super::loops::run_link;
use super::{Clock, Link};
use crate::plan::{Block, Pace};
use crate::record::{Latencies, decode_histogram};
use crate::vocabulary::{Cache, Does, Sample};
use std::cell::Cell;
use std::collections::VecDeque;
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
    let moved = run_link(link, does, &clock, block, &mut region.walk(block, does), &mut stamps)?;
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
fn a_delivery_is_a_message_and_a_byte_back() {
    for (size, piece) in [(1, usize::MAX), (100_000, 4096)] {
        let clock = Virtual::default();
        let mut link = Simulated { piece, ..Simulated::new(&clock) };
        let (bytes, stamps) = play(Does::Delivers, &mut link, &block(size, 3, 5)).unwrap();
        let delivery = (1000 + 2 * size) + (1000 + 2);
        let expected: Vec<u64> = (1..=5).map(|slice| slice * 3 * delivery).collect();
        assert_eq!((bytes, stamps), (15 * size, expected), "{size} B in pieces of {piece}");
    }
}

#[test]
fn a_receiver_reads_many_messages_at_once() {
    let clock = Virtual::default();
    let (bytes, stamps) = play(Does::Sends, &mut Simulated::new(&clock), &block(1000, 10, 4)).unwrap();
    assert_eq!((bytes, stamps.last()), (40_000, Some(&(40 * 3000))));

    let clock = Virtual::default();
    let (bytes, stamps) = play(Does::Receives, &mut Simulated::new(&clock), &block(1000, 10, 4)).unwrap();
    assert_eq!((bytes, stamps.last()), (40_000, Some(&(4 * (1000 + 2 * 10_000)))));
}

#[test]
fn a_receiver_stamps_at_a_slices_last_byte() {
    let clock = Virtual::default();
    let mut link = Simulated { piece: 777, alpha_ns: 0, ..Simulated::new(&clock) };
    let (bytes, stamps) = play(Does::Receives, &mut link, &block(5000, 2, 3)).unwrap();
    assert_eq!((bytes, stamps), (30_000, vec![20_000, 40_000, 60_000]));
}

#[test]
fn a_peer_that_goes_away_ends_every_loop() {
    for does in [Does::Pings, Does::Echoes, Does::Sends, Does::Receives, Does::Delivers, Does::Acknowledges] {
        let clock = Virtual::default();
        let mut link = Simulated { breaks_at: 5000, ..Simulated::new(&clock) };
        let error = play(does, &mut link, &block(1000, 10, 10)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{does:?}");
    }
}

/// A server behind a stream that answers in order, each message in `serves_ns`, but for the first `stalls_ns` of
/// each second, in which it does nothing.
struct Served {
    clock: Virtual,
    message_bytes: usize,
    serves_ns: u64,
    stalls_ns: u64,
    /// When each answer is there, and bytes of a message that has not gone as a whole.
    ready: VecDeque<u64>,
    free_at: u64,
    part: usize,
}

const SECOND: u64 = 1_000_000_000;

impl Served {
    fn new(clock: &Virtual, stalls_ns: u64) -> Served {
        let (ready, clock) = (VecDeque::new(), clock.clone());
        Served { clock, message_bytes: 64, serves_ns: 20_000, stalls_ns, ready, free_at: 0, part: 0 }
    }
}

impl Link for Served {
    fn push(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push_now(bytes)
    }

    fn pull(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let came = self.pull_now(bytes)?;
        if came == 0 {
            self.idle(false, u64::MAX)?;
            return self.pull_now(bytes);
        }
        Ok(came)
    }

    fn push_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part += bytes.len();
        while self.part >= self.message_bytes {
            self.part -= self.message_bytes;
            let at = self.free_at.max(self.clock.now_ns());
            let begun = if at % SECOND < self.stalls_ns { at - at % SECOND + self.stalls_ns } else { at };
            self.free_at = begun + self.serves_ns;
            self.ready.push_back(self.free_at);
        }
        Ok(bytes.len())
    }

    fn pull_now(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut came = 0;
        while bytes.len() - came >= self.message_bytes
            && self.ready.front().is_some_and(|at| *at <= self.clock.now_ns())
        {
            self.ready.pop_front();
            came += self.message_bytes;
        }
        Ok(came)
    }

    fn idle(&mut self, _out: bool, until_ns: u64) -> io::Result<()> {
        let next = self.ready.front().copied().unwrap_or(u64::MAX).min(until_ns);
        self.clock.0.set(next.max(self.clock.now_ns()));
        Ok(())
    }
}

fn percentiles(samples: &Latencies, shares: [f64; 3]) -> [f64; 3] {
    let histogram = decode_histogram(&samples.encode().unwrap()).unwrap();
    shares.map(|share| histogram.value_at_quantile(share) as f64 / 1e6)
}

/// The same server: 100 ms of each second it does nothing. What theory says of requests at a set rate.
#[test]
fn only_an_open_loop_shows_a_stall() {
    for pace in [Pace::Every(1_000_000), Pace::Poisson(1_000_000)] {
        let clock = Virtual::default();
        let mut link = Served::new(&clock, SECOND / 10);
        let asked = Block { pace, ..block(64, 40_000, 1) };
        let mut region = Region::for_blocks(&[asked], Does::Requests).unwrap();
        let mut walk = region.walk(&asked, Does::Requests);
        let moved = run_link(&mut link, Does::Requests, &clock, &asked, &mut walk, &mut Vec::new()).unwrap();
        assert_eq!(moved.bytes, 40_000 * 64);
        let tally = moved.tally.unwrap();
        assert_eq!((tally.intended, tally.late), (Some(40_000), Some(0)));
        let of = |wanted| &moved.samples.iter().find(|(sample, _)| *sample == wanted).unwrap().1;
        for sample in [Sample::FromIntended, Sample::FromSend] {
            let [p95, p99, p999] = percentiles(of(sample), [0.95, 0.99, 0.999]);
            // Answering what had queued up takes 2 ms more; a random rate moves each by a few per cent.
            assert!((p95 / 50.0 - 1.0).abs() < 0.1, "{pace:?} {sample:?} p95 {p95}");
            assert!((p99 / 90.0 - 1.0).abs() < 0.05, "{pace:?} {sample:?} p99 {p99}");
            assert!((p999 / 99.0 - 1.0).abs() < 0.05, "{pace:?} {sample:?} p99.9 {p999}");
        }
    }
    let clock = Virtual::default();
    let mut link = Served::new(&clock, SECOND / 10);
    let closed = block(64, 1, 400_000);
    let mut region = Region::for_blocks(&[closed], Does::Pings).unwrap();
    let mut stamps = Vec::new();
    run_link(&mut link, Does::Pings, &clock, &closed, &mut region.walk(&closed, Does::Pings), &mut stamps)
        .unwrap();
    let mut latencies = Latencies::default();
    stamps.windows(2).for_each(|pair| latencies.record(pair[1] - pair[0]));
    let [p99, p999, most] = percentiles(&latencies, [0.99, 0.999, 1.0]);
    assert!(p99 < 0.1 && p999 < 0.1 && most > 90.0, "a closed loop waits once a stall: {p99} {p999} {most}");
}

/// A generator that cannot go on because its server is slower than the rate says so by its own count.
#[test]
fn lateness_counts_from_the_due_time() {
    let clock = Virtual::default();
    let mut link = Served { serves_ns: 2_000_000, ..Served::new(&clock, 0) };
    let asked = Block { pace: Pace::Every(1_000_000), ..block(64, 100, 11) };
    let asked = Block { lead: 1, ..asked };
    let mut region = Region::for_blocks(&[asked], Does::Requests).unwrap();
    let mut walk = region.walk(&asked, Does::Requests);
    let moved = run_link(&mut link, Does::Requests, &clock, &asked, &mut walk, &mut Vec::new()).unwrap();
    let of = |wanted| &moved.samples.iter().find(|(sample, _)| *sample == wanted).unwrap().1;
    assert_eq!(of(Sample::FromIntended).count(), 1000, "the lead has no part in it");
    // The last request is due at 1099 ms and answered at 2200 ms.
    let [.., last] = percentiles(of(Sample::FromIntended), [0.5, 0.9, 1.0]);
    assert!((last / 1101.0 - 1.0).abs() < 0.002, "{last}");
}

#[test]
fn an_exchange_waits_for_the_others_message_only() {
    let clock = Virtual::default();
    let mut link = Served { message_bytes: 1000, serves_ns: 7000, ..Served::new(&clock, 0) };
    let (crossed, mut stamps) = (block(1000, 3, 4), Vec::new());
    let mut region = Region::for_blocks(&[crossed], Does::Exchanges).unwrap();
    let mut walk = region.walk(&crossed, Does::Exchanges);
    let moved = run_link(&mut link, Does::Exchanges, &clock, &crossed, &mut walk, &mut stamps).unwrap();
    assert_eq!((moved.bytes, stamps), (12_000, vec![21_000, 42_000, 63_000, 84_000]));
}
