//! Randomised blocks that compare arms: the plan as it stands, the candidates, and two controls.
//!
//! A block visits all arms in one random order and then in the reverse order, once or several times, so
//! that a steady drift falls on all alike. Every block has new connections for every arm, and where that is
//! cheap several of them one after the other: connections differ from each other more than trials do. Comparing all of one arm with
//! all of the next takes every drift for a difference; blocks do not (Box, Hunter and Hunter,
//! Statistics for Experimenters, chapter 4). After the planned blocks the comparison looks once; where
//! it cannot tell, the blocks are doubled once. What won is then measured in fresh blocks, because
//! what is chosen for being large is estimated too large.

use super::entries::Entry;
use super::knob::refused_experiments;
use super::launch::launching_ns;
use super::visit::{self, Planner, Visit, Visits};
use super::visited::{Pace, VISITS, Visited, trials};
use super::{Schedule, blocks, failure, step};
use crate::analysis::{ALPHA, ArmCandidate, Verdict, compare_arms};
use crate::plan::{Application, CONFIRMATION_BLOCKS, Case, Comparison, Plan, Step, Why};
use crate::record::{NotMeasured, Recording};
use crate::unit::counted;
use crate::vocabulary::Pattern;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// Rounds of the discarded pass.
pub(super) const PROBES: usize = 2;

/// Controls are visited in every second round of many: what they must show is larger than what is looked for. Of few rounds the
/// middle of two visits would be held against the middle of four, which is another number.
const CONTROL_ROUNDS: u64 = 2;

/// Chooses the steps of a comparison of arms.
#[derive(Debug, Clone)]
pub struct Arms {
    plan: Plan,
    comparison: Comparison,
    /// What one visit measures, what decides first; each of the plan as it stands.
    pub(super) entries: Vec<Entry>,
    /// What arms visit that are carried otherwise.
    own: Vec<Entry>,
    pace: Pace,
    unavailable: Vec<NotMeasured>,
    /// Experiments that a host does not allow.
    refused: BTreeSet<u32>,
    /// Every visit so far. More are added when the recording has come to the end of them.
    visits: Visits,
}

impl Arms {
    /// A schedule for these hosts; what it compares must be the plan's own comparison.
    pub fn new(plan: &Plan, comparison: &Comparison, recording: &Recording) -> Arms {
        let Visited { entries, own, pace, unavailable } = Visited::new(plan, comparison, recording);
        let refused = refused_experiments(plan, recording);
        let not_measured = refused.iter().map(|(arm, reason)| NotMeasured {
            rung: plan.view.rungs().first().cloned().unwrap_or_default(),
            arm: Some(*arm),
            reason: reason.clone(),
            ..NotMeasured::default()
        });
        Arms {
            plan: plan.clone(),
            comparison: comparison.clone(),
            entries,
            own,
            pace,
            unavailable: unavailable.into_iter().chain(not_measured).collect(),
            refused: refused.into_iter().map(|(arm, _)| arm).collect(),
            visits: Visits::default(),
        }
    }

    /// The plan as it stands, and every arm that the hosts can have.
    pub(super) fn arms(&self) -> BTreeSet<u32> {
        let all = 0..=self.plan.arms.len() as u32;
        // What carries an application in one arm a host may lack.
        let has_own =
            |arm: u32| self.plan.view.application().is_none() || self.entries_of(arm).next().is_some();
        all.filter(|arm| !self.refused.contains(arm) && has_own(*arm)).collect()
    }

    pub(super) fn visit_ns(&self) -> u64 {
        self.entries.iter().map(|entry| entry.nominal_ns).sum()
    }

    /// What decides is visited in every round, what is only watched in the first.
    pub(super) fn block_ns(&self, arms: &BTreeSet<u32>) -> u64 {
        let decides = self.entries.first().map_or(0, |entry| entry.nominal_ns);
        let rounds = |arm: &u32| (0..self.pace.rounds).filter(|round| self.takes_part(*arm, *round)).count();
        let visits: usize = arms.iter().map(rounds).sum();
        self.launches_ns(arms.len()) * u64::from(self.comparison.connections)
            + VISITS * (arms.len() as u64 * (self.visit_ns() - decides) + visits as u64 * decides)
    }

    /// What it takes to find the rates of so many arms.
    pub(super) fn probing_ns(&self, arms: usize) -> u64 {
        self.launches_ns(arms) + PROBES as u64 * arms as u64 * self.visit_ns() / 2
    }

    /// What so many arms' jobs take to start, where a library's own programs do the work.
    fn launches_ns(&self, arms: usize) -> u64 {
        arms as u64 * launching_ns(&self.entries)
    }

