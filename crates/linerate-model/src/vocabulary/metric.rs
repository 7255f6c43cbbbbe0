//! Every number that a report prints: what it is, and all that its views need to know of it.
//!
//! A number is here once. The desk's table says how it is computed of a trial; figures, the check of a plan, comparisons,
//! CSV, OpenMetrics and the reference are views of these two.
// A constant is called as its number is, and `about` says what that is.
#![allow(missing_docs)]

mod application;
mod connections;
mod cost;
mod curve;
mod layers;
mod messages;
pub mod sampled;
mod search;
mod whole;

pub use application::*;
pub use connections::*;
pub use cost::*;
pub use curve::*;
pub use layers::*;
pub use messages::*;
pub use search::*;
pub use whole::*;

use super::{BOUNDS, BoundEntry, FAULTS, FaultEntry, is_same};

/// A number.
#[derive(Debug)]
pub struct Metric {
    /// The dotted name.
    pub name: &'static str,
    /// What a text calls it; empty where none names it alone.
    pub title: &'static str,
    /// Its unit; `1` of a share.
    pub unit: &'static str,
    /// What a figure, a table or a claim of a plan can ask of one trial; nothing where no trial alone tells it.
    pub parts: &'static [Part],
    /// Whether more is better; none where neither is.
    pub more_is_better: Option<bool>,
    /// How much worse it may become in a comparison of arms; none where that does not watch it.
    pub margin: Option<f64>,
    /// Its name with its unit, in CSV and in comparisons; empty where it is in neither.
    pub key: &'static str,
    /// Whether the CSV form has it: one column for all metrics with this key, of the first that a trial tells.
    pub is_column: bool,
    /// What OpenMetrics calls it of a layer.
    pub layer: Option<Family>,
    /// What OpenMetrics calls it of each message size.
    pub curve: Option<Family>,
    /// What it tells that it binds.
    pub bounds: &'static [&'static BoundEntry],
    /// The known faults that move it.
    pub faults: &'static [&'static FaultEntry],
    /// Its keys in the JSON form; none where the report has it only in words.
    pub keys: &'static [&'static str],
    /// What it is.
    pub about: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// Where that comes from.
    pub source: &'static str,
    /// What to look at when it is not as expected.
    pub hint: &'static str,
    /// The page of the method that tells more.
    pub page: &'static str,
}

/// What an entry need not say.
const BASE: Metric = Metric {
    name: "",
    title: "",
    unit: "1",
    parts: &[],
    more_is_better: None,
    margin: None,
    key: "",
    is_column: false,
    layer: None,
    curve: None,
    bounds: &[],
    faults: &[],
    keys: &[],
    about: "",
    formula: "",
    source: "",
    hint: "",
    page: "",
};

/// A part of a number that can be asked for, by what stands behind the metric's name: `half-round-trip.p99`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// The number itself.
    Whole,
    /// A part with a name.
    Named(&'static str),
    /// What this share of the samples does not exceed.
    Percentile(&'static str, f64),
}

const WHOLE: Part = Part::Whole;
const P50: Part = Part::Percentile("p50", 0.5);
const P90: Part = Part::Percentile("p90", 0.9);
const P95: Part = Part::Percentile("p95", 0.95);
const P99: Part = Part::Percentile("p99", 0.99);
const P99_9: Part = Part::Percentile("p99.9", 0.999);

/// A family of OpenMetrics; its unit is the base unit of the metric's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Its name without prefix and unit.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
}

/// A name has one metric.
impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        self.name == other.name
    }
}

impl Metric {
    /// The metric and the part of it that are asked for by this name.
    pub fn asked(name: &str) -> Option<(&'static Metric, Part)> {
        let part_of = |metric: &'static Metric| {
            let behind = name.strip_prefix(metric.name)?;
            let is_it = |part: &&Part| match part.name() {
                "" => behind.is_empty(),
                part => behind.strip_prefix('.') == Some(part),
            };
            Some((metric, *metric.parts.iter().find(is_it)?))
        };
        METRICS.iter().find_map(part_of)
    }

    /// Every name that can be asked for.
    pub fn askable() -> Vec<String> {
        METRICS.iter().flat_map(|metric| metric.parts.iter().map(|part| metric.named(*part))).collect()
    }

    /// The name of a part.
    pub fn named(&self, part: Part) -> String {
        match part.name() {
            "" => self.name.into(),
            part => format!("{}.{part}", self.name),
        }
    }

    /// The part of a change that is for the better.
    pub fn gain(&self, change: f64) -> f64 {
        if self.more_is_better == Some(true) { change } else { -change }
    }

    /// Whether a change of it is told as a share of what it was; of what is a share itself it is the difference.
    pub fn changes_by_ratio(&self) -> bool {
        self.unit != "1"
    }
}

impl Part {
    /// What stands behind the metric's name and a dot; empty of the number itself.
    pub fn name(self) -> &'static str {
        match self {
            Part::Whole => "",
            Part::Named(name) | Part::Percentile(name, _) => name,
        }
    }
}

