//! Visits that are planned as the recording grows.

use super::entries::Entry;
use super::failure;
use crate::plan::{Step, Why};
use crate::record::{NotMeasured, Recording};
use std::borrow::Cow;

/// How often further visits are planned of which all have failed, and batches of a run that is gone on with.
const MOST_PLANS: usize = 10_000;

/// One step that is to be: an entry, and what for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Visit {
    pub pass: u32,
    pub why: Why,
    pub entry: Entry,
    /// Which round of the discarded pass, where it belongs to that.
    pub probe: Option<usize>,
    /// Whether it is made although the same failed for good before: the path may be back.
    pub again: bool,
}

/// Every visit so far, without what failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Visits {
    all: Vec<Visit>,
    /// So many of the recording's failures have been taken in.
    failures: usize,
    /// Whether what fell with a process is left out of its round only: of many hosts the runner sees to those that fall often.
    forgives: bool,
}

impl Visits {
    /// Those in which a process that is lost costs the round that it fell into.
    pub fn forgiving() -> Visits {
        Visits { forgives: true, ..Visits::default() }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Visit> {
        self.all.iter()
    }

    pub fn last(&self) -> Option<&Visit> {
        self.all.last()
    }

    /// Takes in the failures up to the last visit that is planned, each once and in their order. What failed is left out
    /// of the round that it fell into, and what failed for good of all that follows.
    fn take_in(&mut self, recording: &Recording, gives_up_ns: Option<u64>) {
        while let Some(failed) = recording.unavailable.get(self.failures) {
            let after = failed.after_steps.map(|after| after as usize);
            if after >= Some(self.all.len()) {
                return;
            }
            if let Some(after) = after {
                let mut failed = Cow::Borrowed(failed);
                if recording.fails_throughout(self.failures) {
                    failed.to_mut().message_bytes = self.above_smallest(after, &failed);
                }
                self.leave_out(after, recording.is_for_good(self.failures), &failed);
                if gives_up_ns.is_some_and(|most_ns| failure::is_late(&failed, recording, most_ns)) {
                    let mut planned = 0..;
                    self.all.retain(|visit| {
                        planned.next() < Some(after)
                            || !failure::may_fail_likewise(&visit.entry.case, &failed)
                    });
                }
            }
            self.failures += 1;
        }
    }

    /// Adds visits, without what failed for good before.
    fn add(&mut self, further: Vec<Visit>, recording: &Recording) {
        let is_forgiven = |nth: &usize| self.forgives && recording.unavailable[*nth].process;
        let for_good = (0..self.failures).filter(|nth| recording.is_for_good(*nth) && !is_forgiven(nth));
        let for_good: Vec<&NotMeasured> = for_good.map(|nth| &recording.unavailable[nth]).collect();
        let is_left =
            |visit: &mut Visit| visit.again || for_good.iter().all(|failed| visit.entry.leave_out(failed));
        self.all.extend(further.into_iter().filter_map(|mut visit| is_left(&mut visit).then_some(visit)));
    }

    fn leave_out(&mut self, after: usize, is_for_good: bool, failed: &NotMeasured) {
        let round = |visit: &Visit| (visit.pass, visit.probe, visit.why);
        let failed_in = self.all.get(after).map(round);
        let mut planned = 0..;
        let is_of_all = is_for_good && !(self.forgives && failed.process);
        self.all.retain_mut(|visit| {
            let follows = planned.next() >= Some(after) && (is_of_all || Some(round(visit)) == failed_in);
            // Of disjoint pairs that fell together twice it may be anybody's fault; a host that is lost takes its own pairs only.
            let is_of_sizes = !failed.message_bytes.is_empty();
            let is_it = || {
                is_for_good
                    && failed.lost_host().is_none()
                    && !is_of_sizes
                    && failed.concerns(&visit.entry.case)
            };
            !follows || !is_it() && visit.entry.leave_out(failed)
        });
    }

    /// All sizes but the smallest that is still to be visited: where nothing has passed, that one is asked next.
    fn above_smallest(&self, after: usize, failed: &NotMeasured) -> Vec<u64> {
        let ahead = self.all.iter().skip(after).filter(|visit| failed.concerns(&visit.entry.case));
        let smallest = ahead.flat_map(|visit| visit.entry.sizes.iter().copied()).min();
        let failed_with = failed.message_bytes.iter().copied().min();
        smallest.zip(failed_with).map(|(smallest, failed)| failed.min(smallest + 1)).into_iter().collect()
    }
}

/// A schedule that plans some visits at a time.
pub(super) trait Planner {
    /// Every visit so far.
    fn visits(&mut self) -> &mut Visits;
    /// What is predicted of the run, where failures that come long after it have what may fail likewise left out.
    fn gives_up_ns(&self) -> Option<u64> {
        None
    }
    /// Those that follow, with all of them on record; none when the run is complete.
    fn further(&mut self, recording: &Recording) -> Vec<Visit>;
    /// The step of a visit.
    fn step(&self, number: usize, visit: &Visit, recording: &Recording) -> Step;
}

/// The next step. What is planned depends on the recording as it was when the visits before were all on
/// record, so that a run that was cut goes on as it would have.
pub(super) fn next(planner: &mut impl Planner, recording: &Recording) -> Option<Step> {
    let number = recording.steps.len();
    for _ in 0..MOST_PLANS {
        let gives_up_ns = planner.gives_up_ns();
        planner.visits().take_in(recording, gives_up_ns);
        if let Some(visit) = planner.visits().all.get(number).cloned() {
            return Some(planner.step(number, &visit, recording));
        }
        let Visits { all, failures, .. } = planner.visits();
        let known = earlier(recording, all.len(), *failures);
        let further = planner.further(known.as_ref());
        if further.is_empty() {
            return None;
        }
        planner.visits().add(further, recording);
    }
    None
}

/// The recording as it was after so many steps, with so many failures; without a copy where that is all of it.
fn earlier(recording: &Recording, steps: usize, failures: usize) -> Cow<'_, Recording> {
    if (recording.steps.len(), recording.unavailable.len()) == (steps, failures) {
        return Cow::Borrowed(recording);
    }
    let mut earlier = recording.until(steps);
    earlier.unavailable = recording.unavailable[..failures].to_vec();
    Cow::Owned(earlier)
}
