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
pub(super) const SURE: f64 = 3.0;

/// Every border of a curve, ascending; none of a curve of too few passes.
pub fn candidates(curve: &Curve) -> Vec<Candidate> {
    let Some(fit) = Fit::to_curve(curve) else { return Vec::new() };
    fit.pieces.windows(2).map(|pair| candidate(&fit, &pair[0], &pair[1])).collect()
}

/// The border between two pieces that follow each other.
pub(super) fn candidate(fit: &Fit, before: &Piece, after: &Piece) -> Candidate {
    let border = before.border(after, &fit.samples);
    let is_jump = border.sureness >= SURE;
    Candidate {
        below: fit.sizes[before.last],
        above: fit.sizes[after.first],
        before: before.line,
        after: after.line,
        jump_ns: border.jump,
        kind: if is_jump { CandidateKind::Jump } else { CandidateKind::Slope },
        significance: if is_jump { border.sureness } else { border.gain.sqrt() },
    }
}
