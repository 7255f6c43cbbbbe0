//! What fresh trials say of the suspects: named, cleared, or open.
//!
//! A suspect was chosen for being slow, so what chose it is too slow by chance and proves nothing (regression to the mean).
//! It is measured anew, and beside it pairs of hosts that are no suspects, in the same rounds or in turns with it. Both sets are
//! compared by ranks (Mann and Whitney 1947; Hodges and Lehmann 1963). The level is split between the metrics, and between groups,
//! hosts and links, and within each corrected by Holm (1979) for the number of tests.

use super::metric::CellMetric;
use super::part::{Budget, Part};
use super::shot::{Shot, Stage};
use super::suspect::{Screened, Suspect};
use crate::plan::{HostPair, Screening};
use crate::statistic::{CONFIDENCE, Shift, holm, rank_sum};
use std::collections::BTreeMap;

/// How often somebody is named in a run without a fault, at most: a ninth of it for each kind of each metric.
const FALSE_NAMES: f64 = 0.01;
const BUDGETS: f64 = 3.0 * CellMetric::ALL.len() as f64;

/// Who is named by the trials under load is slow by itself where those alone say so with this probability of chance: then the
/// interval that is told does not reach the others but by a hair: of the side that the proof is on, so twice this to either.
const ALSO: f64 = 2.0 * (1.0 - CONFIDENCE);

/// Fresh trials of a suspect at each stage, and those of others beside it.
pub const FRESH: usize = 9;

/// Fewer make no test.
const LEAST: usize = 6;

/// Under what a suspect is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confirmed {
    /// While nobody else sends: the fault is its own.
    Alone,
    /// Only while others send: something is shared.
    UnderLoad,
}

/// What became of a suspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is slow.
    Named(Confirmed),
    /// It is as fast as the others.
    Cleared,
    /// It cannot be told.
    Open,
}

/// A suspect with its fresh trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// By what.
    pub metric: CellMetric,
    /// Who.
    pub suspect: Suspect,
    /// How far it is from the others with nobody else sending, as the metric is told.
    pub alone: Option<Shift>,
    /// The same while all others send.
    pub loaded: Option<Shift>,
    /// What that comes to.
    pub outcome: Outcome,
}

/// What everything is judged by in one metric.
#[derive(Clone, Copy)]
pub struct Docket<'d> {
    /// Which.
    pub metric: CellMetric,
    /// Who belongs together.
    pub screening: &'d Screening,
    /// Who stands apart.
    pub screened: &'d Screened,
    /// Who stands apart in what the same trials tell besides: no healthy pair shows one of these either.
    pub others: &'d [Part],
    /// The numbers.
    pub shots: &'d [Shot],
}

impl Docket<'_> {
    /// The word on each suspect.
    pub fn judged(&self) -> Vec<Judged> {
        let suspects = &self.screened.suspects;
        let shifts: Vec<[Option<Shift>; 2]> = suspects
            .iter()
            .map(|suspect| [Stage::Alone, Stage::Loaded].map(|stage| self.shift(&[suspect.part], stage)))
            .collect();
        let adjusted = adjusted(suspects, &shifts);
        let judge = |(at, suspect): (usize, &Suspect)| {
            let [alone, loaded] = shifts[at];
            let outcome = outcome(self.metric, suspect.part, [alone, loaded], adjusted[at]);
            Judged { metric: self.metric, suspect: *suspect, alone, loaded, outcome }
        };
        suspects.iter().enumerate().map(judge).collect()
    }

    /// The fresh trials of these parts, of one host where they are several, against those of nobody who is suspect.
    pub fn shift(&self, parts: &[Part], stage: Stage) -> Option<Shift> {
        // What larger parts who stand apart explain is taken out. What healthy hosts seem to have is noise, and stays in.
        let others = || self.screened.suspects.iter().filter(|one| !parts.contains(&one.part));
        let is_larger = |part: Part| parts.iter().all(|own| part.budget() < own.budget());
        let value = |shot: &Shot| {
            let larger = others().filter(|one| is_larger(one.part));
            let explain = larger.filter(|one| one.explains(shot.pair, self.screening));
            let explained: f64 = explain.map(|one| one.effect).sum();
            self.metric.reported(shot.log - self.screened.distance(shot.pair, self.screening) - explained)
        };
        let of_stage = || self.shots.iter().filter(|shot| shot.stage == stage);
        let shows = |part: &Part, pair: HostPair| part.is_shown_by(pair, self.screening);
        // Within a group its hosts may be as slow.
        let is_of = |part: &Part, pair: HostPair| shows(part, pair) || part.holds_both(pair, self.screening);
        let suspects = || self.screened.suspects.iter().map(|one| &one.part).chain(self.others);
        let is_clean = |shot: &&Shot| !suspects().any(|part| is_of(part, shot.pair));
        let is_own = |shot: &&Shot| {
            let mut others = others().filter(|one| !is_larger(one.part));
            parts.iter().any(|part| shows(part, shot.pair)) && !others.any(|one| shows(&one.part, shot.pair))
        };
        let own: Vec<f64> = of_stage().filter(is_own).map(value).collect();
        let clean: Vec<f64> = of_stage().filter(is_clean).map(value).collect();
        let enough = own.len() >= LEAST && clean.len() >= LEAST;
        enough.then(|| rank_sum(&clean, &own, CONFIDENCE)).flatten()
    }
}

