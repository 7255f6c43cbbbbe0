//! The clock that stamps every sample, and the cheapest way into the kernel.

use super::{Found, ROUNDS};
use crate::record::Figure;
use crate::vocabulary::{CLOCK_READ, CLOCK_STEP, SYSTEM_CALL};
use linerate_sys::clock::monotonic_ns;
use linerate_sys::wake::enter_kernel;
use std::hint::black_box;

/// Calls that are timed at once.
const CALLS: u32 = 20_000;

/// Readings among which the smallest step is sought.
const READINGS: u32 = 100_000;

pub(super) fn calibrate(found: &mut Found) {
    found.median(CLOCK_READ, each_ns(|| _ = black_box(monotonic_ns())));
    found.median(SYSTEM_CALL, each_ns(enter_kernel));
    if let Some(step) = smallest_step((0..READINGS).map(|_| monotonic_ns())) {
        found.figure(CLOCK_STEP, Figure { value: step as f64, low: None, high: None, n: READINGS });
    }
}

/// What one call takes, in each of some rounds after a first one.
fn each_ns(mut call: impl FnMut()) -> Vec<f64> {
    let mut round = || {
        let begun = monotonic_ns();
        (0..CALLS).for_each(|_| call());
        (monotonic_ns() - begun) as f64 / f64::from(CALLS)
    };
    round();
    (0..ROUNDS).map(|_| round()).collect()
}

/// The smallest difference between neighbours that is not zero.
fn smallest_step(readings: impl Iterator<Item = u64>) -> Option<u64> {
    let mut last = None;
    let steps = readings.filter_map(|now| {
        let before = last.replace(now)?;
        Some(now - before).filter(|step| *step > 0)
    });
    steps.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_step_is_not_zero() {
        assert_eq!(smallest_step([5, 5, 9, 12, 12, 20].into_iter()), Some(3));
        assert_eq!(smallest_step([5, 5].into_iter()), None);
        assert_eq!(smallest_step([].into_iter()), None);
    }

    #[test]
    fn this_clock_has_a_cost_and_a_step() {
        let mut found = Found::default();
        calibrate(&mut found);
        for name in [CLOCK_READ, CLOCK_STEP, SYSTEM_CALL] {
            assert!(found.figures[name].value > 0.0, "{name}");
        }
    }
}
