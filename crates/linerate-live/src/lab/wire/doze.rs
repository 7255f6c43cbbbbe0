//! When to stop sleeping before something is due.

/// The thread stops sleeping by this share of the time until then, and these bounds: a sleeping CPU wakes up late,
/// the later the longer it slept. So little of its time is spent that way.
const SHARE: f64 = 1.0 / 16.0;
const LEAST_NS: f64 = 5e3;
const MOST_NS: f64 = 200e3;

/// With so few packets under way somebody waits for each, and the thread stops sleeping by as much as it has
/// lately slept too long. More are a stream, which feels no lateness and needs the CPU.
const FEW: usize = 4;

/// That much at most: what is later was not the timer's, but other work's.
const LATEST_NS: f64 = 60e3;

/// A wake-up that is later than expected counts by this weight, one that is earlier by that: an expectile near the
/// upper end, so that most wake-ups are in time.
const LATER: f64 = 1.0 / 8.0;
const EARLIER: f64 = 1.0 / 64.0;

/// What is known of this machine's timers.
#[derive(Debug, Default)]
pub struct Doze {
    late_ns: f64,
}

impl Doze {
    /// How long to sleep when something is due after this time, and so much is under way.
    pub fn sleep_ns(&self, left_ns: f64, under_way: usize) -> u64 {
        let usual_ns = (left_ns * SHARE).clamp(LEAST_NS, MOST_NS);
        let awake_ns = if under_way <= FEW { usual_ns.max(LEAST_NS + self.late_ns) } else { usual_ns };
        (left_ns - awake_ns).max(0.0) as u64
    }

    /// Notes by how much a sleep was too long.
    pub fn woke(&mut self, late_ns: f64) {
        let off = late_ns.clamp(0.0, LATEST_NS) - self.late_ns;
        self.late_ns += off * if off > 0.0 { LATER } else { EARLIER };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_packets_shorten_a_sleep_by_its_lateness() {
        let mut doze = Doze::default();
        assert_eq!(doze.sleep_ns(100e3, 1), 93_750);
        (0..1000).for_each(|_| doze.woke(20e3));
        assert!((74_900..75_100).contains(&doze.sleep_ns(100e3, FEW)), "{doze:?}");
        assert_eq!(doze.sleep_ns(100e3, FEW + 1), 93_750);
        assert_eq!(doze.sleep_ns(20e3, 1), 0);
        assert_eq!(doze.sleep_ns(100e6, 1), 99_800_000);
    }

    #[test]
    fn one_long_sleep_hardly_counts() {
        let mut doze = Doze::default();
        (0..1000).for_each(|_| doze.woke(20e3));
        doze.woke(10e6);
        assert!(doze.late_ns <= 25e3 + 1.0, "{doze:?}");
        (0..100_000).for_each(|_| doze.woke(1e9));
        assert!(doze.late_ns <= LATEST_NS);
    }
}
