//! A folder's entries as one text of a message of control: a list of ten thousand objects would take either end as long to take apart
//! as to look through the folder.
//!
//! Of each entry `f644 1234 5:a/b.c`: what it is (`d` a folder, `f` a file, `l` a link), its permissions in octal, its bytes or those
//! of a link's target, those of its path, the path, and a link's target. Bytes need be no text: each is the character of its number.

use super::tree::{Entry, Kind, MOST_ENTRIES};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt::Write;

/// Writes them.
pub fn serialize<S: Serializer>(entries: &Option<Vec<Entry>>, to: S) -> Result<S::Ok, S::Error> {
    entries.as_ref().map(|entries| written(entries)).serialize(to)
}

/// Reads what another end has written.
pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Vec<Entry>>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    read(&text).map(Some).ok_or_else(|| D::Error::custom("entries of a folder that cannot be read"))
}

fn written(entries: &[Entry]) -> String {
    let mut text = String::new();
    for Entry { path, mode, kind } in entries {
        let (letter, number, target): (_, _, &[u8]) = match kind {
            Kind::Folder => ('d', 0, &[]),
            Kind::File(bytes) => ('f', *bytes, &[]),
            Kind::Link(target) => ('l', target.len() as u64, target),
        };
        // Writing into a text cannot fail.
        let _ = write!(text, "{letter}{mode:o} {number} {}:", path.len());
        text.extend(path.iter().chain(target).map(|byte| char::from(*byte)));
    }
    text
}

fn read(text: &str) -> Option<Vec<Entry>> {
    let bytes: Option<Vec<u8>> = text.chars().map(|one| u8::try_from(one).ok()).collect();
    let (bytes, mut entries) = (bytes?, Vec::new());
    let mut rest = &bytes[..];
    while let Some((letter, after)) = rest.split_first() {
        if entries.len() > MOST_ENTRIES {
            return None;
        }
        let (mode, after) = number(after, b' ', 8)?;
        let (count, after) = number(after, b' ', 10)?;
        let (length, after) = number(after, b':', 10)?;
        let (path, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
        let (kind, after) = match letter {
            b'd' => (Kind::Folder, after),
            b'f' => (Kind::File(count), after),
            b'l' => {
                let (target, after) = after.split_at_checked(usize::try_from(count).ok()?)?;
                (Kind::Link(target.to_vec()), after)
            }
            _ => return None,
        };
        entries.push(Entry { path: path.to_vec(), mode: u32::try_from(mode).ok()?, kind });
        rest = after;
    }
    Some(entries)
}

/// The digits before an ending, and what is behind it.
fn number(bytes: &[u8], ending: u8, radix: u32) -> Option<(u64, &[u8])> {
    let at = bytes.iter().take(24).position(|byte| *byte == ending)?;
    let digits = std::str::from_utf8(&bytes[..at]).ok()?;
    Some((u64::from_str_radix(digits, radix).ok()?, &bytes[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Message(#[serde(with = "super")] Option<Vec<Entry>>);

    fn parsed(text: &str) -> Result<Message, serde_json::Error> {
        serde_json::from_str(text)
    }

    proptest! {
        #[test]
        fn entries_come_as_they_went(paths: Vec<(Vec<u8>, u32, u64)>, target: Vec<u8>) {
            let file = |(path, mode, bytes)| Entry { path, mode, kind: Kind::File(bytes) };
            let mut entries: Vec<Entry> = paths.into_iter().map(file).collect();
            entries.push(Entry { path: b"link".to_vec(), mode: 0o777, kind: Kind::Link(target) });
            entries.push(Entry { path: b"in".to_vec(), mode: 0o755, kind: Kind::Folder });
            let went = Message(Some(entries));
            prop_assert_eq!(parsed(&serde_json::to_string(&went).unwrap()).unwrap(), went);
        }

        #[test]
        fn any_text_is_read_or_refused(text: String, digits in "[dfl][0-7]{0,12} [0-9]{0,22} [0-9]:.{0,9}") {
            for text in [text, digits] {
                if let Some(entries) = read(&text) {
                    prop_assert_eq!(read(&written(&entries)), Some(entries));
                }
            }
        }
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        assert_eq!(parsed("null").unwrap(), Message(None));
        assert_eq!(parsed("\"\"").unwrap(), Message(Some(Vec::new())));
        // A letter is a byte there, whatever it takes in UTF-8.
        assert!(parsed("\"f644 1 1:é\"").is_ok());
        for text in
            ["f644 12 5:a/b.", "f644 12", "l777 9 1:ab", "f9 1 1:a", "x644 1 1:a", "f644 1 1:a\u{100}"]
        {
            assert!(parsed(&format!("\"{text}\"")).is_err(), "{text}");
        }
    }
}
