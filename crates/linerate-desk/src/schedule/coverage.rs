//! What is left out between the hosts where their way is slow: there each exchange costs a round trip, and
//! within a host nothing does.

use super::network_path::NetworkPath;
use crate::plan::Plan;
use crate::unit::Bytes;
use crate::vocabulary::{Pattern, Place, Rung};

/// A message that takes longer than this is not worth its time, but where rungs are compared.
const LONGEST_MESSAGE_NS: f64 = 1e9;

/// What is measured between the hosts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coverage {
    /// Which sizes, beside those at which rungs are compared.
    keeps: fn(u64) -> bool,
    /// Whether the rungs beside the chain are left.
    pub siblings: bool,
    /// Whether only one flow from a to b is left.
    pub forward_only: bool,
}

impl Coverage {
    /// Everything.
    pub const WHOLE: Coverage = Coverage { keeps: |_| true, siblings: true, forward_only: false };

    /// Every fourth size from that of the latency on, which the powers of two hold.
    pub const FEW_SIZES: Coverage = Coverage { keeps: |size| FEW.contains(&size), ..Coverage::WHOLE };

    /// The sizes that stand for small, middle and large.
    pub const THREE_SIZES: Coverage = Coverage { keeps: |size| THREE.contains(&size), ..Coverage::WHOLE };

    /// The same, without what stands beside.
    pub const CHAIN: Coverage = Coverage { siblings: false, forward_only: true, ..Coverage::THREE_SIZES };

    /// Only the sizes at which rungs are compared.
    pub const LEAST: Coverage = Coverage { keeps: |_| false, ..Coverage::CHAIN };

    /// Whether a rung is measured.
    pub fn has(&self, plan: &Plan, rung: &Rung) -> bool {
        self.siblings || plan.view.is_named() || rung.place == Place::InHost || !rung.sibling
    }

    /// Whether a size is measured.
    pub fn keeps(&self, size: u64, rung: &Rung, path: &NetworkPath) -> bool {
        let is_short = path.message_ns(Pattern::Stream, size) <= LONGEST_MESSAGE_NS;
        rung.place == Place::InHost || ((self.keeps)(size) && is_short)
    }
}

impl Coverage {
    /// Which of these sizes are left, in words; none where all are.
    pub fn left_of_sizes(&self, sizes: &[u64]) -> Option<String> {
        let kept: Vec<String> =
            sizes.iter().filter(|size| (self.keeps)(**size)).map(|size| Bytes(*size).to_string()).collect();
        match kept.as_slice() {
            _ if kept.len() == sizes.len() => None,
            [] => Some("all sizes but those at which rungs are compared".into()),
            kept => Some(format!("all sizes but {}", kept.join(", "))),
        }
    }
}

const FEW: [u64; 7] = [64, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
const THREE: [u64; 3] = [64, 64 << 10, 1 << 20];
