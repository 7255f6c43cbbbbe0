//! JSON as tools write it: several documents in a file, text around them, `nan`, a missing end; and values by names: what
//! was asked for is marked, so that the rest can be told.

mod scan;

use super::row::sound;
use super::{Draft, Read, Run, refuse};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The most arrays and objects: each takes far more memory than the two bytes that may stand for it.
const MOST_CONTAINERS: usize = 1 << 18;

const HINT: &str = "give the whole file that the tool wrote";

/// A document. It is not deeper than serde_json reads, which is 128 levels.
pub(super) struct Document {
    root: Value,
    used: RefCell<BTreeSet<String>>,
    /// What of it is no value.
    doubts: RefCell<Vec<String>>,
}

/// A value in it, with its place: `intervals[].sum`.
pub(super) struct Node<'d> {
    value: &'d Value,
    place: String,
    document: &'d Document,
}

/// Where documents begin.
pub(super) fn starts(text: &str) -> Vec<usize> {
    scan::spans(text).into_iter().map(|span| span.from).collect()
}

/// Whether a document begins here, behind what may stand before it.
pub(super) fn begins(text: &str) -> bool {
    text.trim_start_matches(scan::is_between).starts_with('{')
}

/// Whether nothing but that stands here.
pub(super) fn is_between(text: &str) -> bool {
    text.chars().all(scan::is_between)
}

/// Where documents begin and end, and whether their end is there.
pub(super) fn places(text: &str) -> Vec<(usize, usize, bool)> {
    scan::spans(text).into_iter().map(|span| (span.from, span.to, span.is_closed)).collect()
}

/// The documents of a run, what is around them and what they lack as doubts; at least one.
pub(super) fn documents(run: &Run, draft: &mut Draft) -> Read<Vec<Value>> {
    if run.text.bytes().filter(|byte| b"[{".contains(byte)).count() > MOST_CONTAINERS {
        return refuse(format!("it has more than {MOST_CONTAINERS} arrays and objects"), HINT);
    }
    let spans = scan::spans(run.text);
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    let mut count = Count::new(run);
    for span in &spans {
        let line = count.line(span.from);
        let text = &run.text[span.from..span.to];
        let plain = scan::plain(text);
        if plain.none > 0 {
            let them = if plain.none == 1 {
                "1 number in it is"
            } else {
                &format!("{} numbers in it are", plain.none)
            };
            draft.doubt(format!("{them} nan or inf, and no value"));
        }
        let closed = if span.is_closed { plain.text } else { scan::closed_up(&plain.text).into() };
        match serde_json::from_str(&closed) {
            Ok(value) => {
                found.push(value);
                if !span.is_closed {
                    let end = count.line(span.to.saturating_sub(1));
                    draft.doubt(format!(
                        "it breaks off at line {end}, in the middle of its JSON: what followed is missing"
                    ));
                }
            }
            Err(error) => faults.push(fault(line, &error)),
        }
    }
    around(run, &spans, draft);
    match (found.is_empty(), faults.into_iter().next()) {
        (false, fault) => {
            fault.into_iter().for_each(|fault| draft.doubt(format!("a part of it is left out: {fault}")));
            Ok(found)
        }
        (true, Some(fault)) => refuse(fault, HINT),
        (true, None) => refuse("it has no JSON document: none of its lines begins with {", HINT),
    }
}

/// What serde_json says, with the line of the file: its own counts from the document.
fn fault(line: u64, error: &serde_json::Error) -> String {
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    format!("line {}: it is no JSON: {what}", line + (error.line() as u64).saturating_sub(1))
}

/// Counts lines from place to place, each behind the one before.
struct Count<'t> {
    text: &'t str,
    at: usize,
    line: u64,
}

