//! What follows the passes: where breaks are, what stands apart again, and more visits where they help
//! most, as long as the time allows.

use super::again::again;
use super::bisection::{Bisection, bisections};
use super::claims;
use super::entries::Entry;
use super::extra::{self, Round};
use super::scene::Scene;
use crate::plan::Why;
use crate::record::StepRecord;

/// Steps that are looked for at most.
const BISECTIONS: usize = 8;

/// Sizes that are visited again at most, in each attempt.
const AGAIN: usize = 8;

/// Attempts after the first one: an anomaly that shows in two of three is there.
const ATTEMPTS: u32 = 2;

/// What is to be done next.
#[derive(Debug, Clone)]
enum Stage {
    /// Nothing has been looked at.
    Begin,
    /// Steps are bisected, one size a round for each.
    Bisection(Vec<Bisection>),
    /// Sizes that stand apart are visited again; so many attempts were made.
    Again(Vec<Entry>, u32),
    /// What cannot be told and wide intervals get further visits; so many passes of the round are left.
    Extra(Round),
    Done,
}

/// The state of the study: it follows from the recording alone.
#[derive(Debug, Clone)]
pub(super) struct Study {
    stage: Stage,
}

/// What is visited together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batch {
    /// Whether connections are opened anew.
    pub new_pass: bool,
    /// The entries, each with what it is for.
    pub visits: Vec<(Why, Entry)>,
}

impl Study {
    pub fn new() -> Study {
        Study { stage: Stage::Begin }
    }

    /// What is visited next, with all that was asked for before on record; none when nothing is left.
    pub fn next(&mut self, scene: &Scene) -> Option<Batch> {
        loop {
            let now = std::mem::replace(&mut self.stage, Stage::Done);
            let (batch, stage) = match now {
                Stage::Begin => (None, Stage::Bisection(bisections(&scene.curves(), BISECTIONS))),
                Stage::Bisection(bisections) => bisection(bisections, scene),
                Stage::Again(wanted, attempt) => rerun(wanted, attempt, scene),
                Stage::Extra(round) => extra(round, scene),
                Stage::Done => return None,
            };
            self.stage = stage;
            if batch.is_some() {
                return batch;
            }
        }
    }
}

fn cost(entries: &[Entry]) -> u64 {
    entries.iter().map(|entry| entry.nominal_ns).sum()
}

/// The last round is taken in, and the next size of every step asked for. A quarter of the time is kept.
fn bisection(mut bisections: Vec<Bisection>, scene: &Scene) -> (Option<Batch>, Stage) {
    bisections.iter_mut().for_each(|bisection| bisection.narrow(scene.recording));
    let is_look = |step: &&StepRecord| matches!(step.why, Why::Bisect | Why::Pairs);
    let looked: u64 = scene.recording.steps.iter().filter(is_look).map(|step| step.duration_ns).sum();
    let mut left = (scene.left_ns * 3 / 4).max(scene.reserve_ns.saturating_sub(looked));
    let mut affordable = |(_, entry): &(Why, Entry)| {
        let fits = entry.nominal_ns <= left;
        left -= if fits { entry.nominal_ns } else { 0 };
        fits
    };
    let next = bisections.iter_mut().filter_map(|bisection| bisection.next(scene.entries));
    let visits: Vec<(Why, Entry)> = next.filter(&mut affordable).collect();
    if visits.is_empty() {
        return (None, Stage::Again(again(&scene.curves(), scene.entries, AGAIN), 0));
    }
    let begun = scene.recording.steps.last().is_some_and(|step| is_look(&step));
    (Some(Batch { new_pass: !begun, visits }), Stage::Bisection(bisections))
}

fn rerun(wanted: Vec<Entry>, attempt: u32, scene: &Scene) -> (Option<Batch>, Stage) {
    if wanted.is_empty() || attempt == ATTEMPTS || cost(&wanted) > scene.left_ns {
        return (None, Stage::Extra(Round::default()));
    }
    let visits = wanted.iter().map(|entry| (Why::Rerun, entry.clone())).collect();
    (Some(Batch { new_pass: true, visits }), Stage::Again(wanted, attempt + 1))
}

fn extra(round: Round, scene: &Scene) -> (Option<Batch>, Stage) {
    let Round { entries, passes } = if round.passes > 0 { round } else { next_round(scene) };
    if entries.is_empty() || passes == 0 || cost(&entries) > scene.left_ns {
        return (None, Stage::Done);
    }
    let visits = entries.iter().map(|entry| (Why::Extra, entry.clone())).collect();
    // The next pass goes the other way round, so that being first favours nobody.
    let entries = entries.into_iter().rev().collect();
    (Some(Batch { new_pass: true, visits }), Stage::Extra(Round { entries, passes: passes - 1 }))
}

/// What cannot be told first, then what is known least.
fn next_round(scene: &Scene) -> Round {
    let of_claims = claims::round(scene);
    if of_claims.passes > 0 { of_claims } else { extra::round(scene, &scene.curves()) }
}
