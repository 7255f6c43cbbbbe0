//! A search among settings for those that gain: races upon what was kept so far, each confirmed in fresh blocks.
//!
//! Everything that is decided is decided by what [`tuned`] reads from the recording, so that a report of it decides alike.
//! Here is when what is visited: as many candidates as fit into the time that is left, those first that are known to gain
//! most. A block has new connections for every arm, and one random order there and back, as in a comparison of arms.

use super::arms::{Arms, PROBES};
use super::visit::{self, Planner, Visit, Visits};
use super::{Schedule, failure};
use crate::analysis::{Tuned, TuningRound, candidates_upon, is_link_full, is_refused, tuned};
use crate::plan::{BLOCKS_OF_ROUND, CONFIRMATION_BLOCKS, Plan, Stack, Step, Tuning, Why};
use crate::record::{NotMeasured, Recording, StepRecord};
use crate::unit::counted;
use std::collections::BTreeSet;

/// Of a race's candidates about so many run all of it, where nothing is known yet.
const SURVIVORS: usize = 2;

/// Chooses the steps of a search.
#[derive(Debug, Clone)]
pub struct Search {
    plan: Plan,
    tuning: Tuning,
    /// What makes blocks of arms.
    arms: Arms,
    /// Candidates that a host has not.
    refused: BTreeSet<u32>,
}

impl Search {
    /// A schedule for these hosts; what it searches must be the plan's own.
    pub fn new(plan: &Plan, tuning: &Tuning, recording: &Recording) -> Search {
        let arms = Arms::new(plan, &tuning.comparison, recording);
        let had = arms.arms();
        let refused = (1..=plan.arms.len() as u32).filter(|arm| !had.contains(arm)).collect();
        Search { plan: plan.clone(), tuning: tuning.clone(), arms, refused }
    }

    /// The two controls.
    fn controls(&self) -> impl Iterator<Item = u32> {
        let numbered = (1..).zip(&self.plan.arms);
        numbered.filter(|(_, arm)| arm.kind.is_control()).map(|(number, _)| number)
    }

    /// What they stand upon, candidates upon it, and the controls.
    fn race(&self, base: &Stack, candidates: &[u32]) -> BTreeSet<u32> {
        let upon = candidates.iter().copied().chain(self.controls()).map(|arm| base.with(arm).number());
        upon.chain([base.number()]).collect()
    }

    /// What a race of so many candidates takes, its confirmation with it.
    fn race_ns(&self, base: &Stack, candidates: &[u32]) -> u64 {
        let few = &candidates[..candidates.len().min(SURVIVORS)];
        let (all, some) = (self.race(base, candidates), self.race(base, few));
        let screening = u64::from(self.tuning.screening);
        let rest = u64::from(self.tuning.comparison.blocks).saturating_sub(screening);
        let confirmed = BTreeSet::from([base.number(), base.with(1).number()]);
        self.arms.probing_ns(all.len())
            + screening * self.arms.block_ns(&all)
            + rest * self.arms.block_ns(&some)
            + u64::from(CONFIRMATION_BLOCKS) * self.arms.block_ns(&confirmed)
    }

    fn left_of_budget_ns(&self, recording: &Recording) -> u64 {
        let spent = recording.spent_ns();
        self.plan.budget_ns.unwrap_or(u64::MAX).saturating_sub(spent)
    }

    /// The candidates of a round upon this: those that were not raced there yet, as many as fit into the time that is left.
    fn entering(&self, base: &Stack, found: Option<&Tuned>, recording: &Recording) -> Vec<u32> {
        let here = found.iter().flat_map(|found| &found.rounds).filter(|round| round.upon == base.arms());
        let raced: BTreeSet<u32> =
            here.flat_map(|round| round.compared.candidates.iter().map(|one| one.arm)).collect();
        let is_left = |arm: &u32| {
            let number = base.with(*arm).number();
            !raced.contains(arm) && !self.refused.contains(arm) && !never_ran(recording, number)
        };
        let all: Vec<u32> = candidates_upon(&self.plan, base).into_iter().filter(is_left).collect();
        // What a host does not grant is known from its warm-up: no block is spent on it, but where nothing else is left to race.
        let is_granted = |arm: &u32| !is_refused(recording, &self.plan, base, *arm);
        let granted: Vec<u32> = all.iter().copied().filter(is_granted).collect();
        let mut left = if granted.is_empty() && found.is_none() { all } else { granted };
        let budget_ns = self.left_of_budget_ns(recording);
        // Whoever asks for a search gets one, however short of time.
        let least = usize::from(found.is_none());
        let pace = self.pace(recording);
        while left.len() > least && self.race_ns(base, &left) as f64 * pace > budget_ns as f64 {
            left.pop();
        }
        left
    }

