//! Memory: the copies that each end makes, and the traffic of messages that come from memory.

use super::{Inputs, Limit};
use crate::analysis::{Layer, Point};
use crate::statistic::{Estimate, median};
use crate::unit::BitRate;
use crate::vocabulary::{Cache, Rung, TransportEntry};

/// STREAM does not count the read that a store causes when it misses: of four transfers three.
const UNCOUNTED: f64 = 4.0 / 3.0;

/// A rung and its transport.
pub(super) fn rung_and_transport(rung_id: &str) -> Option<(&'static Rung, &'static TransportEntry)> {
    Rung::named(rung_id).map(|rung| (rung, rung.transport))
}

/// The layer of one thread in memory that `wanted` accepts, on the host that sends if it is there.
fn alone<'r>(inputs: &Inputs<'r>, wanted: fn(&Rung, &TransportEntry) -> bool) -> Option<&'r Layer> {
    let is_wanted = |layer: &&Layer| {
        rung_and_transport(&layer.rung)
            .is_some_and(|(rung, transport)| transport.ends == 1 && wanted(rung, transport))
    };
    let layers = || inputs.analysis.layers.iter().filter(is_wanted);
    layers().find(|layer| layer.from == inputs.layer.from).or_else(|| layers().next())
}

/// The transport of a layer with two ends, its point at the ladder's size, and the CPUs of its narrower side.
fn two_ended<'r>(inputs: &Inputs<'r>) -> Option<(&'static TransportEntry, &'r Point, f64)> {
    let (_, transport) =
        rung_and_transport(&inputs.layer.rung).filter(|(_, transport)| transport.ends > 1)?;
    let curve = inputs.layer.stream(&inputs.analysis.curves)?;
    let point = curve.at(inputs.analysis.ladder_bytes)?;
    let cpus = point.passes.values().filter_map(|values| {
        let ends = [values.sender, values.receiver].into_iter().flatten();
        ends.map(|load| load.cpus).reduce(f64::min)
    });
    Some((transport, point, median(cpus)?))
}

fn scaled(estimate: Estimate, factor: f64) -> Estimate {
    Estimate {
        median: estimate.median * factor,
        low: estimate.low.map(|low| low * factor),
        high: estimate.high.map(|high| high * factor),
        n: estimate.n,
    }
}

/// The copy out of the nearest cache, on the host that sends. Both ways each byte of the sum is copied at two
/// of all CPUs.
pub(super) fn copies(inputs: &Inputs) -> Option<Limit> {
    let (transport, _, cpus) = two_ended(inputs)?;
    let all = inputs.layer.placement.len() as f64;
    let cpus = if inputs.layer.both_ways && all > 0.0 { all / 2.0 } else { cpus };
    let here = alone(inputs, |rung, transport| transport.copies > 0 && rung.cache == Some(Cache::Hot))?;
    let factor = cpus / f64::from(transport.copies.max(1));
    let copy = here.throughput_bps?;
    let evidence = match cpus {
        cpus if cpus > 1.0 => format!("{} moves {} on each of {cpus} CPUs", here.rung, BitRate(copy.median)),
        _ => format!("{} moves {}", here.rung, BitRate(copy.median)),
    };
    // The nearest cache is faster at smaller sizes, and a transport may cut a message to them.
    let curve = here.stream(&inputs.analysis.curves)?;
    let medians = curve.points.iter().filter_map(|point| point.estimate(|values| values.throughput_bps));
    let fastest = medians.map(|estimate| estimate.high.unwrap_or(estimate.median)).reduce(f64::max);
    let ceiling_bps = fastest.map(|fastest| fastest * factor);
    Some(Limit { ceiling_bps, ..Limit::new(scaled(copy, factor), evidence) })
}

/// What one thread moves in memory, where messages come from there.
pub(super) fn bandwidth(inputs: &Inputs) -> Option<Limit> {
    let (transport, point, cpus) = two_ended(inputs)?;
    let here = alone(inputs, |rung, transport| transport.copies == 0 && rung.cache == Some(Cache::Cold))?;
    if point.cache != Cache::Cold || transport.traffic == 0 {
        return None;
    }
    let factor = UNCOUNTED * cpus / f64::from(transport.traffic);
    let triad = here.throughput_bps?;
    let moved = BitRate(triad.median * UNCOUNTED);
    let evidence =
        format!("one thread of {} moves {moved} in memory, and messages come from there", here.rung);
    Some(Limit::new(scaled(triad, factor), evidence))
}
