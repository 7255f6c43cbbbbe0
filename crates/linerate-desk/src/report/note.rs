//! What the reader should know beside the numbers: each kind once, with the layers that it concerns.

use super::block::borderless;
use super::shape::{LadderEntry, Report, WarningEntry};
use crate::record::SpreadSource;
use crate::vocabulary::{TOOLS, WARNINGS};
use comfy_table::{ColumnConstraint, Width};

/// The most amounts that one note tells; the other forms have them all.
const MOST: usize = 3;

/// A note: its code and its text.
pub(super) type Note = (String, String);

/// Every note, in the order of the vocabulary, and what was left out.
pub(super) fn notes(report: &Report) -> Vec<Note> {
    let warned: usize = report.ladder.iter().filter(|entry| entry.unavailable.is_none()).count();
    let mut notes: Vec<Note> = left_out(report);
    notes.extend(own_ports(report));
    notes.extend(between_runs(report));
    for warning in WARNINGS {
        let mut found: Vec<(String, &WarningEntry)> = Vec::new();
        for entry in &report.ladder {
            let here = entry.warnings.iter().filter(|one| one.code == warning.code);
            found.extend(here.map(|one| (name(entry), one)));
        }
        for one in report.suites.iter().flat_map(|suite| &suite.warnings) {
            if one.warning.code == warning.code {
                found.push((one.case.clone(), &one.warning));
            }
        }
        found.extend(
            report.warnings.iter().filter(|one| one.code == warning.code).map(|one| (String::new(), one)),
        );
        if let Some((_, first)) = found.first() {
            let hint = sentence(&first.hint);
            let told = told(&found, warned);
            let colon = if told.is_empty() { "" } else { ": " };
            notes.push((warning.code.into(), format!("{}{colon}{told}. {hint}.", warning.meaning)));
        }
    }
    notes
}

/// The layer for a reader: `network.tcp x 4 a>b`.
pub(super) fn name(entry: &LadderEntry) -> String {
    let flows = if entry.flows > 1 { format!(" x {}", entry.flows) } else { String::new() };
    let place = entry.direction.clone().or(entry.host.map(String::from));
    format!("{}{flows}{}", entry.id, place.map_or(String::new(), |place| format!(" {place}")))
}

/// How much of it there was, and where; equal amounts are said once.
fn told(found: &[(String, &WarningEntry)], all: usize) -> String {
    let mut amounts: Vec<(&str, Vec<&str>)> = Vec::new();
    for (layer, warning) in found {
        match amounts.iter_mut().find(|(detail, _)| *detail == warning.detail) {
            Some((_, layers)) if layers.contains(&layer.as_str()) => {}
            Some((_, layers)) => layers.push(layer),
            None => amounts.push((&warning.detail, vec![layer])),
        }
    }
    let said = amounts.iter().map(|(detail, layers)| {
        let layers = match layers.len() {
            count if count > 2 && count == all => "every layer".to_owned(),
            _ => layers.join(", "),
        };
        match (detail.is_empty(), layers.is_empty()) {
            (true, _) => layers,
            (false, true) => (*detail).to_owned(),
            (false, false) => format!("{detail} ({layers})"),
        }
    });
    let mut said: Vec<String> = said.collect();
    let more = said.len().saturating_sub(MOST);
    if more > 0 {
        said.truncate(MOST);
        said.push(format!("and {more} more"));
    }
    said.join("; ")
}

/// The text with a capital letter first, unless it begins with what is written otherwise.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map_or(String::new(), |letter| {
        // A hint that begins with what is typed keeps its letters, and so does the name of a tool.
        let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let typed = text.starts_with(['-', '`']) || TOOLS.iter().any(|tool| tool.name == first);
        if typed { letter.to_string() } else { letter.to_uppercase().collect() }
    });
    first + letters.as_str()
}

