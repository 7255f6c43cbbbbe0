//! The next step, from the plan, the seed and the recording so far; nothing else is remembered.
//!
//! A pass visits every entry once, in an order of its own that follows from the seed. Pass 0 is
//! discarded: its first round sends a few messages of each size to find the rates, its second one
//! lasts long enough to settle them; from then on each block's counts follow from the latest rate on
//! record. Resuming a run is asking for the next step of its recording.

mod blocks;
mod entries;
mod placement;
#[cfg(test)]
mod tests;

pub use entries::Entry;

use crate::plan::{Plan, Role, Step};
use crate::record::{Recording, Unavailable};
use crate::vocabulary::{Does, Pattern, Place};
use entries::entries;
use placement::{Ends, ends};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Rounds of the discarded pass.
const PROBES: usize = 2;

/// The pass after which the long streams run: late enough that rates are known, early enough that an
/// interrupted run has its time lines.
const TIMELINE_PASS: u32 = 1;

/// Fewer passes than this have no 95 % interval of the median.
const LEAST_PASSES: u32 = 6;

/// Chooses steps.
#[derive(Debug, Clone)]
pub struct Schedule {
    plan: Plan,
    /// Visited in every pass.
    entries: Vec<Entry>,
    /// Visited once.
    timelines: Vec<Entry>,
    passes: u32,
    /// What cannot be measured on these hosts.
    pub unavailable: Vec<Unavailable>,
}

impl Schedule {
    /// A schedule for these hosts: the recording must hold its header's plan and the hosts' facts.
    pub fn new(plan: &Plan, recording: &Recording) -> Schedule {
        let (all, unavailable) = entries(plan, recording);
        let (timelines, entries): (Vec<_>, Vec<_>) = all.into_iter().partition(|entry| entry.case.timeline);
        let mut schedule =
            Schedule { plan: plan.clone(), entries, timelines, passes: plan.profile.passes, unavailable };
        schedule.passes = schedule.passes_in_budget();
        schedule
    }

    /// The passes of the profile, or as many as the budget allows.
    fn passes_in_budget(&self) -> u32 {
        let Some(budget) = self.plan.budget_ns else {
            return self.plan.profile.passes;
        };
        let fixed = self.probes_ns() + nominal(&self.timelines);
        let passes = budget.saturating_sub(fixed) / nominal(&self.entries).max(1);
        u32::try_from(passes).unwrap_or(u32::MAX).clamp(1, 1000)
    }

    /// The number of passes that count.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Whether too few passes are planned for an interval to exist.
    pub fn is_short(&self) -> bool {
        self.passes < LEAST_PASSES
    }

    /// What is visited in every pass.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How long the whole run should take.
    pub fn predicted_ns(&self) -> u64 {
        self.probes_ns() + nominal(&self.entries) * u64::from(self.passes) + nominal(&self.timelines)
    }

    /// How long the steps that are left should take.
    pub fn left_ns(&self, recording: &Recording) -> u64 {
        let done: u64 = recording.steps.iter().map(|step| step.duration_ns).sum();
        let counted = recording.steps.iter().filter(|step| step.pass > 0);
        let nominal_done: u64 = counted.map(|step| self.nominal_of(&step.case)).sum();
        let nominal_all = nominal(&self.entries) * u64::from(self.passes) + nominal(&self.timelines);
        match nominal_done {
            0 => self.predicted_ns().saturating_sub(done),
            _ => nominal_all.saturating_sub(nominal_done),
        }
    }

    fn nominal_of(&self, case: &crate::plan::Case) -> u64 {
        let mut all = self.entries.iter().chain(&self.timelines);
        all.find(|entry| entry.case == *case).map_or(0, |entry| entry.nominal_ns)
    }

    fn probes_ns(&self) -> u64 {
        let round = |entry: &Entry| blocks::PROBE_NS / 2 + (entry.nominal_ns - entry.warm_up_ns) / 3;
        self.entries.iter().map(round).sum()
    }

    /// The next step; none when the run is complete.
    pub fn next(&self, recording: &Recording) -> Option<Step> {
        let number = recording.steps.len();
        let (pass, index) = self.position(number)?;
        let entry = self.order(pass).into_iter().nth(index)?;
        let probe = (pass == 0).then_some(index / self.entries.len());
        let blocks = blocks::of(&self.plan, entry, recording, probe, self.seed(number as u64));
        Some(Step {
            number: number as u32,
            pass,
            case: entry.case.clone(),
            roles: roles(entry, &ends(&self.plan, recording, &entry.case)),
            predicted_ns: blocks::predicted_ns(entry, &blocks, recording),
            blocks,
            sample_ns: entry.case.timeline.then_some(100_000_000),
        })
    }

    /// The pass of a step, and its place there.
    fn position(&self, number: usize) -> Option<(u32, usize)> {
        let mut left = number;
        (0..=self.passes).find_map(|pass| match self.steps_in(pass) {
            steps if left < steps => Some((pass, left)),
            steps => {
                left -= steps;
                None
            }
        })
    }

    fn steps_in(&self, pass: u32) -> usize {
        match pass {
            0 => PROBES * self.entries.len(),
            TIMELINE_PASS => self.entries.len() + self.timelines.len(),
            _ => self.entries.len(),
        }
    }

    /// The entries of a pass, in its order; the long streams come last.
    fn order(&self, pass: u32) -> Vec<&Entry> {
        let mut order: Vec<&Entry> = self.entries.iter().collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed(u64::from(pass) << 32)));
        match pass {
            0 => order.repeat(PROBES),
            TIMELINE_PASS => order.into_iter().chain(&self.timelines).collect(),
            _ => order,
        }
    }

    fn seed(&self, salt: u64) -> u64 {
        self.plan.seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

fn nominal(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.nominal_ns).sum()
}

/// Both ends' roles. The receiving side comes first, because it must be ready.
fn roles(entry: &Entry, ends: &Ends) -> Vec<Role> {
    let case = &entry.case;
    let second_worker = u32::from(entry.place == Place::InHost);
    let from = |does| Role { host: case.from.clone(), worker: 0, does, cpus: ends.from.clone() };
    let to = |does| Role { host: case.to.clone(), worker: second_worker, does, cpus: ends.to.clone() };
    match case.pattern {
        Pattern::PingPong => vec![to(Does::Echoes), from(Does::Pings)],
        Pattern::Stream if entry.ends == 1 => vec![from(Does::Copies)],
        Pattern::Stream => vec![to(Does::Receives), from(Does::Sends)],
        Pattern::Bidirectional => {
            vec![to(Does::Receives), from(Does::Receives), to(Does::Sends), from(Does::Sends)]
        }
    }
}
