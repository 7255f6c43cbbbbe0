//! The looks that find the fastest engine of a rung, before the passes: a short one at each, then longer ones by turns at those
//! in front. What a look shows enters no figure: the engine that is chosen is measured in every pass, as any other rung is.

use super::entries::Entry;
use super::visit::Visit;
use crate::analysis::throughput_bps;
use crate::plan::{Plan, Why};
use crate::record::Recording;
use crate::statistic::median;

/// Rounds that find the rates.
const PROBES: usize = 2;

/// How long a first look at an engine lasts, and how long its connection warms up before.
const SHORT_NS: u64 = 200_000_000;
const WARM_UP_NS: u64 = 50_000_000;

/// How many are in front, how long they are looked at, and how often: what a fifth of a second shows need not last.
const FINALISTS: usize = 3;
const LONG_NS: u64 = 400_000_000;
const ROUNDS: usize = 3;

/// The search for one rung's engine.
#[derive(Debug, Clone)]
pub(super) struct Looks {
    entry: Entry,
    /// The plan's arms that are engines of it, and those in front as far as they are known.
    arms: Vec<u32>,
    front: Vec<u32>,
    stage: Stage,
}

/// What is looked at next.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Rates,
    Short,
    Long,
    Over,
}

impl Looks {
    /// The search among the plan's arms that the hosts can have.
    pub fn new(plan: &Plan, entry: Entry, refused: &[u32]) -> Looks {
        let is_engine = |name: &str| entry.rung.engines.iter().any(|engine| engine.name == name);
        let arms = (1..).zip(&plan.arms).filter(|(_, arm)| is_engine(&arm.name)).map(|(number, _)| number);
        let arms = arms.filter(|number| !refused.contains(number)).collect();
        Looks { entry, arms, front: Vec::new(), stage: Stage::Rates }
    }

    /// What is measured once an engine is chosen.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// What all looks should take.
    pub fn ns(&self) -> u64 {
        let look = |trial_ns| self.look(1, trial_ns).nominal_ns;
        let (arms, front) = (self.arms.len(), self.arms.len().min(FINALISTS));
        let probes = PROBES as u64 * look(SHORT_NS / 10);
        arms as u64 * (probes + look(SHORT_NS)) + (front * ROUNDS) as u64 * look(LONG_NS)
    }

    /// The looks that follow, with all before them on record; none when the engine can be chosen.
    pub fn further(&mut self, recording: &Recording) -> Vec<Visit> {
        let visits = |arms: &[u32], trial_ns, probe| -> Vec<Visit> {
            let entries = arms.iter().map(|arm| self.look(*arm, trial_ns));
            let visit = |entry| Visit { pass: 0, why: Why::Probe, entry, probe, again: false };
            entries.map(visit).collect()
        };
        match self.stage {
            Stage::Rates => {
                let further =
                    (0..PROBES).flat_map(|round| visits(&self.arms, SHORT_NS, Some(round))).collect();
                self.stage = Stage::Short;
                further
            }
            Stage::Short => {
                let further = visits(&self.arms, SHORT_NS, None);
                self.stage = Stage::Long;
                further
            }
            Stage::Long => {
                let front = self.best(&self.arms, 1, recording, FINALISTS);
                // Of one there is nothing to compare.
                let rounds = if front.len() > 1 { ROUNDS } else { 0 };
                let further = (0..rounds).flat_map(|_| visits(&front, LONG_NS, None)).collect();
                (self.front, self.stage) = (front, Stage::Over);
                further
            }
            Stage::Over => Vec::new(),
        }
    }

    /// What is measured, with the engine that was fastest in the middle one of its long looks; none where none came through.
    pub fn chosen(&self, recording: &Recording) -> Option<Entry> {
        let arm = *self.best(&self.front, ROUNDS, recording, 1).first()?;
        let mut entry = self.entry.clone();
        entry.case.arm = arm;
        Some(entry)
    }

    /// The fastest of these by the median of so many of the latest looks, the fastest first. One that failed is out.
    fn best(&self, arms: &[u32], looks: usize, recording: &Recording, most: usize) -> Vec<u32> {
        let rate = |arm: &u32| {
            let case = self.look(*arm, SHORT_NS).case;
            let of_arm = recording.trials.iter().rev().filter(|trial| trial.case == case);
            let rates: Vec<f64> = of_arm.filter_map(throughput_bps).take(looks).collect();
            median(rates).filter(|_| !recording.has_failed(&case)).map(|rate| (*arm, rate))
        };
        let mut found: Vec<(u32, f64)> = arms.iter().filter_map(rate).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.into_iter().take(most).map(|(arm, _)| arm).collect()
    }

    /// What is visited of an engine.
    fn look(&self, arm: u32, trial_ns: u64) -> Entry {
        let mut entry = self.entry.clone();
        entry.case.arm = arm;
        entry.warm_up_ns = entry.warm_up_ns.min(WARM_UP_NS);
        entry.trial_ns = trial_ns;
        entry.priced()
    }
}