    /// How many times as long as planned the last block took: what starts a job is another time on each host.
    fn pace(&self, recording: &Recording) -> f64 {
        let block_of = |step: &StepRecord| self.tuning.comparison.block_of(step.pass);
        // Behind the last block there may be probes of the next round.
        let Some(at) = recording.steps.iter().rposition(|step| block_of(step) > 0) else { return 1.0 };
        let (steps, last) = (&recording.steps[..=at], block_of(&recording.steps[at]));
        let end = |step: &StepRecord| step.at_ns.saturating_add(step.duration_ns);
        let arms: BTreeSet<u32> =
            steps.iter().filter(|step| block_of(step) == last).map(|step| step.case.arm).collect();
        let begun = steps.iter().rev().find(|step| block_of(step) != last).map_or(0, end);
        let took_ns = steps.last().map_or(0, end).saturating_sub(begun);
        (took_ns as f64 / self.arms.block_ns(&arms).max(1) as f64).max(1.0)
    }

    /// Of those that may still gain and were in the block before, who is raced on: as many as the time that is left has room
    /// for, and at least the one that gains most, for a race that was begun is ended. Who was left out once stays so: an interval
    /// over blocks of which it was in some only is not that of the others.
    fn racing_on(&self, base: &Stack, round: &TuningRound, raced: u32, recording: &Recording) -> Vec<u32> {
        let block_of = |step: &StepRecord| self.tuning.comparison.block_of(step.pass);
        let last = recording.steps.last().map(block_of);
        let ran: BTreeSet<u32> = recording
            .steps
            .iter()
            .filter(|step| Some(block_of(step)) == last)
            .map(|step| step.case.arm)
            .collect();
        let metric = self.tuning.comparison.metric.number();
        let gain = |arm: &u32| {
            let found = round.compared.candidates.iter().find(|one| one.arm == *arm);
            found.and_then(|one| one.change).map_or(0.0, |change| metric.gain(change.estimate))
        };
        let survivors = round.survivors.iter().copied();
        let mut left: Vec<u32> = survivors.filter(|arm| ran.contains(&base.with(*arm).number())).collect();
        left.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
        let blocks = u64::from(self.tuning.comparison.blocks.saturating_sub(raced));
        let pair = BTreeSet::from([base.number(), base.with(1).number()]);
        let confirmed_ns = u64::from(CONFIRMATION_BLOCKS) * self.arms.block_ns(&pair);
        let (pace, budget_ns) = (self.pace(recording), self.left_of_budget_ns(recording) as f64);
        let needed_ns = |left: &[u32]| blocks * self.arms.block_ns(&self.race(base, left)) + confirmed_ns;
        while left.len() > 1 && needed_ns(&left) as f64 * pace > budget_ns {
            left.pop();
        }
        left
    }

    /// Probes of what was never visited, or else the first block of a round.
    fn open_round(&mut self, base: &Stack, candidates: &[u32], recording: &Recording) -> Vec<Visit> {
        let arms = self.race(base, candidates);
        let probes = self.probes(&arms, recording);
        if !probes.is_empty() {
            return probes;
        }
        let first = self.next_round() * BLOCKS_OF_ROUND + 1;
        self.arms.block(first, Why::Block, &arms)
    }

