//! Whether a host's time of day was set, or the host slept: the time of day moved against the clock that nobody sets.
//!
//! What is measured is timed by that clock (`CLOCK_MONOTONIC`, which an adjustment of NTP slews as it does the other one), so no
//! duration is wrong for it. Times of day in logs and captures are, and connections of a host that slept stood still.

use super::{Observer, Seen, Watched};
use crate::Result;
use linerate_sys::clock::day_ahead_ns;
use std::sync::Mutex;

/// Far more than two readings one after the other differ by, and less than anybody sets a clock by.
const LEAST_NS: u64 = 1_000_000;

/// By how much the time of day was ahead when it was last looked at, by this process: what happens between two steps is
/// told with the second.
static AHEAD: Mutex<Option<i128>> = Mutex::new(None);

struct Clock;

/// Begins.
pub(super) fn begin(_: &Watched<'_>) -> Result<Option<Box<dyn Observer>>> {
    let mut last = AHEAD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    last.get_or_insert_with(day_ahead_ns);
    Ok(Some(Box::new(Clock)))
}

impl Observer for Clock {
    fn end(&mut self, _: &Watched<'_>, seen: &mut Seen) -> Result<()> {
        let mut last = AHEAD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let moved = last.and_then(|last| moved(last, day_ahead_ns()));
        // What was set by less is known with what is set later.
        if let Some((name, ns, now)) = moved {
            *last = Some(now);
            seen.host.counters.insert(name.into(), ns);
        }
        Ok(())
    }
}

/// Which way it moved and by how much, and where it is then; none where it did not.
fn moved(last: i128, now: i128) -> Option<(&'static str, u64, i128)> {
    let ns = u64::try_from(now.abs_diff(last)).unwrap_or(u64::MAX);
    let name = if now > last { "clock.forward_ns" } else { "clock.back_ns" };
    (ns > LEAST_NS).then_some((name, ns, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_is_told_and_one_that_is_not_is_not() {
        let day = 1_700_000_000_000_000_000;
        assert_eq!(moved(day, day + 900_000), None);
        let hour = 3_600_000_000_000;
        assert_eq!(moved(day, day + hour as i128), Some(("clock.forward_ns", hour, day + hour as i128)));
        assert_eq!(moved(day, day - 2_000_000), Some(("clock.back_ns", 2_000_000, day - 2_000_000)));
    }

    #[test]
    fn this_machine_s_clock_stands_where_it_is() {
        let mut seen = Seen::default();
        begin(&Watched::default()).unwrap().unwrap().end(&Watched::default(), &mut seen).unwrap();
        assert!(seen.host.counters.is_empty(), "{:?}", seen.host.counters);
    }
}
