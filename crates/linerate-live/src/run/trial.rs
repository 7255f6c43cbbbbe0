//! One step's trial on all its hosts: asked at once, and gathered for each part that has an outcome of its own.

use super::protocol::{TrialAnswer, TrialRequest};
use super::step::{StepFailure, failed, order, outcomes, parts, step_sessions};
use super::{PATIENCE, Runner, StepResult, crossing, is_silent};
use crate::control::{Call, Limit};
use crate::plan::{Block, Case, HostId, Step};
use crate::record::{Event, HostDelta};
use crate::workload::application::Order;
use crate::workload::tool::play::longest;
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::time::Duration;

/// What hosts answered to a trial.
type Answers = Vec<(HostId, TrialAnswer)>;

/// What the slowest disk takes of files that are made.
const SLOWEST_DISK_BYTES_PER_S: u64 = 10_000_000;

/// How long the files may take that are made before the time is: of every client one, by whatever disk there is.
fn preparation(case: &Case, blocks: &[Block]) -> Duration {
    let messages = case.pattern.entry().prepares;
    if messages == 0 {
        return Duration::ZERO;
    }
    let pairs = case.pairs.iter().count() as u64;
    let bytes = |message: u64| message.saturating_mul(messages.max(pairs)).saturating_mul(pairs);
    let all = blocks.iter().map(|block| bytes(block.message_bytes));
    Duration::from_secs(all.fold(0, u64::saturating_add) / SLOWEST_DISK_BYTES_PER_S)
}

impl Runner<'_> {
    /// Asks every host that has a role, then waits for all answers: those of each part that has an outcome of its own.
    pub(super) fn trial(&mut self, step: &Step) -> Result<Vec<Result<Answers>>> {
        let lead_ns = step.beside.as_ref().map_or(0, |load| load.lead_ns);
        let patience = Duration::from_nanos(step.patience_ns);
        let (predicted, lead) = (Duration::from_nanos(step.predicted_ns), Duration::from_nanos(lead_ns));
        let mut beside = lead + preparation(&step.case, &step.blocks);
        if step.case.pattern.entry().is_single {
            // A message is a whole file, of which nothing may be known yet.
            beside += step.blocks.iter().map(|block| longest(block.bytes())).sum::<Duration>();
        }
        let (expected, limit) = (predicted + beside, predicted * 10 + beside + patience);
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // The ends' own limits come first: they know what hangs. Nobody is asked while it measures.
        let limit = Limit::attended(limit + 5 * PATIENCE, expected);
        let mut calls: BTreeMap<HostId, (usize, Call<TrialAnswer>)> = BTreeMap::new();
        for index in 0..self.hosts.all.len() {
            let host = &mut self.hosts.all[index];
            let id = host.facts.host;
            let mut parts = parts(step, id);
            for part in &mut parts {
                let of_worker = |order: Box<Order>| Box::new(Order { worker: part.worker, ..*order });
                part.order = order(self.plan, step, id).map(of_worker);
            }
            if !parts.is_empty() {
                let request = TrialRequest { parts, lead_ns, limit_ns, sample_ns: step.sample_ns };
                calls.insert(id, (index, host.client.begin("trial", &request)?));
            }
        }
        let answers = outcomes(step).into_iter().map(|hosts| {
            let calls = hosts.iter().filter_map(|host| calls.remove(host)).collect();
            match self.gather(calls, limit) {
                Ok(answers) => Ok(Ok(hosts.into_iter().zip(answers).collect())),
                // It gets a new agent, and the others close what they have: nobody waits for them.
                Err(silent @ Error::Silent { .. }) => Err(silent),
                Err(error) => Ok(Err(error)),
            }
        });
        answers.collect()
    }

    /// A part of a step failed: the others go on without it, where there are others.
    pub(super) fn leave(
        &mut self,
        step: &Step,
        nth: u32,
        failure: StepFailure,
        came: &mut Vec<Event>,
    ) -> StepResult {
        if outcomes(step).len() < 2 || failure.error.ends_the_run() || is_silent(&failure.error) {
            return Err(failure);
        }
        let sessions = step_sessions(step).into_iter().filter(|step_session| step_session.pair == nth);
        self.end_failed(step, sessions.collect(), &failure.error)?;
        let pairs = step.case.pairs.apart().into_iter().nth(nth as usize).unwrap_or_default();
        came.push(Event::NotMeasured(failed(self.plan, step, &pairs, &failure, self.elapsed_ns())));
        Ok(())
    }

    /// Where too little did, the counters are read once more when they must have it.
    pub(super) fn see_what_crossed(&mut self, step: &Step, answers: &mut Answers) -> Result<()> {
        let adapters = self.plan.adapters_for(&step.case.rung, step.case.arm);
        if crossing::check(step, adapters, answers).is_ok() {
            return Ok(());
        }
        std::thread::sleep(crossing::COUNTERS_AGE);
        for (id, answer) in answers.iter_mut() {
            let host = self.hosts.all.iter_mut().find(|host| host.facts.host == *id);
            let Some(host) = host else { continue };
            let again: HostDelta = host.client.call("recount", &(), PATIENCE, &|| self.watch.check())?;
            answer.host.interfaces = again.interfaces;
        }
        crossing::check(step, adapters, answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Pairs;
    use crate::vocabulary::Pattern;

    fn seconds(pattern: Pattern, message_bytes: u64) -> u64 {
        let hosts: Vec<HostId> = (0..4).map(HostId).collect();
        let pairs = Pairs::each_to_each(&hosts[..2], &hosts[2..]);
        let case = Case { rung: "network.tcp".into(), pattern, pairs, ..Case::default() };
        let block = || Block { message_bytes, ..Block::default() };
        preparation(&case, &[block(), block()]).as_secs()
    }

    #[test]
    fn files_are_waited_for_in_proportion_to_their_bytes() {
        // Two blocks, four clients with eight regions each.
        assert_eq!(seconds(Pattern::StripedRead, 64 << 20), 2 * 4 * (512 << 20) / 10_000_000);
        assert_eq!(seconds(Pattern::TiledWrite, 1 << 20), 2 * 4 * (8 << 20) / 10_000_000);
        assert_eq!(seconds(Pattern::Stream, 64 << 20), 0, "nothing is made for a stream");
    }
}
