//! What failed on the way: what of it is still not measured, and from which size on nothing passes.

use crate::plan::Case;
use crate::record::{NotMeasured, Recording};
use crate::vocabulary::{Pattern, ReasonKind};

/// What is not measured, each case once: known before, or failed and not measured since. Of a case of which other sizes
/// were measured it has the sizes that were tried in vain.
pub fn not_measured(recording: &Recording) -> Vec<NotMeasured> {
    let mut all: Vec<NotMeasured> = Vec::new();
    for not in &recording.unavailable {
        let Some(case) = &not.case else {
            all.push(not.clone());
            continue;
        };
        let sizes = || measured_sizes(recording, case);
        if (not.message_bytes.is_empty() && sizes().next().is_some())
            || not.message_bytes.iter().any(|failed| sizes().any(|size| size >= *failed))
        {
            continue;
        }
        match all.iter_mut().find(|other| other.case == not.case) {
            Some(earlier) => *earlier = together(earlier, not),
            None => all.push(not.clone()),
        }
    }
    // A long stream is one stream more of its case.
    let of_case =
        |not: &NotMeasured| not.case.as_deref().map(|case| Case { timeline: false, ..case.clone() });
    let short: Vec<Case> = all.iter().filter_map(|not| not.case.as_deref().cloned()).collect();
    all.retain(|not| {
        let is_long = not.case.as_ref().is_some_and(|case| case.timeline);
        !is_long || !of_case(not).is_some_and(|case| short.contains(&case))
    });
    for not in all.iter_mut().filter(|not| not.case.is_some()) {
        let is_whole = not.case.as_ref().is_some_and(|case| measured_sizes(recording, case).next().is_none());
        if is_whole {
            not.message_bytes.clear();
        }
    }
    all
}

/// Of two failures of a case the later one, with the sizes of both.
fn together(earlier: &NotMeasured, later: &NotMeasured) -> NotMeasured {
    let mut sizes = [&earlier.message_bytes[..], &later.message_bytes].concat();
    sizes.sort_unstable();
    sizes.dedup();
    NotMeasured { message_bytes: sizes, ..later.clone() }
}

/// Whether something was not measured that could have been.
pub fn has_failed(recording: &Recording) -> bool {
    not_measured(recording).iter().any(|not| not.reason.kind == ReasonKind::Failed)
}

/// The sizes at which a case has trials that count.
fn measured_sizes<'r>(recording: &'r Recording, case: &'r Case) -> impl Iterator<Item = u64> + 'r {
    let counts =
        |trial: &&crate::record::Trial| trial.pass > 0 && trial.why.counts() && trial.case.is_of(case);
    recording.trials.iter().filter(counts).map(|trial| trial.block.message_bytes)
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
        let trials = recording.trials.iter().filter(|trial| trial.case.is_of(case));
        let passes = trials.map(|trial| trial.block.message_bytes).max();
        if let (Some(passes), Some(fails)) = (passes, fails)
            && passes < fails
        {
            all.push(Vanishing { case: case.clone(), passes, fails });
        }
    }
    all
}
