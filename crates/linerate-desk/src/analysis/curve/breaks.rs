//! The breaks of a curve: where, how large, how sure, and why.

use super::Curve;
use super::candidate::{Candidate, CandidateKind, SURE, candidate};
use super::class::{Facts, Seen, classify};
use super::segment::{Fit, pass_lines};
use crate::statistic::{Estimate, Line, Piece, median};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A size at which a curve's line gives way to another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Break {
    /// The first size that is known to be behind it.
    pub at_bytes: u64,
    /// The largest size that is known to be before it.
    pub from_bytes: u64,
    /// What every message from there on pays more; none where the lines meet.
    pub jump_ns: Option<Estimate>,
    /// That as a share of the time just before it.
    pub share: Option<f64>,
    /// The time of each byte before it.
    pub slope_before: f64,
    /// The time of each byte behind it.
    pub slope_after: f64,
    /// The name in [`crate::vocabulary::BREAKS`].
    pub class: &'static str,
    /// What the class was told by.
    pub evidence: String,
    /// What pairs of messages around it said.
    pub confirmed: Option<Confirmation>,
    /// The size at which the way behind it begins to pay, where it takes less time a byte.
    pub best_threshold: Option<f64>,
}

/// What a closer look at a candidate gave: the border after bisection, and pairs around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refined {
    /// The largest size that is known to be before the break.
    pub below: u64,
    /// The first size that is known to be behind it.
    pub above: u64,
    /// The times of a message of each of the two sizes, measured in turn.
    pub pairs: Vec<(f64, f64)>,
}

/// What pairs of messages around a border said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The number of pairs.
    pub pairs: u32,
    /// Pairs whose two times differ in the direction of the break.
    pub agree: u32,
    /// The difference within pairs.
    pub difference_ns: Estimate,
    /// Whether the interval of the difference leaves no doubt about its direction.
    pub holds: bool,
}

impl Break {
    /// Whether it is beyond doubt: confirmed by pairs, or the interval of its jump leaves out zero. A
    /// break that pairs did not confirm is not.
    pub fn is_sure(&self) -> bool {
        match &self.confirmed {
            Some(confirmed) => confirmed.holds,
            None => self.jump_ns.is_some_and(|jump| leaves_out_zero(&jump)),
        }
    }
}

/// Every break of a curve, ascending; what was looked at more closely is as exact as that look. What pairs of messages
/// have shown stays a break where later passes let a steep line of two sizes describe the curve there as well.
pub fn breaks(curve: &Curve, refined: &[Refined], facts: &Facts) -> Vec<Break> {
    let Some(fit) = Fit::to_curve(curve) else { return Vec::new() };
    let of_pair = |pair: &[Piece]| of_border(curve, &fit, (&pair[0], &pair[1]), refined, facts);
    let mut all: Vec<Break> = fit.pieces.windows(2).map(of_pair).collect();
    for look in refined {
        if !all.iter().any(|one| one.from_bytes < look.above && look.below < one.at_bytes) {
            all.extend(of_look(curve, &fit, look, facts));
        }
    }
    all.sort_by_key(|one| one.at_bytes);
    all
}

/// What a step within a piece adds at least: a byte more costs a nanosecond or two in places, and pairs are sure of that too.
const LEAST_SHARE: f64 = 0.02;

/// The step up within a piece that pairs have confirmed, each of them, and that medians around it do not deny; none otherwise.
fn of_look(curve: &Curve, fit: &Fit, look: &Refined, facts: &Facts) -> Option<Break> {
    let within = |piece: &Piece| fit.sizes[piece.first] <= look.below && look.above <= fit.sizes[piece.last];
    let at = fit.pieces.iter().position(within)?;
    let confirmed = confirmation(&look.pairs, 1.0).filter(|one| one.holds && one.agree == one.pairs)?;
    let base_ns = median(look.pairs.iter().map(|(below, _)| *below))?;
    let is_much = confirmed.difference_ns.low.is_some_and(|low| low >= LEAST_SHARE * base_ns);
    let piece = &fit.pieces[at];
    let sizes = &fit.sizes[piece.first..=piece.last];
    let before = sizes.iter().filter(|size| **size <= look.below).count();
    let time_ns = |size: &u64| {
        let point = curve.points.iter().find(|point| point.message_bytes == *size)?;
        Some(point.time_ns()?.median)
    };
    let rise_ns = time_ns(sizes.get(before)?)? - time_ns(sizes[..before].last()?)?;
    if !is_much || 2.0 * rise_ns < confirmed.difference_ns.median {
        return None;
    }
    // Of a single size on one side the piece's own line is the step.
    let near = |nth: Option<usize>, count: usize| {
        let other = nth.and_then(|nth| fit.pieces.get(nth)).filter(|_| count < 2);
        other.unwrap_or(piece).line
    };
    let found = Candidate {
        below: *sizes[..before].last()?,
        above: *sizes.get(before)?,
        before: near(at.checked_sub(1), before),
        after: near(at.checked_add(1), sizes.len() - before),
        jump_ns: confirmed.difference_ns.median,
        kind: CandidateKind::Jump,
        significance: SURE,
    };
    Some(described(
        curve,
        &found,
        (look.below, look.above),
        (Some(confirmed.difference_ns), Some(confirmed)),
        facts,
    ))
}

