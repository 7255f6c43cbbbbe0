//! Which conclusions are worth the time that is left: those that cannot be told yet, and could be within it.
//!
//! What it would take is predicted from the interval as it is. A conclusion whose limit would still lie within it
//! when all the time is spent is not chased.

use super::entries::Entry;
use super::extra::Round;
use super::scene::Scene;
use crate::analysis::{ClaimOutcome, conclusions, is_at};
use crate::plan::{Claim, Levels, Plan, Suite};
use crate::statistic::{LOOKS, next_look};

/// A conclusion that can be decided.
struct Decidable {
    /// What one pass visits for it, in turns.
    entries: Vec<Entry>,
    /// Passes to the next look.
    to_look: u32,
    /// What it takes until it is decided, as it is predicted.
    cost_ns: u64,
}

/// What to visit until the next look: the cheapest conclusions first, as many as the time decides; nothing where it
/// decides none.
pub(super) fn round(scene: &Scene) -> Round {
    let outcomes = conclusions(scene.recording);
    let decidable =
        outcomes.iter().filter_map(|(suite, outcome)| decidable(scene.plan, suite, outcome, scene.entries));
    let mut all: Vec<Decidable> = decidable.filter(|one| one.cost_ns <= scene.left_ns).collect();
    all.sort_by_key(|one| one.cost_ns);
    let Some(passes) = all.first().map(|first| first.to_look) else { return Round::default() };
    let mut left_ns = scene.left_ns;
    let mut chosen: Vec<Vec<Entry>> = Vec::new();
    // Each is looked at after its own number of passes.
    for one in all.into_iter().filter(|one| one.to_look == passes) {
        if one.cost_ns <= left_ns && !chosen.contains(&one.entries) {
            left_ns -= one.cost_ns;
            chosen.push(one.entries);
        }
    }
    Round { entries: chosen.concat(), passes }
}

/// The same entries, those next to each other that a conclusion compares: what drifts within a pass is the same for both.
pub(super) fn together(plan: &Plan, entries: Vec<Entry>) -> Vec<Entry> {
    let suites = plan.view.suites().iter();
    let claims = suites.flat_map(|suite| suite.claims.iter().map(move |claim| (suite, claim)));
    let compared: Vec<Vec<usize>> = claims
        .map(|(suite, claim)| {
            let has_part =
                |entry: &Entry| parts(claim).any(|levels| !sizes_at(plan, suite, levels, entry).is_empty());
            (0..entries.len()).filter(|at| has_part(&entries[*at])).collect()
        })
        .collect();
    let mut order: Vec<usize> = Vec::with_capacity(entries.len());
    for at in 0..entries.len() {
        let with_it = compared.iter().filter(|all| all.contains(&at)).flatten();
        for next in std::iter::once(&at).chain(with_it) {
            if !order.contains(next) {
                order.push(*next);
            }
        }
    }
    order.into_iter().map(|at| entries[at].clone()).collect()
}

/// None of what is decided, and of what no number of looks would decide.
fn decidable(plan: &Plan, suite: &Suite, outcome: &ClaimOutcome, entries: &[Entry]) -> Option<Decidable> {
    let (needed, n) = (outcome.needs()?, outcome.value?.n);
    let enough = LOOKS.iter().copied().find(|look| *look >= needed)?;
    let entries = in_turns(plan, suite, outcome, entries)?;
    let pass_ns: u64 = entries.iter().map(|entry| entry.nominal_ns).sum();
    let cost_ns = pass_ns * u64::from(enough.saturating_sub(n));
    Some(Decidable { entries, to_look: next_look(n)? - n, cost_ns })
}

/// Everything that a conclusion is of, there and back, so that what drifts meanwhile favours no side. Connections that
/// warm up first do so once a pass.
fn in_turns(plan: &Plan, suite: &Suite, outcome: &ClaimOutcome, entries: &[Entry]) -> Option<Vec<Entry>> {
    let parts: Option<Vec<Vec<Entry>>> = parts(&outcome.claim)
        .map(|levels| {
            let of_part = at(plan, suite, levels, entries);
            (!of_part.is_empty()).then_some(of_part)
        })
        .collect();
    let there = parts?.concat();
    let is_quick = there.iter().all(|entry| entry.warm_up_ns == 0);
    let back: Vec<Entry> = there.iter().rev().filter(|_| is_quick).cloned().collect();
    Some([there, back].concat())
}

/// The entries at these levels, each with the sizes that are.
fn at(plan: &Plan, suite: &Suite, levels: &Levels, entries: &[Entry]) -> Vec<Entry> {
    let of_entry = |entry: &Entry| {
        let sizes = sizes_at(plan, suite, levels, entry);
        (!sizes.is_empty()).then(|| entry.with_sizes(sizes))
    };
    entries.iter().filter_map(of_entry).collect()
}

fn sizes_at(plan: &Plan, suite: &Suite, levels: &Levels, entry: &Entry) -> Vec<u64> {
    let sizes = entry.sizes.iter().copied();
    sizes.filter(|size| is_at((plan, suite), levels, &entry.case, *size)).collect()
}

/// What a conclusion is taken of.
fn parts(claim: &Claim) -> impl Iterator<Item = &Levels> {
    std::iter::once(&claim.of).chain(&claim.over).chain(&claim.minus)
}
