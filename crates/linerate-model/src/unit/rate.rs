//! A rate in bits a second: decimal units.

use super::grammar::{Dimension, read};
use super::{ParseError, scaled, significant};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Bits a second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct BitRate(pub f64);

/// As they are printed.
const UNITS: [(&str, f64); 5] = [("b/s", 1.0), ("kb/s", 1e3), ("Mb/s", 1e6), ("Gb/s", 1e9), ("Tb/s", 1e12)];

impl FromStr for BitRate {
    type Err = ParseError;

    /// Reads `1Gb/s`, and as other tools write it: `1gbit`, `1Gbps`, and bytes: `125MB/s`. `1G` is refused.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        match read(text, Dimension::Rate)? {
            0.0 => Err(ParseError::new(text, "a rate", "nothing would go".into())),
            rate => Ok(BitRate(rate)),
        }
    }
}

impl BitRate {
    /// Prints with this many significant digits.
    pub fn rounded(self, digits: i32) -> String {
        let (value, unit) = scaled(self.0, &UNITS.map(|(name, factor)| (factor, name)));
        format!("{} {unit}", significant(value, digits))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.rounded(3))
    }
}

#[cfg(test)]
mod tests {
    use super::BitRate;

    #[test]
    fn rates_are_read_and_printed() {
        let cases = [
            ("1Gb/s", 1e9, "1.00 Gb/s"),
            ("100Mbit", 1e8, "100 Mb/s"),
            ("57.12 Gbps", 57.12e9, "57.1 Gb/s"),
            ("1MB/s", 8e6, "8.00 Mb/s"),
            ("200MB/s", 1.6e9, "1.60 Gb/s"),
            ("1MiB/s", 8_388_608.0, "8.39 Mb/s"),
        ];
        for (text, rate, printed) in cases {
            assert_eq!(text.parse(), Ok(BitRate(rate)));
            assert_eq!(BitRate(rate).to_string(), printed);
        }
    }

    #[test]
    fn what_is_not_a_rate_is_refused() {
        for text in ["", "1", "1G", "0Gb/s", "1GiB", "fast", "1mb/s", "1GB", "0"] {
            assert!(text.parse::<BitRate>().is_err(), "{text}");
        }
    }
}
