//! What a plan asks for, before the hosts have their say.

use crate::plan::{Case, HostId, LoadOf};
use crate::vocabulary::{Place, Rung};
use std::collections::BTreeSet;

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

impl Wanted {
    /// Takes these hosts out of it; where nothing is left, says which of them it needs.
    pub fn without(&mut self, lost: &BTreeSet<HostId>) -> Option<HostId> {
        let is_needed = |host: &&HostId| self.load.as_ref().is_some_and(|load| load.has(**host));
        if let Some(host) = lost.iter().find(is_needed) {
            return Some(*host);
        }
        let host = lost.iter().find(|host| self.case.pairs.has(**host))?;
        match self.case.without(|pairs| lost.iter().any(|host| pairs.has(*host))) {
            Some(case) => {
                self.case = case;
                None
            }
            None => Some(*host),
        }
    }
}

/// Whether a case's sizes are visited apart, in the pass's shuffled order: exchanges are. A stream's follow each other
/// in one flow, but where what crossed is audited, each by itself: a size that took another way could hide.
pub(super) fn are_apart(case: &Case, rung: &Rung) -> bool {
    let is_audited = rung.transport.foreign && rung.place == Place::Network;
    case.pattern.is_exchange() || case.pattern.connects_anew() || case.pattern.searches() || is_audited
}
