//! What the reader should know beside the numbers: each kind once, with the layers that it concerns.

use super::Page;
use super::block::borderless;
use super::line::{LEAST_WIDTH, TEXT_WIDTH};
use super::shape::{LadderEntry, Report, WarningEntry};
use crate::record::SpreadSource;
use crate::unit::percent;
use crate::vocabulary::{TOOLS, WARNINGS, Warning, Weight};
use comfy_table::{ColumnConstraint, Width};
use std::collections::BTreeSet;

/// The most amounts that one note tells; the other forms have them all.
const MOST: usize = 3;

/// The most notes below a report, each of a line.
const MOST_NOTES: usize = 6;

/// A note: what it is of, and its text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Note {
    pub(super) code: String,
    /// All of it, with what to try.
    pub(super) text: String,
    pub(super) weight: Weight,
    /// What is said in its place and before all others, because it is true of the whole run.
    of_run: Option<String>,
}

impl Note {
    pub(super) fn new(code: impl Into<String>, text: impl Into<String>, weight: Weight) -> Note {
        Note { code: code.into(), text: text.into(), weight, of_run: None }
    }
}

/// Every note, what takes most from the numbers first.
pub(super) fn notes(report: &Report) -> Vec<Note> {
    let measured: usize = report.ladder.iter().filter(|entry| entry.unavailable.is_none()).count();
    let mut notes: Vec<Note> = left_out(report);
    notes.extend(own_ports(report));
    notes.extend(between_runs(report));
    for warning in WARNINGS {
        let found = found(report, warning.code);
        if let Some((_, first)) = found.first() {
            let hint = sentence(&first.hint);
            let told = amounts(&found, measured);
            let colon = if told.is_empty() { "" } else { ": " };
            let text = format!("{}{colon}{told}. {hint}.", warning.meaning);
            let of_run = of_run(report, warning, &found, measured);
            notes.push(Note { of_run, ..Note::new(warning.code, text, warning.weight) });
        }
    }
    notes.sort_by_key(|note| note.weight.place());
    notes
}

/// The warnings with this code, each with what it is about.
fn found<'r>(report: &'r Report, code: &str) -> Vec<(String, &'r WarningEntry)> {
    let of_entry = |entry: &'r LadderEntry| entry.warnings.iter().map(|one| (name(entry), one));
    let of_suites = report.suites.iter().flat_map(|suite| &suite.warnings);
    let of_suites = of_suites.map(|one| (one.case.clone(), &one.warning));
    let of_run = report.warnings.iter().map(|one| (String::new(), one));
    let all = report.ladder.iter().flat_map(of_entry).chain(of_suites).chain(of_run);
    all.filter(|(_, one)| one.code == code).collect()
}

/// The names of shares in the evidence, and what each is of.
const SHARES: &[(&str, &str)] = &[
    ("run_delay_share", "of a measured CPU"),
    ("machine_share", "of the machine"),
    ("stolen_share", "of the machine"),
];

/// What is said of the whole run, where at least half of what was measured met it.
fn of_run(
    report: &Report,
    warning: &Warning,
    found: &[(String, &WarningEntry)],
    measured: usize,
) -> Option<String> {
    let Weight::Run(words) = warning.weight else { return None };
    let met: BTreeSet<&str> = found.iter().map(|(what, _)| what.as_str()).collect();
    let cases =
        report.suites.iter().flat_map(|suite| &suite.figures).flat_map(|figure| &figure.series).count();
    if 2 * met.len() < measured.max(cases) {
        return None;
    }
    let worst = SHARES.iter().find_map(|(key, of)| {
        let shares = found.iter().filter_map(|(_, one)| one.evidence.get(key)?.as_f64());
        shares.reduce(f64::max).map(|share| format!("{} {of}", percent(share)))
    })?;
    let machines: BTreeSet<&String> = report.run.hosts.iter().map(|host| &host.machine).collect();
    let machine = if machines.len() > 1 { "a host" } else { "this machine" };
    Some(words.replace("MACHINE", machine).replace("WORST", &worst))
}

/// The layer for a reader: `network.tcp x 4 a>b`.
pub(super) fn name(entry: &LadderEntry) -> String {
    let flows = if entry.flows > 1 { format!(" x {}", entry.flows) } else { String::new() };
    let place = entry.direction.clone().or(entry.host.map(String::from));
    format!("{}{flows}{}", entry.id, place.map_or(String::new(), |place| format!(" {place}")))
}

/// How much of it there was, and where; equal amounts are said once.
fn amounts(found: &[(String, &WarningEntry)], all: usize) -> String {
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
    let note = |text: String| Some(Note::new("runs", text, Weight::Unsure));
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
    Some(Note::new("own ports", text, Weight::Known))
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
        Note::new("left out", format!("not measured: {}: {why}.", layers.join(", ")), Weight::Changed)
    };
    reasons.into_iter().map(note).collect()
}

