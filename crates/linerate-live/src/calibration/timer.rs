//! How late a timed sleep ends, before and after timer slack was lowered.

use super::Found;
use crate::Result;
use crate::record::Figure;
use crate::vocabulary::{SLEEP_LATE, SLEEP_LATE_LOWERED, SLEEP_LATE_LOWERED_P99, SLEEP_LATE_P99};
use linerate_sys::clock::monotonic_ns;
use linerate_sys::thread;
use std::time::Duration;

/// How long each sleep should be.
const SLEEP_NS: u64 = 1_000_000;

/// Sleeps: enough that a hundredth of them is more than the worst one.
const SLEEPS: usize = 500;

/// Must run in a thread of its own: the slack stays lowered.
pub(super) fn calibrate(found: &mut Found) -> Result<()> {
    record(found, lateness(), SLEEP_LATE, SLEEP_LATE_P99);
    match thread::lower_timer_slack() {
        Ok(()) => record(found, lateness(), SLEEP_LATE_LOWERED, SLEEP_LATE_LOWERED_P99),
        Err(error) => found.left_out(SLEEP_LATE_LOWERED, error.to_string()),
    }
    Ok(())
}

fn record(found: &mut Found, late: Vec<f64>, median: &str, tail: &str) {
    if let Some(value) = percentile(&late, 0.99) {
        // Two-sided 95 % of a 99th percentile needs 368 observations and more for useful ends.
        found.figure(tail, Figure { value, low: None, high: None, n: late.len() as u32 });
    }
    found.median(median, late);
}

fn lateness() -> Vec<f64> {
    let sleep = |_| {
        let begun = monotonic_ns();
        std::thread::sleep(Duration::from_nanos(SLEEP_NS));
        (monotonic_ns() - begun).saturating_sub(SLEEP_NS) as f64
    };
    (0..SLEEPS).map(sleep).collect()
}

/// The smallest value that this share of all values does not exceed.
fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_hundred_is_later_than_the_percentile() {
        let values: Vec<f64> = (1..=500).rev().map(f64::from).collect();
        assert_eq!(percentile(&values, 0.99), Some(495.0));
        assert_eq!(percentile(&[3.0], 0.99), Some(3.0));
        assert_eq!(percentile(&[], 0.99), None);
    }
}
