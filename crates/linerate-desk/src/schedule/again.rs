//! Which sizes are visited again because they stand apart from their neighbours, or were disturbed.

use super::entries::Entry;
use crate::analysis::{Curve, outlying};
use crate::vocabulary::Pattern;

/// Visits of the size and of each neighbour in one attempt.
const VISITS: usize = 5;

/// The share of a size's passes that another process may disturb.
const DISTURBED: f64 = 0.1;

/// The entries to visit again, each with a size and both its neighbours in turns: those that stand apart
/// first, the farthest before the others, then those that were disturbed.
pub(super) fn again(curves: &[Curve], entries: &[Entry], most: usize) -> Vec<Entry> {
    let mut wanted: Vec<(f64, Entry)> = Vec::new();
    for curve in curves.iter().filter(|curve| curve.case.pattern == Pattern::PingPong) {
        let Some(entry) = entries.iter().find(|entry| entry.case == curve.case) else { continue };
        let apart = outlying(curve);
        let far = apart.iter().map(|it| (it.deviation.abs(), [it.before, it.message_bytes, it.after]));
        let visit = |(weight, sizes): (f64, [u64; 3])| (weight, entry.with_sizes(sizes.repeat(VISITS)));
        wanted.extend(far.map(visit));
        wanted.extend(disturbed(curve).into_iter().map(|sizes| visit((0.0, sizes))));
    }
    wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
    wanted.into_iter().take(most).map(|(_, entry)| entry).collect()
}

/// Sizes of which too many passes were disturbed, each between its neighbours.
fn disturbed(curve: &Curve) -> Vec<[u64; 3]> {
    let of_three = |points: &[crate::analysis::Point]| {
        let passes = &points[1].passes;
        let hit = passes.values().filter(|values| values.disturbed).count();
        let sizes = [0, 1, 2].map(|index| points[index].message_bytes);
        (hit as f64 > DISTURBED * passes.len() as f64).then_some(sizes)
    };
    curve.points.windows(3).filter_map(of_three).collect()
}
