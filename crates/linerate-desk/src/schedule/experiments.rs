//! A search for causes: the plan as it stands is looked at first, then what shows a sign is tried, and the rest is not.
//!
//! First come a few blocks of the plan as it stands and its controls. What they show signs of is begun, from the lowest rung
//! up, as many experiments as the budget can pay, the first one of each cause before second ones, and those of faults before
//! those of what the work costs. They race in randomised blocks against the plan as it stands, all of which
//! count, in as many blocks as it takes to prove one of them different after Holm's adjustment over all that were begun. There
//! is one look before the end: what is proved to gain less than the margin by then is dropped, which can make nothing look
//! like a gain; and after each block one whether an experiment reaches all that is expected, which leaves nothing for the
//! others to explain. What won is measured once more in fresh blocks. Where nothing won and time is left, faults of which no experiment
//! was made and that show a sign by now are begun in the same way. What time is left then shows what the rate is sensitive to.
//! When that is done, or the budget spent, the search ends.

mod beginning;
mod between;
mod hindering;
mod order;
mod rescue;
mod timing;

use super::blocks::is_answered;
use super::coverage::Coverage;
use super::entries::{Entry, entries};
use super::knob::refused_experiments;
use super::visit::{self, Planner, Visit, Visits};
use super::visited::{concerns, is_compared, size};
use super::{Schedule, blocks, failure, step};
use crate::analysis::{ALPHA, ArmCandidate, Compared, Verdict, compare_arms, reaching};
use crate::plan::{ArmKind, CONFIRMATION_BLOCKS, Comparison, DROP_LOOK, FIRST_LOOK, Plan, Step, Why};
use crate::plan::{Metric, race_blocks};
use crate::record::{NotMeasured, Recording, StepRecord};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use timing::{least_visit_ns, round_trip_ns, stretched, timed};

/// Says of which causes a recording shows signs, by their names.
pub type Suspects = fn(&Recording) -> BTreeSet<String>;

/// Rounds of the discarded pass.
const PROBES: usize = 2;

/// The most visits of an arm in a block, which are short: what differs from visit to visit is more than what differs within.
const MOST_VISITS: u64 = 24;

/// So many times what was planned, a visit is planned anew.
const SLOWER: f64 = 2.0;

/// Experiments that the pace leaves room for, and the share of the budget that they may take with the plan as it stands.
const USUAL: u64 = 8;
const RACE_SHARE: f64 = 0.6;

/// The share of the budget that is planned with; the rest is for what takes longer than it should.
const PLANNED_SHARE: f64 = 0.9;

/// Winners that are confirmed: those that gain most.
const MOST_CONFIRMED: usize = 3;

/// What a diagnosis without a budget may take.
const BUDGET_NS: u64 = 240_000_000_000;

/// Chooses the steps of a search.
#[derive(Debug)]
pub struct Experiments {
    plan: Plan,
    comparison: Comparison,
    /// What one visit measures; none where the rung carries no stream.
    entry: Option<Entry>,
    /// Visits of an arm in a block.
    visits_each: u64,
    unavailable: Vec<NotMeasured>,
    /// Experiments that a host does not allow.
    refused: BTreeSet<u32>,
    suspects: Suspects,
    visits: Visits,
    /// What was begun after the first look.
    begun: Option<BTreeSet<u32>>,
    /// What is to be begun as long as the budget can pay for it, in this order.
    waiting: Vec<u32>,
    /// What was dropped at the look before the end.
    dropped: BTreeSet<u32>,
    /// The block after which the race began: after the first look, or once more with what lies between experiments.
    raced_from: u32,
    /// Whether an experiment reaches all that is expected.
    is_explained: bool,
    /// What is confirmed.
    chosen: BTreeSet<u32>,
    /// What is added, with the plan as it stands, to see what the rate is sensitive to, and how often each is visited in a
    /// block; none before all else is done.
    hindering: Option<hindering::Hindering>,
}

