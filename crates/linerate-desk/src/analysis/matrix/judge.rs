//! What fresh trials say of the suspects: named, cleared, or open.
//!
//! A suspect was chosen for being slow, so what chose it is too slow by chance and proves nothing (regression to the mean).
//! It is measured anew, and beside it pairs of hosts that are no suspects, in the same rounds or in turns with it. Both sets are
//! compared by ranks (Mann and Whitney 1947; Hodges and Lehmann 1963). The level is split between groups, hosts and links,
//! and within each corrected by Holm (1979) for the number of tests.

use super::effects::Effects;
use super::shot::{Shot, Stage};
use super::suspect::{Budget, MARGIN_LOG, Part, Suspect};
use crate::plan::{HostId, HostPair, Screening};
use crate::statistic::{CONFIDENCE, Shift, holm, rank_sum};
use std::collections::BTreeMap;

/// How often somebody is named in a run without a fault, at most: a third of it for each kind.
const FALSE_NAMES: f64 = 0.01;
const BUDGETS: f64 = 3.0;

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
    /// Who.
    pub suspect: Suspect,
    /// How far it is from the others with nobody else sending: a logarithm.
    pub alone: Option<Shift>,
    /// The same while all others send.
    pub loaded: Option<Shift>,
    /// What that comes to.
    pub outcome: Outcome,
}

/// The word on each suspect.
pub fn judged(screening: &Screening, effects: &Effects, suspects: &[Suspect], shots: &[Shot]) -> Vec<Judged> {
    let docket = Docket { screening, effects, suspects, shots };
    let shifts: Vec<[Option<Shift>; 2]> = suspects
        .iter()
        .map(|suspect| [Stage::Alone, Stage::Loaded].map(|stage| docket.shift(&[suspect.part], stage)))
        .collect();
    let adjusted = adjusted(suspects, &shifts);
    let judge = |(at, suspect): (usize, &Suspect)| {
        let [alone, loaded] = shifts[at];
        Judged { suspect: *suspect, alone, loaded, outcome: outcome(alone, loaded, adjusted[at]) }
    };
    suspects.iter().enumerate().map(judge).collect()
}

/// How far several parts of one host are from the others.
pub fn together(
    screening: &Screening,
    effects: &Effects,
    suspects: &[Suspect],
    shots: &[Shot],
    (parts, stage): (&[Part], Stage),
) -> Option<Shift> {
    Docket { screening, effects, suspects, shots }.shift(parts, stage)
}

/// What everything is judged by.
struct Docket<'d> {
    screening: &'d Screening,
    effects: &'d Effects,
    suspects: &'d [Suspect],
    shots: &'d [Shot],
}

impl Docket<'_> {
    /// The fresh trials of these parts against those of nobody who is suspect.
    fn shift(&self, parts: &[Part], stage: Stage) -> Option<Shift> {
        let is_link = parts.iter().all(|part| matches!(part, Part::Link(_)));
        // A link is what is left of a cell without its hosts; what hosts do is shown by many partners.
        let value = |shot: &Shot| if is_link { self.effects.rest(shot) } else { shot.log };
        let of_stage = || self.shots.iter().filter(|shot| shot.stage == stage);
        let shows = |part: &Part, pair: HostPair| part.is_shown_by(pair, self.screening);
        let is_clean = |shot: &&Shot| !self.suspects.iter().any(|one| shows(&one.part, shot.pair));
        let others = || self.suspects.iter().filter(|one| !parts.contains(&one.part));
        let is_own = |shot: &&Shot| {
            let own = parts.iter().any(|part| shows(part, shot.pair));
            own && (is_link || !others().any(|one| shows(&one.part, shot.pair)))
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

fn outcome(alone: Option<Shift>, loaded: Option<Shift>, p: [f64; 2]) -> Outcome {
    let is_slow = |shift: Option<Shift>, p: f64| {
        shift.is_some_and(|shift| shift.estimate <= -MARGIN_LOG && p < FALSE_NAMES / BUDGETS)
    };
    let is_fast = |shift: Option<Shift>| shift.is_some_and(|shift| shift.estimate > -MARGIN_LOG);
    match () {
        () if is_slow(alone, p[0]) => Outcome::Named(Confirmed::Alone),
        () if is_slow(loaded, p[1]) && is_fast(alone) => Outcome::Named(Confirmed::UnderLoad),
        () if is_fast(alone) && is_fast(loaded) => Outcome::Cleared,
        () => Outcome::Open,
    }
}

/// The hosts of a part, in the order in which they are told.
pub fn hosts_of(part: Part, screening: &Screening) -> Vec<HostId> {
    match part {
        Part::Sends(host) | Part::Receives(host) => vec![host],
        Part::Link(pair) => vec![pair.from, pair.to],
        Part::GroupSends(group) | Part::GroupReceives(group) => {
            screening.groups.get(group).map_or(Vec::new(), |group| group.hosts.clone())
        }
    }
}
