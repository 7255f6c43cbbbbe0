//! How single exchanges are spread around their median: percentiles of each connection, and of those the
//! median over the connections.
//!
//! Percentiles are not taken of all exchanges together: those of one connection resemble each other, so an
//! interval over them would be far too narrow.

use super::{Analysis, Layer};
use crate::record::{Recording, Trial, decode_histogram};
use crate::statistic::Estimate;
use crate::vocabulary::{Does, Pattern, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The percentiles, as shares of the exchanges.
const SHARES: [f64; 13] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999];

/// Exchanges that must lie beyond a percentile for it to be told.
const BEYOND: f64 = 10.0;

/// The half round trips of one layer at one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The layer, by its place in the analysis.
    pub layer: usize,
    /// How its ends waited.
    pub wait: Wait,
    /// The message size.
    pub message_bytes: u64,
    /// Exchanges that each sample is the mean of; a single exchange where it is one.
    pub exchanges: u64,
    /// The percentiles, ascending.
    pub percentiles: Vec<Percentile>,
}

/// A percentile of each connection; its median and interval over the connections.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// The share of the samples that do not exceed it: 0.99.
    pub share: f64,
    /// Half of the round trip.
    pub half_round_trip_ns: Estimate,
}

/// The distributions of every layer at the latency's size.
pub fn distributions(recording: &Recording, analysis: &Analysis) -> Vec<Distribution> {
    let size = analysis.latency_bytes;
    let of = |index, layer, wait| distribution(recording, layer, index, wait, size);
    let layers = analysis.layers.iter().enumerate();
    let found = layers.flat_map(|(index, layer)| {
        [Wait::Polling, Wait::Sleeping].into_iter().filter_map(move |wait| of(index, layer, wait))
    });
    found.collect()
}

fn distribution(
    recording: &Recording,
    layer: &Layer,
    index: usize,
    wait: Wait,
    message_bytes: u64,
) -> Option<Distribution> {
    let wanted = |trial: &&Trial| {
        trial.pass > 0
            && trial.why.counts()
            && trial.block.message_bytes == message_bytes
            && trial.case.pattern == Pattern::PingPong
            && trial.case.wait == wait
            && !trial.case.timeline
            && layer.owns(&trial.case)
    };
    let trials: Vec<&Trial> = recording.trials.iter().filter(wanted).collect();
    let exchanges = trials.first()?.block.messages;
    let connections: Vec<Vec<Option<f64>>> = trials.iter().filter_map(|trial| percentiles(trial)).collect();
    let over_connections = |(index, share): (usize, &f64)| {
        let values: Vec<f64> = connections.iter().filter_map(|one| one[index]).collect();
        // A percentile that few connections were long enough for is one of those connections only.
        let enough = 2 * values.len() > connections.len();
        let half_round_trip_ns = Estimate::from_values(values).filter(|_| enough)?;
        Some(Percentile { share: *share, half_round_trip_ns })
    };
    let percentiles: Vec<Percentile> = SHARES.iter().enumerate().filter_map(over_connections).collect();
    let found = Distribution { layer: index, wait, message_bytes, exchanges, percentiles };
    (!found.percentiles.is_empty()).then_some(found)
}

/// The percentiles of one connection's half round trips; none where too few exchanges lie beyond.
fn percentiles(trial: &Trial) -> Option<Vec<Option<f64>>> {
    let role = trial.roles.iter().find(|role| role.does == Does::Pings)?;
    let histogram = decode_histogram(role.histogram.as_deref()?)?;
    let count = histogram.len() as f64;
    let half = |sample: u64| sample as f64 / trial.block.messages.max(1) as f64 / 2.0;
    let at = |share: &f64| {
        let beyond = count * (1.0 - share).min(*share);
        (beyond >= BEYOND).then(|| half(histogram.value_at_quantile(*share)))
    };
    Some(SHARES.iter().map(at).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::record::synthetic::Synthetic;

    #[test]
    fn the_middle_percentile_is_the_ladders() {
        let recording = Synthetic { passes: 7, ..Synthetic::default() }.recording();
        let analysis = analyse(&recording);
        let found = distributions(&recording, &analysis);
        let network = found.iter().find(|one| analysis.layers[one.layer].rung == "network.tcp").unwrap();
        let medians: Vec<f64> = network.percentiles.iter().map(|one| one.half_round_trip_ns.median).collect();
        assert!(medians.is_sorted(), "{medians:?}");
        let half = network.percentiles.iter().find(|one| one.share == 0.5).unwrap().half_round_trip_ns;
        let ladder = analysis.layers[network.layer].polling_ns.unwrap();
        assert!((half.median / ladder.median - 1.0).abs() < 0.01, "{half:?} {ladder:?}");
        assert_eq!(half.n, 7);
    }

    #[test]
    fn a_percentile_needs_exchanges_beyond_it() {
        let recording = Synthetic { passes: 7, ..Synthetic::default() }.recording();
        let analysis = analyse(&recording);
        let found = distributions(&recording, &analysis);
        // Of 500 exchanges ten lie beyond the 98th percentile, and 25 below the 5th.
        let shares: Vec<f64> = found[0].percentiles.iter().map(|one| one.share).collect();
        assert_eq!((shares.first(), shares.last()), (Some(&0.05), Some(&0.98)));
        let tail = found[0].percentiles.last().unwrap().half_round_trip_ns.median;
        let middle = found[0].percentiles.iter().find(|one| one.share == 0.5).unwrap();
        let middle = middle.half_round_trip_ns.median;
        assert!((tail / middle - 1.4).abs() < 0.01, "{tail} {middle}");
    }
}