impl Experiments {
    /// A schedule for these hosts; what it compares must be the plan's own comparison.
    pub fn new(plan: &Plan, comparison: &Comparison, recording: &Recording, suspects: Suspects) -> Self {
        let (all, unavailable) = entries(plan, recording, &Coverage::WHOLE);
        let pattern = Metric::Throughput.shown_by();
        let bytes = size(plan, pattern);
        let is_it = |entry: &Entry| entry.case.pattern == pattern && entry.sizes.contains(&bytes);
        let entry = all.into_iter().filter(is_compared).find(is_it);
        let entry = entry.map(|entry| {
            let entry = Entry { bounded: true, sizes: vec![bytes], ..entry };
            timed(entry, plan, 0.0)
        });
        let refused = refused_experiments(plan, recording);
        // Of a hindrance that a host does not allow another value is taken, or it is left out.
        let is_tried = |number: u32| {
            let arm = plan.arms.get((number as usize).wrapping_sub(1));
            arm.is_some_and(|arm| arm.kind == ArmKind::Candidate)
        };
        let not_measured =
            refused.iter().filter(|(arm, _)| is_tried(*arm)).map(|(arm, reason)| NotMeasured {
                rung: plan.view.rungs().first().cloned().unwrap_or_default(),
                arm: Some(*arm),
                reason: reason.clone(),
                ..NotMeasured::default()
            });
        let mut schedule = Experiments {
            plan: plan.clone(),
            comparison: comparison.clone(),
            entry,
            visits_each: 1,
            unavailable: unavailable.into_iter().filter(concerns).chain(not_measured).collect(),
            refused: refused.into_iter().map(|(arm, _)| arm).collect(),
            suspects,
            visits: Visits::default(),
            begun: None,
            waiting: Vec::new(),
            dropped: BTreeSet::new(),
            raced_from: FIRST_LOOK,
            is_explained: false,
            chosen: BTreeSet::new(),
            hindering: None,
        };
        schedule.visits_each = schedule.pace(0);
        schedule
    }

    fn budget_ns(&self) -> u64 {
        self.plan.budget_ns.unwrap_or(BUDGET_NS)
    }

    fn planned_ns(&self) -> f64 {
        PLANNED_SHARE * self.budget_ns() as f64
    }

    /// So many visits of an arm in a block that the usual search fits, if each takes so long at least: an even number, there and
    /// back, or one.
    fn pace(&self, least_ns: u64) -> u64 {
        let nominal_ns = self.entry.as_ref().map_or(1, |entry| entry.nominal_ns).max(least_ns).max(1);
        let blocks = u64::from(FIRST_LOOK + race_blocks(USUAL as usize, ALPHA));
        let round_ns = blocks * (USUAL + self.standing().len() as u64) * nominal_ns;
        let fitting = (RACE_SHARE * self.budget_ns() as f64 / round_ns as f64) as u64;
        let is_slow = self.entry.as_ref().is_some_and(|entry| is_answered(&self.plan, &entry.case));
        if fitting < 2 || is_slow { 1 } else { fitting.min(MOST_VISITS) / 2 * 2 }
    }

    /// The plan as it stands, and its controls.
    fn standing(&self) -> BTreeSet<u32> {
        let controls = (1..).zip(&self.plan.arms).filter(|(_, arm)| arm.kind.is_control());
        controls.map(|(number, _)| number).chain([0]).collect()
    }

    /// What an arm is an experiment for.
    fn cause_of(&self, arm: u32) -> Option<&str> {
        self.plan.arms.get((arm as usize).wrapping_sub(1))?.cause.as_deref()
    }

    /// The last block so far that counts.
    fn last_block(&self) -> u32 {
        let blocks = self.visits.iter().filter(|visit| visit.why == Why::Block);
        blocks.map(|visit| self.comparison.block_of(visit.pass)).max().unwrap_or(0)
    }

    /// Blocks of confirmation that are planned already.
    fn confirmed(&self) -> u32 {
        let confirming = self.visits.iter().filter(|visit| visit.why == Why::Confirm);
        let blocks = confirming.map(|visit| self.comparison.block_of(visit.pass));
        blocks.collect::<BTreeSet<_>>().len() as u32
    }

    /// What a visit takes, by those on record.
    fn visit_ns(&self, recording: &Recording) -> f64 {
        let nominal_ns = self.entry.as_ref().map_or(0, |entry| entry.nominal_ns) as f64;
        taken_ns(recording, |step| step.pass > 0).unwrap_or(nominal_ns)
    }

    /// What a visit of the warm-up of an experiment takes, which may be another one than of the plan as it stands.
    fn probe_ns(&self, recording: &Recording) -> f64 {
        let standing = self.standing();
        let of_experiments = |step: &StepRecord| step.pass == 0 && !standing.contains(&step.case.arm);
        taken_ns(recording, of_experiments).unwrap_or_else(|| self.visit_ns(recording))
    }

    /// The last block of a race of so many experiments.
    fn last_of_race(&self, begun: usize) -> u32 {
        self.raced_from + race_blocks(begun, ALPHA)
    }

    fn block_ns(&self, arms: usize, recording: &Recording) -> f64 {
        (arms as u64 * self.visits_each) as f64 * self.visit_ns(recording)
    }

    /// What is proved to gain less than the margin.
    fn beaten(&self, compared: &Compared) -> BTreeSet<u32> {
        let level = 1.0 / f64::from(1 << DROP_LOOK);
        let is_beaten = |one: &&ArmCandidate| one.p_no_gain.is_some_and(|p| p <= level);
        compared.candidates.iter().filter(is_beaten).map(|one| one.arm).collect()
    }

