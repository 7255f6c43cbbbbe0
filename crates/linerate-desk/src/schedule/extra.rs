//! Which cases and sizes are visited further: those whose interval is too wide, the widest first.
//!
//! Whether an interval is narrow enough is asked only at fixed looks (6, 8, 10, 15, 22, ... visits):
//! asking after every visit would stop by luck, and the interval would hold the truth too seldom.

use super::entries::Entry;
use super::scene::Scene;
use crate::analysis::{Curve, ShownNumber, shown_numbers};
use crate::plan::Profile;
use crate::statistic::{Estimate, next_look};
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
pub(super) fn round(scene: &Scene, curves: &[Curve]) -> Round {
    let left_ns = scene.left_ns;
    let known = Known { curves, shown: &shown_numbers(scene.recording), profile: &scene.plan.profile };
    let mut wanting: Vec<Wanting> = scene.entries.iter().filter_map(|entry| want(&known, entry)).collect();
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
fn want(known: &Known, entry: &Entry) -> Option<Wanting> {
    let mut sizes = Vec::new();
    let (mut ratio, mut passes) = (0.0f64, u32::MAX);
    for size in &entry.sizes {
        let Some((point_ratio, to_look)) = known.excess(entry, *size) else { continue };
        sizes.push(*size);
        ratio = ratio.max(point_ratio);
        passes = passes.min(to_look);
    }
    (!sizes.is_empty()).then(|| Wanting { entry: entry.with_sizes(sizes), ratio, passes })
}

/// What is known of every point.
struct Known<'k> {
    curves: &'k [Curve],
    /// What figures of suites show.
    shown: &'k [ShownNumber],
    profile: &'k Profile,
}

impl Known<'_> {
    /// How far the widest interval of a size is above what is aimed at, and the passes to its next look; none where all
    /// meet it.
    fn excess(&self, entry: &Entry, size: u64) -> Option<(f64, u32)> {
        let is_at = |number: &&ShownNumber| number.case == entry.case && number.message_bytes == size;
        let of_figures = self.shown.iter().filter(is_at);
        let of_figures = of_figures.filter_map(|number| Some((number.estimate, number.width(self.profile)?)));
        let widths = of_figures.chain(self.of_ladder(entry, size));
        let excess = widths.filter_map(|(estimate, (width, target))| {
            let ratio = width / target;
            (ratio > 1.0).then_some((ratio, next_look(estimate.n)? - estimate.n))
        });
        excess.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// What the ladder shows of a size, with the width of its interval and the one that is aimed at.
    fn of_ladder(&self, entry: &Entry, size: u64) -> Option<(Estimate, (f64, f64))> {
        let curve = self.curves.iter().find(|curve| curve.case == entry.case && curve.case.is_of_ladder())?;
        let is_latency = curve.case.pattern == Pattern::PingPong;
        let estimate = curve.at(size)?.estimate(|values| match is_latency {
            true => values.half_round_trip_ns,
            false => values.throughput_bps,
        })?;
        Some((estimate, (estimate.relative_half_width()?, self.profile.target(is_latency))))
    }
}
