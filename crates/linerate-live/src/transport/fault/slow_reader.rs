//! A receiver that takes its time: what came is worked on before anything else is read.

use crate::unit::BitRate;
use crate::vocabulary::Does;
use linerate_sys::clock::monotonic_ns;
use std::time::Duration;

/// What is left of a wait is spun away from here on: a sleep ends late.
const SPUN_NS: f64 = 100_000.0;

/// A wait that ended late is made up for, up to this: time in which nothing came is lost.
const MADE_UP_NS: f64 = 50e6;

/// The pace of one receiving end.
#[derive(Debug)]
pub struct Reader {
    /// None where this end reads as fast as it can.
    ns_per_byte: Option<f64>,
    /// When what has come so far has been worked on.
    done_at: Option<f64>,
}

impl Reader {
    /// For one end of a step: only the receiver of a stream has a pace.
    pub fn new(rate: Option<BitRate>, does: Does) -> Reader {
        let rate = rate.filter(|_| does == Does::Receives);
        Reader { ns_per_byte: rate.map(|rate| 8e9 / rate.0), done_at: None }
    }

    /// A block begins: time that went by without one is nobody's.
    pub fn begins(&mut self) {
        self.done_at = None;
    }

    /// Works on bytes that came.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        let Some(ns_per_byte) = self.ns_per_byte else { return };
        let now = monotonic_ns() as f64;
        let from = self.done_at.map_or(now, |done| done.max(now - MADE_UP_NS));
        let done = from + ns_per_byte * bytes as f64;
        self.done_at = Some(done);
        if done - now > SPUN_NS {
            std::thread::sleep(Duration::from_nanos((done - now - SPUN_NS) as u64));
        }
        while (monotonic_ns() as f64) < done {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waiting never ends early, so a lower bound holds however busy the machine is.
    #[test]
    fn bytes_take_the_time_of_the_rate_at_least() {
        let mut reader = Reader::new(Some(BitRate(1e9)), Does::Receives);
        reader.begins();
        let begun = monotonic_ns();
        for _ in 0..10 {
            reader.received(125_000);
        }
        assert!(monotonic_ns() - begun >= 10_000_000);
    }

    #[test]
    fn only_a_receiver_has_a_pace() {
        for does in [Does::Sends, Does::Pings, Does::Echoes] {
            let mut reader = Reader::new(Some(BitRate(1.0)), does);
            reader.received(1 << 20);
            assert!(reader.done_at.is_none());
        }
    }
}
