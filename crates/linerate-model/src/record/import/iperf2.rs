//! iperf 2: what it prints for readers, rounded to three digits, what of it is of `--bounceback` in [`bounce`], and in [`csv`]
//! what `-y C` prints.

mod bounce;
mod csv;
mod run;

use super::interval::{self, Interval, parts, totals};
use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run};
use crate::vocabulary::{Does, Pattern, Quantity, Statistic};
use bounce::Bounced;
use std::collections::{BTreeMap, BTreeSet};

/// How a client and a server begin; a port follows the name of what carries the bytes.
const CLIENT: &str = "Client connecting to ";
const SERVER: &str = "Server listening on ";

/// What stands in the line of a connection.
const CONNECTION: &str = " connected with ";

/// What stands before the receiver's figures at the sender of datagrams.
const REPORT: &str = "Server Report:";

pub(super) fn recognises(text: &str) -> bool {
    let is_server = |line: &str| line.contains(SERVER) && line.contains(" port");
    let is_connection =
        |line: &str| line.starts_with('[') && line.contains("] local ") && line.contains(CONNECTION);
    text.lines().any(|line| line.contains(CLIENT) || is_server(line) || is_connection(line))
        || csv::recognises(text)
}

/// A connection that is made after results begins another run.
pub(super) fn runs(text: &str) -> Vec<usize> {
    if csv::recognises(text) { csv::runs(text) } else { run::begins(text) }
}

/// What is known while lines are read.
#[derive(Default)]
struct Told {
    shared: Shared,
    /// What a stream does here, where its connection tells.
    does: BTreeMap<String, Does>,
    usual: Option<Does>,
    /// Ports that this end listens at.
    listens: BTreeSet<String>,
    /// Whether a server has called its client: of both ways at once before 2.1.
    connects_back: bool,
    in_report: bool,
    /// Whether a stream began after others had counted: both ways were not at once.
    in_turn: bool,
    /// Whether what was sent again stands behind what was written.
    has_retransmits: bool,
    reported: Vec<Interval>,
    own: Vec<Interval>,
    bounced: Bounced,
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    if csv::recognises(run.text) || csv::recognises(run.head) {
        return csv::read(run);
    }
    let mut draft = Draft::default();
    let shared = Shared { test: "stream".into(), pattern: Some(Pattern::Stream), ..Shared::default() };
    let mut told = Told { shared, ..Told::default() };
    // A later run of a file has only its connections; who this is stands at the file's beginning.
    let head = Run { text: run.head, from: 0, line: 1, head: run.head };
    for line in lines(&head)?.iter().take_while(|line| !line.text.contains(CONNECTION)) {
        told.begins(line, &mut draft);
    }
    if lines(run)?
        .iter()
        .take_while(|line| !line.text.contains(CONNECTION))
        .any(|line| [CLIENT, SERVER].iter().any(|mark| line.text.contains(mark)))
    {
        told.usual = None;
    }
    for line in lines(run)? {
        match Interval::from_line(&line) {
            Some(interval) => {
                if let Some(interval) = draft.keep(interval) {
                    told.take(interval);
                }
            }
            None if told.line(&line, &mut draft) => (),
            None => line.is_unread(&mut draft),
        }
    }
    told.rows(&mut draft);
    draft.doubt("rates are rounded to three digits: iperf -y C has them whole");
    Ok(draft)
}

impl Told {
    fn take(&mut self, interval: Interval) {
        // Of --full-duplex both ways together are of neither.
        if interval.id.starts_with("FD") || interval.rest.ends_with("(omitted)") {
            return;
        }
        if interval.is_of_datagrams() {
            self.shared.transport = Some("UDP".to_lowercase());
        }
        let Some(interval) = self.bounced.take(interval) else { return };
        if self.in_report { self.reported.push(interval) } else { self.own.push(interval) }
    }

    /// Whether a line says which end this is.
    fn begins(&mut self, line: &Line, draft: &mut Draft) -> bool {
        let text = line.text.as_str();
        let Some((_, rest)) = text.split_once(CLIENT).or(text.split_once(SERVER)) else { return false };
        let is_client = text.contains(CLIENT);
        let (before, port) = rest.split_once(" port").unwrap_or((rest, ""));
        let port = port.trim_start_matches('s').split_whitespace().next().unwrap_or_default();
        self.connects_back |= is_client && self.usual == Some(Does::Receives) && !self.does.is_empty();
        if self.does.is_empty() {
            // A client of both ways listens too, and says so before or after.
            let listens = if self.usual == Some(Does::Sends) { Does::Sends } else { Does::Receives };
            self.usual = Some(if is_client { Does::Sends } else { listens });
        }
        self.shared.transport = before.rsplit(' ').next().map(str::to_lowercase);
        if is_client {
            draft.fact("server", before.split(',').next().map(String::from));
        } else {
            self.listens.extend(port.split('-').map(String::from));
        }
        true
    }

