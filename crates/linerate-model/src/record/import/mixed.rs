//! What several tools wrote into one file, one after the other, as the log of a script does: whose each part is, and what
//! of it nobody reads.

use super::importer::{IMPORTERS, Importer, importer};
use super::{MOST_DOUBTS, Read, json, own};
use std::borrow::Cow;

/// A tool that wrote into a text, and the text with blanks in place of what others wrote, so that what stands in it stays
/// where it was.
pub(super) struct Teller<'t> {
    pub importer: &'static Importer,
    /// Whose lines they are, where lines of several are mixed.
    pub name: Option<&'t str>,
    pub text: Cow<'t, str>,
}

/// A part of a text that one tool wrote.
struct Part {
    importer: &'static Importer,
    from: usize,
    to: usize,
}

/// The most parts of other tools that are told one by one, which leaves room for other doubts.
const MOST_TOLD: usize = MOST_DOUBTS / 2;
/// A text is kept once a tool: no more bytes than that.
const MOST_BYTES: usize = 64 << 20;

/// Who wrote the texts of a file, of those that are to be read, and what is not read of it: a text a name, where lines of
/// several are mixed.
pub(super) fn tellers<'t>(
    voices: &'t [(Option<String>, Cow<'t, str>)],
    tool: Option<&str>,
    doubts: &mut Vec<String>,
) -> Read<Vec<Teller<'t>>> {
    let mut all = Vec::new();
    let mut refusal = None;
    let bytes = voices.iter().map(|(_, text)| text.len()).sum();
    for (name, text) in voices {
        // What stands between the lines of several need not be a tool's.
        let is_between = name.is_none() && voices.len() > 1;
        let named = tool.and_then(|name| IMPORTERS.iter().find(|importer| importer.tool == name));
        if is_between && named.is_some_and(|importer| !(importer.recognises)(text)) {
            continue;
        }
        match of_text((text, bytes), tool, doubts) {
            Ok(tellers) => {
                all.extend(tellers.into_iter().map(|teller| Teller { name: name.as_deref(), ..teller }))
            }
            Err(refused) => {
                if let Some(of) = name {
                    doubts.push(format!("the lines of {of} are left out: {}", refused.what));
                }
                refusal = refusal.or(Some(refused));
            }
        }
    }
    match refusal {
        Some(refusal) if all.is_empty() => Err(refusal),
        _ => Ok(all),
    }
}

/// Who wrote a text, which is one of several that have so many bytes together.
fn of_text<'t>(
    (text, bytes): (&'t str, usize),
    tool: Option<&str>,
    doubts: &mut Vec<String>,
) -> Read<Vec<Teller<'t>>> {
    let first = importer(text, tool)?;
    let parts = parts(text);
    let whole = || vec![Teller { importer: first, name: None, text: text.into() }];
    let alone = |importer: &'static Importer| Teller {
        importer,
        name: None,
        text: alone(text, &parts, importer).into(),
    };
    if tool.is_some() {
        if !parts.iter().any(|part| part.importer.tool == first.tool) {
            return Ok(whole());
        }
        let mut others = parts.iter().filter(|part| part.importer.tool != first.tool);
        doubts.extend(others.by_ref().take(MOST_TOLD).map(|part| {
            let line = |at: usize| text[..at].bytes().filter(|byte| *byte == b'\n').count();
            let (from, to) = (line(part.from) + 1, line(part.to).max(line(part.from) + 1));
            let other = part.importer.tool;
            format!("lines {from} to {to} are of {other}, and not read: --tool names {}", first.tool)
        }));
        let more = others.count();
        if more > 0 {
            let parts = crate::unit::counted(more, "more part");
            doubts.push(format!("{parts} of other tools are not read: --tool names {}", first.tool));
        }
        return Ok(vec![alone(first)]);
    }
    doubts.extend(own::beside(text));
    let mut importers: Vec<&'static Importer> = parts.iter().map(|part| part.importer).collect();
    importers.sort_by_key(|one| one.tool);
    importers.dedup_by_key(|one| one.tool);
    // Who knows the whole is not lost for a part that is known to another.
    if !importers.iter().any(|one| one.tool == first.tool) {
        return Ok(whole());
    }
    if importers.len().saturating_mul(bytes) > MOST_BYTES {
        let what = "it is too long for the parts of several tools to be told apart";
        doubts.push(format!("{what}: all is read as {}'s", first.tool));
        return Ok(whole());
    }
    Ok(importers.into_iter().map(alone).collect())
}

/// The parts of a text, where more than one tool wrote it; else none.
fn parts(text: &str) -> Vec<Part> {
    let tools: Vec<&'static Importer> = IMPORTERS.iter().filter(|one| (one.recognises)(text)).collect();
    if tools.len() < 2 {
        return Vec::new();
    }
    let mut parts: Vec<Part> = Vec::new();
    // Those that were there, the last one first.
    let mut known: Vec<&'static Importer> = Vec::new();
    for (at, piece) in pieces(text) {
        let is_json = piece.starts_with('{');
        let begins = |one: &&&'static Importer| {
            if is_json { (one.recognises)(piece) } else { one.begins.is_some_and(|begins| begins(piece)) }
        };
        let goes_on = |one: &&&'static Importer| one.goes_on.is_some_and(|goes_on| goes_on(piece));
        if let Some(importer) = tools.iter().find(begins).or(known.iter().find(goes_on)).copied()
            && parts.last().is_none_or(|last| last.importer.tool != importer.tool)
        {
            parts.push(Part { importer, from: at, to: 0 });
            known.retain(|one| one.tool != importer.tool);
            known.insert(0, importer);
        }
    }
    let mut to = text.len();
    for part in parts.iter_mut().rev() {
        part.to = to;
        to = part.from;
    }
    // What stands before is of the first, or of a tool that has no first line of its own.
    let untold = tools.iter().find(|one| one.begins.is_none() && (one.recognises)(&text[..to]));
    match (untold, parts.first_mut()) {
        (Some(importer), _) => parts.insert(0, Part { importer, from: 0, to }),
        (None, Some(first)) => first.from = 0,
        (None, None) => (),
    }
    let is_one = parts.iter().all(|part| part.importer.tool == parts[0].importer.tool);
    if is_one { Vec::new() } else { parts }
}

/// The documents of JSON and the lines between them, with their places.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut spans = json::places(text).into_iter().peekable();
    let (mut at, mut line) = (0, 0);
    std::iter::from_fn(move || {
        let from = at;
        while spans.next_if(|(begin, ..)| *begin < from).is_some() {}
        if line <= from {
            line = from + text[from..].find('\n').map_or(text.len() - from, |line| line + 1);
        }
        // A mark of a launcher's may have left blanks before a document, and an array holds several.
        let is_next = |begin: usize| begin < line && json::is_between(&text[from..begin]);
        // One that breaks off is known by all that follows, which may be of another tool.
        let (begin, end, next) = match spans.next_if(|(begin, ..)| is_next(*begin)) {
            Some((begin, end, is_closed)) => (begin, end, if is_closed { end } else { line }),
            None => (from, line, line),
        };
        at = next;
        (next > from).then(|| (begin, text[begin..end].trim_end()))
    })
}

fn alone(text: &str, parts: &[Part], importer: &Importer) -> String {
    let mut alone = String::with_capacity(text.len());
    for part in parts {
        let written = &text[part.from..part.to];
        if part.importer.tool == importer.tool {
            alone += written;
        } else {
            alone.extend(
                written
                    .chars()
                    .flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8())),
            );
        }
    }
    alone
}