    /// Each arm's rates, of those that were never visited.
    fn probes(&self, arms: &BTreeSet<u32>, recording: &Recording) -> Vec<Visit> {
        let is_known = |arm: &u32| recording.steps.iter().any(|step| step.case.arm == *arm);
        let is_asked = |arm: &u32| !is_known(arm) && !never_ran(recording, *arm);
        let unknown: Vec<u32> = arms.iter().copied().filter(is_asked).collect();
        let round = |probe| self.arms.visits_of(0, Why::Probe, &unknown, Some(probe));
        (0..PROBES).flat_map(round).collect()
    }

    fn next_round(&mut self) -> u32 {
        let last = self.last_block();
        if last == 0 { 0 } else { (last - 1) / BLOCKS_OF_ROUND + 1 }
    }

    /// The last block that is planned; 0 before the first.
    fn last_block(&mut self) -> u32 {
        let comparison = &self.tuning.comparison;
        let planned = self.arms.visits().iter().map(|visit| comparison.block_of(visit.pass));
        planned.max().unwrap_or(0)
    }

    /// Further blocks of a round; none where it is decided.
    fn go_on(&mut self, base: &Stack, round: &TuningRound, recording: &Recording) -> Vec<Visit> {
        let next = self.last_block() + 1;
        let raced = (next - 1) % BLOCKS_OF_ROUND;
        // What a host refused is told of, and was in no block.
        let was_raced = |arm: &u32| {
            let number = base.with(*arm).number();
            recording.steps.iter().any(|step| step.pass > 0 && step.case.arm == number)
        };
        let candidates: Vec<u32> =
            round.compared.candidates.iter().map(|one| one.arm).filter(was_raced).collect();
        if raced < self.tuning.screening {
            return self.arms.block(next, Why::Block, &self.race(base, &candidates));
        }
        if raced < self.tuning.comparison.blocks && !round.survivors.is_empty() {
            let racing_on = self.racing_on(base, round, raced, recording);
            return self.arms.block(next, Why::Block, &self.race(base, &racing_on));
        }
        match round.to_confirm {
            Some(arm) if !next.is_multiple_of(BLOCKS_OF_ROUND) => {
                let pair = BTreeSet::from([base.number(), base.with(arm).number()]);
                self.arms.block(next, Why::Confirm, &pair)
            }
            _ => Vec::new(),
        }
    }

    /// Each kept step is left out, beside all of them and none.
    fn leave_out(&mut self, full: &Stack, recording: &Recording) -> Vec<Visit> {
        if full.arms().len() < 2 {
            return Vec::new();
        }
        let without = full.arms().iter().map(|arm| full.without(*arm).number());
        let arms: BTreeSet<u32> = without.chain([0, full.number()]).collect();
        let last = self.arms.visits().last().map(|visit| (visit.why, visit.pass));
        let is_begun = last.is_some_and(|(why, pass)| {
            let block = self.tuning.comparison.block_of(pass);
            why == Why::Confirm && (block - 1) % BLOCKS_OF_ROUND < CONFIRMATION_BLOCKS
        });
        if is_begun {
            let next = self.last_block() + 1;
            let is_over = (next - 1) % BLOCKS_OF_ROUND >= CONFIRMATION_BLOCKS;
            return if is_over { Vec::new() } else { self.arms.block(next, Why::Confirm, &arms) };
        }
        let first = self.next_round() * BLOCKS_OF_ROUND + 1;
        let mut visits = self.probes(&arms, recording);
        visits.extend(self.arms.block(first, Why::Confirm, &arms));
        visits
    }

    /// Whether the blocks in which steps are left out are planned, all or some.
    fn is_leaving_out(&mut self) -> bool {
        let comparison = self.tuning.comparison.clone();
        let mut planned = self.arms.visits().iter();
        planned.any(|visit| {
            let block = comparison.block_of(visit.pass);
            visit.why == Why::Confirm && block > 0 && (block - 1).is_multiple_of(BLOCKS_OF_ROUND)
        })
    }
}