impl<'t> Count<'t> {
    fn new(run: &Run<'t>) -> Count<'t> {
        Count { text: run.text, at: 0, line: run.line }
    }

    /// The number of the line that a place is in.
    fn line(&mut self, place: usize) -> u64 {
        let passed = self.text.as_bytes().get(self.at..place).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.at = self.at.max(place);
        self.line
    }
}

/// The lines around the documents: what a tool said to standard error, a prompt.
fn around(run: &Run, spans: &[scan::Span], draft: &mut Draft) {
    let mut count = Count::new(run);
    let begins = std::iter::once(0).chain(spans.iter().map(|span| span.to));
    let ends = spans.iter().map(|span| span.from).chain([run.text.len()]);
    let mut outside = Vec::new();
    for (from, to) in begins.zip(ends) {
        let lines = (count.line(from)..).zip(run.text[from..to].lines());
        outside.extend(lines.filter(|(_, text)| !is_between(text)));
    }
    outside.iter().for_each(|(line, text)| draft.unread(format!("line {line}"), text.trim()));
    match outside.as_slice() {
        [] => (),
        [(line, text)] => draft.doubt(format!("line {line} is beside the JSON: {}", text.trim())),
        [(line, text), .., (last, end)] => draft.doubt(format!(
            "{} lines are beside the JSON and not read, from line {line}, `{}`, to line {last}, `{}`",
            outside.len(),
            super::start(text.trim(), 60),
            super::start(end.trim(), 60),
        )),
    }
}

impl Document {
    pub fn new(root: Value) -> Document {
        Document { root, used: RefCell::default(), doubts: RefCell::default() }
    }

    pub fn root(&self) -> Node<'_> {
        Node { value: &self.root, place: String::new(), document: self }
    }

    /// Tells a draft what nobody asked for, and what was no value.
    pub fn unread(&self, draft: &mut Draft) {
        self.doubts.borrow().iter().for_each(|doubt| draft.doubt(doubt));
        let mut rest = vec![(String::new(), &self.root)];
        let used = self.used.borrow();
        while let Some((place, value)) = rest.pop() {
            match value {
                Value::Object(map) => {
                    rest.extend(map.iter().rev().map(|(key, value)| (below(&place, key), value)));
                }
                Value::Array(values) => {
                    rest.extend(values.iter().rev().map(|value| (format!("{place}[]"), value)));
                }
                _ if used.contains(&place) => (),
                Value::String(text) => draft.unread(place, text),
                other => draft.unread(place, &other.to_string()),
            }
        }
    }

    fn doubt(&self, what: String) {
        let mut doubts = self.doubts.borrow_mut();
        if !doubts.contains(&what) && doubts.len() < super::MOST_NOTES {
            doubts.push(what);
        }
    }
}

fn below(place: &str, key: &str) -> String {
    if place.is_empty() { key.into() } else { format!("{place}.{key}") }
}

impl<'d> Node<'d> {
    /// Where it stands.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What is below it with a name; none where nothing is, or null.
    pub fn at(&self, key: &str) -> Option<Node<'d>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Node { value, place: below(&self.place, key), document: self.document })
    }

    /// The values of an array below it.
    pub fn items(&self, key: &str) -> Vec<Node<'d>> {
        let array = self.value.get(key).and_then(Value::as_array);
        let place = format!("{}[]", below(&self.place, key));
        let node = |value| Node { value, place: place.clone(), document: self.document };
        array.into_iter().flatten().map(node).collect()
    }

    fn mark(&self) {
        self.document.used.borrow_mut().insert(self.place.clone());
    }

    /// What was read; what cannot be is none, and a doubt.
    fn kept<T>(&self, read: Read<T>) -> Option<T> {
        read.map_err(|refusal| self.document.doubt(format!("{}, and left out", refusal.what))).ok()
    }

    /// The number below it.
    pub fn number(&self, key: &str) -> Option<f64> {
        let node = self.at(key)?;
        node.mark();
        let number = match node.value.as_f64() {
            Some(value) => sound(value, &node.place),
            None => refuse(format!("{} is no number", node.place), ""),
        };
        self.kept(number)
    }

    /// The whole number below it.
    pub fn whole(&self, key: &str) -> Option<u64> {
        let value = self.number(key)?;
        self.kept(super::row::whole(value, &below(&self.place, key)))
    }

    /// The text below it.
    pub fn text(&self, key: &str) -> Option<String> {
        let node = self.at(key)?;
        let text = node.value.as_str()?.to_owned();
        node.mark();
        Some(text)
    }

    /// Whether what is below it is true, or a number that is not 0.
    pub fn flag(&self, key: &str) -> Option<bool> {
        let node = self.at(key)?;
        let flag = node.value.as_bool().or(node.value.as_f64().map(|number| number != 0.0))?;
        node.mark();
        Some(flag)
    }
}
