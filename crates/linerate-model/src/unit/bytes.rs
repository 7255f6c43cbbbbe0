//! A size in bytes: binary units out, both kinds in.

use super::ParseError;
use super::grammar::{Dimension, read};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A number of bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// Beyond, not every whole number has a floating-point one.
const MOST: f64 = (1u64 << 53) as f64;

impl FromStr for Bytes {
    type Err = ParseError;

    /// What is written in larger units may have been rounded, as in a report, and is the nearest whole number.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let bytes = read(text, Dimension::Size)?;
        let fail = |why: &str| Err(ParseError::new(text, "a size", why.into()));
        if bytes > MOST {
            return fail("it is too large");
        }
        let in_bytes =
            text.trim_end().trim_end_matches('B').ends_with(|c: char| c.is_ascii_digit() || c == ' ');
        if bytes.fract() != 0.0 && in_bytes {
            return fail("bytes are whole");
        }
        Ok(Bytes(bytes.round() as u64))
    }
}

impl fmt::Display for Bytes {
    /// Exact: the largest binary unit that divides the size, else a decimal one, so that 65537 stays `65537 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        let steps = [&binary[..], &[("GB", 1_000_000_000), ("MB", 1_000_000)]].concat();
        let text = match steps.iter().find(|(_, step)| self.0 >= *step && self.0.is_multiple_of(*step)) {
            Some((name, step)) => format!("{} {name}", self.0 / step),
            None => format!("{} B", self.0),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn sizes_are_read_and_printed() {
        let cases = [
            ("64KiB", 65536, "64 KiB"),
            ("1500", 1500, "1500 B"),
            ("1 MB", 1_000_000, "1 MB"),
            ("1000 MB", 1_000_000_000, "1 GB"),
            ("1001000 B", 1_001_000, "1001000 B"),
            ("1.25 GiB", 5 << 28, "1280 MiB"),
            ("0.1KiB", 102, "102 B"),
        ];
        for (text, bytes, printed) in cases {
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
            assert_eq!(Bytes(bytes).to_string(), printed);
            assert_eq!(printed.parse(), Ok(Bytes(bytes)));
        }
    }

    #[test]
    fn what_is_not_a_size_is_refused() {
        for text in ["", "KiB", "1.5", "-1", "10 parsecs", "1Gb/s", "99999999TiB", "1.5 B", "64b", "64kb"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
