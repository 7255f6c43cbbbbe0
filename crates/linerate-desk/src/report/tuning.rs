//! The text form of a search: what was kept and what it gains, the steps from what was there, then each candidate's fate.

use super::arms::{ends, guard, margin, measured};
use super::block::{self, borderless};
use super::line::{TEXT_WIDTH, marked, wrapped};
use super::shape::Report;
use super::suite::written;
use super::text::{EXPLAIN, heading};
use super::{Page, note};
use crate::analysis::{ArmCandidate, Fate, Tuned, TuningRound, TuningStep, TuningStop, Verdict};
use crate::statistic::{Effect, Estimate};
use crate::unit::{counted, percent, signed_percent};
use crate::vocabulary::{Tunable, Weight};
use comfy_table::Table;

const INDENT: &str = "  ";
const BOLD: &str = "\x1b[1m";

/// What became of a candidate, in words.
const FATES: &[(Fate, &str)] = &[
    (Fate::Kept, "kept"),
    (Fate::NoGain, "no gain that matters"),
    (Fate::Beaten, "another gains more"),
    (Fate::Costs, "gains, and costs elsewhere"),
    (Fate::NotConfirmed, "not confirmed"),
    (Fate::NotGranted, "not granted"),
    (Fate::OutOfTime, "no time left for it"),
    (Fate::CannotTell, "cannot tell"),
];

/// Why a search stops, in words.
const STOPS: &[(TuningStop, &str)] = &[
    (TuningStop::NothingLeft, "every candidate that is left was raced upon that"),
    (TuningStop::LinkFull, "the slowest link of the path is full, and no setting of the hosts widens it"),
    (TuningStop::Budget, "the time for it is spent: --budget gives it more"),
    (TuningStop::Full, "as many steps are kept as one search takes"),
    (TuningStop::CutShort, "it was cut short"),
];

