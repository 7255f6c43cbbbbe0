//! Going on with the recording of an earlier run: what of it stands, and whether this schedule is the one that made it.

use super::{Passes, Schedule};
use crate::plan::Plan;
use crate::record::Recording;
use std::collections::BTreeSet;

/// What a later run goes on from.
#[derive(Debug, Clone, PartialEq)]
pub struct Resumable {
    /// The earlier run, as far as its passes are whole.
    pub recording: Recording,
    /// The pass that it was cut in, which is measured again: both sides of a ratio are of one moment.
    pub dropped: Option<u32>,
}

/// Why there is no going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoGoingOn {
    /// Not one pass is whole.
    NoWholePass,
    /// From this step on this schedule would have done something else.
    OtherSteps(u32),
    /// Not one step is whole.
    NoStep,
    /// Nothing is left to measure.
    Complete,
}

/// Chooses the schedule of a plan by what is on record.
pub type Choose<'c> = &'c dyn Fn(&Plan, &Recording) -> Box<dyn Schedule>;

/// How many steps on record are held against what this schedule would have done there.
const LOOKS: usize = 8;

/// What stands of a run that was cut, for one that goes on at the very step: all of its whole steps, also those of the pass
/// that it was cut in. Of a plan that compares, blocks that it was cut in are completed.
pub fn continued(plan: &Plan, recording: &Recording, choose: Choose<'_>) -> Result<Recording, NoGoingOn> {
    // Of a step that was under way some trials may be on record. What ended the run is tried again.
    let whole = Recording { end: None, ..recording.until(recording.steps.len()) };
    let Some(last) = whole.steps.len().checked_sub(1) else { return Err(NoGoingOn::NoStep) };
    let looks: BTreeSet<usize> = (0..=LOOKS).map(|look| look * last / LOOKS).collect();
    for at in looks {
        let (before, step) = (whole.until(at), &whole.steps[at]);
        let planned = choose(plan, &before).next(&before);
        let is_same = planned.is_some_and(|planned| {
            (planned.pass, planned.why, &planned.case) == (step.pass, step.why, &step.case)
        });
        if !is_same {
            return Err(NoGoingOn::OtherSteps(step.step));
        }
    }
    let next = choose(plan, &whole).next(&whole);
    next.map(|_| whole).ok_or(NoGoingOn::Complete)
}

/// What of an earlier run of this plan stands.
pub fn resumable(plan: &Plan, recording: &Recording) -> Result<Resumable, NoGoingOn> {
    // Of a step that was under way some trials may be on record.
    let whole = recording.until(recording.steps.len());
    let Some(last) = whole.steps.last() else { return Err(NoGoingOn::NoWholePass) };
    let mut schedule = Passes::new(plan, &whole);
    let next = schedule.next(&whole);
    if let Some(step) = schedule.differs_from(&whole) {
        return Err(NoGoingOn::OtherSteps(step));
    }
    let is_cut = next.is_some_and(|next| next.pass == last.pass);
    let dropped = is_cut.then_some(last.pass);
    let stands = match whole.steps.iter().position(|step| Some(step.pass) == dropped) {
        Some(0) => return Err(NoGoingOn::NoWholePass),
        Some(steps) => whole.until(steps),
        None => whole,
    };
    let sessions =
        stands.sessions.iter().filter(|one| dropped.is_none_or(|pass| one.pass < pass)).cloned().collect();
    let additions = stands
        .additions
        .iter()
        .filter(|one| one.after_steps as usize <= stands.steps.len())
        .cloned()
        .collect();
    let stands = Recording { sessions, additions, end: None, ..stands };
    match stands.trials.iter().any(|trial| trial.pass > 0) {
        true => Ok(Resumable { recording: stands, dropped }),
        false => Err(NoGoingOn::NoWholePass),
    }
}