    /// Those that won, with the plan as it stands; none where nothing did.
    fn winners(compared: &Compared) -> BTreeSet<u32> {
        let mut won: Vec<(f64, u32)> = compared
            .candidates
            .iter()
            .filter(|one| one.verdict == Verdict::Different && one.is_gain)
            .filter_map(|one| Some((one.change?.estimate, one.arm)))
            .collect();
        won.sort_by(|a, b| b.0.total_cmp(&a.0));
        let won: BTreeSet<u32> = won.into_iter().take(MOST_CONFIRMED).map(|(_, arm)| arm).collect();
        if won.is_empty() { won } else { won.into_iter().chain([0]).collect() }
    }

    /// Each arm's rate: a first round of a few messages, a second one that settles.
    fn probes(&self, arms: &BTreeSet<u32>) -> Vec<Visit> {
        let arms: Vec<u32> = arms.iter().copied().collect();
        (0..PROBES).flat_map(|probe| self.visits_of(0, Why::Probe, &arms, Some(probe))).collect()
    }

    /// One block as often as the pace says.
    fn block(&self, block: u32, why: Why, arms: &BTreeSet<u32>) -> Vec<Visit> {
        self.block_of(block, why, arms, self.visits_each)
    }

    /// One block of so many visits of each arm: there in a random order and back.
    fn block_of(&self, block: u32, why: Why, arms: &BTreeSet<u32>, visits_each: u64) -> Vec<Visit> {
        let mut random = ChaCha8Rng::seed_from_u64(step::seed(&self.plan, u64::from(block) << 32));
        let mut order: Vec<u32> = arms.iter().copied().collect();
        let rounds = visits_each.div_ceil(2);
        let connections = u64::from(self.comparison.connections);
        let mut visits = Vec::new();
        for round in 0..rounds {
            order.shuffle(&mut random);
            let back = if visits_each > 1 { order.len() } else { 0 };
            let there_and_back: Vec<u32> =
                order.iter().chain(order.iter().rev().take(back)).copied().collect();
            let pass = self.comparison.first_pass(block) + (round * connections / rounds) as u32;
            visits.extend(self.visits_of(pass, why, &there_and_back, None));
        }
        visits
    }

    fn visits_of(&self, pass: u32, why: Why, arms: &[u32], probe: Option<usize>) -> Vec<Visit> {
        let visit = |arm: &u32| {
            let mut entry = self.entry.clone()?;
            entry.case.arm = *arm;
            Some(Visit { pass, why, entry, probe, again: false })
        };
        arms.iter().filter_map(visit).collect()
    }

    /// The next block of the race, or of the confirmation; none when the search is complete.
    fn race(&mut self, recording: &Recording) -> Vec<Visit> {
        let begun = self.begun.clone().unwrap_or_default();
        let last = self.last_block();
        if last == FIRST_LOOK + DROP_LOOK && self.confirmed() == 0 && self.dropped.is_empty() {
            let compared = compare_arms(recording);
            self.dropped = compared.as_ref().map_or_else(BTreeSet::new, |compared| self.beaten(compared));
            let between = compared.map_or_else(Vec::new, |compared| self.go_between(&compared, recording));
            if !between.is_empty() {
                return between;
            }
        }
        if self.confirmed() == 0 && last > FIRST_LOOK && !self.is_explained {
            let compared = compare_arms(recording);
            let reaching = compared.map_or_else(BTreeSet::new, |compared| reaching(&self.plan, &compared));
            self.is_explained = !reaching.is_empty();
            self.dropped.extend(begun.difference(&reaching).filter(|_| self.is_explained));
        }
        if self.confirmed() == 0 && last < self.last_of_race(begun.len()) {
            let racing = self.standing().into_iter().chain(begun.difference(&self.dropped).copied());
            return self.block(last + 1, Why::Block, &racing.collect());
        }
        if self.confirmed() == 0 {
            self.chosen =
                compare_arms(recording).map_or_else(BTreeSet::new, |compared| Self::winners(&compared));
        }
        if self.chosen.len() < 2 {
            return self.look_again(recording);
        }
        match self.confirmed() < CONFIRMATION_BLOCKS {
            true => self.block(last + self.confirmed() + 1, Why::Confirm, &self.chosen),
            false => Vec::new(),
        }
    }
}

/// What such a step takes in the mean, until the next one begins; none where there is none.
fn taken_ns(recording: &Recording, is_meant: impl Fn(&StepRecord) -> bool) -> Option<f64> {
    let ends = recording.steps.iter().skip(1).map(|step| step.at_ns);
    let last = recording.steps.last().map(|step| step.at_ns + step.duration_ns);
    let all = recording.steps.iter().zip(ends.chain(last)).filter(|(step, _)| is_meant(step));
    let (taken, count) = all.fold((0.0, 0), |(taken, count), (step, end)| {
        (taken + end.saturating_sub(step.at_ns) as f64, count + 1)
    });
    (count > 0).then(|| taken / f64::from(count))
}

