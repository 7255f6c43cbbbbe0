//! Which cases and sizes are visited further: those whose interval is too wide, the widest first.
//!
//! Whether an interval is narrow enough is asked only at fixed looks (6, 8, 10, 15, 22, ... visits):
//! asking after every visit would stop by luck, and the interval would hold the truth too seldom.

use super::entries::Entry;
use crate::analysis::{Curve, Point};
use crate::plan::Profile;
use crate::statistic::next_look;
use crate::vocabulary::Pattern;

/// What is visited until the next look.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Round {
    /// The entries, each with the sizes that need it.
    pub entries: Vec<Entry>,
    /// How many passes.
    pub passes: u32,
}

/// An entry with sizes whose interval is too wide.
struct Wanting {
    entry: Entry,
    /// The widest interval, in units of what is aimed at.
    ratio: f64,
    /// Passes to the next look.
    passes: u32,
}

/// What to visit in the time that is left: nothing when every interval is narrow enough, or no time is.
pub(super) fn round(curves: &[Curve], entries: &[Entry], profile: &Profile, left_ns: u64) -> Round {
    let mut wanting: Vec<Wanting> = entries.iter().filter_map(|entry| want(curves, entry, profile)).collect();
    wanting.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let Some(first) = wanting.first() else { return Round::default() };
    // All go to the same look together, so that what is compared within a pass stays comparable.
    let passes = first.passes;
    let affordable = left_ns / first.entry.nominal_ns.max(1);
    if affordable < u64::from(passes) {
        let entries = if affordable > 0 { vec![first.entry.clone()] } else { Vec::new() };
        return Round { entries, passes: affordable as u32 };
    }
    let mut left_a_pass = left_ns / u64::from(passes);
    let mut chosen = Vec::new();
    for wanting in wanting {
        if wanting.entry.nominal_ns <= left_a_pass {
            left_a_pass -= wanting.entry.nominal_ns;
            chosen.push(wanting.entry);
        }
    }
    Round { entries: chosen, passes }
}

/// The sizes of an entry that want more visits.
fn want(curves: &[Curve], entry: &Entry, profile: &Profile) -> Option<Wanting> {
    let curve = curves.iter().find(|curve| curve.case == entry.case)?;
    let mut sizes = Vec::new();
    let (mut ratio, mut passes) = (0.0f64, u32::MAX);
    for size in &entry.sizes {
        let Some((point_ratio, to_look)) = curve.at(*size).and_then(|point| excess(curve, point, profile))
        else {
            continue;
        };
        sizes.push(*size);
        ratio = ratio.max(point_ratio);
        passes = passes.min(to_look);
    }
    (!sizes.is_empty()).then(|| Wanting { entry: entry.with_sizes(sizes), ratio, passes })
}

/// How far an interval is above what is aimed at, and the passes to its next look; none where it is met.
fn excess(curve: &Curve, point: &Point, profile: &Profile) -> Option<(f64, u32)> {
    let is_latency = curve.case.pattern == Pattern::PingPong;
    let estimate = match is_latency {
        true => point.estimate(|values| values.half_round_trip_ns)?,
        false => point.estimate(|values| values.throughput_bps)?,
    };
    let to_look = next_look(estimate.n)? - estimate.n;
    let ratio = estimate.relative_half_width()? / profile.target(is_latency);
    (ratio > 1.0).then_some((ratio, to_look))
}
