//! What a plan asks for, before the hosts have their say.

use crate::plan::{Case, LoadOf};
use crate::vocabulary::{Place, Rung};

/// One case, with what a trial of it takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    pub case: Case,
    pub sizes: Vec<u64>,
    /// How long a trial lasts where the way between the hosts is short.
    pub trial_ns: u64,
    /// What runs beside it.
    pub load: Option<LoadOf>,
}

/// Whether a case's sizes are visited apart, in the pass's shuffled order: exchanges are. A stream's follow each other
/// in one flow, but where what crossed is audited, each by itself: a size that took another way could hide.
pub(super) fn are_apart(case: &Case, rung: &Rung) -> bool {
    let is_audited = rung.transport.foreign && rung.place == Place::Network;
    case.pattern.is_exchange() || case.pattern.connects_anew() || case.pattern.searches() || is_audited
}
