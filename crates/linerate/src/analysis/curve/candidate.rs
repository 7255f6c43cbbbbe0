//! Where a curve may break: the borders between its pieces.

use super::Curve;
use super::segment::Fit;
use crate::statistic::{Line, Piece};

/// A border between two pieces of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The largest measured size before the border.
    pub below: u64,
    /// The smallest measured size after it.
    pub above: u64,
    /// The line before it.
    pub before: Line,
    /// The line after it.
    pub after: Line,
    /// The difference of the two lines at the border, midway between the two sizes.
    pub jump_ns: f64,
    /// Whether the lines meet there.
    pub kind: CandidateKind,
    /// Standard errors that the jump is away from none; of a bend, those that one line would miss by.
    pub significance: f64,
}

/// What a border looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateKind {
    /// The lines differ all the way between the two sizes: bisecting finds the step.
    Jump,
    /// The lines meet, or cannot be told from lines that meet: there is no step to be found.
    Slope,
}

/// Standard errors from which on a difference of lines is a step.
const SURE: f64 = 4.0;

/// Every border of a curve, ascending; none of a curve of too few passes.
pub fn candidates(curve: &Curve) -> Vec<Candidate> {
    let Some(fit) = Fit::of(curve) else { return Vec::new() };
    fit.pieces.windows(2).map(|pair| candidate(&fit, &pair[0], &pair[1])).collect()
}

fn candidate(fit: &Fit, before: &Piece, after: &Piece) -> Candidate {
    let (below, above) = (fit.sizes[before.last], fit.sizes[after.first]);
    let (from, to) = (below as f64, above as f64);
    let difference = |size: f64| after.line.at(size) - before.line.at(size);
    let error = |size: f64| (error(before, size).powi(2) + error(after, size).powi(2)).sqrt();
    // Where lines of different slope meet between the two sizes, no difference at one of them is a step.
    let ends = [from, to].map(|size| difference(size) / error(size));
    let sure = if ends[0] * ends[1] > 0.0 { ends[0].abs().min(ends[1].abs()) } else { 0.0 };
    let is_jump = sure >= SURE;
    Candidate {
        below,
        above,
        before: before.line,
        after: after.line,
        jump_ns: difference((from + to) / 2.0),
        kind: if is_jump { CandidateKind::Jump } else { CandidateKind::Slope },
        significance: if is_jump { sure } else { before.gain_over_one(after, &fit.samples).max(0.0).sqrt() },
    }
}

/// The standard error of a piece's line, larger where its samples lie farther off than they should: a
/// curve that bends all the way must not look like a stair of steps.
fn error(piece: &Piece, size: f64) -> f64 {
    let free = piece.len().saturating_sub(2).max(1) as f64;
    piece.error(size) * (piece.cost / free).max(1.0).sqrt()
}
