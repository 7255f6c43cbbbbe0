//! A server that does nothing for a while, again and again: as while it collects garbage or writes to a disk.

use crate::unit::Nanoseconds;
use linerate_sys::clock::monotonic_ns;
use std::time::Duration;

/// How often it stalls where nobody says.
const EVERY_NS: u64 = 1_000_000_000;

/// When an echoing end stalls: from each multiple of `every_ns` of its clock on, for so long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    pub for_ns: u64,
    pub every_ns: u64,
}

impl Stall {
    /// Of the two knobs; none where the first one is not set.
    pub fn from_settings(stall: Option<Nanoseconds>, every: Option<Nanoseconds>) -> Option<Stall> {
        let for_ns = stall?.0 as u64;
        let every_ns = every.map_or(EVERY_NS, |every| every.0 as u64).max(1);
        (for_ns > 0).then_some(Stall { for_ns, every_ns })
    }

    /// How long what comes at this moment is held.
    fn left_ns(self, now_ns: u64) -> u64 {
        self.for_ns.saturating_sub(now_ns % self.every_ns)
    }

    /// Holds what came until the stall is over.
    pub fn hold(self) {
        let left = self.left_ns(monotonic_ns());
        if left > 0 {
            std::thread::sleep(Duration::from_nanos(left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_a_stall_waits_for_its_end() {
        let ms = |ms: f64| Some(Nanoseconds(ms * 1e6));
        let stall = Stall::from_settings(ms(100.0), None).unwrap();
        let left = |at_ms: u64| stall.left_ns(at_ms * 1_000_000) / 1_000_000;
        assert_eq!([5000, 5040, 5099, 5100, 5999].map(left), [100, 60, 1, 0, 0]);
        assert_eq!(Stall::from_settings(None, ms(10.0)), None);
        assert_eq!(Stall::from_settings(ms(1.0), ms(10.0)).unwrap().every_ns, 10_000_000);
    }
}
