//! Facts by table: a name, and how it is read. What cannot be read is null.

use serde_json::{Number, Value, json};
use std::collections::BTreeMap;

/// Facts by name.
pub(super) type Facts = BTreeMap<String, Value>;

/// A fact: its name, and how it is read.
pub(super) type Fact = (&'static str, Source);

/// How a fact is read.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// A whole file: a number, numbers or text.
    File(&'static str),
    /// A whole file that is text even if it looks like a number.
    Text(&'static str),
    /// The value after the first of these words that begins a line of a file.
    Key(&'static str, &'static [&'static str]),
    /// The size after a word of `/proc/meminfo`, in bytes.
    Memory(&'static str),
    /// The number at this place of a file.
    Number(&'static str, usize),
    /// The word in brackets of a file that lists all the words possible.
    Chosen(&'static str),
    /// The words of a file.
    Words(&'static str),
    /// Anything else.
    Call(fn() -> Value),
}

/// A share with six decimals: more digits would say nothing, and might not survive being read back.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The longest text that is kept of one fact.
const LONGEST: usize = 1024;

/// Reads a table.
pub(super) fn read(table: &[Fact]) -> Facts {
    let mut last = ("", None);
    table.iter().map(|(name, source)| ((*name).to_owned(), source.read(&mut last))).collect()
}

impl Source {
    /// Reads one fact. The last file is kept: neighbours in a table often come from the same one.
    fn read(self, last: &mut (&'static str, Option<String>)) -> Value {
        let mut keyed = |path, keys: &[&str]| {
            if last.0 != path {
                *last = (path, text(path));
            }
            last.1.as_deref().and_then(|text| value_of(text, keys)).map(str::to_owned)
        };
        match self {
            Source::File(path) => file(path),
            Source::Text(path) => text(path).map(|text| shortened(&text)).into(),
            Source::Key(path, keys) => keyed(path, keys).map_or(Value::Null, |text| scalar(&text)),
            Source::Memory(key) => keyed("/proc/meminfo", &[key]).and_then(|text| bytes(&text)).into(),
            Source::Number(path, at) => text(path).and_then(|text| number(&text, at)).into(),
            Source::Chosen(path) => text(path).as_deref().and_then(chosen).map_or(Value::Null, scalar),
            Source::Words(path) => text(path).map_or(Value::Null, |text| words(&text)),
            Source::Call(read) => read(),
        }
    }
}

/// A file's content without blanks around it; none if it cannot be read.
pub(super) fn text(path: &str) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    // Text of firmware tables ends with zeroes.
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
}

/// A file as a value.
pub(super) fn file(path: &str) -> Value {
    text(path).map_or(Value::Null, |text| scalar(&text))
}

/// A number if it is one, a list if it is several, otherwise text.
pub(super) fn scalar(text: &str) -> Value {
    let numbers: Option<Vec<Number>> = text.split_ascii_whitespace().map(decimal).collect();
    match numbers.as_deref() {
        Some([number]) => json!(number),
        Some(numbers @ [_, _, ..]) => json!(numbers),
        _ => Value::String(shortened(text.trim())),
    }
}

/// A number in plain decimal digits.
fn decimal(word: &str) -> Option<Number> {
    if !word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.')) {
        return None;
    }
    word.parse::<i64>().map(Number::from).ok().or_else(|| {
        let fraction = word.contains('.').then(|| word.parse().ok())?;
        Number::from_f64(fraction?)
    })
}

/// The text up to the length that is kept.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The words of a text, as a list.
pub(super) fn words(text: &str) -> Value {
    shortened(text).split_ascii_whitespace().collect()
}

/// The size of `100 kB` in bytes; a number without a unit is a count.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix("kB") {
        Some(number) => (number, 1024),
        None => (text, 1),
    };
    number.trim().parse::<u64>().ok()?.checked_mul(unit)
}

/// The number at this place of a text.
fn number(text: &str, at: usize) -> Option<f64> {
    text.split_ascii_whitespace().nth(at)?.parse().ok()
}

/// The value after the first of `keys` that begins a line: `key : value` or `key=value`.
pub(super) fn value_of<'t>(text: &'t str, keys: &[&str]) -> Option<&'t str> {
    let after = |key: &str| {
        text.lines().find_map(|line| {
            let value = line.strip_prefix(key)?.trim_start().strip_prefix([':', '='])?;
            Some(value.trim().trim_matches('"')).filter(|value| !value.is_empty())
        })
    };
    keys.iter().find_map(|key| after(key))
}

/// The word in brackets: `always [madvise] never`, or `none (full)` in the scheduler's files.
pub(super) fn chosen(text: &str) -> Option<&str> {
    let inside = |open, close| {
        let (_, rest) = text.split_once(open)?;
        rest.split_once(close).map(|(word, _)| word)
    };
    inside('[', ']').or_else(|| inside('(', ')'))
}

/// The names in a directory, sorted; numbers at their ends are sorted as numbers.
pub(super) fn entries(path: &str) -> Vec<String> {
    let Ok(directory) = std::fs::read_dir(path) else { return Vec::new() };
    let names = directory.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort_by_cached_key(|name| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        (stem.to_owned(), name[stem.len()..].parse::<u64>().unwrap_or(0))
    });
    names
}

/// The numbers of a list such as `0-3,8`; nothing of a list that is not one.
pub(super) fn numbers(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        (last.checked_sub(first)? < 65_536).then_some(first..=last)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_the_simplest_value() {
        let cases = [
            ("212992\n", json!(212_992)),
            ("4096\t131072\t6291456", json!([4096, 131_072, 6_291_456])),
            ("-1", json!(-1)),
            ("2000.125", json!(2000.125)),
            ("1.0.0", json!("1.0.0")),
            ("0x1f", json!("0x1f")),
            ("inf", json!("inf")),
            ("reno cubic", json!("reno cubic")),
            ("0-3", json!("0-3")),
            ("99999999999999999999", json!("99999999999999999999")),
            ("", json!("")),
        ];
        for (text, value) in cases {
            assert_eq!(scalar(text), value, "{text}");
        }
        assert_eq!(shortened(&"ä".repeat(2000)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn keys_are_whole_words_at_the_beginning() {
        let text = "model name\t: A CPU\nmodel\t\t: 143\nMemTotal:   100 kB\nPRETTY_NAME=\"Debian 12\"\nempty :\nbare 7\n:\n=\n";
        let cases = [
            ("model name", Some("A CPU")),
            ("model", Some("143")),
            ("MemTotal", Some("100 kB")),
            ("PRETTY_NAME", Some("Debian 12")),
            ("bare", None),
            ("Mem", None),
            ("name", None),
            ("empty", None),
        ];
        for (key, value) in cases {
            assert_eq!(value_of(text, &[key]), value, "{key}");
        }
        assert_eq!(value_of(text, &["none", "model"]), Some("143"));
        assert_eq!(value_of("", &["model"]), None);
    }

    #[test]
    fn sizes_and_numbers_are_read_in_their_units() {
        assert_eq!(bytes("100 kB"), Some(102_400));
        assert_eq!(bytes("3"), Some(3));
        assert_eq!((bytes("kB"), bytes("-1 kB"), bytes("18446744073709551615 kB")), (None, None, None));
        assert_eq!(number("0.5 2/300 7\n", 0), Some(0.5));
        assert_eq!((number("0.5 2/300 7", 1), number("0.5", 3), number("", 0)), (None, None, None));
    }

    #[test]
    fn the_chosen_word_is_in_brackets_of_either_kind() {
        let cases = [
            ("always [madvise] never", Some("madvise")),
            ("none voluntary (full)", Some("full")),
            ("always", None),
            ("always [mad", None),
            ("] [", None),
        ];
        for (text, word) in cases {
            assert_eq!(chosen(text), word, "{text}");
        }
    }

    #[test]
    fn lists_of_numbers_are_read_and_nonsense_is_not() {
        assert_eq!(numbers("0-2,8,10-11\n"), [0, 1, 2, 8, 10, 11]);
        for nonsense in ["", "x", "3-1", "0-4294967295", "-", "1-"] {
            assert!(numbers(nonsense).is_empty(), "{nonsense}");
        }
    }

    #[test]
    fn what_is_not_there_is_null() {
        const TABLE: &[Fact] = &[
            ("file", Source::File("/none/such")),
            ("key", Source::Key("/none/such", &["key"])),
            ("number", Source::Number("/none/such", 0)),
            ("memory", Source::Memory("NoneSuch")),
            ("chosen", Source::Chosen("/none/such")),
            ("words", Source::Words("/none/such")),
            ("text", Source::Text("/none/such")),
            ("call", Source::Call(|| Value::Null)),
        ];
        let facts = read(TABLE);
        assert_eq!(facts.len(), TABLE.len());
        assert!(facts.values().all(Value::is_null), "{facts:?}");
    }
}
