//! Clocks: the monotonic one for everything that is timed, and each thread's own CPU clock.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since some fixed moment, by `CLOCK_MONOTONIC`; equal in all processes of one machine.
#[inline]
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Nanoseconds since 1970, by `CLOCK_REALTIME`, which may be set.
#[inline]
pub fn realtime_ns() -> u64 {
    nanoseconds(ClockId::Realtime)
}

/// How far the time of day is ahead of the clock that nobody sets: it moves where the time of day is set, and where the host slept.
pub fn day_ahead_ns() -> i128 {
    /// Something else may run between the two readings; the narrowest pair counts.
    const PAIRS: u32 = 9;
    let pair = |_| {
        let (before, day, after) = (monotonic_ns(), realtime_ns(), monotonic_ns());
        (after - before, i128::from(day) - i128::from(before + (after - before) / 2))
    };
    (0..PAIRS).map(pair).min().map_or(0, |(_, ahead)| ahead)
}

/// CPU time of the calling thread, to the nanosecond.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

#[inline]
fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
