//! What one trial tells, by name: every number that a figure can draw, from whichever pattern yields it.
//!
//! A measure is of one trial; medians and intervals over trials are taken of what it gives. What a trial
//! cannot tell is none, as a percentile is beyond which too few samples lie.

use super::trial::{half_round_trip_ns, lost_share, positive, throughput_bps};
use crate::record::{Trial, decode_histogram};
use crate::vocabulary::Does;
use hdrhistogram::Histogram;

/// Samples that must lie beyond a percentile for it to be told.
const BEYOND: f64 = 10.0;

/// One number of a trial.
#[derive(Debug)]
pub struct Measure {
    /// Its name: that of a metric, or that with a percentile behind it.
    pub name: &'static str,
    /// Its unit, as the metric's.
    pub unit: &'static str,
    /// The number; none where the trial cannot tell it.
    pub of: fn(&Trial) -> Option<f64>,
}

const fn measure_of(name: &'static str, unit: &'static str, of: fn(&Trial) -> Option<f64>) -> Measure {
    Measure { name, unit, of }
}

/// Every measure.
pub const MEASURES: &[Measure] = &[
    measure_of("throughput", "b/s", throughput_bps),
    measure_of("message-rate", "1/s", message_rate),
    measure_of("loss", "1", lost_share),
    measure_of("half-round-trip", "ns", half_round_trip_ns),
    measure_of("half-round-trip.p50", "ns", |trial| half_round_trip(trial, 0.5)),
    measure_of("half-round-trip.p90", "ns", |trial| half_round_trip(trial, 0.9)),
    measure_of("half-round-trip.p99", "ns", |trial| half_round_trip(trial, 0.99)),
    measure_of("half-round-trip.p99.9", "ns", |trial| half_round_trip(trial, 0.999)),
];

/// The measure of this name.
pub fn measure(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|measure| measure.name == name)
}

/// Messages that arrived in a second.
fn message_rate(trial: &Trial) -> Option<f64> {
    positive(throughput_bps(trial)? / (8.0 * trial.block.message_bytes as f64))
}

/// A percentile of the half round trips of single exchanges, or of the means of as many as a sample holds.
fn half_round_trip(trial: &Trial, share: f64) -> Option<f64> {
    let pings = trial.roles.iter().filter(|role| role.does == Does::Pings);
    let texts = pings.filter_map(|role| role.histogram.as_deref());
    let sample_ns = percentile(&merged(texts)?, share)?;
    positive(sample_ns / trial.block.messages.max(1) as f64 / 2.0)
}

/// The samples of all roles that took such, together.
fn merged<'t>(texts: impl Iterator<Item = &'t str>) -> Option<Histogram<u32>> {
    let mut all: Option<Histogram<u32>> = None;
    for histogram in texts.filter_map(decode_histogram) {
        match &mut all {
            Some(all) => all.add(&histogram).ok()?,
            None => all = Some(histogram),
        }
    }
    all
}

/// What such a share of the samples does not exceed, where enough of them lie beyond.
fn percentile(histogram: &Histogram<u32>, share: f64) -> Option<f64> {
    let beyond = histogram.len() as f64 * (1.0 - share).min(share);
    // A share of samples is not exact in binary: ten of a thousand are ten.
    (beyond >= BEYOND - 1e-6).then(|| histogram.value_at_quantile(share) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::synthetic::Synthetic;
    use crate::vocabulary::METRICS;

    #[test]
    fn every_measure_is_a_metric_of_that_unit() {
        for measure in MEASURES {
            let is_of = |name: &str| {
                measure.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let metric = METRICS.iter().find(|metric| is_of(metric.name));
            assert_eq!(metric.map(|metric| metric.unit), Some(measure.unit), "{}", measure.name);
        }
    }

    #[test]
    fn a_trial_tells_what_its_pattern_yields_and_nothing_else() {
        let recording = Synthetic::default().recording();
        let of = |does: Does| {
            let has = |trial: &&Trial| trial.pass > 0 && trial.roles.iter().any(|role| role.does == does);
            recording.trials.iter().find(has).unwrap()
        };
        let value = |name: &str, does: Does| (measure(name).unwrap().of)(of(does));
        assert!(value("half-round-trip.p90", Does::Pings) > value("half-round-trip.p50", Does::Pings));
        assert_eq!(value("half-round-trip.p99.9", Does::Pings), None, "500 samples do not tell it");
        assert_eq!(value("half-round-trip.p50", Does::Sends), None);
        let bytes = of(Does::Sends).block.message_bytes as f64;
        let rate = value("throughput", Does::Sends).unwrap();
        assert_eq!(value("message-rate", Does::Sends), Some(rate / 8.0 / bytes));
        assert!(measure("nothing").is_none());
    }
}