/// Writes the search for a page.
pub(super) fn render(report: &Report, tuned: &Tuned, page: Page) -> String {
    let width = page.width.map_or(TEXT_WIDTH, usize::from).min(TEXT_WIDTH);
    let mut lines: Vec<String> = Vec::new();
    lines.extend(wrapped(&sentence(tuned), width).iter().map(|line| marked(line, BOLD, page)));
    lines.push(String::new());
    let shown = tuned.rounds.first().map(|round| measured(&round.compared));
    lines.extend(wrapped(&heading(report, shown), width));
    for block in [ladder(tuned), candidates(tuned)] {
        lines.push(String::new());
        lines.extend(block.iter().map(|line| format!("{INDENT}{line}")));
    }
    let mut notes = notes(tuned);
    notes.extend(super::arms::disturbances(report));
    let notes = note::brief(notes, EXPLAIN, width - INDENT.len(), str::to_owned);
    lines.push(String::new());
    lines.extend(notes.iter().map(|line| format!("{INDENT}{line}")));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The answer in words.
pub(super) fn sentence(tuned: &Tuned) -> String {
    let path = format!("{} {}>{}", tuned.rung, tuned.from, tuned.to);
    let stopped = STOPS.iter().find(|(stop, _)| *stop == tuned.stop).map_or("", |(_, why)| why);
    let tried = tuned.tried();
    let kept: Vec<String> = tuned.kept().into_iter().map(with_gain).collect();
    let whole = match (tuned.verdict(), kept.as_slice()) {
        (_, [one]) => format!("{path}: {one}, proved, and again in fresh blocks"),
        (_, [_, _, ..]) => {
            let total = tuned.total.map_or(String::new(), |total| {
                format!(" {} {} in all,", signed_percent(total.estimate), ends(&total))
            });
            format!("{path}:{total} by steps of which each is proved: {}", kept.join("; then "))
        }
        (Verdict::CannotTell, []) => {
            let why = open(tuned);
            format!("Whether a setting gains {path} anything cannot be told: {why}")
        }
        (_, []) => {
            let margin = tuned.rounds.last().map_or(0.0, |round| round.compared.margin);
            let none =
                format!("None of {} gains {path} more than {}", counted(tried, "candidate"), percent(margin));
            format!("{none}: it is left as it is")
        }
    };
    format!("{whole}. The search ended because {stopped}.")
}

/// What keeps a search from an answer.
fn open(tuned: &Tuned) -> String {
    let doubts = tuned.rounds.last().map_or(&[][..], |round| &round.compared.doubts);
    let of = |fate: Fate| {
        let here = tuned.rounds.iter().flat_map(|round| round.compared.candidates.iter().zip(&round.fates));
        here.filter(|(_, found)| **found == fate).map(|(one, _)| one.name.as_str()).collect::<Vec<_>>()
    };
    let open = [of(Fate::CannotTell), of(Fate::OutOfTime)].concat();
    match (doubts, open.as_slice(), tuned.untried.as_slice()) {
        ([], [], []) => "what gained in a race did not gain again".into(),
        ([], [], untried) => format!("{} not tried", counted(untried.len(), "candidate")),
        ([], open, _) => format!("neither proved nor ruled out: {}", open.join("; ")),
        (doubts, ..) => doubts.join("; "),
    }
}

/// `socket.send-buffer=4MiB gains +310 % [+290 %, +330 %]`.
fn with_gain(step: &TuningStep) -> String {
    format!("{} changes it by {} {}", step.name, signed_percent(step.gain.estimate), ends(&step.gain))
}

/// What was there, and each step that was kept upon those before it.
fn ladder(tuned: &Tuned) -> Vec<String> {
    let mut table = borderless(None);
    let unit = tuned.metric.number().unit;
    let title = tuned.metric.number().title;
    let value = |estimate: Option<Estimate>| estimate.map_or(String::new(), |one| written(one.median, unit));
    table.set_header(["step", title, "gain", "95 % interval", ""]);
    table.add_row(["as it stands", &value(tuned.stock), "", "", ""]);
    for step in &tuned.steps {
        let word = if step.needed { "" } else { "not needed beside the others" };
        let (gain, interval) = change(Some(step.gain));
        table.add_row([format!("+ {}", step.name), value(step.value), gain, interval, word.into()]);
    }
    if let Some(total) = tuned.total {
        let (gain, interval) = change(Some(total));
        table.add_row(["all steps".into(), String::new(), gain, interval, String::new()]);
    }
    for one in &tuned.left_out {
        let (gain, interval) = change(Some(one.gain));
        table.add_row([
            format!("  {} beside the others", one.name),
            String::new(),
            gain,
            interval,
            String::new(),
        ]);
    }
    aligned(table)
}

/// What became of each candidate, race by race.
fn candidates(tuned: &Tuned) -> Vec<String> {
    let mut table = borderless(None);
    table.set_header(["race", "candidate", "change", "interval", "became"]);
    for (number, round) in (1..).zip(&tuned.rounds) {
        for (one, fate) in round.compared.candidates.iter().zip(&round.fates) {
            table.add_row(row(number, one, *fate));
        }
    }
    aligned(table)
}

fn row(number: u32, one: &ArmCandidate, fate: Fate) -> [String; 5] {
    let (change, interval) = change(one.change);
    let word = FATES.iter().find(|(known, _)| *known == fate).map_or("", |(_, word)| word);
    let blocks = one.change.map_or(String::new(), |change| format!(" ({} blocks)", change.n));
    [number.to_string(), one.name.clone(), change, interval, format!("{word}{blocks}")]
}

fn change(effect: Option<Effect>) -> (String, String) {
    effect.map_or_else(Default::default, |effect| (signed_percent(effect.estimate), ends(&effect)))
}

/// Names and words to the left, numbers to the right.
fn aligned(mut table: Table) -> Vec<String> {
    let last = table.column_count().saturating_sub(1);
    let is_word = |index: usize| index == 0 || index == last || last == 4 && index == 1;
    block::aligned(table, is_word)
}

/// How what is kept can be kept, what it may cost, what else was watched, and what is left open.
pub(super) fn notes(tuned: &Tuned) -> Vec<note::Note> {
    let mut notes: Vec<note::Note> = Vec::new();
    for step in tuned.kept() {
        let Some(entry) = Tunable::with_level(&step.name) else { continue };
        let how = if entry.keep.is_empty() { "linerate tune --apply writes the files" } else { entry.keep };
        notes.push(note::Note::new("keep", format!("{}: {how}.", step.name), Weight::Wrong));
        notes.push(note::Note::new("risk", format!("{}: {}.", step.name, entry.risk), Weight::Changed));
    }
    notes.extend(tuned.rounds.iter().flat_map(of_round));
    if !tuned.untried.is_empty() {
        let why = tuned.rounds.iter().rev().flat_map(|round| &round.cut).find(|cut| cut.blocks == 0);
        let why = why.map_or(String::new(), |cut| format!(" ({})", cut.why));
        let names = tuned.untried.join("; ");
        notes.push(note::Note::new("not tried", format!("{names}{why}."), Weight::Unsure));
    }
    notes.extend(tuned.rounds.last().map(|round| margin(&round.compared)));
    notes
}

/// What was watched of the kept one and of those that cost, and why others were not told.
fn of_round(round: &TuningRound) -> Vec<note::Note> {
    let mut notes = Vec::new();
    for (one, fate) in round.compared.candidates.iter().zip(&round.fates) {
        if matches!(fate, Fate::Kept | Fate::Costs) && !one.guards.is_empty() {
            let watched: Vec<String> = one.guards.iter().map(guard).collect();
            notes.push(note::Note::new(
                "watched",
                format!("{}: {}.", one.name, watched.join("; ")),
                Weight::Seen,
            ));
        }
        if matches!(fate, Fate::CannotTell | Fate::NotConfirmed | Fate::NotGranted | Fate::OutOfTime) {
            let why = one.reasons.iter().chain(&one.not_granted).cloned().collect::<Vec<_>>().join("; ");
            notes.push(note::Note::new("cannot tell", format!("{}: {why}.", one.name), Weight::Changed));
        }
    }
    notes
}
