//! How much of an exchange goes on while its ends compute: messages are begun, a fixed piece of work is done, then they
//! are waited for.
//!
//! A slice has three parts: exchanges alone, as much work as they took alone, and both at once. The work is the same in
//! the second part and in the third, so what a progress thread, a copy or an interrupt takes from it shows. Before the
//! first and the third part the ends meet: else one would be charged for the other's lateness.

use crate::pattern::{Clock, Moved, Walk};
use crate::plan::Block;
use crate::record::Latencies;
use crate::vocabulary::Sample;
use linerate_sys::messages::Messages;
use std::hint::black_box;
use std::io;
use std::sync::OnceLock;

/// Work that takes a time in proportion to its units.
pub(super) trait Works {
    /// How many units take so long.
    fn units(&self, ns: u64) -> u64;
    /// Does so many.
    fn run(&mut self, units: u64);
}

/// Arithmetic in registers, which nothing but the CPU's time slows.
#[derive(Debug, Default)]
pub(super) struct Arithmetic(u64);

/// Steps of a unit: some 50 ns.
const STEPS: u32 = 32;
/// Units of which one is timed, and how often: the shortest is the one that nobody disturbed.
const TIMED_UNITS: u64 = 2000;
const TIMED: usize = 9;

impl Arithmetic {
    /// Finds out how long a unit takes, once in the process's life: that is no part of a block's time.
    pub fn ready() -> f64 {
        static UNIT_NS: OnceLock<f64> = OnceLock::new();
        *UNIT_NS.get_or_init(|| {
            let once = |_| {
                let start = linerate_sys::clock::monotonic_ns();
                Arithmetic::default().run(TIMED_UNITS);
                linerate_sys::clock::monotonic_ns() - start
            };
            let shortest = (0..TIMED).map(once).min().unwrap_or(0);
            shortest.max(1) as f64 / TIMED_UNITS as f64
        })
    }
}

impl Works for Arithmetic {
    fn units(&self, ns: u64) -> u64 {
        ((ns as f64 / Arithmetic::ready()).round() as u64).max(1)
    }

    #[inline]
    fn run(&mut self, units: u64) {
        let mut state = self.0;
        for _ in 0..units {
            for _ in 0..STEPS {
                // A step waits for the one before (D. Knuth, The Art of Computer Programming 2, section 3.3.4).
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            }
        }
        self.0 = black_box(state);
    }
}

/// What was timed of each slice after the lead: the means of its exchanges.
#[derive(Debug, Default)]
struct Times {
    alone: Latencies,
    work: Latencies,
    both: Latencies,
}

impl Times {
    fn record(&mut self, [alone, work, both]: [u64; 3]) {
        self.alone.record(alone);
        self.work.record(work);
        self.both.record(both);
    }

    fn samples(self) -> Vec<(Sample, Latencies)> {
        let Times { alone, work, both } = self;
        vec![(Sample::ExchangeAlone, alone), (Sample::WorkAlone, work), (Sample::ExchangeAtWork, both)]
    }
}