impl Planner for Experiments {
    fn visits(&mut self) -> &mut Visits {
        &mut self.visits
    }

    fn further(&mut self, recording: &Recording) -> Vec<Visit> {
        let Some(entry) = self.entry.clone() else { return Vec::new() };
        // Nothing can be compared with what failed.
        if recording.has_failed(&entry.case) {
            return self.rescue();
        }
        if self.visits.last().is_none() {
            return self.probes(&self.standing());
        }
        let last = self.last_block();
        if last == 0 {
            let entry = timed(entry, &self.plan, round_trip_ns(recording));
            let least_ns = least_visit_ns(&entry, recording);
            self.entry = Some(entry);
            self.visits_each = self.pace(least_ns);
        }
        // Of a starved end one takes far longer than its warm-up let expect.
        if last == 1 {
            let visit_ns = self.visit_ns(recording);
            let is_slow =
                self.entry.as_ref().is_some_and(|entry| visit_ns > SLOWER * entry.nominal_ns as f64);
            let pace = if is_slow { self.pace(visit_ns as u64) } else { self.visits_each };
            self.visits_each = self.visits_each.min(pace);
        }
        if recording.spent_ns() as f64 + self.block_ns(2, recording) > self.budget_ns() as f64 {
            return Vec::new();
        }
        if last < FIRST_LOOK {
            return self.block(last + 1, Why::Block, &self.standing());
        }
        if self.begun.is_none() {
            self.waiting = self.asked(recording);
            let left_ns = self.planned_ns() - recording.spent_ns() as f64;
            let slack = left_ns / self.takes_ns(self.fitting(recording), recording).max(1.0);
            self.entry = self.entry.take().map(|entry| stretched(entry, slack, recording));
        }
        let probes = self.begin(recording);
        if !probes.is_empty() {
            return probes;
        }
        let racing = if self.hindering.is_none() { self.race(recording) } else { Vec::new() };
        if racing.is_empty() { self.hinder(recording) } else { racing }
    }

    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step {
        let blocks = blocks::for_visit(&self.plan, visit, recording, step::seed(&self.plan, number as u64));
        step::for_visit(&self.plan, number, visit, blocks, recording)
    }
}

impl Schedule for Experiments {
    fn next(&mut self, recording: &Recording) -> Option<Step> {
        if failure::are_too_many(recording, self.predicted_ns()) {
            return None;
        }
        visit::next(self, recording)
    }

    fn unavailable(&self) -> &[NotMeasured] {
        &self.unavailable
    }

    /// At most.
    fn predicted_ns(&self) -> u64 {
        self.budget_ns()
    }

    fn left_ns(&self, recording: &Recording) -> u64 {
        if let Some(hindering) = &self.hindering {
            return hindering.left_ns(self.visit_ns(recording));
        }
        let whole = self.last_of_race(self.begun.as_ref().map_or(USUAL as usize, BTreeSet::len));
        let racing =
            self.begun.as_ref().map_or(USUAL as usize, |begun| begun.difference(&self.dropped).count());
        let race = f64::from(whole.saturating_sub(self.last_block())) * self.block_ns(3 + racing, recording);
        let fresh = CONFIRMATION_BLOCKS.saturating_sub(self.confirmed());
        let left_ns = race + f64::from(fresh) * self.block_ns(2, recording);
        (left_ns as u64).min(self.budget_ns().saturating_sub(recording.spent_ns()))
    }

    fn announcement(&self) -> String {
        let tried = (1..)
            .zip(&self.plan.arms)
            .filter(|(number, arm)| arm.kind == ArmKind::Candidate && !self.refused.contains(number));
        let candidates = tried.count();
        let rung = self.plan.view.rungs().first().map_or("", String::as_str);
        format!(
            "{rung}: a first look in {FIRST_LOOK} blocks, then those of {candidates} experiments whose cause shows a \
             sign, {CONFIRMATION_BLOCKS} blocks more to confirm a gain, then what the rate is sensitive to; at most {} s",
            self.budget_ns() / 1_000_000_000
        )
    }

    fn stage(&self, step: &Step) -> String {
        let of = self.last_of_race(self.begun.as_ref().map_or(1, BTreeSet::len));
        match (step.why, self.comparison.block_of(step.pass)) {
            (Why::Probe, _) => "warm-up".to_owned(),
            (Why::Confirm, _) => format!("confirming {} of {CONFIRMATION_BLOCKS}", self.confirmed()),
            (Why::Hindered, _) => self.hindered_stage(),
            (_, block) if block <= FIRST_LOOK => format!("first look {block} of {FIRST_LOOK}"),
            (_, block) => format!("block {block} of {of}"),
        }
    }
}
