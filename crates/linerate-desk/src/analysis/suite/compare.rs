//! A number of each pass, alone or against another one of the same pass.

use super::{is_called, trials};
use crate::analysis::measures::measure;
use crate::plan::{Case, FACTORS, Factor, Levels, Plan, Suite};
use crate::record::{Recording, Trial};
use crate::statistic::median;
use std::collections::BTreeMap;

/// How a number is set against another one.
type Against = fn(f64, f64) -> f64;

/// What a number is divided by, or else what is taken from it; none where it stands alone.
pub(super) fn against<L>(over: Option<L>, minus: Option<L>) -> Option<(L, Against)> {
    let over: Option<(L, Against)> = over.map(|levels| (levels, (|value, over| value / over) as Against));
    over.or_else(|| minus.map(|levels| (levels, (|value, minus| value - minus) as Against)))
}

/// Whether a case of a suite is at these levels, at a message size.
pub fn is_at((plan, suite): (&Plan, &Suite), levels: &Levels, case: &Case, message_bytes: u64) -> bool {
    let mut factors = FACTORS.iter().filter(|entry| entry.factor != Factor::Case);
    levels.get("case").is_some_and(|id| case.id == suite.case_name(id))
        && factors.all(|entry| {
            let wanted = levels.get(entry.name);
            wanted.is_none_or(|name| is_called(&(entry.level)(plan, case, message_bytes), name))
        })
}

/// What is compared.
pub(super) struct Scene<'s> {
    pub recording: &'s Recording,
    pub plan: &'s Plan,
    pub suite: &'s Suite,
    /// The number.
    pub y: &'s str,
}

impl Scene<'_> {
    /// The trials at these levels.
    pub fn trials(&self, levels: &Levels) -> Vec<&Trial> {
        let of_trial =
            |trial: &&Trial| is_at((self.plan, self.suite), levels, &trial.case, trial.block.message_bytes);
        let id = levels.get("case").map(|id| self.suite.case_name(id)).unwrap_or_default();
        trials(self.recording, id).filter(of_trial).collect()
    }

    /// The median of each pass.
    pub fn numbers(&self, levels: &Levels) -> BTreeMap<u32, f64> {
        let Some(measure) = measure(self.y) else { return BTreeMap::new() };
        let mut passes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for trial in self.trials(levels) {
            passes.entry(trial.pass).or_default().extend(measure.value(self.recording, trial));
        }
        passes.into_iter().filter_map(|(pass, values)| Some((pass, median(values)?))).collect()
    }

    /// The number of each pass, set against that of the same pass at other levels where there are any.
    pub fn compared(&self, of: &Levels, with: Option<&(Levels, Against)>) -> BTreeMap<u32, f64> {
        let of = self.numbers(of);
        let Some((levels, against)) = with else { return of };
        let others = self.numbers(levels);
        of.into_iter().filter_map(|(pass, value)| Some((pass, against(value, *others.get(&pass)?)))).collect()
    }
}
