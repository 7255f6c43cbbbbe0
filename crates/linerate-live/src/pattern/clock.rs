//! Where the time comes from, and how to wait for a moment of it.

use std::time::Duration;

/// Where the time comes from: the machine, or a test.
pub trait Clock {
    /// Nanoseconds since some fixed moment.
    fn now_ns(&self) -> u64;
    /// Waits until a moment that may be past.
    fn wait_until(&self, at_ns: u64) {
        while self.now_ns() < at_ns {
            std::hint::spin_loop();
        }
    }
}

/// What is left of a wait is spun away from here on: a sleep ends late.
const SPUN_NS: u64 = 200_000;

/// The machine's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&self) -> u64 {
        linerate_sys::clock::monotonic_ns()
    }

    #[inline]
    fn wait_until(&self, at_ns: u64) {
        let left = at_ns.saturating_sub(self.now_ns());
        if left > SPUN_NS {
            std::thread::sleep(Duration::from_nanos(left - SPUN_NS));
        }
        while self.now_ns() < at_ns {
            std::hint::spin_loop();
        }
    }
}
