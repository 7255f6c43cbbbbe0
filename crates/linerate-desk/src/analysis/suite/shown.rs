//! The numbers that figures show, by case and message size.

use crate::analysis::measures::{Measure, measure};
use crate::plan::{Case, Profile, Suite};
use crate::record::{Recording, Trial};
use crate::statistic::{Estimate, median};
use std::collections::BTreeMap;

/// A number that a figure shows of a case at a message size.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownNumber {
    /// The case.
    pub case: Case,
    /// The message size.
    pub message_bytes: u64,
    /// What is shown: a metric or a part of one.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The median over the passes.
    pub estimate: Estimate,
}

impl ShownNumber {
    /// How far its interval reaches, as a share, and how far it may; none of what is itself a share, and without an
    /// interval.
    pub fn width(&self, profile: &Profile) -> Option<(f64, f64)> {
        let is_share = self.unit == "1";
        let width = self.estimate.relative_half_width().filter(|_| !is_share)?;
        Some((width, profile.target(self.unit == "ns")))
    }
}

/// Every number along y of the figures of a recording's suites, each once.
pub fn shown_numbers(recording: &Recording) -> Vec<ShownNumber> {
    let Some(plan) = recording.plan().filter(|plan| !plan.view.suites().is_empty()) else {
        return Vec::new();
    };
    let mut all: BTreeMap<(&Case, u64), Vec<&Trial>> = BTreeMap::new();
    let counts = |trial: &&Trial| trial.pass > 0 && trial.why.counts() && !trial.case.beside;
    for trial in recording.trials.iter().filter(counts) {
        all.entry((&trial.case, trial.block.message_bytes)).or_default().push(trial);
    }
    let of_point = |((case, message_bytes), trials): ((&Case, u64), Vec<&Trial>)| {
        let names = plan.view.suites().iter().flat_map(|suite| names(suite, case));
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        let number = |name: &str| {
            let measure = measure(name)?;
            let (name, unit) = (name.to_owned(), measure.metric.unit);
            let estimate = estimate(recording, &measure, &trials)?;
            Some(ShownNumber { case: case.clone(), message_bytes, name, unit, estimate })
        };
        names.into_iter().filter_map(number).collect::<Vec<_>>()
    };
    all.into_iter().flat_map(of_point).collect()
}

/// What the figures of a suite show of a case.
fn names<'s>(suite: &'s Suite, case: &Case) -> Vec<&'s str> {
    let shows = |ids: &[String]| ids.iter().any(|id| suite.case_name(id) == case.id);
    suite.figures.iter().filter(|figure| shows(&figure.cases)).map(|figure| figure.y.as_str()).collect()
}

fn estimate(recording: &Recording, measure: &Measure, trials: &[&Trial]) -> Option<Estimate> {
    let mut passes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for trial in trials {
        passes.entry(trial.pass).or_default().extend(measure.value(recording, trial));
    }
    Estimate::from_values(passes.into_values().filter_map(median))
}
