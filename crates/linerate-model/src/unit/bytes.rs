//! A size in bytes: binary units out, both kinds in.

use super::{ParseError, split};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A number of bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u64); 9] = [
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

impl FromStr for Bytes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError { found: text.into(), wanted: "a size (try 64KiB, 1MB or 1500)" };
        let (number, unit) = split(text).ok_or_else(error)?;
        let unit = unit.to_ascii_lowercase();
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(error)?;
        let bytes = number * *factor as f64;
        if bytes.fract() != 0.0 || bytes > (1u64 << 53) as f64 {
            return Err(error());
        }
        Ok(Bytes(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    /// Exact: the largest binary unit that divides the size, so that 65537 stays `65537 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
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
        let cases = [("64KiB", 65536, "64 KiB"), ("1500", 1500, "1500 B"), ("1 MB", 1_000_000, "1000000 B")];
        for (text, bytes, printed) in cases {
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
            assert_eq!(Bytes(bytes).to_string(), printed);
            assert_eq!(printed.parse(), Ok(Bytes(bytes)));
        }
    }

    #[test]
    fn what_is_not_a_size_is_refused() {
        for text in ["", "KiB", "1.5", "-1", "10 parsecs", "1Gb/s", "99999999TiB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
