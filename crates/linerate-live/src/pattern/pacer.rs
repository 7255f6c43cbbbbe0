//! The moments at which messages should go, whatever became of those before: fixed before the first one goes.

use super::Clock;
use crate::plan::Pace;
use crate::record::{Latencies, Tally};
use crate::vocabulary::Sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io;

/// The moments of one block.
#[derive(Debug)]
pub struct Pacer {
    due_ns: f64,
    gap: Gap,
    late: u64,
    intended: u64,
    lateness: Latencies,
}

/// The time between two.
#[derive(Debug)]
enum Gap {
    Even(f64),
    // Boxed: it is larger than all else.
    Random(f64, Box<ChaCha8Rng>),
}

impl Pacer {
    /// Of a pace that sets moments, from now on: none where messages wait for each other.
    pub fn for_pace(pace: Pace, clock: &impl Clock) -> Option<Pacer> {
        let gap = match pace {
            Pace::Closed => return None,
            Pace::Every(ns) => Gap::Even(ns as f64),
            Pace::Poisson(mean_ns) => {
                Gap::Random(mean_ns as f64, Box::new(ChaCha8Rng::seed_from_u64(rand::random())))
            }
        };
        let lateness = Latencies::default();
        Some(Pacer { due_ns: clock.now_ns() as f64, gap, late: 0, intended: 0, lateness })
    }

    /// The same, where there must be one.
    pub fn needed(pace: Pace, clock: &impl Clock) -> io::Result<Pacer> {
        let closed = || io::Error::new(io::ErrorKind::InvalidInput, "an open loop needs a pace");
        Pacer::for_pace(pace, clock).ok_or_else(closed)
    }

    /// When the next message should go.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.due_ns as u64
    }

    /// The message that was due goes now. It is late where it goes later than by the mean time between two.
    #[inline]
    pub fn goes(&mut self, now_ns: u64, counts: bool) {
        let late_ns = (now_ns as f64 - self.due_ns).max(0.0);
        let (gap_ns, mean_ns) = match &mut self.gap {
            Gap::Even(ns) => (*ns, *ns),
            // A uniform number below one has a logarithm when it is taken from one.
            Gap::Random(mean_ns, random) => (-*mean_ns * (1.0 - random.random::<f64>()).ln(), *mean_ns),
        };
        self.due_ns += gap_ns;
        if counts {
            self.intended += 1;
            self.late += u64::from(late_ns > mean_ns);
            self.lateness.record(late_ns as u64);
        }
    }

    /// What became of it.
    pub fn finish(self, tally: &mut Tally, samples: &mut Vec<(Sample, Latencies)>) {
        (tally.intended, tally.late) = (Some(self.intended), Some(self.late));
        samples.push((Sample::SentLate, self.lateness));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Still;

    impl Clock for Still {
        fn now_ns(&self) -> u64 {
            1_000_000
        }
    }

    #[test]
    fn late_is_more_than_the_time_between_two() {
        let mut pacer = Pacer::for_pace(Pace::Every(100), &Still).unwrap();
        for (number, late_ns) in [0, 99, 101, 350].into_iter().enumerate() {
            assert_eq!(pacer.due_ns(), 1_000_000 + 100 * number as u64);
            pacer.goes(pacer.due_ns() + late_ns, true);
        }
        let (mut tally, mut samples) = (Tally::default(), Vec::new());
        pacer.finish(&mut tally, &mut samples);
        assert_eq!((tally.intended, tally.late), (Some(4), Some(2)));
        assert_eq!(samples[0].1.count(), 4);
        assert!(Pacer::for_pace(Pace::Closed, &Still).is_none());
    }

    #[test]
    fn random_times_are_a_poisson_process() {
        let mut pacer = Pacer::for_pace(Pace::Poisson(1000), &Still).unwrap();
        let (n, mut gaps) = (20_000, Vec::new());
        for _ in 0..n {
            let before = pacer.due_ns;
            pacer.goes(0, false);
            gaps.push(pacer.due_ns - before);
        }
        let mean = gaps.iter().sum::<f64>() / f64::from(n);
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / f64::from(n)).sqrt();
        // Seven standard errors of the mean, and more of the deviation.
        assert!((mean / 1000.0 - 1.0).abs() < 0.05, "{mean}");
        assert!((deviation / 1000.0 - 1.0).abs() < 0.1, "{deviation}");
    }
}