    /// Whether a line tells of the test, or nothing.
    fn line(&mut self, line: &Line, draft: &mut Draft) -> bool {
        let text = line.text.as_str();
        // The heads of the receiver's columns follow the line that announces it.
        self.in_report = text.contains(REPORT) || self.in_report && text.contains("[ ID]");
        self.has_retransmits |= text.contains("Write/Err") && text.contains("Rtry");
        if self.begins(line, draft) || self.bounced.is_head(text) {
            return true;
        }
        if let Some((id, rest)) = text.split_once("] local ") {
            self.connects(id.trim_start_matches('[').trim(), rest);
            draft.fact("connection", Some(rest.into()));
        } else if let Some((before, _)) = text.split_once(" byte datagrams") {
            let bytes = before.rsplit(' ').next().unwrap_or_default();
            let bytes = draft.keep(line.number(bytes));
            self.shared.message_bytes =
                bytes.and_then(|bytes| draft.keep(whole(bytes, &format!("line {}", line.number))));
        } else {
            return text.chars().all(|c| c == '-')
                || ["[ ID]", "[SUM-cnt]", REPORT].iter().any(|mark| text.contains(mark));
        }
        true
    }

    /// What a stream does here. An asterisk marks the way back.
    fn connects(&mut self, id: &str, rest: &str) {
        let bare = id.trim_start_matches('*');
        self.in_turn |= !self.own.is_empty();
        self.bounced.connects(bare, rest);
        let Some(usual) = self.usual else { return };
        let local = rest.split(CONNECTION).next().and_then(|local| local.split_whitespace().last());
        let is_listening = local.is_some_and(|port| self.listens.contains(port));
        // Of both ways a server marks its own connection, by which it sends.
        let (forth, back) = if id.starts_with('*') {
            (Does::Sends, Does::Sends)
        } else if rest.contains("(reverse)") {
            (other(usual), other(usual))
        } else if usual == Does::Sends && is_listening {
            (Does::Receives, Does::Receives)
        } else if usual == Does::Receives && self.connects_back && !is_listening {
            (Does::Sends, Does::Sends)
        } else {
            (usual, other(usual))
        };
        self.does.insert(bare.to_owned(), forth);
        self.does.insert(format!("*{bare}"), back);
    }

    /// What a stream's own lines count.
    fn end(&self, id: &str) -> Option<Does> {
        let usual = || if id.starts_with('*') { self.usual.map(other) } else { self.usual };
        self.does.get(id).copied().or_else(usual)
    }

    fn rows(&self, draft: &mut Draft) {
        let name = self.shared.transport.as_deref().map_or("stream".into(), str::to_uppercase);
        let streams = self.own.iter().filter(|one| !one.is_sum());
        let mut ends: Vec<Option<Does>> = streams.map(|one| self.end(&one.id)).collect();
        ends.sort_by_key(|end| *end != self.usual);
        ends.dedup();
        let both = ends.len() > 1;
        if ends.is_empty() && !self.own.is_empty() {
            ends.push(self.usual);
        }
        for end in ends {
            let back = both && end != self.usual;
            let shared = Shared {
                test: if back { format!("{name}, back") } else { name.clone() },
                pattern: Some(if both && !self.in_turn { Pattern::Bidirectional } else { Pattern::Stream }),
                ..self.shared.clone()
            };
            // The sum of both ways is of neither.
            let is_of = |one: &&Interval| if one.is_sum() { !both } else { self.end(&one.id) == end };
            let of_end: Vec<&Interval> = self.own.iter().filter(is_of).collect();
            let (wholes, slices) = apart(&of_end, draft);
            totals(&wholes, &shared, end, draft);
            if self.has_retransmits && end == Some(Does::Sends) {
                retransmits(&wholes, &shared, draft);
            }
            parts(&slices, &shared, end, draft);
        }
        let shared = Shared { test: name, ..self.shared.clone() };
        let reported: Vec<&Interval> = self.reported.iter().collect();
        if !reported.is_empty() {
            totals(&reported, &shared, Some(Does::Receives), draft);
        }
        self.bounced.rows(&shared, draft);
    }
}

fn other(end: Does) -> Does {
    if end == Does::Sends { Does::Receives } else { Does::Sends }
}

/// The segments that were sent again, of all streams: `12503/0         27     2813K/342(454) us  4779305`.
fn retransmits(wholes: &[&Interval], shared: &Shared, draft: &mut Draft) {
    let Some(one) = interval::whole_of(wholes) else { return };
    let words: Vec<&str> = one.rest.split(' ').collect();
    let [writes, count, ..] = words[..] else { return };
    if let Ok(count) = count.parse::<u32>()
        && writes.contains('/')
    {
        let shared = Shared { line: Some(one.line), ..shared.clone() };
        let what = (Quantity::Retransmits, Statistic::Total);
        draft.add(shared.row(what, (count.into(), 1.0), (Some(Does::Sends), "Rtry")));
    }
}

/// The lines of the whole test, the last of each stream, and those of its parts.
fn apart<'i>(intervals: &[&'i Interval], draft: &mut Draft) -> (Vec<&'i Interval>, Vec<&'i Interval>) {
    let mut streams: BTreeMap<&str, Vec<&Interval>> = BTreeMap::new();
    intervals.iter().for_each(|one| streams.entry(&one.id).or_default().push(one));
    let (mut wholes, mut slices) = (Vec::new(), Vec::new());
    for mut lines in streams.into_values() {
        let is_whole = lines.len() == 1 || lines.last().is_some_and(|last| last.from == 0.0);
        if !is_whole {
            let last = lines.last().map_or(0.0, |last| last.to);
            draft.doubt(format!("a line of the whole test is missing: its parts end at {last:.1} s"));
        }
        wholes.extend(if is_whole { lines.pop() } else { None });
        slices.extend(lines);
    }
    slices.sort_by_key(|one| one.line);
    wholes.sort_by_key(|one| one.line);
    (wholes, slices)
}
