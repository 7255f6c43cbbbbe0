//! What fresh trials say of the suspects: named, cleared, or open.
//!
//! A suspect was chosen for being slow, so what chose it is too slow by chance and proves nothing (regression to the mean).
//! It is measured anew, and beside it pairs of hosts that are no suspects, in the same rounds or in turns with it. Both sets are
//! compared by ranks (Mann and Whitney 1947; Hodges and Lehmann 1963). The level is split between groups, hosts and links,
//! and within each corrected by Holm (1979) for the number of tests.

use super::shot::{Shot, Stage};
use super::suspect::{Budget, Part, Suspect};
use crate::plan::{HostId, HostPair, Screening};
use crate::statistic::{CONFIDENCE, Shift, holm, rank_sum};
use std::collections::BTreeMap;

/// How often somebody is named in a run without a fault, at most: a third of it for each kind.
const FALSE_NAMES: f64 = 0.01;
const BUDGETS: f64 = 3.0;

/// Who is named by the trials under load is slow by itself where those alone say so with this probability of chance: then the
/// interval that is told does not reach the others.
const ALSO: f64 = 1.0 - CONFIDENCE;

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
pub fn judged(screening: &Screening, suspects: &[Suspect], shots: &[Shot]) -> Vec<Judged> {
    let docket = Docket { screening, suspects, shots };
    let shifts: Vec<[Option<Shift>; 2]> = suspects
        .iter()
        .map(|suspect| [Stage::Alone, Stage::Loaded].map(|stage| docket.shift(&[suspect.part], stage)))
        .collect();
    let adjusted = adjusted(suspects, &shifts);
    let judge = |(at, suspect): (usize, &Suspect)| {
        let [alone, loaded] = shifts[at];
        let outcome = outcome(suspect.part, alone, loaded, adjusted[at]);
        Judged { suspect: *suspect, alone, loaded, outcome }
    };
    suspects.iter().enumerate().map(judge).collect()
}

/// How far several parts of one host are from the others.
pub fn together(
    screening: &Screening,
    suspects: &[Suspect],
    shots: &[Shot],
    (parts, stage): (&[Part], Stage),
) -> Option<Shift> {
    Docket { screening, suspects, shots }.shift(parts, stage)
}

/// What everything is judged by.
struct Docket<'d> {
    screening: &'d Screening,
    suspects: &'d [Suspect],
    shots: &'d [Shot],
}

impl Docket<'_> {
    /// The fresh trials of these parts against those of nobody who is suspect.
    fn shift(&self, parts: &[Part], stage: Stage) -> Option<Shift> {
        // What larger parts who stand apart explain is taken out. What healthy hosts seem to have is noise, and stays in.
        let others = || self.suspects.iter().filter(|one| !parts.contains(&one.part));
        let is_larger = |part: Part| parts.iter().all(|own| part.budget() < own.budget());
        let value = |shot: &Shot| {
            let larger = others().filter(|one| is_larger(one.part));
            let explain = larger.filter(|one| one.explains(shot.pair, self.screening));
            shot.log - explain.map(|one| one.effect).sum::<f64>()
        };
        let of_stage = || self.shots.iter().filter(|shot| shot.stage == stage);
        let shows = |part: &Part, pair: HostPair| part.is_shown_by(pair, self.screening);
        // Within a group its hosts may be as slow.
        let is_of = |part: &Part, pair: HostPair| shows(part, pair) || part.holds_both(pair, self.screening);
        let is_clean = |shot: &&Shot| !self.suspects.iter().any(|one| is_of(&one.part, shot.pair));
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
fn outcome(part: Part, alone: Option<Shift>, loaded: Option<Shift>, p: [f64; 2]) -> Outcome {
    let margin = part.margin_log();
    let is_proved = |shift: Option<Shift>, p: f64| {
        shift.is_some_and(|shift| shift.estimate <= -margin) && p < FALSE_NAMES / BUDGETS
    };
    let is_slow =
        |shift: Option<Shift>| shift.is_some_and(|shift| shift.estimate <= -margin && shift.p < ALSO);
    let is_fast = |shift: Option<Shift>| shift.is_some_and(|shift| shift.estimate > -margin);
    match () {
        () if is_proved(alone, p[0]) && is_slow(loaded.or(alone)) => Outcome::Named(Confirmed::Alone),
        () if is_proved(loaded, p[1]) && is_slow(alone) => Outcome::Named(Confirmed::Alone),
        () if is_proved(loaded, p[1]) && is_fast(alone) => Outcome::Named(Confirmed::UnderLoad),
        // It stood apart while all sent: without such trials it is not cleared.
        () if is_fast(loaded) && (alone.is_none() || is_fast(alone)) => Outcome::Cleared,
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