    /// Whether an arm is visited in a round of a block.
    fn takes_part(&self, arm: u32, round: u64) -> bool {
        let is_control = self.plan.layers(arm).last().is_some_and(|arm| arm.kind.is_control());
        !is_control || self.pace.rounds <= CONTROL_ROUNDS || round.is_multiple_of(CONTROL_ROUNDS)
    }

    /// Blocks of confirmation that are planned already.
    fn confirmed(&self) -> u32 {
        let confirming = self.visits.iter().filter(|visit| visit.why == Why::Confirm);
        let blocks = confirming.map(|visit| self.comparison.block_of(visit.pass));
        blocks.collect::<BTreeSet<_>>().len() as u32
    }

    /// The arms that are confirmed: those that were chosen once stay chosen.
    fn confirming(&self, winners: BTreeSet<u32>) -> BTreeSet<u32> {
        let confirming = self.visits.iter().filter(|visit| visit.why == Why::Confirm);
        let chosen: BTreeSet<u32> = confirming.map(|visit| visit.entry.case.arm).collect();
        if chosen.is_empty() { winners } else { chosen }
    }

    /// Each arm's rates: a first round of a few messages, a second one that settles.
    fn probes(&self) -> Vec<Visit> {
        let round =
            |probe| self.visits_of(0, Why::Probe, &self.arms().into_iter().collect::<Vec<_>>(), probe);
        (0..PROBES).flat_map(|probe| round(Some(probe))).collect()
    }

    /// One block: there in a random order and back, as often as the pace says.
    pub(super) fn block(&self, block: u32, why: Why, arms: &BTreeSet<u32>) -> Vec<Visit> {
        let mut random = ChaCha8Rng::seed_from_u64(step::seed(&self.plan, u64::from(block) << 32));
        let connections = u64::from(self.comparison.connections);
        let mut order: Vec<u32> = arms.iter().copied().collect();
        let mut visits = Vec::new();
        for round in 0..self.pace.rounds {
            order.shuffle(&mut random);
            let there_and_back = order.iter().chain(order.iter().rev()).copied();
            let there_and_back: Vec<u32> =
                there_and_back.filter(|arm| self.takes_part(*arm, round)).collect();
            let pass = self.comparison.first_pass(block) + (round * connections / self.pace.rounds) as u32;
            let of_round = self.visits_of(pass, why, &there_and_back, None);
            let wanted = |visit: &Visit| round == 0 || visit.entry.case.pattern == self.decides();
            visits.extend(of_round.into_iter().filter(wanted));
        }
        visits
    }

    pub(super) fn visits_of(&self, pass: u32, why: Why, arms: &[u32], probe: Option<usize>) -> Vec<Visit> {
        let visit = |entry: Entry| Visit { pass, why, entry, probe, again: false };
        arms.iter().flat_map(|arm| self.entries_of(*arm)).map(visit).collect()
    }

    /// What an arm visits: its own, or what the plan as it stands does.
    fn entries_of(&self, arm: u32) -> impl Iterator<Item = Entry> {
        let is_own = self.plan.view.application().is_some() && arm > 0;
        let of_arm = if is_own { &self.own } else { &self.entries };
        let of_arm = of_arm.iter().filter(move |entry| !is_own || entry.case.arm == arm);
        of_arm.map(move |entry| Entry { case: Case { arm, ..entry.case.clone() }, ..entry.clone() })
    }

    fn decides(&self) -> Pattern {
        self.plan.view.decides(&self.comparison)
    }

    fn probes_ns(&self) -> u64 {
        self.probing_ns(self.arms().len())
    }

    fn confirmation_ns(&self) -> u64 {
        u64::from(CONFIRMATION_BLOCKS) * self.block_ns(&BTreeSet::from([0, 1]))
    }
}

impl Planner for Arms {
    fn visits(&mut self) -> &mut Visits {
        &mut self.visits
    }

