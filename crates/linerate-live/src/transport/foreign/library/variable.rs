//! What is said to a library by variables.

use crate::unit::Bytes;

/// A knob's value as a variable's: a size as a number of bytes, a switch as 1 or 0.
pub fn value(value: &str) -> String {
    match (value, value.parse::<Bytes>()) {
        ("on", _) => "1".into(),
        ("off", _) => "0".into(),
        (_, Ok(bytes)) => bytes.0.to_string(),
        _ => value.into(),
    }
}

/// `NAME=VALUE NAME=VALUE`, one by one.
pub fn assignments(text: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let words = text.unwrap_or_default().split_ascii_whitespace();
    words.filter_map(|one| one.split_once('=')).map(|(name, value)| (name.into(), value.into()))
}
