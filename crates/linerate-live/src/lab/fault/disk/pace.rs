//! When a disk of a given rate is done with what it was asked for.

/// What a disk that was idle, or was served late, may do at once: a few sleeps that end late do not slow it down.
const CREDIT_NS: u64 = 5_000_000;

/// A disk that does one thing after the other, each byte in its time.
#[derive(Debug)]
pub struct Pace {
    ns_per_byte: f64,
    /// When it is done with everything so far.
    free_ns: u64,
}

impl Pace {
    /// A disk that was always idle.
    pub fn new(bits_per_second: f64) -> Pace {
        Pace { ns_per_byte: 8e9 / bits_per_second, free_ns: 0 }
    }

    /// When so many bytes have passed that are asked for now.
    pub fn due_ns(&mut self, now_ns: u64, bytes: usize) -> u64 {
        let begin = self.free_ns.max(now_ns.saturating_sub(CREDIT_NS));
        self.free_ns = begin.saturating_add((bytes as f64 * self.ns_per_byte).round() as u64);
        self.free_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;
    /// 1 byte takes 80 ns.
    const RATE: f64 = 100e6;

    /// Asks for the sizes one after the other, each time when the last one is done and then this much later.
    fn chain(sizes: &[usize], late_ns: u64) -> u64 {
        let mut pace = Pace::new(RATE);
        sizes.iter().fold(SECOND, |now, size| pace.due_ns(now, *size).max(now) + late_ns) - SECOND
    }

    #[test]
    fn bytes_take_their_time_however_they_are_cut() {
        let second = 12_500_000;
        let cases: [(&str, Vec<usize>, u64, u64); 5] = [
            ("whole", vec![second], 0, SECOND - CREDIT_NS),
            ("in parts", vec![second / 100; 100], 0, SECOND - CREDIT_NS),
            (
                "in parts, each asked for 1 ms late",
                vec![second / 100; 100],
                1_000_000,
                SECOND - CREDIT_NS + 1_000_000,
            ),
            (
                "in parts, each later than can be made up for",
                vec![second / 100; 100],
                2 * CREDIT_NS,
                SECOND + 99 * CREDIT_NS,
            ),
            ("nothing", vec![0; 100], 0, 0),
        ];
        for (case, sizes, late_ns, expected_ns) in cases {
            let took = chain(&sizes, late_ns);
            let tolerated = expected_ns / 100 + CREDIT_NS;
            assert!(took.abs_diff(expected_ns) <= tolerated, "{case}: {took} instead of {expected_ns} ns");
        }
    }

    #[test]
    fn simultaneous_requests_wait_their_turn() {
        let mut pace = Pace::new(RATE);
        let due: Vec<u64> = [1000, 1000, 2000].map(|bytes| pace.due_ns(SECOND, bytes)).into();
        assert_eq!(due, [80_000, 160_000, 320_000].map(|ns| SECOND - CREDIT_NS + ns));
    }

    #[test]
    fn idle_time_is_not_saved() {
        let mut pace = Pace::new(RATE);
        pace.due_ns(SECOND, 1000);
        assert_eq!(pace.due_ns(100 * SECOND, 1_000_000), 100 * SECOND - CREDIT_NS + 80_000_000);
    }
}