/// Either end.
pub(super) fn overlap<M: Messages, W: Works, K: Clock>(
    (link, work): (&mut M, &mut W),
    clock: &K,
    block: &Block,
    walk: &mut Walk<'_>,
    stamps: &mut Vec<u64>,
) -> io::Result<Moved> {
    let (len, messages) = (block.message_bytes as usize, block.messages.max(1));
    // All slices, those of the lead too: they say best how long an exchange takes.
    let (mut exchanges, mut times, mut bytes) = (Latencies::default(), Times::default(), 0);
    for slice in 0..block.slices {
        link.exchange(&[0], &mut [0])?;
        let begun = clock.now_ns();
        for _ in 0..messages {
            let (message, room) = walk.next(2 * len).split_at_mut(len);
            bytes += link.exchange_at_work(message, room, || ())? as u64;
        }
        let alone = (clock.now_ns() - begun) / messages;
        exchanges.record(alone);
        let units = work.units(exchanges.median());
        let begun = clock.now_ns();
        for _ in 0..messages {
            work.run(units);
        }
        let worked = (clock.now_ns() - begun) / messages;
        link.exchange(&[0], &mut [0])?;
        let begun = clock.now_ns();
        for _ in 0..messages {
            let (message, room) = walk.next(2 * len).split_at_mut(len);
            bytes += link.exchange_at_work(message, room, || work.run(units))? as u64;
        }
        let end = clock.now_ns();
        if slice >= block.lead {
            times.record([alone, worked, (end - begun) / messages]);
        }
        stamps.push(end);
    }
    Ok(Moved { bytes, samples: times.samples(), ..Moved::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::buffer::Region;
    use crate::vocabulary::Does;
    use std::cell::Cell;

    /// Virtual time, which work and waiting move on.
    struct Machine(Cell<u64>);

    impl Clock for &Machine {
        fn now_ns(&self) -> u64 {
            self.0.get()
        }
    }

    impl Works for &Machine {
        fn units(&self, ns: u64) -> u64 {
            ns / 10
        }

        fn run(&mut self, units: u64) {
            self.0.set(self.0.get() + 10 * units);
        }
    }

    /// An exchange of 10 us, of which so much goes on by itself.
    struct Simulated<'m>(&'m Machine, u64);

    impl Messages for Simulated<'_> {
        fn send(&mut self, _: &[u8]) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn receive(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn exchange(&mut self, _: &[u8], room: &mut [u8]) -> io::Result<usize> {
            self.0.0.set(self.0.0.get() + 777);
            Ok(room.len())
        }

        fn exchange_at_work(
            &mut self,
            message: &[u8],
            room: &mut [u8],
            mut work: impl FnMut(),
        ) -> io::Result<usize> {
            assert_eq!(message.len(), room.len());
            let begun = self.0.now_ns();
            work();
            let by_itself = self.1.min(self.0.now_ns() - begun);
            self.0.0.set(self.0.now_ns() + 10_000 - by_itself);
            Ok(room.len())
        }
    }

    fn medians(by_itself: u64) -> [u64; 3] {
        let machine = Machine(Cell::new(5));
        let block = Block { message_bytes: 100, messages: 3, slices: 12, lead: 2, ..Block::default() };
        let mut region = Region::for_blocks(&[block], Does::Overlaps).unwrap();
        let (mut walk, mut stamps) = (region.walk(&block, Does::Overlaps), Vec::new());
        let parts = (&mut Simulated(&machine, by_itself), &mut &machine);
        let moved = overlap(parts, &&machine, &block, &mut walk, &mut stamps).unwrap();
        assert_eq!((moved.bytes, stamps.len()), (2 * block.bytes(), 12), "both parts of every slice");
        let counts: Vec<u64> = moved.samples.iter().map(|(_, times)| times.count()).collect();
        assert_eq!(counts, [10; 3], "the lead is left out");
        let median = |kind| moved.samples.iter().find(|(sample, _)| *sample == kind).unwrap().1.median();
        [Sample::ExchangeAlone, Sample::WorkAlone, Sample::ExchangeAtWork].map(median)
    }

    #[test]
    fn only_what_goes_on_by_itself_is_hidden() {
        let close = |seen: [u64; 3], expected: [u64; 3]| {
            let is_close = |(seen, expected): (u64, u64)| seen.abs_diff(expected) * 500 <= expected;
            assert!(seen.into_iter().zip(expected).all(is_close), "{seen:?} {expected:?}");
        };
        close(medians(10_000), [10_000, 10_000, 10_000]);
        close(medians(0), [10_000, 10_000, 20_000]);
        close(medians(7_000), [10_000, 10_000, 13_000]);
    }

    #[test]
    fn every_unit_is_done_however_they_are_divided() {
        let after = |parts: &[u64]| {
            let mut work = Arithmetic::default();
            parts.iter().for_each(|units| work.run(*units));
            work.0
        };
        assert_eq!(after(&[1000]), after(&[400, 600]));
        let different: std::collections::BTreeSet<u64> = (0..1000).map(|units| after(&[units])).collect();
        assert_eq!(different.len(), 1000, "each unit changes what comes out");
        assert_eq!(Arithmetic::default().units(0), 1, "work is never nothing");
    }
}
