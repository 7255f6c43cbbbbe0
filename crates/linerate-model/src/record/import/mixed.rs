//! What several tools wrote into one file, one after the other, as the log of a script does: whose each part is, and what
//! of it nobody reads.

use super::importer::{IMPORTERS, Importer, importer};
use super::{Read, json, own};
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

/// Who wrote the texts of a file, of those that are to be read, and what is not read of it: a text a name, where lines of
/// several are mixed.
pub(super) fn tellers<'t>(
    voices: &'t [(Option<String>, Cow<'t, str>)],
    tool: Option<&str>,
    doubts: &mut Vec<String>,
) -> Read<Vec<Teller<'t>>> {
    let mut all = Vec::new();
    let mut refusal = None;
    for (name, text) in voices {
        match of_text(text, tool, doubts) {
            Ok(tellers) => {
                all.extend(tellers.into_iter().map(|teller| Teller { name: name.as_deref(), ..teller }))
            }
            Err(refused) => {
                let of = name.as_deref().unwrap_or_default();
                doubts.push(format!("the lines of {of} are left out: {}", refused.what));
                refusal = refusal.or(Some(refused));
            }
        }
    }
    match refusal {
        Some(refusal) if all.is_empty() => Err(refusal),
        _ => Ok(all),
    }
}

fn of_text<'t>(text: &'t str, tool: Option<&str>, doubts: &mut Vec<String>) -> Read<Vec<Teller<'t>>> {
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
        doubts.extend(parts.iter().filter(|part| part.importer.tool != first.tool).map(|part| {
            let line = |at: usize| text[..at].bytes().filter(|byte| *byte == b'\n').count();
            let (from, to) = (line(part.from) + 1, line(part.to).max(line(part.from) + 1));
            let other = part.importer.tool;
            format!("lines {from} to {to} are of {other}, and not read: --tool names {}", first.tool)
        }));
        return Ok(vec![alone(first)]);
    }
    doubts.extend(own::beside(text));
    let mut importers: Vec<&'static Importer> = parts.iter().map(|part| part.importer).collect();
    importers.sort_by_key(|one| one.tool);
    importers.dedup_by_key(|one| one.tool);
    if importers.is_empty() {
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
    for (at, piece) in pieces(text) {
        let is_json = piece.starts_with('{');
        let begins = |one: &&&'static Importer| {
            if is_json { (one.recognises)(piece) } else { one.begins.is_some_and(|begins| begins(piece)) }
        };
        if let Some(importer) = tools.iter().find(begins)
            && parts.last().is_none_or(|last| last.importer.tool != importer.tool)
        {
            parts.push(Part { importer, from: at, to: 0 });
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
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at;
        while spans.next_if(|(begin, ..)| *begin < from).is_some() {}
        let line = from + text[from..].find('\n').map_or(text.len() - from, |line| line + 1);
        // One that breaks off is known by all that follows, which may be of another tool.
        let (end, next) = match spans.next_if(|(begin, ..)| *begin == from) {
            Some((_, end, is_closed)) => (end, if is_closed { end } else { line }),
            None => (line, line),
        };
        at = next;
        (next > from).then(|| (from, text[from..end].trim_end()))
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
