//! Where documents begin and end in a text, before a parser sees them.

use std::borrow::Cow;

/// A document's place, and whether its end is there.
pub(crate) struct Span {
    pub from: usize,
    pub to: usize,
    pub is_closed: bool,
}

/// The most documents that are looked for.
const MOST: usize = 1 << 17;

/// How a line of a stream of events begins: where one does, the document before it broke off.
const EVENT: &str = "{\"event\"";

/// The documents of a text. Each begins a line, or follows the one before; it is as long as its brackets.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut at = 0;
    while spans.len() < MOST
        && let Some(from) = begin(text, at)
    {
        let (to, is_closed) = end(&text[from..]);
        let to = from + to;
        spans.push(Span { from, to, is_closed });
        at = to;
    }
    spans
}

/// What may stand before a document, in its line: blanks, and what holds several together in an array.
pub(crate) fn is_between(char: char) -> bool {
    char.is_whitespace() || "[,]".contains(char)
}

/// The next `{` that only such are before, in its line or since the last document.
fn begin(text: &str, at: usize) -> Option<usize> {
    let mut line = at;
    while line < text.len() {
        let rest = &text[line..];
        let blank = rest.len() - rest.trim_start_matches(is_between).len();
        if rest[blank..].starts_with('{') {
            return Some(line + blank);
        }
        line += blank;
        line += text[line..].find('\n')? + 1;
    }
    None
}

/// The length of the document that a text begins with, and whether its end is there.
fn end(text: &str) -> (usize, bool) {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            // No string of JSON has a line's end in it: a quote was lost.
            b'\n' => {
                (in_string, escaped) = (false, false);
                if text[at + 1..].starts_with(EVENT) {
                    return (at + 1, false);
                }
            }
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => (),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (at + 1, true);
                }
            }
            _ => (),
        }
    }
    (text.len(), false)
}

/// A text with `null` for every word that C prints for a number that is none, and how many there were.
pub(crate) struct Plain<'t> {
    pub text: Cow<'t, str>,
    pub none: usize,
}

pub(crate) fn plain(text: &str) -> Plain<'_> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.#_()".contains(&byte);
    let bytes = text.as_bytes();
    let (mut made, mut from, mut none) = (String::new(), 0, 0);
    let (mut at, mut in_string) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'\n' => in_string = false,
            byte if !in_string && is_word(byte) => {
                let end = at + bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
                if is_none(&text[at..end]) {
                    made += &text[from..at];
                    made += "null";
                    (from, none) = (end, none + 1);
                }
                at = end;
                continue;
            }
            _ => (),
        }
        at += 1;
    }
    if none == 0 {
        return Plain { text: text.into(), none };
    }
    Plain { text: (made + &text[from..]).into(), none }
}

/// `nan`, `-nan`, `NaN`, `-nan(ind)`, `inf`, `Infinity`, `1.#QNAN`, and what is greater than a number can be.
fn is_none(word: &str) -> bool {
    let may_be_beyond = word.contains(['e', 'E']) || word.len() > 300;
    if may_be_beyond && word.parse::<f64>().is_ok_and(f64::is_infinite) {
        return true;
    }
    let word = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
    word.starts_with("nan") || word.starts_with("inf") || word.starts_with("1.#")
}

/// A document that breaks off, up to its last whole value, with the brackets closed that are open there.
pub(crate) fn closed_up(text: &str) -> String {
    let mut open = Vec::new();
    let (mut whole, mut depth) = (0, 0);
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => (),
            b'{' | b'[' => {
                open.push(if byte == b'{' { '}' } else { ']' });
                (whole, depth) = (at + 1, open.len());
            }
            b'}' | b']' => {
                open.pop();
                (whole, depth) = (at + 1, open.len());
            }
            b',' => (whole, depth) = (at, open.len()),
            _ => (),
        }
    }
    let closing = open[..depth.min(open.len())].iter().rev();
    text[..whole].chars().chain(closing.copied()).collect()
}
