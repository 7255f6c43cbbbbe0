//! What failed on the way: what of it is still not measured, and from which size on nothing passes.

use super::lost_share;
use super::search::unfinished_bps;
use crate::plan::Case;
use crate::record::{NotMeasured, Reason, Recording, Trial};
use crate::unit::BitRate;
use crate::vocabulary::{Pattern, ReasonKind};
use std::collections::BTreeMap;

/// What is not measured, each case once: known before, or failed and not measured since. Of a case of which other sizes
/// were measured it has the sizes that were tried in vain.
pub fn not_measured(recording: &Recording) -> Vec<NotMeasured> {
    let mut all: Vec<NotMeasured> = Vec::new();
    for not in &recording.unavailable {
        let Some(case) = &not.case else {
            all.push(not.clone());
            continue;
        };
        if not.session {
            let whole = NotMeasured { case: None, pattern: None, wait: None, ..not.clone() };
            let is_measured =
                recording.trials.iter().any(|trial| trial.pass > 0 && not.concerns(&trial.case));
            let is_same = |other: &NotMeasured| {
                other.session && other.rung == whole.rung && other.between == whole.between
            };
            if !is_measured {
                let reason = all.iter().find(|other| is_same(other)).map(|first| first.reason.clone());
                all.retain(|other| !is_same(other));
                // The first was given more time, so that its word is the surer.
                all.push(NotMeasured { reason: reason.unwrap_or(not.reason.clone()), ..whole });
            }
            continue;
        }
        if is_measured(recording, case, not) {
            continue;
        }
        match all.iter_mut().find(|other| other.case == not.case) {
            Some(earlier) => *earlier = together(earlier, not),
            None => all.push(not.clone()),
        }
    }
    all.extend(of_which_nothing_came(recording));
    all.extend(searches_without_end(recording));
    // A long stream is one stream more of its case.
    let of_case =
        |not: &NotMeasured| not.case.as_deref().map(|case| Case { timeline: false, ..case.clone() });
    let short: Vec<Case> = all.iter().filter_map(|not| not.case.as_deref().cloned()).collect();
    all.retain(|not| {
        let is_long = not.case.as_ref().is_some_and(|case| case.timeline);
        !is_long || !of_case(not).is_some_and(|case| short.contains(&case))
    });
    for not in all.iter_mut().filter(|not| not.case.is_some()) {
        let is_whole = not.case.as_ref().is_some_and(|case| {
            counting(recording, case).all(|trial| not.message_bytes.contains(&trial.block.message_bytes))
        });
        if is_whole {
            not.message_bytes.clear();
        }
    }
    all
}

/// Cases and sizes of which every datagram of every trial was lost.
fn of_which_nothing_came(recording: &Recording) -> Vec<NotMeasured> {
    let mut came: BTreeMap<(&Case, u64), bool> = BTreeMap::new();
    for trial in recording.trials.iter().filter(|trial| trial.pass > 0 && trial.why.counts()) {
        if let Some(share) = lost_share(trial) {
            *came.entry((&trial.case, trial.block.message_bytes)).or_default() |= share < 1.0;
        }
    }
    let mut cases: BTreeMap<&Case, Vec<u64>> = BTreeMap::new();
    for ((case, size), _) in came.into_iter().filter(|(_, came)| !came) {
        cases.entry(case).or_default().push(size);
    }
    let failed = |(case, message_bytes): (&Case, Vec<u64>)| NotMeasured {
        rung: case.rung.clone(),
        pattern: Some(case.pattern),
        reason: Reason::new(
            ReasonKind::Failed,
            "failed: no datagram arrived",
            "packets above the path's MTU go as fragments, which many firewalls drop: try smaller messages",
        ),
        arm: Some(case.arm),
        case: Some(Box::new(case.clone())),
        message_bytes,
        ..NotMeasured::default()
    };
    cases.into_iter().map(failed).collect()
}