/// What the columns `runs` mean, or why there are none.
fn between_runs(report: &Report) -> Option<Note> {
    let note = |text: String| Some(("runs".to_owned(), text));
    let spreads = report.ladder.iter().flat_map(|entry| {
        let between = &entry.between_run;
        [between.throughput, between.polling, between.sleeping].into_iter().flatten()
    });
    let of = |source| {
        let runs = spreads.clone().filter(|spread| spread.source == source).map(|spread| spread.runs);
        runs.max()
    };
    let sources = [
        of(SpreadSource::History).map(|runs| format!("{runs} earlier runs of this plan")),
        of(SpreadSource::Calibrate).map(|runs| format!("the {runs} short runs of `linerate calibrate`")),
    ];
    let sources: Vec<String> = sources.into_iter().flatten().collect();
    match (sources.is_empty(), report.ladder.iter().any(|entry| entry.throughput_bps.is_some())) {
        (true, true) => note("spread between runs unknown: `linerate calibrate` measures it.".into()),
        (true, false) => None,
        _ => note(format!(
            "95 % of equal runs lie this close to their centre, by {}.",
            sources.join(", else by ")
        )),
    }
}

/// For which rungs what was asked does not hold.
fn own_ports(report: &Report) -> Option<Note> {
    let asked = report.run.listening.as_ref().filter(|asked| !asked.not_of.is_empty())?;
    let rungs = asked.not_of.join(", ");
    let what = match (&asked.ports, asked.host) {
        (Some(_), None) => "choose their own ports",
        (None, _) => "connect as they please, either way",
        (Some(_), Some(_)) => "choose their own ports, and connect either way",
    };
    let text = format!(
        "the libraries of {rungs} {what}: --ports and --connect hold for all that linerate itself connects; a firewall \
         between these hosts has to let them pass."
    );
    Some(("own ports".into(), text))
}

/// Patterns and wait modes that were left out of layers that were measured, once for each reason.
fn left_out(report: &Report) -> Vec<Note> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for left in report.suites.iter().flat_map(|suite| &suite.left_out) {
        add(&mut reasons, left.reason.sentence(), left.what());
    }
    // What failed in one direction, where the row has the other one.
    let row = |entry: &LadderEntry| {
        let both_ways = entry.direction.as_ref().is_some_and(|direction| direction.contains("<>"));
        (entry.id.clone(), entry.flows, both_ways)
    };
    let has_row = |entry: &&LadderEntry| {
        report.ladder.iter().any(|other| other.unavailable.is_none() && row(other) == row(entry))
    };
    let backwards = report.ladder.iter().filter(has_row).filter_map(|entry| entry.unavailable.as_ref());
    for left in backwards.filter(|left| left.case.is_some()) {
        add(&mut reasons, left.reason.sentence(), left.what());
    }
    for entry in &report.ladder {
        let refused = |why: &str| {
            entry.warnings.iter().any(|warning| warning.code == "polling-refused" && warning.detail == why)
        };
        // What polling is refused for has a note of its own.
        for left in entry.not_measured.iter().filter(|left| !refused(&left.reason.why)) {
            add(
                &mut reasons,
                left.reason.sentence(),
                match left.case {
                    Some(_) => left.what(),
                    None => format!("{}{}", name(entry), left.part()),
                },
            );
        }
    }
    let note = |(why, layers): (String, Vec<String>)| {
        ("left out".to_owned(), format!("not measured: {}: {why}.", layers.join(", ")))
    };
    reasons.into_iter().map(note).collect()
}

/// What was left out for the same reason is said together.
fn add(reasons: &mut Vec<(String, Vec<String>)>, why: String, what: String) {
    match reasons.iter_mut().find(|(known, _)| *known == why) {
        Some((_, all)) => all.push(what),
        None => reasons.push((why, vec![what])),
    }
}

/// The notes as lines: codes beside texts that are wrapped to the width.
pub(super) fn lines(notes: &[Note], width: usize) -> Vec<String> {
    let mut table = borderless(Some(width));
    for (code, text) in notes {
        table.add_row([code, text]);
    }
    let codes = notes.iter().map(|(code, _)| code.chars().count()).max().unwrap_or(0);
    if let Some(column) = table.column_mut(0) {
        let fixed = Width::Fixed(u16::try_from(codes + 3).unwrap_or(u16::MAX));
        column.set_padding((0, 3)).set_constraint(ColumnConstraint::Absolute(fixed));
    }
    if let Some(column) = table.column_mut(1) {
        column.set_padding((0, 0));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
