//! Visits that are planned as the recording grows.

use super::entries::Entry;
use crate::plan::{Step, Why};
use crate::record::Recording;
use std::borrow::Cow;

/// How often further visits are planned of which all have failed.
const MOST_PLANS: usize = 100;

/// One step that is to be: an entry, and what for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Visit {
    pub pass: u32,
    pub why: Why,
    pub entry: Entry,
    /// Which round of the discarded pass, where it belongs to that.
    pub probe: Option<usize>,
}

/// A schedule that plans some visits at a time.
pub(super) trait Planner {
    /// Every visit so far.
    fn visits(&mut self) -> &mut Vec<Visit>;
    /// Those that follow, with all of them on record; none when the run is complete.
    fn further(&mut self, recording: &Recording) -> Vec<Visit>;
    /// The step of a visit.
    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step;
}

/// The next step. What is planned depends on the recording as it was when the visits before were all on
/// record, so that a run that was cut goes on as it would have.
pub(super) fn next(planner: &mut impl Planner, recording: &Recording) -> Option<Step> {
    let number = recording.steps.len();
    loop {
        leave_out_lost(planner.visits(), recording);
        let planned = planner.visits().len();
        if let Some(visit) = planner.visits().get(number).cloned() {
            return Some(planner.step(number, &visit, recording));
        }
        // What failed before the first of the further visits, and what failed at it, look the same on record: they are
        // planned without it first, and with it where nothing is left of them.
        let mut known = earlier(recording, planned, 0);
        for _ in 0..MOST_PLANS {
            let further = planner.further(known.as_ref());
            let is_over = further.is_empty();
            planner.visits().extend(further);
            leave_out_lost(planner.visits(), recording);
            if is_over || planner.visits().len() > planned {
                break;
            }
            known = earlier(recording, planned, 1);
        }
        if planner.visits().len() == planned {
            return None;
        }
    }
}

/// The recording as it was after so many steps, with what failed by then; without a copy where that is all of it.
fn earlier(recording: &Recording, steps: usize, also: u32) -> Cow<'_, Recording> {
    let is_known = |after: u32| (after as usize) < steps + also as usize;
    let is_whole = recording.steps.len() == steps
        && recording.unavailable.iter().filter_map(|not| not.after_steps).all(is_known);
    if is_whole {
        return Cow::Borrowed(recording);
    }
    let mut earlier = recording.until(steps);
    earlier.unavailable.clone_from(&recording.unavailable);
    earlier.unavailable.retain(|not| not.after_steps.is_none_or(is_known));
    Cow::Owned(earlier)
}

/// What failed is not visited again: those that were planned after it are left out, in the order of the failures.
fn leave_out_lost(visits: &mut Vec<Visit>, recording: &Recording) {
    for not in &recording.unavailable {
        let Some(after) = not.after_steps else { continue };
        let mut planned = 0..;
        visits.retain_mut(|visit| planned.next() < Some(after) || visit.entry.leave_out(not));
    }
}
