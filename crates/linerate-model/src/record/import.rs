//! Results of other tools to events: a file in, the lines of a recording out, or one reason why not.
//!
//! A file may come from anyone. Its length, its depth and the number of its rows are bounded before memory is set aside,
//! a number that is negative, not finite or beyond all measure refuses the file, and what is not there is none.

mod imb;
mod iperf3;
mod lines;
mod netperf;
mod netpipe;
mod node;
mod osu;
mod qperf;
mod row;
mod sockperf;
mod xfr;

use super::{Event, Imported, Original, SCHEMA, Source};
use crate::vocabulary::{TOOLS, Tool};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The longest file that is read.
pub const LARGEST_FILE: usize = 16 << 20;
/// The most rows that a file may have.
const MOST_ROWS: usize = 50_000;
/// The most values that a row may have: a line of a recording has an end.
const MOST_VALUES: usize = 12_000;
/// The most notes of one kind that are kept beside the rows, and the longest of them; the file itself has them all.
const MOST_NOTES: usize = 400;
const LONGEST_NOTE: usize = 200;
/// The bytes of a part of the original; a byte of it may take six in JSON.
const PART_BYTES: usize = 64 << 10;

/// Why a file is not imported, and what to try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Refusal {
    /// What is wrong with it.
    pub what: String,
    /// What to try.
    pub hint: String,
}

/// What reading a file, or a part of it, answers.
type Read<T> = Result<T, Refusal>;

fn refuse<T>(what: impl Into<String>, hint: impl Into<String>) -> Read<T> {
    Err(Refusal { what: what.into(), hint: hint.into() })
}

/// What is known of a file from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Its name.
    pub file: String,
    /// The tool that wrote it; none where its content is to tell.
    pub tool: Option<String>,
    /// When it is read.
    pub utc: String,
    /// The version of this program.
    pub version: String,
    /// The command line in force.
    pub command: Vec<String>,
}

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq)]
struct Draft {
    version: Option<String>,
    utc: Option<String>,
    facts: BTreeMap<String, String>,
    unread: BTreeMap<String, String>,
    doubts: Vec<String>,
    rows: Vec<Imported>,
}

impl Draft {
    /// A fact, where the file has it.
    fn fact(&mut self, name: &str, value: Option<String>) {
        let kept = value.filter(|value| !value.is_empty() && self.facts.len() < MOST_NOTES);
        self.facts.extend(kept.map(|value| (name.to_owned(), short(&value))));
    }

    /// Something that no row is made of; the first of several at the same place.
    fn unread(&mut self, place: String, value: &str) {
        if self.unread.len() < MOST_NOTES {
            self.unread.entry(short(&place)).or_insert_with(|| short(value));
        }
    }

    fn doubt(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.doubts.len() < MOST_NOTES && !self.doubts.contains(&what) {
            self.doubts.push(short(&what));
        }
    }
}

/// At most so many characters of a text, none of which acts on a terminal or ends a line.
fn short(text: &str) -> String {
    text.chars().take(LONGEST_NOTE).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Who reads the files of a tool.
struct Importer {
    tool: &'static str,
    /// Whether a text looks like one of that tool's.
    recognises: fn(&str) -> bool,
    read: fn(&str) -> Read<Draft>,
}

/// One a tool; the first that recognises a text reads it.
const IMPORTERS: &[Importer] = &[
    Importer { tool: "iperf3", recognises: iperf3::recognises, read: iperf3::read },
    Importer { tool: "xfr", recognises: xfr::recognises, read: xfr::read },
    Importer { tool: "sockperf", recognises: sockperf::recognises, read: sockperf::read },
    Importer { tool: "osu", recognises: osu::recognises, read: osu::read },
    Importer { tool: "imb", recognises: imb::recognises, read: imb::read },
    Importer { tool: "qperf", recognises: qperf::recognises, read: qperf::read },
    Importer { tool: "netperf", recognises: netperf::recognises, read: netperf::read },
    Importer { tool: "netpipe", recognises: netpipe::recognises, read: netpipe::read },
];

/// The lines of the recording of a file, but for the last one, which says how it ended.
pub fn import(bytes: &[u8], given: &Given) -> Result<Vec<Event>, Refusal> {
    let text = text(bytes)?;
    let importer = importer(text, given.tool.as_deref())?;
    let draft = (importer.read)(text)?;
    if draft.rows.is_empty() {
        return refuse(
            format!("it holds no result of {} that is known here", importer.tool),
            format!("see what is read: linerate explain {}", importer.tool),
        );
    }
    if draft.rows.len() > MOST_ROWS {
        return refuse(format!("it holds more than {MOST_ROWS} results"), "cut it into several files");
    }
    if draft.rows.iter().any(|row| row.values.len() > MOST_VALUES) {
        let what = format!("a test of it has more than {MOST_VALUES} parts");
        return refuse(what, "let the tool report less often");
    }
    let tool = TOOLS.iter().find(|tool| tool.name == importer.tool);
    let mut events = vec![Event::Source(source(bytes, given, importer.tool, tool, &draft))];
    let of_tool = tool.and_then(|tool| tool.transport);
    events.extend(draft.rows.into_iter().map(|row| {
        let transport = row.transport.or(of_tool.map(String::from));
        Event::Imported(Imported { transport, ..row })
    }));
    events.extend(
        parts(text).zip(0..).map(|(text, part)| Event::Original(Original { part, text: text.into() })),
    );
    Ok(events)
}

/// The text of a file, of a length that is read.
fn text(bytes: &[u8]) -> Read<&str> {
    if bytes.len() > LARGEST_FILE {
        let most = LARGEST_FILE >> 20;
        return refuse(
            format!("it is longer than the {most} MiB that are read"),
            "import the result of one run, not a log of many",
        );
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return refuse("it is no text (UTF-8)", "where it is compressed, unpack it first");
    };
    if text.trim().is_empty() {
        return refuse("it is empty", "see whether the tool ended well: it prints its results last");
    }
    Ok(text)
}

/// The importer that was asked for, else the one that knows the text.
fn importer(text: &str, tool: Option<&str>) -> Read<&'static Importer> {
    let found = match tool {
        Some(name) => IMPORTERS.iter().find(|importer| importer.tool == name),
        None => IMPORTERS.iter().find(|importer| (importer.recognises)(text)),
    };
    let names: Vec<&str> = IMPORTERS.iter().map(|importer| importer.tool).collect();
    let hint =
        format!("name the tool with --tool ({}); `linerate list tools` tells what is read", names.join(", "));
    found.map_or_else(|| refuse("it is of no tool that is known here", hint), Ok)
}

fn source(bytes: &[u8], given: &Given, name: &str, tool: Option<&Tool>, draft: &Draft) -> Source {
    Source {
        schema: SCHEMA.into(),
        linerate: given.version.clone(),
        imported_utc: given.utc.clone(),
        command: given.command.clone(),
        tool: name.into(),
        version: draft.version.as_deref().map(short),
        file: given.file.clone(),
        bytes: bytes.len() as u64,
        sha256: Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
        utc: draft.utc.clone(),
        how: tool.map_or(String::new(), |tool| tool.how.into()),
        facts: draft.facts.clone(),
        unread: draft.unread.clone(),
        doubts: draft.doubts.clone(),
    }
}

/// The text in parts that fit a line of a recording each.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = (0..=PART_BYTES.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(0);
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}
