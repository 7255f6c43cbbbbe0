//! Passes over all rungs, and then whatever makes the numbers surer in the time that is left.
//!
//! A pass visits every entry once, in an order of its own that follows from the seed. Pass 0 is
//! discarded: its first round sends a few messages of each size to find the rates, its second one
//! lasts long enough to settle them; from then on each block's counts follow from the latest rate on
//! record.

use super::blocks;
use super::entries::{Entry, entries};
use super::placement::ends;
use super::{Schedule, roles};
use crate::plan::{Case, Plan, Step, Why};
use crate::record::{Recording, Unavailable};
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

/// How often sockets and CPUs are sampled during a long stream.
const SAMPLE_NS: u64 = 100_000_000;

/// One step that is to be: an entry, and what for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Visit {
    pub pass: u32,
    pub why: Why,
    pub entry: Entry,
    /// Which round of the discarded pass, where it belongs to that.
    pub probe: Option<usize>,
}

/// Chooses the steps of a run over the ladder.
#[derive(Debug, Clone)]
pub struct Passes {
    plan: Plan,
    /// Visited in every pass.
    entries: Vec<Entry>,
    /// Visited once.
    timelines: Vec<Entry>,
    passes: u32,
    unavailable: Vec<Unavailable>,
    /// Every visit so far. More are added when the recording has come to the end of them.
    visits: Vec<Visit>,
}

impl Passes {
    /// A schedule for these hosts: the recording must hold its header's plan and the hosts' facts.
    pub fn new(plan: &Plan, recording: &Recording) -> Passes {
        let (all, unavailable) = entries(plan, recording);
        let (timelines, entries): (Vec<_>, Vec<_>) = all.into_iter().partition(|entry| entry.case.timeline);
        let mut schedule = Passes {
            plan: plan.clone(),
            entries,
            timelines,
            passes: plan.profile.passes,
            unavailable,
            visits: Vec::new(),
        };
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

    /// The number of whole passes that count.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// What is visited in every pass.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn nominal_of(&self, case: &Case) -> u64 {
        let mut all = self.entries.iter().chain(&self.timelines);
        all.find(|entry| entry.case == *case).map_or(0, |entry| entry.nominal_ns)
    }

    fn probes_ns(&self) -> u64 {
        let round = |entry: &Entry| blocks::PROBE_NS / 2 + (entry.nominal_ns - entry.warm_up_ns) / 3;
        self.entries.iter().map(round).sum()
    }

    /// The visits that follow those that were planned so far, when all of them are on record.
    fn further(&self, _recording: &Recording) -> Vec<Visit> {
        match self.visits.last().map(|visit| visit.pass) {
            None => self.probes(),
            Some(pass) if pass < self.passes => self.pass(pass + 1),
            Some(_) => Vec::new(),
        }
    }

    fn probes(&self) -> Vec<Visit> {
        let order = self.order(0);
        let visit =
            |probe| move |entry: &Entry| Visit { pass: 0, why: Why::Probe, entry: entry.clone(), probe };
        (0..PROBES).flat_map(|round| order.iter().map(visit(Some(round))).collect::<Vec<_>>()).collect()
    }

    /// A whole pass; the long streams come last in theirs.
    fn pass(&self, pass: u32) -> Vec<Visit> {
        let long = if pass == TIMELINE_PASS { &self.timelines[..] } else { &[] };
        let entries = self.order(pass).into_iter().chain(long.iter().cloned());
        entries.map(|entry| Visit { pass, why: Why::Pass, entry, probe: None }).collect()
    }

    /// The entries in the order of a pass.
    fn order(&self, pass: u32) -> Vec<Entry> {
        let mut order = self.entries.clone();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed(u64::from(pass) << 32)));
        order
    }

    fn seed(&self, salt: u64) -> u64 {
        self.plan.seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step {
        let entry = &visit.entry;
        let blocks = blocks::of(&self.plan, entry, recording, visit.probe, self.seed(number as u64));
        Step {
            number: number as u32,
            pass: visit.pass,
            why: visit.why,
            case: entry.case.clone(),
            roles: roles(entry, &ends(&self.plan, recording, &entry.case)),
            predicted_ns: blocks::predicted_ns(entry, &blocks, recording),
            blocks,
            sample_ns: entry.case.timeline.then_some(SAMPLE_NS),
        }
    }
}

impl Schedule for Passes {
    fn next(&mut self, recording: &Recording) -> Option<Step> {
        let number = recording.steps.len();
        while self.visits.len() <= number {
            let further = match self.visits.len() {
                planned if planned == number => self.further(recording),
                planned => self.further(&recording.until(planned)),
            };
            if further.is_empty() {
                return None;
            }
            self.visits.extend(further);
        }
        Some(self.step(number, &self.visits[number], recording))
    }

    fn unavailable(&self) -> &[Unavailable] {
        &self.unavailable
    }

    fn predicted_ns(&self) -> u64 {
        self.probes_ns() + nominal(&self.entries) * u64::from(self.passes) + nominal(&self.timelines)
    }

    fn left_ns(&self, recording: &Recording) -> u64 {
        let done: u64 = recording.steps.iter().map(|step| step.duration_ns).sum();
        let counted = recording.steps.iter().filter(|step| step.pass > 0);
        let nominal_done: u64 = counted.map(|step| self.nominal_of(&step.case)).sum();
        let nominal_all = nominal(&self.entries) * u64::from(self.passes) + nominal(&self.timelines);
        match nominal_done {
            0 => self.predicted_ns().saturating_sub(done),
            _ => nominal_all.saturating_sub(nominal_done),
        }
    }

    fn announcement(&self) -> String {
        let (rungs, sizes) = (self.plan.rungs.len(), self.plan.profile.sizes.len());
        format!("{rungs} rungs, {sizes} sizes, {} passes", self.passes)
    }

    fn stage(&self, step: &Step) -> String {
        match step.pass {
            0 => "warm-up".to_owned(),
            pass => format!("pass {pass} of {}", self.passes),
        }
    }

    fn note(&self) -> Option<String> {
        let short = "fewer than 6 passes fit the budget: there will be no 95 % intervals";
        (self.passes < LEAST_PASSES).then(|| short.to_owned())
    }
}

fn nominal(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.nominal_ns).sum()
}
