//! A duration in nanoseconds.

use super::grammar::{Dimension, read};
use super::{ParseError, scaled, significant};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr, time::Duration};

/// A duration, or a difference of two durations, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Nanoseconds(pub f64);

impl From<Nanoseconds> for Duration {
    fn from(value: Nanoseconds) -> Duration {
        Duration::from_nanos(value.0.max(0.0) as u64)
    }
}

impl FromStr for Nanoseconds {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        read(text, Dimension::Time).map(Nanoseconds)
    }
}

impl Nanoseconds {
    /// Prints with this many significant digits.
    pub fn rounded(self, digits: i32) -> String {
        let steps = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
        let (value, unit) = scaled(self.0, &steps);
        format!("{} {unit}", significant(value, digits))
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.rounded(3))
    }
}

#[cfg(test)]
mod tests {
    use super::Nanoseconds;

    #[test]
    fn durations_are_read_and_printed() {
        let cases = [("10ms", 1e7, "10.0 ms"), ("2.5min", 150e9, "150 s"), ("2610ns", 2610.0, "2.61 µs")];
        for (text, nanoseconds, printed) in cases {
            assert_eq!(text.parse(), Ok(Nanoseconds(nanoseconds)));
            assert_eq!(Nanoseconds(nanoseconds).to_string(), printed);
        }
        assert_eq!(Nanoseconds(0.05).to_string(), "0.0500 ns");
    }
}
