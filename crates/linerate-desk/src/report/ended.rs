//! What ended a run: its last step, its time, or something from outside.

use super::note::Note;
use super::shape::{EndedBy, EndedEntry, Report};
use crate::plan::{View, Why};
use crate::record::{Addition, Recording, StepRecord};
use crate::unit::{Nanoseconds, counted, significant};
use crate::vocabulary::Weight;
use std::collections::BTreeSet;

/// Steps that take so much longer than was predicted are told of.
const SLOWER: f64 = 1.1;

/// How a run in passes ended; none of another kind of run, and of one that has not begun.
pub(super) fn ended(recording: &Recording) -> Option<EndedEntry> {
    let plan = recording.plan().filter(|plan| is_in_passes(&plan.view))?;
    let passes = passes_in(&recording.steps);
    let asked = recording.additions.iter().map(|one| match (one.passes, one.budget_ns) {
        (Some(passes), _) => Some(passes),
        (None, Some(_)) => None,
        (None, None) => Some(if is_whole_before(recording, one) { plan.profile.passes } else { 0 }),
    });
    // Of a time nobody knows how many passes it has room for.
    let asked = asked.reduce(|all, one| Some(all?.saturating_add(one?))).unwrap_or(Some(0));
    let of_passes = || recording.steps.iter().filter(|step| step.why == Why::Pass);
    let sum = |of: fn(&StepRecord) -> u64| of_passes().map(|step| of(step) as f64).sum::<f64>();
    let is_counted = plan.profile.budget_ns == 0 && plan.budget_ns.is_none();
    let by = match recording.end.as_ref().map(|end| end.reason.as_str()) {
        Some("completed") if is_counted => EndedBy::Passes,
        Some("completed") => EndedBy::Time,
        Some("interrupted") => EndedBy::Interrupted,
        Some(_) => EndedBy::Failed,
        None => EndedBy::CutOff,
    };
    (passes > 0).then(|| EndedEntry {
        passes,
        of: asked.map_or(passes, |asked| plan.profile.passes.saturating_add(asked)),
        by,
        spent_ns: recording.spent_ns(),
        slower: sum(|step| step.duration_ns) / sum(|step| step.predicted_ns).max(1.0),
    })
}

/// Whether a view is measured in passes.
fn is_in_passes(view: &View) -> bool {
    !matches!(view, View::Comparison { .. } | View::Matrix { .. })
}

/// How many passes of the plan have begun.
fn passes_in(steps: &[StepRecord]) -> u32 {
    let of_passes = steps.iter().filter(|step| step.why == Why::Pass && step.pass > 0);
    of_passes.map(|step| step.pass).collect::<BTreeSet<u32>>().len() as u32
}

/// Whether every pass of the plan was on record when a later run went on.
fn is_whole_before(recording: &Recording, addition: &Addition) -> bool {
    let before = recording.steps.get(..addition.after_steps as usize).unwrap_or(&recording.steps);
    recording.plan().is_some_and(|plan| passes_in(before) >= plan.profile.passes)
}

/// `6 of 10 passes`; none where all were made.
pub(super) fn passes(report: &Report) -> Option<String> {
    let ended = report.run.ended.as_ref()?;
    (ended.passes < ended.of).then(|| made(ended))
}

fn made(ended: &EndedEntry) -> String {
    format!("{} of {}", ended.passes, counted(ended.of as usize, "pass"))
}

/// Which limit ended a run that made fewer passes than it was to, or whose intervals stayed wide.
pub(super) fn note(report: &Report) -> Option<Note> {
    let ended = report.run.ended.as_ref()?;
    let is_short = ended.passes < ended.of;
    let is_told = is_short || (ended.by == EndedBy::Time && is_wide(report));
    if !is_told {
        return None;
    }
    let (made, spent) = (made(ended), Nanoseconds(ended.spent_ns as f64));
    let late = match ended.slower > SLOWER {
        true => format!(": steps took {} times as long as was predicted", significant(ended.slower, 2)),
        false => String::new(),
    };
    let text = match (ended.by, is_short) {
        (EndedBy::Time | EndedBy::Passes, true) => format!("the time was over after {made}, {spent}{late}"),
        (EndedBy::Time | EndedBy::Passes, false) => {
            format!("the time was over before the intervals were narrow, after {spent}{late}")
        }
        (EndedBy::Interrupted, _) => format!("the run was interrupted after {made}"),
        (EndedBy::Failed, _) => format!("the run failed after {made}"),
        (EndedBy::CutOff, _) => format!("the recording ends within the run, after {made}"),
    };
    let more = "The same command with --onto RECORDING adds to it; --budget gives it another time";
    Some(Note::new("ended", format!("{text}. {more}."), Weight::Unsure))
}

fn is_wide(report: &Report) -> bool {
    let of_layers = report.ladder.iter().flat_map(|entry| &entry.warnings);
    let of_suites = report.suites.iter().flat_map(|suite| &suite.warnings).map(|one| &one.warning);
    of_layers.chain(of_suites).any(|warning| warning.code == "interval-wide")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::synthetic::Synthetic;

    fn ended_with(edit: impl Fn(&mut Recording)) -> (Option<String>, Option<String>) {
        let mut recording = Synthetic { passes: 10, ..Synthetic::default() }.recording();
        edit(&mut recording);
        let report = Report::from_recording(&recording);
        (passes(&report), note(&report).map(|note| note.text))
    }

    /// The last passes are cut, and each step takes so many times what was predicted.
    fn late(recording: &mut Recording, times: u64) {
        recording.steps.retain(|step| step.pass <= 6);
        recording.trials.retain(|trial| trial.pass <= 6);
        let mut at_ns = 0;
        for step in &mut recording.steps {
            (step.at_ns, step.duration_ns, step.predicted_ns) = (at_ns, times * 400_000_000, 400_000_000);
            at_ns += step.duration_ns;
        }
    }

    #[test]
    fn a_run_says_which_limit_ended_it() {
        let (heading, text) = ended_with(|recording| late(recording, 3));
        assert_eq!(heading.as_deref(), Some("6 of 10 passes"));
        let text = text.unwrap();
        assert!(
            text.contains("was over after 6 of 10 passes, ") && text.contains(": steps took 3.0 times"),
            "{text}"
        );
        let (_, cut) = ended_with(|recording| {
            late(recording, 1);
            recording.end = None;
        });
        assert!(cut.unwrap().contains("the recording ends within the run, after 6 of 10 passes"));
        let (heading, _) = ended_with(|_| ());
        assert_eq!(heading, None, "all passes were made");
    }
}
