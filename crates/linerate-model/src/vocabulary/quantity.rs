//! What other tools measure, and what their numbers are: a mean is never taken for a median.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a number of another tool is a number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Bytes over time.
    Throughput,
    /// Half of the time in which a message goes and comes back.
    HalfRoundTrip,
    /// The whole of it.
    RoundTrip,
    /// Messages over time.
    MessageRate,
    /// Requests that were answered, over time.
    TransactionRate,
    /// The time of one operation that is no round trip: an exchange, a collective.
    OperationTime,
    /// How the delay of datagrams varies (RFC 3550, section 6.4.1, unless the tool says otherwise).
    Jitter,
    /// Datagrams that did not arrive.
    Lost,
    /// Their share.
    LostShare,
    /// Segments that were sent again.
    Retransmits,
    /// CPU time over wall time: 1 is one CPU, unless the tool says that it is all of them.
    CpuShare,
    /// The share of an operation's time in which its caller could compute beside it.
    Overlap,
    /// How wide the interval of the throughput is that the tool gives, as a share of it.
    IntervalWidth,
    /// The throughput of a collective operation times a factor of it and of its ranks, to be held against one link.
    BusThroughput,
}

/// A quantity, in words.
#[derive(Debug)]
pub struct QuantityEntry {
    /// The quantity.
    pub quantity: Quantity,
    /// Its name for readers.
    pub words: &'static str,
    /// The unit that recordings have it in; `1` of a share or a count.
    pub unit: &'static str,
    /// Whether more is better; none where it does not decide anything.
    pub more_is_better: Option<bool>,
}

/// Every quantity.
pub const QUANTITIES: &[QuantityEntry] = &[
    entry(Quantity::Throughput, "throughput", "b/s", Some(true)),
    entry(Quantity::HalfRoundTrip, "half round trip", "ns", Some(false)),
    entry(Quantity::RoundTrip, "round trip", "ns", Some(false)),
    entry(Quantity::MessageRate, "messages", "1/s", Some(true)),
    entry(Quantity::TransactionRate, "transactions", "1/s", Some(true)),
    entry(Quantity::OperationTime, "operation", "ns", Some(false)),
    entry(Quantity::Jitter, "jitter", "ns", None),
    entry(Quantity::Lost, "lost", "1", None),
    entry(Quantity::LostShare, "lost share", "1", None),
    entry(Quantity::Retransmits, "retransmits", "1", None),
    entry(Quantity::CpuShare, "CPU", "1", None),
    entry(Quantity::Overlap, "overlap", "1", Some(true)),
    entry(Quantity::IntervalWidth, "interval width", "1", None),
    entry(Quantity::BusThroughput, "bus throughput", "b/s", Some(true)),
];

const fn entry(
    quantity: Quantity,
    words: &'static str,
    unit: &'static str,
    more_is_better: Option<bool>,
) -> QuantityEntry {
    QuantityEntry { quantity, words, unit, more_is_better }
}

impl Quantity {
    /// Its line in the table.
    pub fn entry(self) -> &'static QuantityEntry {
        // The test below keeps the table whole, and in the order of the variants.
        &QUANTITIES[self as usize]
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().words)
    }
}

/// What a tool's number is of its samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Their mean; of a rate: all of it over all of the time.
    Mean,
    /// Their median.
    Median,
    /// What this many per cent of them do not exceed.
    Percentile(f64),
    /// The least of them.
    Least,
    /// The greatest of them.
    Greatest,
    /// Their standard deviation.
    Deviation,
    /// Their number or their sum.
    Total,
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Mean => f.write_str("mean"),
            Statistic::Median => f.write_str("median"),
            Statistic::Percentile(percent) => write!(f, "p{percent}"),
            Statistic::Least => f.write_str("least"),
            Statistic::Greatest => f.write_str("greatest"),
            Statistic::Deviation => f.write_str("standard deviation"),
            Statistic::Total => f.write_str("total"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_has_its_line() {
        for (place, entry) in QUANTITIES.iter().enumerate() {
            assert_eq!(entry.quantity as usize, place, "{}", entry.words);
        }
        assert_eq!(Quantity::BusThroughput as usize + 1, QUANTITIES.len());
    }

    #[test]
    fn a_statistic_is_called_what_it_is() {
        assert_eq!(Statistic::Percentile(99.9).to_string(), "p99.9");
        assert_eq!(Statistic::Percentile(99.0).to_string(), "p99");
        assert_eq!(Statistic::Mean.to_string(), "mean");
    }
}
