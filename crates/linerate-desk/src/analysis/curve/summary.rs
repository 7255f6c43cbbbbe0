//! A curve in a few numbers.

use super::Curve;
use crate::statistic::{Estimate, median};
use crate::vocabulary::Rung;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a curve comes to: Hockney's two parameters and where the throughput stands between them.
/// Hockney, The communication challenge for MPP, Parallel Computing 20(3), 1994.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The time of a message of no bytes: the constant of the first line.
    pub alpha_ns: Option<f64>,
    /// The time of each further byte of the largest messages: the slope of the last line.
    #[serde(rename = "ns_per_byte")]
    pub beta: Option<f64>,
    /// The throughput that `beta` would reach without end.
    pub r_infinity_bps: Option<f64>,
    /// The smallest measured size that reaches half of it.
    pub n_half_bytes: Option<u64>,
    /// The smallest measured size that reaches nine tenths of the peak.
    pub s90_bytes: Option<u64>,
    /// The largest median of all sizes. The best of many is too good by chance: it is biased upward.
    pub peak_bps: Option<f64>,
    /// The size of the peak.
    pub peak_bytes: Option<u64>,
    /// The median over the last two octaves.
    pub tail_bps: Option<f64>,
    /// The area under throughput against the logarithm of size, as a share of the layer below's.
    pub area: Option<f64>,
}

/// The tail: sizes from this share of the largest one on, two octaves.
const TAIL: u64 = 4;

type Rates = Vec<(u64, f64)>;

pub(super) fn summary(curve: &Curve, curves: &[Curve]) -> Summary {
    let rates = rates(curve);
    let peak = rates.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let beta = curve.segments.last().map(|segment| segment.line.slope).filter(|slope| *slope > 0.0);
    let r_infinity_bps = beta.map(|beta| 8e9 / beta);
    let reaches = |wanted: f64| Some(rates.iter().find(|(_, rate)| *rate >= wanted)?.0);
    let last = rates.last().map_or(0, |(size, _)| *size);
    Summary {
        alpha_ns: curve.segments.first().map(|segment| segment.line.constant),
        beta,
        r_infinity_bps,
        n_half_bytes: r_infinity_bps.and_then(|rate| reaches(rate / 2.0)),
        s90_bytes: peak.and_then(|(_, rate)| reaches(0.9 * rate)),
        peak_bps: peak.map(|(_, rate)| *rate),
        peak_bytes: peak.map(|(size, _)| *size),
        tail_bps: median(rates.iter().filter(|(size, _)| *size >= last / TAIL).map(|(_, rate)| *rate)),
        area: below(curve, curves).and_then(|below| area(&rates, &self::rates(below))),
    }
}

fn rates(curve: &Curve) -> Rates {
    let rate = |point: &super::Point| point.estimate(|values| values.throughput_bps);
    let median = |estimate: Estimate| estimate.median;
    curve.points.iter().filter_map(|point| Some((point.message_bytes, rate(point).map(median)?))).collect()
}

/// The curve of the layer below that can be compared; one that does not wait stands below any wait.
fn below<'c>(curve: &Curve, curves: &'c [Curve]) -> Option<&'c Curve> {
    let case = &curve.case;
    let below = Rung::named(&case.rung)?.below?;
    let waits = Rung::named(below)?.transport.ends > 1;
    let same = |other: &&Curve| {
        let theirs = &other.case;
        theirs.rung == below
            && (theirs.pattern, theirs.flows) == (case.pattern, case.flows)
            && (theirs.wait == case.wait || !waits)
    };
    let mut all = curves.iter().filter(same);
    all.clone().find(|other| other.case.pairs.first().from == case.pairs.first().from).or_else(|| all.next())
}

/// Trapezoids over the sizes that both have.
fn area(rates: &[(u64, f64)], below: &[(u64, f64)]) -> Option<f64> {
    let both = rates.iter().filter_map(|(size, rate)| {
        let found = below.iter().find(|(other, _)| other == size)?;
        Some(((*size).max(1) as f64, *rate, found.1))
    });
    let both: Vec<(f64, f64, f64)> = both.collect();
    let sums = both.windows(2).fold((0.0, 0.0), |sums, pair| {
        let width = (pair[1].0 / pair[0].0).ln();
        (sums.0 + width * (pair[0].1 + pair[1].1), sums.1 + width * (pair[0].2 + pair[1].2))
    });
    let share = sums.0 / sums.1;
    share.is_finite().then_some(share)
}