/// The bound with this name; that there is one is seen when the program is compiled.
const fn bound(name: &str) -> &'static BoundEntry {
    let mut at = 0;
    while !is_same(BOUNDS[at].name, name) {
        at += 1;
    }
    &BOUNDS[at]
}

/// The fault with this name, likewise.
const fn fault(name: &str) -> &'static FaultEntry {
    let mut at = 0;
    while !is_same(FAULTS[at].name, name) {
        at += 1;
    }
    &FAULTS[at]
}

/// Every number of a report. Those that are sampled during a long stream are in [`sampled::SAMPLED`].
pub const METRICS: &[Metric] = &[
    THROUGHPUT,
    HALF_ROUND_TRIP,
    DISTRIBUTION,
    MESSAGE_RATE,
    KEPT_OF_BELOW,
    EFFICIENCY,
    LOSS,
    COST_CONSTANT,
    COST_PER_BYTE,
    CPU_SENDER,
    CPU_RECEIVER,
    CPU_BOTH,
    CPU_SHARE,
    CPU_PER_MESSAGE,
    SERVICE_DEMAND,
    RETRANSMITS,
    RETRANSMIT_SHARE,
    NEIGHBOURS_SHARE,
    ROUND_TRIP_P99,
    EXCHANGE_TIME,
    DELIVERY_TIME,
    EXCHANGE_THROUGHPUT,
    PING_PONG_THROUGHPUT,
    ROUND_TRIP,
    ROUND_TRIP_RATE,
    COLLECTIVE_TIME,
    OVERLAP,
    OVERLAP_TIME,
    RESPONSE_TIME,
    SERVICE_TIME,
    CONNECT_TIME,
    TRANSACTION_TIME,
    TRANSACTION_RATE,
    SENT_LATE,
    PACING_ERROR,
    SENDER_RATE,
    DUPLICATED,
    REORDERED,
    DELAY_VARIATION,
    PACKET_TO_PACKET,
    JITTER,
    IP_CAPACITY,
    CAPACITY_LOSS,
    CAPACITY_DELAY_VARIATION,
    ZERO_LOSS_RATE,
    ROUND_TRIPS_A_MINUTE,
    WINDOW_RATE,
    ALIGNED_WINDOW_RATE,
    TCP_EFFICIENCY,
    BUFFER_DELAY,
    LIMITED_BY,
    ROUND_TIME,
    POLLS_MISSED,
    UNIT_TIME,
    UNIT_RATE,
    STRIPED_THROUGHPUT,
    DONE_TIME,
    CPU_PER_UNIT,
    FILE_THROUGHPUT,
    ALPHA,
    BETA,
    RESIDUAL,
    N_HALF,
    S90,
    PEAK,
    TAIL,
    INTERVAL,
    BETWEEN_RUN_SPREAD,
    BOUND,
    NEXT_BOUND,
    UNEXPLAINED,
    SERIAL_STAGE,
    WATERFALL,
    IDEAL,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_part_is_asked_for_behind_its_metric() {
        let asked = |name: &str| Metric::asked(name).map(|(metric, part)| (metric.name, part));
        assert_eq!(asked("throughput"), Some(("throughput", Part::Whole)));
        assert_eq!(asked("half-round-trip.p99.9"), Some(("half-round-trip", P99_9)));
        assert_eq!(asked("overlap-time.both"), Some(("overlap-time", Part::Named("both"))));
        for none in ["throughput.p50", "response-time", "overlap-time.all", "alpha", "half-round-trip.", ""] {
            assert_eq!(asked(none), None, "{none}");
        }
        let names = Metric::askable();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(names.iter().all(|name| Metric::asked(name).is_some()));
    }

    #[test]
    fn what_is_shown_has_what_its_view_needs() {
        for metric in METRICS {
            let is_whole = metric.parts.contains(&Part::Whole);
            assert!(!metric.is_column || is_whole && !metric.key.is_empty(), "{}: a column", metric.name);
            assert!(metric.curve.is_none() || is_whole, "{}: a family of a curve", metric.name);
            let has_all =
                metric.more_is_better.is_some() && !metric.key.is_empty() && !metric.title.is_empty();
            assert!(metric.margin.is_none() || has_all, "{}: watched", metric.name);
        }
    }

    #[test]
    fn a_shared_key_or_family_has_one_unit() {
        for one in METRICS {
            for other in METRICS {
                let key = !one.key.is_empty() && one.key == other.key;
                let family = |one: Option<Family>, other: Option<Family>| {
                    one.is_some_and(|one| other.is_some_and(|other| one.name == other.name))
                };
                let same = family(one.layer, other.layer) || family(one.curve, other.curve);
                assert!(!(key || same) || one.unit == other.unit, "{} and {}", one.name, other.name);
            }
        }
    }
}
