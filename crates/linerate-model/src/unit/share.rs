//! A share of one: per cent out, per cent or a plain number in.

use super::grammar::{Dimension, read};
use super::{ParseError, percent};
use std::{fmt, str::FromStr};

/// A share of one: 0.02 is 2 %.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        read(text, Dimension::Share).map(Share)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&percent(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn shares_are_read_as_they_are_printed() {
        for (text, share) in [("1%", 0.01), ("1 %", 0.01), ("0.02", 0.02), ("±12 %", 0.12), ("~50 %", 0.5)] {
            assert_eq!(text.parse(), Ok(Share(share)), "{text}");
        }
        assert_eq!(Share(0.5).to_string(), "50 %");
        assert!("5 percent".parse::<Share>().is_err());
    }
}
