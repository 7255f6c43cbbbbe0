//! Hosts that a run goes on without: of many, one that is not reached is a line and not the end.

use super::Runner;
use crate::plan::{HostId, Plan, Step};
use crate::record::{Event, NotMeasured, Reason};
use crate::vocabulary::ReasonKind;
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
            Err(error) if plan.may_lose_hosts() => lost.push((id, error)),
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

impl Runner<'_> {
    /// What is known of the hosts.
    pub fn hosts(&self) -> Vec<Event> {
        let lost = self.unreached.iter().map(|(id, error)| self.lost(*id, error, None));
        self.hosts.all.iter().map(|host| Event::Host(host.facts.clone())).chain(lost).collect()
    }

    /// Hosts that the run goes on without from this step on, each told once.
    pub(super) fn tell_lost(&mut self, step: &Step) -> Vec<Event> {
        let lost = std::mem::take(&mut self.hosts.lost);
        lost.iter().map(|(id, error)| self.lost(*id, error, Some(step.number))).collect()
    }

    /// No failure of a case: it is not tried again.
    fn lost(&self, id: HostId, error: &Error, after_steps: Option<u32>) -> Event {
        let why = format!("host {id} is not reached: {}", error.cause());
        Event::NotMeasured(NotMeasured {
            rung: self.plan.view.rungs().first().cloned().unwrap_or_default(),
            host: Some(id),
            reason: Reason::new(ReasonKind::Failed, why, error.hint().unwrap_or_default()),
            at_ns: Some(self.elapsed_ns()),
            after_steps,
            lost: true,
            ..NotMeasured::default()
        })
    }
}
