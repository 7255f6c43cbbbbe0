//! One step's trial on all its hosts: asked at once, and gathered for each part that has an outcome of its own.

use super::ask::Unclosed;
use super::protocol::{TrialAnswer, TrialRequest};
use super::step::{StepFailure, failed, order, outcomes, parts, step_sessions};
use super::{PATIENCE, Runner, crossing};
use crate::Result;
use crate::control::{Call, Limit};
use crate::plan::{Block, Case, HostId, Step};
use crate::record::{Event, HostDelta};
use crate::workload::application::Order;
use crate::workload::tool::play::longest;
use std::collections::{BTreeMap, BTreeSet};
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
        let mut limit = predicted * 10 + lead + patience;
        if step.case.pattern.entry().is_single {
            // A message is a whole file, of which nothing may be known yet.
            limit += step.blocks.iter().map(|block| longest(block.bytes())).sum::<Duration>();
        }
        limit += preparation(&step.case, &step.blocks);
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        // The ends' own limits come first: they know what hangs. Nobody is asked anything while it should measure.
        let limit = Limit::expected(limit + 5 * PATIENCE, predicted + lead);
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
        let parts = outcomes(step);
        let calls = parts.iter().map(|hosts| hosts.iter().filter_map(|host| calls.remove(host)).collect());
        let answers = self.gather_each(calls.collect(), limit);
        let answered = |(hosts, answers): (BTreeSet<HostId>, Result<Vec<TrialAnswer>>)| {
            Ok(hosts.into_iter().zip(answers?).collect())
        };
        Ok(parts.into_iter().zip(answers).map(answered).collect())
    }

    /// A part of a step failed: the others go on without it, where there are others. One that fell with an agent that is silent is
    /// given back: what is on record of it depends on what becomes of that.
    pub(super) fn leave(
        &mut self,
        step: &Step,
        nth: u32,
        failure: StepFailure,
        came: &mut Vec<Event>,
    ) -> std::result::Result<Option<StepFailure>, StepFailure> {
        if outcomes(step).len() < 2 || failure.error.ends_the_run() {
            return Err(failure);
        }
        let pairs = step.case.pairs.apart().into_iter().nth(nth as usize).unwrap_or_default();
        let at_ns = self.elapsed_ns();
        let line = |failure: &StepFailure| failed(self.plan, step, &pairs, failure, at_ns);
        if failure.error.is_silence() {
            let lines = Some(vec![line(&failure)]);
            return Ok(Some(StepFailure { lines, ..failure }));
        }
        let sessions = step_sessions(step).into_iter().filter(|step_session| step_session.pair == nth);
        let ended = self.end_failed(step, sessions.collect(), &failure.error);
        let Err(Unclosed { error, silent }) = ended else {
            came.push(Event::NotMeasured(line(&failure)));
            return Ok(None);
        };
        let silence = StepFailure::from(error);
        if !silence.error.is_silence() {
            return Err(silence);
        }
        // Who is silent may be an end of this part, whose other one gave up first, or somebody else.
        if silent.iter().any(|host| pairs.has(*host)) {
            let lines = Some(vec![line(&silence)]);
            return Ok(Some(StepFailure { lines, ..silence }));
        }
        came.push(Event::NotMeasured(line(&failure)));
        Ok(Some(StepFailure { lines: Some(Vec::new()), ..silence }))
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