/// Searches for a capacity of which none came to its end.
fn searches_without_end(recording: &Recording) -> Vec<NotMeasured> {
    let mut cases: BTreeMap<&Case, (Vec<f64>, u64)> = BTreeMap::new();
    let searches = |trial: &&Trial| trial.pass > 0 && trial.case.pattern == Pattern::Capacity;
    for trial in recording.trials.iter().filter(searches) {
        let (least, ended) = cases.entry(&trial.case).or_default();
        match unfinished_bps(trial) {
            Some(bps) => least.push(bps),
            None => *ended += 1,
        }
    }
    let without_end = |(case, (least, ended)): (&Case, (Vec<f64>, u64))| {
        let most = least.into_iter().reduce(f64::max).filter(|_| ended == 0)?;
        let why = format!("the search had not come to its end: the capacity is at least {}", BitRate(most));
        Some(NotMeasured {
            rung: case.rung.clone(),
            pattern: Some(case.pattern),
            reason: Reason::new(
                ReasonKind::TooLittle,
                why,
                "search for longer: trial = \"10s\" in the plan's case",
            ),
            arm: Some(case.arm),
            case: Some(Box::new(case.clone())),
            ..NotMeasured::default()
        })
    };
    cases.into_iter().filter_map(without_end).collect()
}

/// Whether what failed was measured all the same: its size at any time, or a larger one since, for which the path is back.
fn is_measured(recording: &Recording, case: &Case, failed: &NotMeasured) -> bool {
    let after = failed.after_steps.unwrap_or(0);
    counting(recording, case).any(|trial| {
        let size = trial.block.message_bytes;
        let is_it = |failed: &u64| size == *failed || size > *failed && trial.step >= after;
        failed.message_bytes.is_empty() || failed.message_bytes.iter().any(is_it)
    })
}

/// Of two failures of a case the later one, with the sizes of both.
fn together(earlier: &NotMeasured, later: &NotMeasured) -> NotMeasured {
    let mut sizes = [&earlier.message_bytes[..], &later.message_bytes].concat();
    sizes.sort_unstable();
    sizes.dedup();
    // The first was given more time, so that its word is the surer.
    NotMeasured { message_bytes: sizes, reason: earlier.reason.clone(), ..later.clone() }
}

/// Whether something was not measured that could have been.
pub fn has_failed(recording: &Recording) -> bool {
    not_measured(recording).iter().any(|not| not.reason.kind == ReasonKind::Failed)
}

/// The trials of a case that count.
fn counting<'r>(recording: &'r Recording, case: &'r Case) -> impl Iterator<Item = &'r Trial> + 'r {
    let counts = |trial: &&Trial| trial.pass > 0 && trial.why.counts() && trial.case.is_of(case);
    recording.trials.iter().filter(counts)
}

/// Where a path begins to swallow what is sent over it.
#[derive(Debug, Clone, PartialEq)]
pub struct Vanishing {
    /// The exchange that shows it.
    pub case: Case,
    /// Messages of this size pass.
    pub passes: u64,
    /// Messages of this size do not.
    pub fails: u64,
}

impl Vanishing {
    /// The size in the middle; none where nothing lies between both.
    pub fn middle(&self) -> Option<u64> {
        (self.fails - self.passes > 1).then(|| self.passes + (self.fails - self.passes) / 2)
    }
}

/// Each exchange of which small messages pass, and larger ones failed for good.
pub fn vanishing(recording: &Recording) -> Vec<Vanishing> {
    let mut all: Vec<Vanishing> = Vec::new();
    for not in recording.failed_for_good() {
        let Some(case) = not.case.as_deref().filter(|case| case.pattern == Pattern::PingPong) else {
            continue;
        };
        if all.iter().any(|known| known.case == *case) {
            continue;
        }
        let failures = recording.unavailable.iter().filter(|not| not.case.as_deref() == Some(case));
        let fails = failures.flat_map(|not| not.message_bytes.iter().copied()).min();
        // What was lost whole has not passed.
        let came = |trial: &&Trial| lost_share(trial).is_none_or(|share| share < 1.0);
        let trials = recording.trials.iter().filter(|trial| trial.case.is_of(case)).filter(came);
        let passes = trials.map(|trial| trial.block.message_bytes).max();
        if let (Some(passes), Some(fails)) = (passes, fails)
            && passes < fails
        {
            all.push(Vanishing { case: case.clone(), passes, fails });
        }
    }
    all
}
