//! What a wire says of itself: what it carried, what it dropped, and how late it was.

use super::link::LinkCounts;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The longest lateness that is told apart.
const MOST_NS: u64 = 60_000_000_000;

/// What a wire did since it was last asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The time since.
    pub wall_ns: u64,
    /// CPU time of its thread in it.
    pub cpu_ns: u64,
    /// Frames that it handed on: super-packets and pieces of them count once.
    pub frames: u64,
    /// Packets that it handed on.
    pub packets: u64,
    /// How late frames were handed on: half of them, 99 of 100, all.
    pub late_ns: Option<Late>,
    /// Packets that later ones overtook.
    pub reordered: u64,
    /// Frames that the kernel dropped before the wire read them, for lack of room.
    pub unread: u64,
    /// Packets that the kernel did not take from it.
    pub refused: u64,
    /// Frames to nobody of the lab.
    pub strays: u64,
    /// What each link did that did anything.
    pub links: Vec<(String, LinkCounts)>,
}

/// Quantiles of how late frames were handed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Late {
    /// The median.
    pub p50: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The worst.
    pub max: u64,
}

/// The clock of an audit under way.
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
