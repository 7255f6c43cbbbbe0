//! The ports that ends may listen on.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Ports from one to another, written `5201-5210`, or one, written `5201`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PortRange {
    first: u16,
    last: u16,
}

/// What is no range of ports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoPorts(String);

impl PortRange {
    /// Each port.
    pub fn iter(self) -> RangeInclusive<u16> {
        self.first..=self.last
    }

    /// Whether it is one port only.
    pub fn is_single(self) -> bool {
        self.first == self.last
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_single() {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

impl FromStr for PortRange {
    type Err = NoPorts;

    fn from_str(text: &str) -> Result<PortRange, NoPorts> {
        let shown: String = text.chars().take(40).collect();
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| match text.trim().parse::<u16>() {
            Ok(port @ 1..) => Ok(port),
            _ => Err(NoPorts(format!("`{shown}` names no ports from 1 to 65535"))),
        };
        let (first, last) = (port(first)?, port(last)?);
        match first <= last {
            true => Ok(PortRange { first, last }),
            false => Err(NoPorts(format!("`{shown}` ends before it begins"))),
        }
    }
}

impl TryFrom<String> for PortRange {
    type Error = NoPorts;

    fn try_from(text: String) -> Result<PortRange, NoPorts> {
        text.parse()
    }
}

impl From<PortRange> for String {
    fn from(ports: PortRange) -> String {
        ports.to_string()
    }
}

impl JsonSchema for PortRange {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PortRange".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_and_printed() {
        for (text, printed, count) in [("5201", "5201", 1), ("5201-5210", "5201-5210", 10), ("7-7", "7", 1)] {
            let ports: PortRange = text.parse().unwrap();
            assert_eq!((ports.to_string().as_str(), ports.iter().count()), (printed, count));
        }
        for text in
            ["", "0", "65536", "-1", "5210-5201", "5201-", "5201:5210", "http", "1-0", "5201-5202-5203"]
        {
            assert!(text.parse::<PortRange>().is_err(), "{text}");
        }
    }
}
