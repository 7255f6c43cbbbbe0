//! What decides a comparison of arms: numbers, each with the patterns that show it.

use crate::vocabulary::{self, Pattern, metric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What decides a comparison of arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The receiver's bytes over the receiver's clock.
    Throughput,
    /// Half of the median round trip of a small message.
    Latency,
    /// The median round of a monitor.
    RoundTime,
    /// The median time of a pipeline's unit of work.
    UnitTime,
    /// Units of work of a pipeline in a second.
    UnitRate,
    /// What all clients of a file in stripes read or wrote in a second.
    StripedThroughput,
}

/// What decides, in the table.
pub struct MetricEntry {
    /// The value that plans and records carry.
    pub metric: Metric,
    /// Its name there.
    pub name: &'static str,
    /// The number that it stands for.
    pub number: &'static vocabulary::Metric,
    /// The patterns that show it. The first metric of a pattern decides where nobody says which.
    pub patterns: &'static [Pattern],
}

/// Patterns of a file in stripes.
const STRIPED: &[Pattern] =
    &[Pattern::StripedRead, Pattern::StripedWrite, Pattern::TiledRead, Pattern::TiledWrite];

/// Everything that arms are compared by.
pub const COMPARED_BY: &[MetricEntry] = &[
    MetricEntry {
        metric: Metric::Throughput,
        name: "throughput",
        number: &metric::THROUGHPUT,
        patterns: &[Pattern::Stream],
    },
    MetricEntry {
        metric: Metric::Latency,
        name: "latency",
        number: &metric::HALF_ROUND_TRIP,
        patterns: &[Pattern::PingPong],
    },
    MetricEntry {
        metric: Metric::RoundTime,
        name: "round-time",
        number: &metric::ROUND_TIME,
        patterns: &[Pattern::Monitor],
    },
    MetricEntry {
        metric: Metric::UnitTime,
        name: "unit-time",
        number: &metric::UNIT_TIME,
        patterns: &[Pattern::Pipeline],
    },
    MetricEntry {
        metric: Metric::UnitRate,
        name: "unit-rate",
        number: &metric::UNIT_RATE,
        patterns: &[Pattern::Pipeline],
    },
    MetricEntry {
        metric: Metric::StripedThroughput,
        name: "striped-throughput",
        number: &metric::STRIPED_THROUGHPUT,
        patterns: STRIPED,
    },
];

// A metric that has no entry, or not its own, is not compiled.
const _: () = {
    let mut at = 0;
    while at < COMPARED_BY.len() {
        assert!(COMPARED_BY[at].metric as usize == at && !COMPARED_BY[at].patterns.is_empty());
        at += 1;
    }
    assert!(at == Metric::StripedThroughput as usize + 1);
};

impl Metric {
    /// Its entry.
    pub const fn entry(self) -> &'static MetricEntry {
        &COMPARED_BY[self as usize]
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Metric> {
        COMPARED_BY.iter().find(|entry| entry.name == name).map(|entry| entry.metric)
    }

    /// Those that a pattern shows, the usual one first.
    pub fn of_pattern(pattern: Pattern) -> impl Iterator<Item = Metric> {
        COMPARED_BY.iter().filter(move |entry| entry.patterns.contains(&pattern)).map(|entry| entry.metric)
    }

    /// The pattern of a rung that shows it.
    pub fn shown_by(self) -> Pattern {
        self.entry().patterns[0]
    }

    /// The number that it stands for.
    pub fn number(self) -> &'static vocabulary::Metric {
        self.entry().number
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.entry().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_records_carry() {
        for entry in COMPARED_BY {
            let written = serde_json::to_value(entry.metric).unwrap();
            assert_eq!((written.as_str(), Metric::named(entry.name)), (Some(entry.name), Some(entry.metric)));
            assert!(entry.number.margin.is_some(), "{}: it is watched where another one decides", entry.name);
        }
        assert_eq!(Metric::of_pattern(Pattern::Pipeline).next(), Some(Metric::UnitTime));
    }
}