    fn further(&mut self, recording: &Recording) -> Vec<Visit> {
        // Nothing can be compared with what failed.
        if self.entries.iter().any(|entry| recording.has_failed(&entry.case)) {
            return Vec::new();
        }
        let Some(last) = self.visits.last() else { return self.probes() };
        let last = self.comparison.block_of(last.pass);
        let next = last + 1;
        let confirmed = self.confirmed();
        if confirmed == 0 && last < self.comparison.blocks {
            return self.block(next, Why::Block, &self.arms());
        }
        let extended = last > self.comparison.blocks && last < 2 * self.comparison.blocks;
        if confirmed == 0 && extended {
            return self.block(next, Why::Block, &self.arms());
        }
        let Some(compared) = compare_arms(recording) else { return Vec::new() };
        let may_extend = self.comparison.extend && last == self.comparison.blocks;
        if confirmed == 0 && may_extend && compared.is_open() {
            return self.block(next, Why::Block, &self.arms());
        }
        let gained = |arm: &&ArmCandidate| arm.verdict == Verdict::Different && arm.is_gain;
        let winners: BTreeSet<u32> =
            compared.candidates.iter().filter(gained).map(|arm| arm.arm).chain([0]).collect();
        match confirmed < CONFIRMATION_BLOCKS && (winners.len() > 1 || confirmed > 0) {
            true => self.block(next, Why::Confirm, &self.confirming(winners)),
            false => Vec::new(),
        }
    }

    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step {
        let entry = &visit.entry;
        let seed = step::seed(&self.plan, number as u64);
        let mut blocks = blocks::for_visit(&self.plan, visit, recording, seed);
        if let (None, Some(last)) = (visit.probe, blocks.last().copied()) {
            let more = trials(entry, self.decides(), self.pace) - 1;
            blocks.extend(std::iter::repeat_n(last, more));
        }
        step::for_visit(&self.plan, number, visit, blocks, recording)
    }
}

impl Schedule for Arms {
    fn next(&mut self, recording: &Recording) -> Option<Step> {
        if failure::are_too_many(recording, self.predicted_ns()) {
            return None;
        }
        visit::next(self, recording)
    }

    fn unavailable(&self) -> &[NotMeasured] {
        &self.unavailable
    }

    /// Without the extension, and with a confirmation.
    fn predicted_ns(&self) -> u64 {
        let blocks = u64::from(self.comparison.blocks) * self.block_ns(&self.arms());
        self.probes_ns() + blocks + self.confirmation_ns()
    }

    fn left_ns(&self, recording: &Recording) -> u64 {
        let pass = recording.steps.last().map_or(0, |step| self.comparison.block_of(step.pass));
        let confirmed = self.confirmed();
        if confirmed > 0 {
            return u64::from(CONFIRMATION_BLOCKS - confirmed.min(CONFIRMATION_BLOCKS))
                * self.block_ns(&BTreeSet::from([0, 1]));
        }
        let blocks = self.comparison.blocks;
        let planned = if pass > blocks { 2 * blocks } else { blocks };
        u64::from(planned - pass.min(planned)) * self.block_ns(&self.arms()) + self.confirmation_ns()
    }

    fn announcement(&self) -> String {
        let candidates = self.arms().len().saturating_sub(3);
        let candidates = counted(candidates, "candidate");
        let rung = self.plan.view.rungs().first().map_or("", String::as_str);
        let of = self.plan.view.application().and_then(Application::of_suite);
        let of = of.map_or(String::new(), |application| format!("{} over ", application.name));
        let blocks = self.comparison.blocks;
        let longer = |ns: u64| (ns as f64 / 1e9).round();
        let most = match self.comparison.extend {
            true => {
                let more = u64::from(blocks) * self.block_ns(&self.arms());
                format!(" (and once as many, {} s more, if that cannot tell)", longer(more))
            }
            false => String::new(),
        };
        format!(
            "{of}{rung}: base, {candidates}, 2 controls in {blocks} blocks{most}, \
             {CONFIRMATION_BLOCKS} more to confirm a gain"
        )
    }

    fn stage(&self, step: &Step) -> String {
        let blocks = self.comparison.blocks;
        match (step.why, self.comparison.block_of(step.pass)) {
            (Why::Probe, _) => "warm-up".to_owned(),
            (Why::Confirm, _) => format!("confirming {} of {CONFIRMATION_BLOCKS}", self.confirmed()),
            (_, pass) if pass > blocks => format!("block {pass} of {}", 2 * blocks),
            (_, pass) => format!("block {pass} of {blocks}"),
        }
    }

    /// The least p of n blocks is 2 in 2 to the n; Holm multiplies it by the number of candidates.
    fn note(&self) -> Option<String> {
        let count = self.arms().len().saturating_sub(3).max(1);
        let candidates = count as f64;
        let looks = if self.comparison.extend { 2 } else { 1 };
        let level = ALPHA / f64::from(looks);
        let needed = (2.0 * candidates / level).log2().floor() as u32 + 1;
        (self.comparison.blocks * looks < needed).then(|| {
            let (candidates, need) = (counted(count, "candidate"), if count == 1 { "needs" } else { "need" });
            format!("{candidates} {need} {needed} blocks before one can be proved different")
        })
    }
}