/// The step up that adds the largest share to the time of a message, beyond doubt: the first size behind it, and what each
/// message takes longer there; as exact as the closer looks at it.
pub fn largest_step(curve: &Curve, refined: &[Refined]) -> Option<(u64, Estimate)> {
    let all = breaks(curve, refined, &Facts::default());
    let steps = all.into_iter().filter(Break::is_sure).filter_map(|one| {
        let jump = one.jump_ns.filter(|jump| jump.median > 0.0)?;
        Some((one.share?, (one.at_bytes, jump)))
    });
    steps.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, step)| step)
}

fn of_border(
    curve: &Curve,
    fit: &Fit,
    (before, after): (&Piece, &Piece),
    refined: &[Refined],
    facts: &Facts,
) -> Break {
    let found = candidate(fit, before, after);
    let inside = |look: &&Refined| found.below <= look.below && look.above <= found.above;
    let look = refined.iter().filter(inside).min_by_key(|look| look.above.saturating_sub(look.below));
    let (from_bytes, at_bytes) = look.map_or((found.below, found.above), |look| (look.below, look.above));
    let middle = (from_bytes as f64 + at_bytes as f64) / 2.0;
    let is_jump = found.kind == CandidateKind::Jump;
    let by_lines = || jump(curve, fit, before, after, middle).filter(|_| is_jump);
    let confirmed = look.and_then(|look| confirmation(&look.pairs, found.jump_ns));
    let by_pairs = confirmed.filter(|confirmed| confirmed.holds).map(|confirmed| confirmed.difference_ns);
    let jump_ns = by_pairs.or_else(by_lines);
    described(curve, &found, (from_bytes, at_bytes), (jump_ns, confirmed), facts)
}

/// A break with its class.
fn described(
    curve: &Curve,
    found: &Candidate,
    (from_bytes, at_bytes): (u64, u64),
    (jump_ns, confirmed): (Option<Estimate>, Option<Confirmation>),
    facts: &Facts,
) -> Break {
    let is_confirmed = confirmed.is_some_and(|confirmed| confirmed.holds);
    let seen = Seen { curve, candidate: found, from_bytes, at_bytes, jump_ns, is_confirmed, facts };
    let (class, evidence) = classify(&seen);
    Break {
        at_bytes,
        from_bytes,
        jump_ns,
        share: jump_ns.map(|jump| jump.median / found.before.at(from_bytes as f64)),
        slope_before: found.before.slope,
        slope_after: found.after.slope,
        class,
        evidence,
        confirmed,
        best_threshold: best_threshold(found),
    }
}

/// The difference of both lines, pass by pass.
fn jump(curve: &Curve, fit: &Fit, before: &Piece, after: &Piece, at: f64) -> Option<Estimate> {
    let lines = |piece: &Piece| {
        pass_lines(curve, fit.sizes[piece.first], fit.sizes[piece.last], Some(piece.line.slope))
    };
    let (before, after) = (lines(before), lines(after));
    let difference = |(pass, line): (&u32, &Line)| Some(after.get(pass)?.at(at) - line.at(at));
    Estimate::from_values(before.iter().filter_map(difference))
}

fn confirmation(pairs: &[(f64, f64)], expected: f64) -> Option<Confirmation> {
    let difference_ns = Estimate::from_values(pairs.iter().map(|(below, above)| above - below))?;
    let agree = pairs.iter().filter(|(below, above)| (above - below) * expected > 0.0).count();
    let holds = leaves_out_zero(&difference_ns) && difference_ns.median * expected > 0.0;
    let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
    Some(Confirmation { pairs: count(pairs.len()), agree: count(agree), difference_ns, holds })
}

pub(super) fn leaves_out_zero(estimate: &Estimate) -> bool {
    estimate.low.is_some_and(|low| low > 0.0) || estimate.high.is_some_and(|high| high < 0.0)
}

/// Where the two lines meet: from there on the way behind a jump is the quicker one.
fn best_threshold(found: &Candidate) -> Option<f64> {
    let Candidate { before, after, kind, .. } = found;
    let size = (after.constant - before.constant) / (before.slope - after.slope);
    let pays = *kind == CandidateKind::Jump && after.slope < before.slope;
    (pays && size.is_finite() && size > 0.0).then_some(size)
}
