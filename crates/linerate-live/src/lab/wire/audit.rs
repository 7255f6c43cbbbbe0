//! How late frames were handed on.

use crate::record::Late;
use hdrhistogram::Histogram;

/// The longest lateness that is told apart.
const MOST_NS: u64 = 60_000_000_000;

/// What was noted since the last audit.
#[derive(Debug)]
pub struct Lateness {
    late_ns: Histogram<u64>,
}

impl Lateness {
    /// Nothing yet; none where the histogram's bounds are wrong, which they are not.
    pub fn new() -> Option<Lateness> {
        Some(Lateness { late_ns: Histogram::new_with_max(MOST_NS, 2).ok()? })
    }

    /// Notes one frame.
    pub fn note(&mut self, late_ns: u64) {
        self.late_ns.saturating_record(late_ns);
    }

    /// What was noted since the last time.
    pub fn take(&mut self) -> Option<Late> {
        let at = |quantile| self.late_ns.value_at_quantile(quantile);
        let late = Late { p50: at(0.5), p99: at(0.99), max: self.late_ns.max() };
        let is_empty = self.late_ns.is_empty();
        self.late_ns.reset();
        (!is_empty).then_some(late)
    }
}
