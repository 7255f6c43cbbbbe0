//! Which sizes are visited again because they stand apart from their neighbours.

use super::entries::Entry;
use crate::analysis::{Curve, outlying};
use crate::vocabulary::Pattern;

/// Visits of the size and of each neighbour in one attempt.
const VISITS: usize = 5;

/// The entries to visit again, each with a size that stands apart and both its neighbours, in turns.
pub(super) fn again(curves: &[Curve], entries: &[Entry], most: usize) -> Vec<Entry> {
    let mut wanted: Vec<(f64, Entry)> = Vec::new();
    for curve in curves.iter().filter(|curve| curve.case.pattern == Pattern::PingPong) {
        let Some(entry) = entries.iter().find(|entry| entry.case == curve.case) else { continue };
        for apart in outlying(curve) {
            let sizes = [apart.before, apart.message_bytes, apart.after].repeat(VISITS);
            wanted.push((apart.deviation.abs(), entry.with_sizes(sizes)));
        }
    }
    wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
    wanted.into_iter().take(most).map(|(_, entry)| entry).collect()
}
