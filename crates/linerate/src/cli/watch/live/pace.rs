//! When to draw: seldom enough that it never costs what is being measured.

use std::time::{Duration, Instant};

/// At most five drawings a second.
const LEAST: Duration = Duration::from_millis(200);
/// After a drawing that took so long, nothing is drawn for that many times as long: 1 % of one CPU.
const REST: u32 = 100;
/// A step that takes longer is shown before it begins, because nothing is drawn until it ends.
const LONG_NS: u64 = 1_000_000_000;

/// The time of the last drawing, and what it took.
#[derive(Debug, Default)]
pub struct Pace(Option<(Instant, Duration)>);

impl Pace {
    /// Whether it is time to draw before a step that should take so long.
    pub fn is_due(&self, step_ns: u64) -> bool {
        let rested = |(at, took): &(Instant, Duration)| at.elapsed() >= LEAST.max(*took * REST);
        is_long(step_ns) || self.0.as_ref().is_none_or(rested)
    }

    /// Draws, and takes the time.
    pub fn time<T>(&mut self, draw: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let drawn = draw();
        self.0 = Some((Instant::now(), begun.elapsed()));
        drawn
    }
}

/// Whether a step is so long that one wonders what happens.
pub fn is_long(step_ns: u64) -> bool {
    step_ns >= LONG_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_is_a_hundred_drawings_long() {
        let after = |ago_ms: u64, took_ms: u64| {
            let at = Instant::now().checked_sub(Duration::from_millis(ago_ms)).unwrap();
            Pace(Some((at, Duration::from_millis(took_ms))))
        };
        assert!(Pace::default().is_due(0), "nothing was drawn yet");
        // The test may be late: what is not yet due here is not for seconds.
        for (ago_ms, took_ms, due) in
            [(300, 1, true), (0, 900, false), (5_000, 900, false), (5_000, 40, true)]
        {
            assert_eq!(after(ago_ms, took_ms).is_due(1_000), due, "{took_ms} ms, {ago_ms} ms ago");
        }
        assert!(after(0, 900).is_due(10_000_000_000), "a long step is shown before it begins");
    }

    #[test]
    fn drawing_is_timed() {
        let mut pace = Pace::default();
        assert_eq!(pace.time(|| 7), 7);
        assert!(pace.0.is_some());
    }
}
