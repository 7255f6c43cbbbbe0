//! What cells are judged by: the rate, the round trip, and the part of the segments that is sent again.
//!
//! Each is taken on a scale on which more is better and noise is alike everywhere: rates and round trips on logarithms, a part on
//! the arcsine of its root (Anscombe, *Biometrika* 35, 1948).

use super::part::Budget;
use crate::vocabulary::Pattern;

/// What is measured of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CellMetric {
    /// The rate of a stream.
    Throughput,
    /// The round trip of a small message: of two hosts, not of a direction.
    RoundTrip,
    /// The part of a stream's segments that its sender's kernel sent again.
    RetransmitShare,
}

/// What fresh trials carry: of a stream two things are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Carries {
    /// A stream.
    Streams,
    /// Small messages, there and back.
    RoundTrips,
}

impl Carries {
    /// Both, in the order in which they are looked into.
    pub const ALL: [Carries; 2] = [Carries::Streams, Carries::RoundTrips];

    /// What is judged by them.
    pub fn metrics(self) -> impl Iterator<Item = CellMetric> {
        CellMetric::ALL.into_iter().filter(move |metric| metric.carried_by() == self)
    }

    /// What a pattern carries.
    pub fn of_pattern(pattern: Pattern) -> Carries {
        if pattern.is_exchange() { Carries::RoundTrips } else { Carries::Streams }
    }
}

/// How a metric is judged.
struct Judging {
    metric: CellMetric,
    name: &'static str,
    carried_by: Carries,
    /// Less than this on the metric's scale is nobody's fault, whatever the noise.
    least: f64,
    /// What it must come to in fresh trials, as it is told: a host or a group, and a link, which is two hosts and itself.
    margins: [f64; 2],
    /// Hosts, links and groups that are looked at again, the worst first; by round trips a group is far, and that is taken out.
    most: [usize; 3],
}

/// 3 % and 5 % as logarithms, and a quarter of a per cent of all segments on its scale: less is a stray one of some hundred.
const THREE_PERCENT: f64 = 0.030_459_207_484_708_574;
const FIVE_PERCENT: f64 = 0.048_790_164_169_432_0;
const QUARTER_PERCENT: f64 = 0.100_041_708;

const METRICS: &[Judging] = &[
    Judging {
        metric: CellMetric::Throughput,
        name: "throughput",
        carried_by: Carries::Streams,
        least: THREE_PERCENT,
        margins: [THREE_PERCENT, 2.0 * THREE_PERCENT],
        most: [8, 8, 2],
    },
    // What wakes a host differs by some per cent from host to host where nothing is wrong.
    Judging {
        metric: CellMetric::RoundTrip,
        name: "round-trip",
        carried_by: Carries::RoundTrips,
        least: FIVE_PERCENT,
        margins: [FIVE_PERCENT, 2.0 * FIVE_PERCENT],
        most: [8, 4, 8],
    },
    Judging {
        metric: CellMetric::RetransmitShare,
        name: "retransmit-share",
        carried_by: Carries::Streams,
        least: QUARTER_PERCENT,
        margins: [0.002_5, 0.002_5],
        most: [4, 4, 1],
    },
];

impl CellMetric {
    /// Every one, that of streams' rates first.
    pub const ALL: [CellMetric; 3] =
        [CellMetric::Throughput, CellMetric::RoundTrip, CellMetric::RetransmitShare];

    fn row(self) -> &'static Judging {
        METRICS.iter().find(|row| row.metric == self).unwrap_or(&METRICS[0])
    }

    /// As it is written, by the vocabulary's word.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What its trials carry.
    pub fn carried_by(self) -> Carries {
        self.row().carried_by
    }

    /// Whether a trial tells of both directions of its pair as one.
    pub fn is_of_both_ways(self) -> bool {
        self.carried_by() == Carries::RoundTrips
    }

    /// Less than this is nobody's fault, on the scale of cells.
    pub fn least(self) -> f64 {
        self.row().least
    }

    /// How far fresh trials must be from the others, as it is told.
    pub fn margin(self, budget: Budget) -> f64 {
        self.row().margins[usize::from(budget == Budget::Links)]
    }

    /// How many hosts, links and groups are looked at again.
    pub fn most(self) -> [usize; 3] {
        self.row().most
    }

    /// Whether what shows only while others send is somebody's fault: a queue that many share overflows for all of them.
    pub fn is_told_under_load(self) -> bool {
        self != CellMetric::RetransmitShare
    }

    /// Whether who stands apart in the screening, and was not looked at again, may be slow: in most trials nothing is sent again, so
    /// that noise is taken for less than it is and what stands apart is mostly chance.
    pub fn is_told_of_one_trial(self) -> bool {
        self != CellMetric::RetransmitShare
    }

    /// From the scale of cells to what is told: a logarithm stays one, a part becomes one again, below zero.
    pub fn reported(self, value: f64) -> f64 {
        match self {
            CellMetric::Throughput | CellMetric::RoundTrip => value,
            CellMetric::RetransmitShare => -(value.min(0.0) / 2.0).sin().powi(2),
        }
    }
}

/// A part of all on its scale, where more is better.
pub fn of_share(share: f64) -> f64 {
    -2.0 * share.clamp(0.0, 1.0).sqrt().asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_comes_back_from_its_scale() {
        for share in [0.0, 0.001, 0.02, 0.5, 1.0] {
            assert!((CellMetric::RetransmitShare.reported(of_share(share)) + share).abs() < 1e-12);
        }
        assert!((of_share(0.0025) + QUARTER_PERCENT).abs() < 1e-6);
        assert!((FIVE_PERCENT - 1.05f64.ln()).abs() < 1e-12 && (THREE_PERCENT + 0.97f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn of_a_stream_two_things_are_known() {
        let of = |carries: Carries| carries.metrics().map(CellMetric::name).collect::<Vec<_>>();
        assert_eq!(of(Carries::Streams), ["throughput", "retransmit-share"]);
        assert_eq!(of(Carries::RoundTrips), ["round-trip"]);
    }
}
