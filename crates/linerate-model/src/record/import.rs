//! Results of other tools to events: a file in, the lines of a recording out, or one reason why not.
//!
//! A file may come from anyone. Its length, its depth and the number of its rows are bounded before memory is set aside.
//! A number that is negative, not finite or beyond all measure is no value and a doubt, like all that is missing: what is
//! good of a file is not lost for what is bad. What is not there is none.

mod encoding;
mod exponent;
mod failed;
mod fping;
mod imb;
mod importer;
mod interval;
mod iperf2;
mod iperf3;
mod json;
mod launcher;
mod lines;
mod mixed;
mod nccl;
mod neper;
mod netperf;
mod netpipe;
mod nuttcp;
mod osu;
mod own;
mod perftest;
mod ping;
mod pscheduler;
mod qperf;
mod row;
mod run;
mod sockperf;
mod xfr;

use super::{Event, Imported, Original, SCHEMA, Source};
use crate::vocabulary::{TOOLS, Tool};
use importer::{IMPORTERS, Importer};
use mixed::tellers;
use run::{Run, all_runs};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The longest file that is read.
pub const LARGEST_FILE: usize = 16 << 20;
/// The most runs of a tool that a file may have: each becomes a recording.
const MOST_RUNS: usize = 1000;
/// The most rows that a run may have.
const MOST_ROWS: usize = 50_000;
/// The most values that a row may have: a line of a recording has an end.
const MOST_VALUES: usize = 12_000;
/// The most notes of one kind that are kept beside the rows, and the longest of them; the file itself has them all.
const MOST_NOTES: usize = 400;
const LONGEST_NOTE: usize = 200;
/// The most doubts that are told; of more only how many there are.
const MOST_DOUBTS: usize = 20;
/// How much of a file's beginning is looked at for what holds of all its runs.
const HEAD_BYTES: usize = 64 << 10;
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

/// What a run says.
#[derive(Debug, Clone, Default, PartialEq)]
struct Draft {
    version: Option<String>,
    utc: Option<String>,
    facts: BTreeMap<String, String>,
    unread: BTreeMap<String, String>,
    doubts: Vec<String>,
    /// How many doubts there are beside those.
    more: usize,
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
        // What a tool complains of is kept behind what it chatters.
        let most = if complains(value) { 2 * MOST_NOTES } else { MOST_NOTES };
        if self.unread.len() < most {
            self.unread.entry(short(&place)).or_insert_with(|| short(value));
        }
    }

    fn doubt(&mut self, what: impl AsRef<str>) {
        let what = short(what.as_ref());
        if self.doubts.contains(&what) {
            return;
        }
        if self.doubts.len() < MOST_DOUBTS {
            self.doubts.push(what);
        } else {
            self.more += 1;
        }
    }

    /// What was read; what cannot be is none, and a doubt.
    fn keep<T>(&mut self, read: Read<T>) -> Option<T> {
        read.map_err(|refusal| self.doubt(format!("{}, and left out", refusal.what))).ok()
    }

    /// A row, where it could be read.
    fn add(&mut self, row: Read<Imported>) {
        let row = self.keep(row);
        self.rows.extend(row);
    }
}

/// At most so many characters of a text, none of which acts on a terminal or ends a line.
fn short(text: &str) -> String {
    start(text, LONGEST_NOTE)
}

fn start(text: &str, most: usize) -> String {
    text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// At most so many bytes of a text's beginning.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// The lines of the recordings of a file, one a run, but for the last line of each, which says how it ended.
pub fn import(bytes: &[u8], given: &Given) -> Result<Vec<Vec<Event>>, Refusal> {
    let mut decoded = encoding::decoded(bytes, &given.file)?;
    let plain = launcher::without_colours(&decoded.text);
    let mut voices = launcher::voices(&plain)?;
    for (_, text) in &mut voices {
        exponent::mend(text, &mut decoded.doubts);
    }
    let tellers = tellers(&voices, given.tool.as_deref(), &mut decoded.doubts)?;
    let runs = all_runs(&tellers)?;
    let sha256: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let (mut drafts, mut refusals) = (Vec::new(), Vec::new());
    for (number, (importer, name, run)) in (1..).zip(&runs) {
        match draft(run, importer) {
            Ok(mut draft) => {
                draft.fact("lines of", name.map(String::from));
                drafts.push((number, (*importer, run), draft));
            }
            Err(refusal) => refusals.push((number, importer.tool, refusal)),
        }
    }
    if drafts.is_empty() {
        return Err(refusals.swap_remove(0).2);
    }
    // The text of a run that holds nothing stays with that of the one before it, so that nothing of the file is lost.
    let mut begins: Vec<usize> = drafts.iter().map(|(_, (_, run), _)| run.from).collect();
    begins[0] = 0;
    let ends = begins.iter().skip(1).copied().chain([decoded.text.len()]);
    let ranges: Vec<(usize, usize)> = begins.iter().copied().zip(ends).collect();
    let all = runs.len();
    let mut lost = Some(refusals);
    type Drafted<'r> = (usize, (&'static Importer, &'r Run<'r>), Draft);
    let recording = |((number, (importer, run), mut draft), (from, to)): (Drafted, (usize, usize))| {
        decoded.doubts.iter().for_each(|doubt| draft.doubt(doubt));
        for (number, tool, refusal) in lost.take().into_iter().flatten() {
            let of = if tellers.len() > 1 { format!(", of {tool},") } else { String::new() };
            draft.doubt(format!("run {number} of {all} in its file{of} is left out: {}", refusal.what));
        }
        if all > 1 {
            draft.fact("run", Some(format!("{number} of {all} in its file, from line {}", run.line)));
        }
        if draft.more > 0 {
            draft.doubts.push(format!("{} more things of this kind are doubtful", draft.more));
        }
        let tool = TOOLS.iter().find(|tool| tool.name == importer.tool);
        let source = source(bytes.len(), sha256.clone(), given, importer.tool, tool, &draft);
        events(source, draft, &decoded.text[from..to], tool)
    };
    Ok(drafts.into_iter().zip(ranges).map(recording).collect())
}

