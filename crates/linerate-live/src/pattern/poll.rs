//! Asking again and again, within a limit of time.

use std::io;
use std::time::Duration;

/// How often a polling end asks before it looks at the clock.
pub(super) const ASKS_A_LOOK: u32 = 1 << 14;

/// Asks until something moved, or nothing did for longer than `limit`.
#[inline]
pub fn poll(limit: Duration, mut ask: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    let mut since = None;
    loop {
        for _ in 0..ASKS_A_LOOK {
            let moved = ask()?;
            if moved > 0 {
                return Ok(moved);
            }
        }
        let now = linerate_sys::clock::monotonic_ns();
        if now - *since.get_or_insert(now) > limit.as_nanos() as u64 {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}