/// The probabilities of both stages' tests, corrected within each budget.
fn adjusted(suspects: &[Suspect], shifts: &[[Option<Shift>; 2]]) -> Vec<[f64; 2]> {
    let mut all = vec![[1.0; 2]; suspects.len()];
    let mut by_budget: BTreeMap<Budget, Vec<usize>> = BTreeMap::new();
    for (at, suspect) in suspects.iter().enumerate() {
        by_budget.entry(suspect.part.budget()).or_default().push(at);
    }
    for places in by_budget.values() {
        let of_place = |at: &usize| shifts[*at].map(|shift| shift.map_or(1.0, |shift| shift.p));
        let ps: Vec<f64> = places.iter().flat_map(of_place).collect();
        for (at, pair) in places.iter().zip(holm(&ps).chunks(2)) {
            all[*at] = [pair[0], pair[1]];
        }
    }
    all
}

/// Under load there are many others to compare with, so that decides; alone it is seen whether the fault is its own. Where
/// too few hosts are left for a load, what is alone decides.
fn outcome(metric: CellMetric, part: Part, [alone, loaded]: [Option<Shift>; 2], p: [f64; 2]) -> Outcome {
    let margin = metric.margin(part.budget());
    let is_proved = |shift: Option<Shift>, p: f64| {
        shift.is_some_and(|shift| shift.estimate <= -margin) && p < FALSE_NAMES / BUDGETS
    };
    let is_slow =
        |shift: Option<Shift>| shift.is_some_and(|shift| shift.estimate <= -margin && shift.p < ALSO);
    let is_fast = |shift: Option<Shift>| shift.is_some_and(|shift| shift.estimate > -margin);
    match () {
        () if is_proved(alone, p[0]) && is_slow(loaded.or(alone)) => Outcome::Named(Confirmed::Alone),
        () if is_proved(loaded, p[1]) && is_slow(alone) => Outcome::Named(Confirmed::Alone),
        // Whatever it has under load names nobody.
        () if !metric.is_told_under_load() && is_fast(alone) => Outcome::Cleared,
        () if is_proved(loaded, p[1]) && is_fast(alone) => Outcome::Named(Confirmed::UnderLoad),
        // It stood apart while all sent: without such trials it is not cleared.
        () if is_fast(loaded) && (alone.is_none() || is_fast(alone)) => Outcome::Cleared,
        () => Outcome::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::super::metric::of_share;
    use super::*;
    use crate::plan::HostId;

    const fn pair(from: u16, to: u16) -> HostPair {
        HostPair { from: HostId(from), to: HostId(to) }
    }

    /// What is seen under load only, and not often enough to be proved.
    #[test]
    fn what_is_lost_under_load_only_leaves_no_doubt() {
        let shift = |estimate| Some(Shift { estimate, low: None, high: None, p: 0.1, n: (9, 9) });
        let said =
            |metric, alone| outcome(metric, Part::Link(pair(0, 1)), [shift(alone), shift(-0.1)], [0.1; 2]);
        assert_eq!(said(CellMetric::RetransmitShare, 0.0), Outcome::Cleared);
        assert_eq!(said(CellMetric::RetransmitShare, -0.1), Outcome::Open);
        assert_eq!(said(CellMetric::Throughput, 0.0), Outcome::Open);
    }

    /// Shares are no sums: of what a link has its host's part is taken out on the scale of cells.
    #[test]
    fn a_link_of_a_host_that_loses_has_what_is_left() {
        let suspect = |part, effect| Suspect {
            part,
            effect,
            threshold: CellMetric::RetransmitShare.least(),
            within: false,
        };
        let effect = of_share(0.04) - of_share(0.01);
        let link = Part::Link(pair(0, 1));
        let suspects = vec![suspect(Part::Sends(HostId(0)), effect), suspect(link, effect)];
        let screened = Screened { suspects, ..Screened::default() };
        let shot = |pair, share| Shot { stage: Stage::Alone, pair, log: of_share(share) };
        let shots: Vec<Shot> =
            (0..FRESH).flat_map(|_| [shot(pair(0, 1), 0.04), shot(pair(2, 3), 0.01)]).collect();
        let metric = CellMetric::RetransmitShare;
        let screening = Screening::of_rounds(3, 4);
        let docket =
            Docket { metric, screening: &screening, screened: &screened, others: &[], shots: &shots };
        let shift = docket.shift(&[link], Stage::Alone).unwrap();
        assert!(shift.estimate.abs() < 1e-9, "{shift:?}");
    }
}