/// The tool whose output a file is, where one is recognised.
pub fn tool_of(bytes: &[u8]) -> Option<&'static str> {
    let decoded = encoding::decoded(bytes, "").ok()?;
    let plain = launcher::without_colours(&decoded.text);
    let voices = launcher::voices(&plain).ok()?;
    let knows = |importer: &&Importer| voices.iter().any(|(_, text)| (importer.recognises)(text));
    IMPORTERS.iter().find(knows).map(|importer| importer.tool)
}

/// What a run holds, which is something, and not more than a recording may.
fn draft(run: &Run, importer: &Importer) -> Read<Draft> {
    let mut draft = (importer.read)(run)?;
    complaints(&mut draft);
    if draft.rows.is_empty() {
        // What the tool itself says went wrong is the reason, where it says something; what it leaves out is none.
        let is_reason = |doubt: &&String| !doubt.contains(NOT_SAID);
        let own = draft.doubts.iter().find(|doubt| doubt.contains(SAYS));
        let own = own.or(draft.doubts.iter().find(is_reason));
        let why = own.map_or(String::new(), |doubt| format!(": {doubt}"));
        let hint = failed::again(importer.tool, &why);
        return refuse(format!("it holds no result of {} that is read here{why}", importer.tool), hint);
    }
    if draft.rows.len() > MOST_ROWS {
        return refuse(format!("it holds more than {MOST_ROWS} results"), "cut it into several files");
    }
    if draft.rows.iter().any(|row| row.values.len() > MOST_VALUES) {
        let what = format!("a test of it has more than {MOST_VALUES} parts");
        return refuse(what, "let the tool report less often");
    }
    Ok(draft)
}

/// How a doubt begins that is of what a file has not.
const NOT_SAID: &str = "the file does not say";

/// Between a line's place and its words.
const SAYS: &str = " says: ";

/// How a tool's timer ends its run, and how a server bids farewell: nothing went wrong.
const USUAL_ENDS: [&str; 2] = ["interrupted by timer", "interrupt again to force quit"];

/// Whether a line says that something went wrong.
fn complains(text: &str) -> bool {
    const WORDS: [&str; 18] = [
        "error",
        "fail",
        "refused",
        "unable",
        "could not",
        "couldn't",
        "not found",
        "are you sure",
        "interrupt",
        "timed out",
        "abort",
        "terminated",
        "warning",
        "killed",
        "no messages",
        "out of memory",
        "segmentation",
        "received signal",
    ];
    let text = text.to_lowercase();
    let is_usual = USUAL_ENDS.iter().any(|end| text.contains(end));
    !is_usual && WORDS.iter().any(|word| text.contains(word))
}

/// What a tool says that went wrong stands in lines that no row is made of.
fn complaints(draft: &mut Draft) {
    let is_one = |(place, text): &(&String, &String)| place.starts_with("line ") && complains(text);
    let number = |place: &str| place.strip_prefix("line ").and_then(|at| at.parse::<u64>().ok());
    let told = |place: &str| draft.doubts.iter().any(|doubt| doubt.starts_with(&format!("{place} ")));
    let said = draft.unread.iter().filter(is_one).filter(|(place, _)| !told(place));
    let mut said: Vec<(Option<u64>, &str, &str, usize)> =
        said.map(|(place, text)| (number(place), place.as_str(), text.as_str(), 0)).collect();
    said.sort_unstable();
    // The same words are told once, by the first line that has them.
    let mut each: Vec<(Option<u64>, &str, &str, usize)> = Vec::new();
    for one in said {
        match each.iter_mut().find(|known| known.2 == one.2) {
            Some(known) => known.3 += 1,
            None => each.push(one),
        }
    }
    let again = |more: usize| match more {
        0 => String::new(),
        1 => ", and so does 1 more line".into(),
        more => format!(", and so do {more} more lines"),
    };
    let told = |(_, place, text, more): (_, &str, &str, usize)| {
        format!("{place}{SAYS}{}{}", text.trim_end_matches('.'), again(more))
    };
    let each: Vec<String> = each.into_iter().map(told).collect();
    each.iter().for_each(|line| draft.doubt(line));
}

fn events(source: Source, draft: Draft, text: &str, tool: Option<&Tool>) -> Vec<Event> {
    let mut events = vec![Event::Source(source)];
    let of_tool = tool.and_then(|tool| tool.transport);
    events.extend(draft.rows.into_iter().map(|row| {
        let transport = row.transport.or(of_tool.map(String::from));
        Event::Imported(Imported { transport, ..row })
    }));
    let parts = parts(text).zip(0..);
    events.extend(parts.map(|(text, part)| Event::Original(Original { part, text: text.into() })));
    events
}

fn source(
    bytes: usize,
    sha256: String,
    given: &Given,
    name: &str,
    tool: Option<&Tool>,
    draft: &Draft,
) -> Source {
    Source {
        schema: SCHEMA.into(),
        linerate: given.version.clone(),
        imported_utc: given.utc.clone(),
        command: given.command.clone(),
        tool: name.into(),
        version: draft.version.as_deref().map(short),
        file: given.file.clone(),
        bytes: bytes as u64,
        sha256,
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
        let (part, after) = rest.split_at(head(rest, PART_BYTES).len());
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}
