//! Findings with evidence: what binds each layer, and what makes a number doubtful.
//!
//! A bound is a rate that a layer cannot pass, with what it was computed from. It is said to bind only
//! where its own evidence explains the measured rate; otherwise nothing is named. The next bound is what a
//! perfect fix of the binding one runs into. A finding is one
//! kind of warning about one layer, or about the whole run, however many trials show it.

mod bound;
mod cause;
mod doubt;
mod facts;
mod planted;
mod running;
mod sentence;
mod sign;
#[cfg(test)]
mod tests;
mod transfer;
mod transfer_beside;
mod waterfall;
mod wire;

pub use bound::Bound;
pub use cause::{CauseVerdict, Grade, NO_SIGN};
pub use doubt::Finding;
pub use facts::{fact, used_address};
pub use running::{ConnectionFound, RunningFound, Waits, diagnose_running};
pub use transfer::{TransferBound, transfer_bound, transfer_seal};
pub use transfer_beside::{FileCosts, file_costs, transfer_beside_bound};
pub use waterfall::{Gap, Waterfall};
pub use wire::{Wire, wire};

use crate::analysis::{Analysis, analyse};
use crate::record::Recording;
use cause::Found;
use std::collections::BTreeSet;

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The answer in one sentence: what binds the topmost layer, and by what evidence.
    pub sentence: String,
    /// The bounds of each layer, in the order of the analysis.
    pub bounds: Vec<Vec<Bound>>,
    /// Of each layer without a binding bound, the time a byte that all its bounds together leave open.
    pub rests_ns_per_byte: Vec<Option<f64>>,
    /// Where the time of a message goes, by wait mode and size.
    pub waterfalls: Vec<Waterfall>,
    /// What makes numbers doubtful.
    pub findings: Vec<Finding>,
    /// The same of the suites: a layer is one of [`Analysis::suite_layers`].
    pub of_suites: Vec<Finding>,
    /// What is known of each cause that was looked for by experiment.
    pub causes: Vec<CauseVerdict>,
}

impl Diagnosis {
    /// The bound that explains a layer's rate, where one does.
    pub fn binding(&self, layer: usize) -> Option<&Bound> {
        bound::binding(self.bounds.get(layer)?)
    }

    /// The bound that a perfect fix of the binding one runs into.
    pub fn next(&self, layer: usize) -> Option<&Bound> {
        bound::next(self.bounds.get(layer)?)
    }
}

/// Finds what binds and what is doubtful.
pub fn diagnose(recording: &Recording, analysis: &Analysis) -> Diagnosis {
    let bounds: Vec<Vec<Bound>> =
        (0..analysis.layers.len()).map(|layer| bound::bounds(recording, analysis, layer)).collect();
    let findings = doubt::findings(recording, analysis, &bounds);
    let of_suites = doubt::of_suites(recording, analysis);
    let sentence = sentence::sentence(recording, analysis, &bounds, &findings);
    let rests = analysis.layers.iter().zip(&bounds);
    let rests_ns_per_byte = rests.map(|(layer, bounds)| bound::rest_ns_per_byte(layer, bounds)).collect();
    let waterfalls = waterfall::waterfalls(recording, analysis);
    let causes = cause::verdicts(recording, &Found { analysis, bounds: &bounds, findings: &findings });
    Diagnosis { causes, sentence, bounds, rests_ns_per_byte, waterfalls, findings, of_suites }
}

/// The causes of which a recording shows signs, by name.
pub fn suspects(recording: &Recording) -> BTreeSet<String> {
    let analysis = &analyse(recording);
    let bounds: Vec<Vec<Bound>> =
        (0..analysis.layers.len()).map(|layer| bound::bounds(recording, analysis, layer)).collect();
    let findings = doubt::findings(recording, analysis, &bounds);
    cause::suspects(recording, &Found { analysis, bounds: &bounds, findings: &findings })
}
