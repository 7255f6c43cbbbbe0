//! What ended a run: its last step, its time, or something from outside.

use super::note::Note;
use super::shape::{EndedBy, EndedEntry, Report};
use crate::plan::{View, Why};
use crate::record::{Addition, Recording, StepRecord};
use crate::schedule::{Passes, Schedule};
use crate::unit::{Nanoseconds, counted, significant};
use crate::vocabulary::Weight;
use std::collections::BTreeSet;

/// Steps that take so much longer than was predicted are told of.
const SLOWER: f64 = 1.1;

/// A run that has less than this share of its time left has used it up.
const USED_UP: f64 = 0.1;

/// How a run in passes ended; none of another kind of run, and of one that has not begun.
pub(super) fn ended(recording: &Recording) -> Option<EndedEntry> {
    let plan = recording.plan().filter(|plan| !matches!(plan.view, View::Comparison { .. }))?;
    let of_passes = || recording.steps.iter().filter(|step| step.why == Why::Pass);
    let passes: BTreeSet<u32> = of_passes().map(|step| step.pass).collect();
    let asked = recording.additions.iter().map(|one| match (one.passes, one.budget_ns) {
        (Some(passes), _) => Some(passes),
        (None, Some(_)) => None,
        (None, None) => Some(if is_whole_before(recording, one) { plan.profile.passes } else { 0 }),
    });
    // Of a time nobody knows how many passes it has room for.
    let asked: Option<u32> = asked.sum();
    let time_ns = match recording.additions.as_slice() {
        [] => Passes::new(plan, recording).predicted_ns(),
        // What was asked for later adds up.
        _ => recording.spent_ns(),
    };
    let sum = |of: fn(&StepRecord) -> u64| of_passes().map(of).sum::<u64>() as f64;
    let by = match recording.end.as_ref().map(|end| end.reason.as_str()) {
        Some("completed") if (recording.spent_ns() as f64) < (1.0 - USED_UP) * time_ns as f64 => {
            EndedBy::Done
        }
        Some("completed") => EndedBy::Time,
        Some("interrupted") => EndedBy::Interrupted,
        Some(_) => EndedBy::Failed,
        None => EndedBy::CutOff,
    };
    (!passes.is_empty()).then(|| EndedEntry {
        passes: passes.len() as u32,
        of: asked.map_or(passes.len() as u32, |asked| plan.profile.passes + asked),
        by,
        time_ns,
        spent_ns: recording.spent_ns(),
        slower: sum(|step| step.duration_ns) / sum(|step| step.predicted_ns).max(1.0),
    })
}

/// Whether every pass of the plan was on record when a later run went on.
fn is_whole_before(recording: &Recording, addition: &Addition) -> bool {
    let before = recording.steps.iter().take(addition.after_steps as usize);
    let passes: BTreeSet<u32> = before.filter(|step| step.why == Why::Pass).map(|step| step.pass).collect();
    recording.plan().is_some_and(|plan| passes.len() >= plan.profile.passes as usize)
}

/// `6 of 10 passes`; none where all were made.
pub(super) fn passes(report: &Report) -> Option<String> {
    let ended = report.run.ended.as_ref()?;
    (ended.passes < ended.of).then(|| format!("{} of {}", ended.passes, counted(ended.of as usize, "pass")))
}

/// Which limit ended a run that made fewer passes than it was to, or whose intervals stayed wide.
pub(super) fn note(report: &Report) -> Option<Note> {
    let ended = report.run.ended.as_ref()?;
    let (time, is_short) = (Nanoseconds(ended.time_ns as f64), ended.passes < ended.of);
    let more = "the same command with --onto RECORDING adds to it, and --budget gives it another time";
    let made = format!("{} of {}", ended.passes, counted(ended.of as usize, "pass"));
    let late = match ended.slower > SLOWER {
        true => format!(": steps took {} times as long as was predicted", significant(ended.slower, 2)),
        false => String::new(),
    };
    let why = match ended.by {
        EndedBy::Time => format!("the time of {time} was over after {made}{late}"),
        EndedBy::Done => format!("the time of {time} had no room for another pass after {made}{late}"),
        EndedBy::Interrupted => format!("the run was interrupted after {made}"),
        EndedBy::Failed => format!("the run failed after {made}"),
        EndedBy::CutOff => format!("the recording ends within the run, after {made}"),
    };
    let text = match (is_short, is_wide(report), ended.by) {
        (true, ..) => why,
        (false, true, EndedBy::Time) => {
            format!("the time of {time} was over before every interval was as narrow as aimed at")
        }
        (false, true, EndedBy::Done) => {
            let left = Nanoseconds(ended.time_ns.saturating_sub(ended.spent_ns) as f64);
            format!(
                "what was left of the time, {left}, had no room for what would narrow the widest intervals"
            )
        }
        _ => return None,
    };
    Some(Note::new("ended", format!("{text}; {more}."), Weight::Unsure))
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

    fn told(edit: impl Fn(&mut Recording)) -> (Option<String>, Option<String>) {
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
        let (heading, text) = told(|recording| late(recording, 3));
        assert_eq!(heading.as_deref(), Some("6 of 10 passes"));
        let text = text.unwrap();
        assert!(text.contains("was over after 6 of 10 passes: steps took 3.0 times as long"), "{text}");
        let (_, cut) = told(|recording| {
            late(recording, 1);
            recording.end = None;
        });
        assert!(cut.unwrap().contains("the recording ends within the run, after 6 of 10 passes"));
        let (heading, _) = told(|_| ());
        assert_eq!(heading, None, "all passes were made");
    }
}