/// Whether it failed and has no step: it is not probed again, and the race goes on without it.
fn never_ran(recording: &Recording, arm: u32) -> bool {
    let has_failed = |not: &NotMeasured| not.after_steps.is_some() && not.arm == Some(arm);
    recording.unavailable.iter().any(has_failed) && !recording.steps.iter().any(|step| step.case.arm == arm)
}

impl Planner for Search {
    fn visits(&mut self) -> &mut Visits {
        self.arms.visits()
    }

    fn further(&mut self, recording: &Recording) -> Vec<Visit> {
        let found = tuned(recording).filter(|found| !found.rounds.is_empty());
        let kept = found.iter().flat_map(|found| &found.steps);
        let base = kept.fold(Stack::default(), |stack, step| stack.with(step.arm));
        let case = |arm| self.arms.entries.iter().map(move |entry| (entry.case.clone(), arm));
        let has_failed =
            |arm: u32| case(arm).any(|(case, arm)| recording.has_failed(&crate::plan::Case { arm, ..case }));
        // Nothing can be compared with what failed.
        if self.arms.entries.is_empty() || has_failed(0) || has_failed(base.number()) {
            return Vec::new();
        }
        if self.is_leaving_out() {
            return self.leave_out(&base, recording);
        }
        if let Some(round) =
            found.as_ref().and_then(|found| found.rounds.last()).filter(|round| round.kept.is_none())
        {
            let upon = round.upon.iter().fold(Stack::default(), |stack, arm| stack.with(*arm));
            let further = self.go_on(&upon, round, recording);
            if !further.is_empty() {
                return further;
            }
        }
        let last = found.as_ref().and_then(|found| found.rounds.last());
        let value = last.and_then(|round| {
            let kept = round.compared.candidates.iter().find(|one| Some(one.arm) == round.kept);
            kept.and_then(|one| one.value).or(round.compared.base)
        });
        let is_over = !base.has_room() || is_link_full(&self.plan, value);
        let candidates = if is_over { Vec::new() } else { self.entering(&base, found.as_ref(), recording) };
        match candidates.is_empty() {
            true => self.leave_out(&base, recording),
            false => self.open_round(&base, &candidates, recording),
        }
    }

    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step {
        self.arms.step(number, visit, recording)
    }
}

impl Schedule for Search {
    fn next(&mut self, recording: &Recording) -> Option<Step> {
        if failure::are_too_many(recording, self.predicted_ns()) {
            return None;
        }
        visit::next(self, recording)
    }

    fn unavailable(&self) -> &[NotMeasured] {
        self.arms.unavailable()
    }

    /// One race of all, and its confirmation: what each step that is kept takes anew.
    fn predicted_ns(&self) -> u64 {
        let candidates: Vec<u32> = candidates_upon(&self.plan, &Stack::default());
        let race = self.race_ns(&Stack::default(), &candidates);
        self.plan.budget_ns.map_or(race, |budget| budget.min(2 * race))
    }

    fn left_ns(&self, recording: &Recording) -> u64 {
        let spent = recording.spent_ns();
        self.predicted_ns().saturating_sub(spent)
    }

    fn announcement(&self) -> String {
        let candidates = self.arms.arms().len().saturating_sub(3);
        let rung = self.plan.view.rungs().first().map_or("", String::as_str);
        let budget =
            self.plan.budget_ns.map_or(String::new(), |ns| format!(", at most {} s", ns / 1_000_000_000));
        format!(
            "{rung}: {} raced in {} blocks, those that may gain in {}, {CONFIRMATION_BLOCKS} more to confirm{budget}",
            counted(candidates, "candidate"),
            self.tuning.screening,
            self.tuning.comparison.blocks,
        )
    }

    fn stage(&self, step: &Step) -> String {
        let block = self.tuning.comparison.block_of(step.pass);
        let (round, block) =
            (block.saturating_sub(1) / BLOCKS_OF_ROUND + 1, block.saturating_sub(1) % BLOCKS_OF_ROUND + 1);
        match step.why {
            Why::Probe => "warm-up".to_owned(),
            Why::Confirm => format!("round {round}, confirming"),
            _ => format!("round {round}, block {block} of {}", self.tuning.comparison.blocks),
        }
    }
}
