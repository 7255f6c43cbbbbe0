//! Hosts that a run goes on without: of many, one that is not reached is a line and not the end.

use crate::plan::{HostId, Plan};
use crate::{Error, Result};

/// Of fewer hosts nothing is measured.
pub(super) const LEAST_OF_MANY: usize = 2;

/// The agents that were started. Where the plan is of many hosts it goes on without those that are not reached.
pub(super) fn without_lost<Started>(
    plan: &Plan,
    all: impl Iterator<Item = (HostId, Result<Started>)>,
    lost: &mut Vec<(HostId, Error)>,
) -> Result<Vec<Started>> {
    let mut started = Vec::new();
    for (id, one) in all {
        match one {
            Ok(one) => started.push(one),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) if plan.screening().is_some() => lost.push((id, error)),
            Err(error) => return Err(error),
        }
    }
    match lost.pop() {
        Some((_, error)) if started.len() < LEAST_OF_MANY => Err(error),
        last => {
            lost.extend(last);
            Ok(started)
        }
    }
}