/// What was left out for the same reason is said together, and once.
fn add(reasons: &mut Vec<(String, Vec<String>)>, why: String, what: String) {
    match reasons.iter_mut().find(|(known, _)| *known == why) {
        Some((_, all)) if all.contains(&what) => {}
        Some((_, all)) => all.push(what),
        None => reasons.push((why, vec![what])),
    }
}

/// What is told below a report: a line each, what makes the whole run doubtful first, then the weightiest, and how many
/// more there are; `all` says where.
pub(super) fn brief(
    mut notes: Vec<Note>,
    all: &str,
    width: usize,
    mark: impl Fn(&str) -> String,
) -> Vec<String> {
    notes.sort_by_key(|note| note.weight.place());
    let first = notes.iter().position(|note| note.of_run.is_some()).map(|at| notes.remove(at));
    let more = notes.len().saturating_sub(MOST_NOTES);
    notes.truncate(MOST_NOTES);
    let first = first.map(|note| (note.code, note.of_run.unwrap_or_default()));
    let told: Vec<(String, String)> =
        first.into_iter().chain(notes.into_iter().map(|note| (note.code, note.text))).collect();
    let codes = GAP + told.iter().map(|(code, _)| code.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(codes);
    let mut is_cut = false;
    let mut lines: Vec<String> = Vec::new();
    for (code, text) in &told {
        let gap = " ".repeat(codes - code.chars().count());
        let shown = clipped(text, room);
        is_cut |= shown != *text;
        lines.push(format!("{}{gap}{shown}", mark(code)));
    }
    let rest = match (more, is_cut) {
        (0, false) => return lines,
        (0, true) => format!("{all} has the whole, with what to try"),
        _ => format!("and {more} more: {all} has all, with what to try"),
    };
    lines.push(format!("{}{}", " ".repeat(codes), clipped(&rest, room)));
    lines
}

/// Between the codes and the texts.
const GAP: usize = 3;

/// What of a text fits into a line: its first sentence where that does, else as many words as do.
fn clipped(text: &str, room: usize) -> String {
    let len = |text: &str| text.chars().count();
    if len(text) <= room {
        return text.to_owned();
    }
    if let Some((first, _)) = text.split_once(". ").filter(|(first, _)| len(first) < room) {
        return format!("{first}.");
    }
    let mut kept = String::new();
    for word in text.split(' ') {
        if len(&kept) + len(word) + 3 > room {
            break;
        }
        kept += &format!("{}{word}", if kept.is_empty() { "" } else { " " });
    }
    format!("{} …", without_loose_number(&kept).trim_end_matches([',', ';', ':', '(']).trim_end())
}

/// What was kept of a text, without a number at its end whose unit, or other half, was cut off.
fn without_loose_number(kept: &str) -> &str {
    let is_loose = |word: &str| {
        let number = word.trim_start_matches(['(', '[', '±', '<', '>', '~']);
        number.starts_with(|c: char| c.is_ascii_digit()) && !word.ends_with([',', ';', ')', ']'])
    };
    let mut kept = kept;
    while let Some((before, _)) = kept.rsplit_once(' ').filter(|(_, last)| is_loose(last)) {
        kept = before;
    }
    kept
}

/// All notes, with what to try.
pub(super) fn whole(notes: Vec<Note>, page: Page) -> String {
    let rows: Vec<(String, String)> = notes.into_iter().map(|note| (note.code, note.text)).collect();
    let width = page.width.map_or(TEXT_WIDTH, usize::from).clamp(LEAST_WIDTH, TEXT_WIDTH);
    lines(&rows, width).iter().map(|line| format!("{line}\n")).collect()
}

/// Codes beside texts that are wrapped to the width.
pub(super) fn lines(notes: &[(String, String)], width: usize) -> Vec<String> {
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

/// The text with its per cents on the line of their numbers.
pub(super) fn whole_numbers(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

#[cfg(test)]
mod tests {
    use super::clipped;

    #[test]
    fn a_line_is_not_cut_within_a_number() {
        for (text, room, expected) in [
            (
                "network.tcp x 4 has two modes, at 9.41 Gb/s and 4.70 Gb/s",
                42,
                "network.tcp x 4 has two modes, at …",
            ),
            (
                "network.tcp x 4 has two modes, at 9.41 Gb/s and 4.70 Gb/s",
                48,
                "network.tcp x 4 has two modes, at 9.41 Gb/s …",
            ),
            ("of 12 000 packets one was lost (1 of 3)", 12, "of …"),
            ("wide: ±73 % (network.tcp), ±12 % (lite)", 32, "wide: ±73 % (network.tcp) …"),
            ("short", 12, "short"),
        ] {
            assert_eq!(clipped(text, room), expected, "{room}");
        }
    }
}
