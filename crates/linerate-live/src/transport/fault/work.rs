//! An end that works on its bytes: as a program that makes them or looks at them does, in place of one that only moves them.
//!
//! How much it works follows from what a byte takes by itself, which the warm-up shows. Where this end's thread binds, the rate
//! falls by as much; where it has time to spare, the work is done in that, and the rate stays. Which of both it is, is what this
//! is put in for.

use super::warm_up::WarmUp;
use crate::plan::Block;
use linerate_sys::clock::monotonic_ns;

/// The work of one end.
#[derive(Debug)]
pub struct Work {
    share: f64,
    warm_up: Option<WarmUp>,
    ns_per_byte: f64,
}

impl Work {
    /// For one end of a step; nothing for one whose work it is not.
    pub fn new(percent: u32, is_its: bool, blocks: &[Block]) -> Work {
        let share = if is_its { f64::from(percent) / 100.0 } else { 0.0 };
        let warm_up = WarmUp::of_stream(blocks).filter(|_| share > 0.0);
        Work { share, warm_up, ns_per_byte: 0.0 }
    }

    /// Whether bytes move by themselves still, to show how long one takes.
    #[inline]
    pub fn is_warming_up(&self) -> bool {
        self.warm_up.is_some()
    }

    /// So many moved, and so many are still on their way; tells whether this end works from now on.
    #[inline]
    pub fn moved(&mut self, bytes: usize, outstanding: u64) -> bool {
        let ns_per_byte = self.warm_up.as_mut().and_then(|warm_up| warm_up.moved(bytes, outstanding));
        let Some(ns_per_byte) = ns_per_byte else { return false };
        self.ns_per_byte = ns_per_byte;
        self.warm_up = None;
        true
    }

    /// Works on so many.
    #[inline]
    pub fn on(&self, bytes: usize) {
        if self.ns_per_byte > 0.0 {
            let until_ns = monotonic_ns() + (self.share * self.ns_per_byte * bytes as f64) as u64;
            while monotonic_ns() < until_ns {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Cache;

    const BYTES: usize = 1000;
    /// A byte takes this long by itself.
    const NS_PER_BYTE: u64 = 100;

    fn blocks() -> [Block; 2] {
        let block = |lead| Block {
            message_bytes: BYTES as u64,
            messages: 20,
            slices: 1,
            lead,
            cache: Cache::Hot,
            ..Block::default()
        };
        [block(1), block(0)]
    }

    /// The time of a block of which each message takes a while by itself.
    fn time_of(work: &mut Work) -> u64 {
        let begun = monotonic_ns();
        for _ in 0..20 {
            work.on(BYTES);
            let until = monotonic_ns() + NS_PER_BYTE * BYTES as u64;
            while monotonic_ns() < until {}
            work.moved(BYTES, 0);
        }
        monotonic_ns() - begun
    }

    /// Spinning never ends early, so a lower bound holds however busy the machine is.
    #[test]
    fn an_end_works_a_share_of_what_its_warm_up_took() {
        let mut work = Work::new(50, true, &blocks());
        time_of(&mut work);
        assert!(time_of(&mut work) >= 20 * NS_PER_BYTE * BYTES as u64 * 3 / 2);
    }

    #[test]
    fn whose_work_it_is_not_has_none() {
        let mut work = Work::new(1000, false, &blocks());
        time_of(&mut work);
        assert_eq!(work.ns_per_byte, 0.0);
    }
}
