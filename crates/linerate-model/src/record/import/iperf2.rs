//! iperf 2: what it prints for readers, rounded to three digits, and in [`csv`] what `-y C` prints.

mod csv;

use super::interval::{Interval, parts, totals};
use super::lines::{Line, lines};
use super::row::{Shared, whole};
use super::{Draft, Read, Run};
use crate::vocabulary::{Does, Pattern};
use std::collections::BTreeMap;

/// How a client and a server begin; a port follows the name of what carries the bytes.
const CLIENT: &str = "Client connecting to ";
const SERVER: &str = "Server listening on ";

/// What stands before the receiver's figures at the sender of datagrams.
const REPORT: &str = "Server Report:";

pub(super) fn recognises(text: &str) -> bool {
    let is_server = |line: &str| line.contains(SERVER) && line.contains(" port ");
    let is_connection =
        |line: &str| line.starts_with('[') && line.contains("] local ") && line.contains(" connected with ");
    text.lines().any(|line| line.contains(CLIENT) || is_server(line) || is_connection(line))
        || csv::recognises(text)
}

/// A connection that is made after results begins another run.
pub(super) fn runs(text: &str) -> Vec<usize> {
    if csv::recognises(text) {
        return csv::runs(text);
    }
    let (mut at, mut begins, mut has_results) = (0, vec![0], false);
    for line in text.split_inclusive('\n') {
        let begin = [CLIENT, SERVER, " connected with "].iter().any(|mark| line.contains(mark));
        if has_results && begin {
            begins.push(at);
            has_results = false;
        }
        has_results |= line.contains("/sec") && line.contains(" sec ");
        at += line.len();
    }
    begins
}

/// What is known while lines are read.
#[derive(Default)]
struct Told {
    shared: Shared,
    /// What a stream does here, where its connection tells.
    does: BTreeMap<String, Does>,
    usual: Option<Does>,
    port: Option<String>,
    in_report: bool,
    reported: Vec<Interval>,
    own: Vec<Interval>,
}

pub(super) fn read(run: &Run) -> Read<Draft> {
    if csv::recognises(run.text) {
        return csv::read(run);
    }
    let mut draft = Draft::default();
    let shared = Shared { test: "stream".into(), pattern: Some(Pattern::Stream), ..Shared::default() };
    let mut told = Told { shared, ..Told::default() };
    // A later run of a file has only its connections; who this is stands at the file's beginning.
    let head = Run { text: run.head, from: 0, line: 1, head: run.head };
    if let Some(first) =
        lines(&head)?.iter().find(|line| line.text.contains(CLIENT) || line.text.contains(SERVER))
    {
        told.line(first, &mut draft);
    }
    for line in lines(run)? {
        match Interval::of(&line) {
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
        if interval.id.starts_with("FD") {
            return;
        }
        if interval.is_of_datagrams() {
            self.shared.transport = Some("UDP".to_lowercase());
        }
        if self.in_report { self.reported.push(interval) } else { self.own.push(interval) }
    }

    /// Whether a line tells of the test, or nothing.
    fn line(&mut self, line: &Line, draft: &mut Draft) -> bool {
        let text = line.text.as_str();
        // The heads of the receiver's columns follow the line that announces it.
        self.in_report = text.contains(REPORT) || self.in_report && text.contains("[ ID]");
        if let Some((_, rest)) = text.split_once(CLIENT).or(text.split_once(SERVER)) {
            let is_client = text.contains(CLIENT);
            self.usual = Some(if is_client { Does::Sends } else { Does::Receives });
            let (before, port) = rest.split_once(" port ").unwrap_or((rest, ""));
            self.port = port.split_whitespace().next().map(String::from);
            self.shared.transport = before.rsplit(' ').next().map(str::to_lowercase);
            if is_client {
                draft.fact("server", before.split(',').next().map(String::from));
            }
        } else if let Some((id, rest)) = text.split_once("] local ") {
            let id = id.trim_start_matches('[').trim().to_owned();
            let local =
                rest.split(" connected with ").next().and_then(|local| local.split_whitespace().last());
            // A client that listens too, as with -d, receives where its own port is the test's.
            let receives = text.contains("(reverse)")
                || self.usual == Some(Does::Sends) && local == self.port.as_deref();
            if receives && self.usual == Some(Does::Sends) {
                self.does.insert(id, Does::Receives);
            }
            draft.fact("connection", Some(rest.into()));
        } else if let Some((before, _)) = text.split_once(" byte datagrams") {
            let bytes = before.rsplit(' ').next().unwrap_or_default();
            let bytes = draft.keep(line.number(bytes));
            self.shared.message_bytes =
                bytes.and_then(|bytes| draft.keep(whole(bytes, &format!("line {}", line.number))));
        } else {
            return text.chars().all(|c| c == '-') || text.contains("[ ID]") || text.contains(REPORT);
        }
        true
    }

    /// What a stream's own lines count: an asterisk marks the way back.
    fn end(&self, id: &str) -> Option<Does> {
        let back = || self.usual.map(|usual| if usual == Does::Sends { Does::Receives } else { Does::Sends });
        self.does.get(id).copied().or_else(|| if id.starts_with('*') { back() } else { self.usual })
    }

    fn rows(&self, draft: &mut Draft) {
        let name = self.shared.transport.as_deref().map_or("stream".into(), str::to_uppercase);
        let mut ends: Vec<Option<Does>> = self.own.iter().map(|one| self.end(&one.id)).collect();
        ends.sort_by_key(|end| *end != self.usual);
        ends.dedup();
        let both = ends.len() > 1;
        for end in ends {
            let back = both && end != self.usual;
            let shared = Shared {
                test: if back { format!("{name}, back") } else { name.clone() },
                pattern: Some(if both { Pattern::Bidirectional } else { Pattern::Stream }),
                ..self.shared.clone()
            };
            // The sum of both ways is of neither.
            let is_of = |one: &&Interval| self.end(&one.id) == end && !(both && one.id == "SUM");
            let of_end: Vec<&Interval> = self.own.iter().filter(is_of).collect();
            let (wholes, slices) = apart(&of_end, draft);
            totals(&wholes, &shared, end, draft);
            parts(&slices, &shared, end, draft);
        }
        let shared = Shared { test: name, ..self.shared.clone() };
        let reported: Vec<&Interval> = self.reported.iter().collect();
        if !reported.is_empty() {
            totals(&reported, &shared, Some(Does::Receives), draft);
        }
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
