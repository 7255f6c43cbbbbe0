//! A trace as numbers: how long each stage of an exchange took, and whether the stages sum to what was clocked.
//!
//! Stages are means over the exchanges whose round trip lies between its 40th and its 60th percentile: means of the same
//! exchanges add up, medians do not. An exchange of which a stamp is missing or out of order is left out of the stages and
//! counted; what was clocked is of all. Where only a sample is stamped, all this is of the sample. The tax is of all: at each place behind a
//! stamped exchange the median, and the mean of these.

mod running;
mod way;

pub use running::{RunningTraceAnalysis, analyse_running_trace};

use crate::plan::HostId;
use crate::record::{Trace, TraceBlock};
use crate::statistic::{Estimate, median};
use crate::vocabulary::Wait;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use way::Way;

/// The percentiles between which a round trip is one of the middle.
const BAND: [f64; 2] = [0.4, 0.6];

/// Of so many exchanges one is among the slowest.
const SLOWEST: usize = 100;

/// A clock that was set by more than this while a block ran has spoilt it.
const STEP_NS: u64 = 10_000;

/// Where a stage is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageKey {
    /// The host on which it is; none of the wire.
    pub host: Option<HostId>,
    /// Whether the message goes out of that host or comes in; none of what is neither.
    pub way: Option<&'static str>,
    /// Its name: `linerate list stages`.
    pub stage: &'static str,
}

/// How long it took.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StageTime {
    /// Where.
    #[serde(flatten)]
    pub key: StageKey,
    /// The mean over the middle exchanges.
    pub middle_ns: f64,
    /// The same of each block: their median with its interval.
    pub of_blocks: Option<Estimate>,
    /// Its share of the round trip.
    pub share: f64,
    /// Percentiles of this stage over all whole exchanges; they do not add up.
    pub p50_ns: f64,
    /// The 90th.
    pub p90_ns: f64,
    /// The 99th.
    pub p99_ns: f64,
    /// The mean over the slowest hundredth of the exchanges; none where these are none, or not one of them is whole.
    pub slowest_ns: Option<f64>,
}

/// What the program clocked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Clocked {
    /// The mean over the middle exchanges, whole or not.
    pub middle_ns: f64,
    /// The median.
    pub p50_ns: f64,
    /// The 90th percentile.
    pub p90_ns: f64,
    /// The 99th.
    pub p99_ns: f64,
    /// The mean over the slowest hundredth.
    pub slowest_ns: f64,
}

/// All of one way of waiting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceOf {
    /// How both ends waited.
    pub wait: Wait,
    /// Every so manyth exchange of a block was stamped.
    pub every: u32,
    /// Exchanges that were stamped.
    pub exchanges: usize,
    /// Exchanges of the same blocks that were not: they are in the tax and in no other number.
    pub between: usize,
    /// Those of which every stamp is there, and in order.
    pub whole: usize,
    /// Stamps that are missing, by host and point.
    pub missing: BTreeMap<String, u64>,
    /// Points at which too few messages are stamped to end a stage there: by host and point, the share that is.
    pub sparse: BTreeMap<String, f64>,
    /// Exchanges whose stamps are out of order.
    pub disordered: u64,
    /// Messages that found their receiver awake.
    pub awake: u64,
    /// Events that were lost, as the hosts counted them.
    pub lost_events: u64,
    /// Events of packets that are of no exchange.
    pub stray_events: u64,
    /// Exchanges, traced or not, that were lost on their way and are in no other number.
    pub lost_exchanges: u64,
    /// Blocks that are left out because a clock was set while they ran.
    pub stepped_blocks: usize,
    /// What was clocked.
    pub clocked: Clocked,
    /// The sum of the stages' means.
    pub sum_ns: f64,
    /// The median round trip of each block that was not traced.
    pub untraced_ns: Option<Estimate>,
    /// How much longer a round trip takes in a block that is traced, stamped or not: a share, of pairs of blocks.
    pub tax: Option<Estimate>,
    /// How much longer one takes that is stamped.
    pub stamped_tax: Option<Estimate>,
    /// The stages, in the order of the way.
    pub stages: Vec<StageTime>,
}

/// What a trace says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceAnalysis {
    /// Each way of waiting that was traced.
    pub waits: Vec<TraceOf>,
}

/// Analyses a trace.
pub fn analyse_trace(trace: &Trace) -> TraceAnalysis {
    let of = |wait: Wait| {
        let (good, stepped): (Vec<&TraceBlock>, Vec<&TraceBlock>) = trace
            .blocks
            .iter()
            .filter(|block| block.wait == wait)
            .partition(|block| block.asking.clock_step_ns.max(block.answering.clock_step_ns) <= STEP_NS);
        of_wait(trace, wait, &good, stepped.len())
    };
    TraceAnalysis { waits: [Wait::Sleeping, Wait::Polling].into_iter().filter_map(of).collect() }
}

/// A whole exchange.
struct Whole {
    block: usize,
    round_trip_ns: f64,
    stages_ns: Vec<f64>,
}

fn of_wait(trace: &Trace, wait: Wait, blocks: &[&TraceBlock], stepped_blocks: usize) -> Option<TraceOf> {
    let hosts = [0, 1].map(|at| trace.hosts.get(at).map_or(HostId(at as u16), |host| host.host));
    let way = Way::shared_by(blocks, hosts)?;
    let (mut missing, mut disordered, mut awake) = (BTreeMap::new(), 0, 0);
    let (mut wholes, mut clocked) = (Vec::new(), Vec::new());
    for (at, block) in blocks.iter().enumerate() {
        for (exchange, round_trip_ns) in block.traced_ns.iter().enumerate() {
            clocked.push((at, *round_trip_ns as f64));
            match way.cut(block, exchange) {
                Ok(cut) => {
                    awake += cut.awake;
                    let round_trip_ns = *round_trip_ns as f64;
                    wholes.push(Whole { block: at, round_trip_ns, stages_ns: cut.stages_ns });
                }
                Err(way::Fault::Missing(point)) => *missing.entry(point).or_default() += 1,
                Err(way::Fault::Disordered) => disordered += 1,
            }
        }
    }
    let all: Vec<f64> = clocked.iter().map(|(_, ns)| *ns).collect();
    let band = band(&all)?;
    let sides = blocks.iter().flat_map(|block| [&block.asking, &block.answering]);
    let lost_events = sides.clone().map(|side| side.lost_events).sum();
    let stray_events = sides.map(|side| side.stray_events).sum();
    let stages = stages(way.keys(), &wholes, &clocked, band, blocks.len());
    Some(TraceOf {
        wait,
        every: blocks.first().map_or(1, |block| block.every.max(1)),
        exchanges: all.len(),
        between: blocks.iter().flat_map(|block| &block.between_ns).map(Vec::len).sum(),
        whole: wholes.len(),
        missing,
        sparse: way.sparse(wait),
        disordered,
        awake,
        lost_events,
        stray_events,
        lost_exchanges: blocks.iter().map(|block| block.lost_exchanges).fold(0, u64::saturating_add),
        stepped_blocks,
        clocked: summary(&all, band),
        sum_ns: stages.iter().map(|stage| stage.middle_ns).sum(),
        untraced_ns: Estimate::from_values(blocks.iter().filter_map(|block| middle(&block.untraced_ns))),
        tax: tax(blocks, |block| {
            let places = [&block.traced_ns].into_iter().chain(&block.between_ns);
            mean(places.filter_map(|place| middle(place)))
        }),
        stamped_tax: tax(blocks, |block| middle(&block.traced_ns)),
        stages,
    })
}

/// By how much more this of traced blocks is than the median of those beside them.
fn tax(blocks: &[&TraceBlock], traced: impl Fn(&TraceBlock) -> Option<f64>) -> Option<Estimate> {
    let shares = blocks.iter().filter_map(|block| Some(traced(block)? / middle(&block.untraced_ns)? - 1.0));
    Estimate::from_values(shares)
}

fn middle(round_trips: &[u64]) -> Option<f64> {
    median(round_trips.iter().map(|ns| *ns as f64))
}

fn stages(
    keys: &[StageKey],
    wholes: &[Whole],
    clocked: &[(usize, f64)],
    band: [f64; 2],
    blocks: usize,
) -> Vec<StageTime> {
    let in_band = |[low, high]: [f64; 2], ns: f64| ns >= low && ns <= high;
    // A block has its own middle: hosts drift.
    let bands: Vec<Option<[f64; 2]>> = (0..blocks)
        .map(|block| {
            let of_block = clocked.iter().filter(|(at, _)| *at == block).map(|(_, ns)| *ns);
            self::band(&of_block.collect::<Vec<_>>())
        })
        .collect();
    // Of fewer than a hundred there is no hundredth.
    let has_tail = clocked.len() >= SLOWEST;
    let slowest = slowest_from(&clocked.iter().map(|(_, ns)| *ns).collect::<Vec<_>>());
    let middle = |at: usize| {
        mean(wholes.iter().filter(|one| in_band(band, one.round_trip_ns)).map(|one| one.stages_ns[at]))
    };
    // Where no exchange of the middle is whole, nothing is said of stages.
    let Some(middles) = (0..keys.len()).map(middle).collect::<Option<Vec<f64>>>() else {
        return Vec::new();
    };
    let whole: f64 = middles.iter().sum();
    let time = |(at, key): (usize, &StageKey)| {
        let mut sorted: Vec<f64> = wholes.iter().map(|one| one.stages_ns[at]).collect();
        sorted.sort_by(f64::total_cmp);
        let of_block = |block: usize| {
            let band = bands[block]?;
            let of_it = wholes.iter().filter(|one| one.block == block && in_band(band, one.round_trip_ns));
            mean(of_it.map(|one| one.stages_ns[at]))
        };
        let slow = wholes.iter().filter(|one| has_tail && one.round_trip_ns >= slowest);
        StageTime {
            key: key.clone(),
            middle_ns: middles[at],
            of_blocks: Estimate::from_values((0..blocks).filter_map(of_block)),
            share: if whole > 0.0 { middles[at] / whole } else { 0.0 },
            p50_ns: percentile(&sorted, 0.5),
            p90_ns: percentile(&sorted, 0.9),
            p99_ns: percentile(&sorted, 0.99),
            slowest_ns: mean(slow.map(|one| one.stages_ns[at])),
        }
    };
    keys.iter().enumerate().map(time).collect()
}

fn summary(all: &[f64], [low, high]: [f64; 2]) -> Clocked {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    let slowest = slowest_from(all);
    Clocked {
        middle_ns: mean(all.iter().copied().filter(|ns| *ns >= low && *ns <= high)).unwrap_or_default(),
        p50_ns: percentile(&sorted, 0.5),
        p90_ns: percentile(&sorted, 0.9),
        p99_ns: percentile(&sorted, 0.99),
        slowest_ns: mean(all.iter().copied().filter(|ns| *ns >= slowest)).unwrap_or_default(),
    }
}

/// Between which round trips the middle ones lie; none of nothing.
fn band(all: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    (!sorted.is_empty()).then(|| BAND.map(|share| percentile(&sorted, share)))
}

/// The least round trip of the slowest hundredth.
fn slowest_from(all: &[f64]) -> f64 {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len().div_ceil(SLOWEST).max(1);
    sorted.get(sorted.len().wrapping_sub(count)).copied().unwrap_or(f64::INFINITY)
}

/// The nearest rank; 0 of nothing.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count as f64)
}

impl TraceOf {
    /// The share of exchanges that are whole.
    pub fn coverage(&self) -> f64 {
        if self.exchanges == 0 { 0.0 } else { self.whole as f64 / self.exchanges as f64 }
    }

    /// How far the sum of the stages is from what was clocked: a share of that.
    pub fn sum_error(&self) -> f64 {
        self.sum_ns / self.clocked.middle_ns - 1.0
    }

    /// What the slowest hundredth takes longer in each stage, the largest first, with its share of all that stages take longer:
    /// what some take less makes the others no larger a part.
    pub fn excess(&self) -> Vec<(&StageKey, f64, f64)> {
        let parts = || self.stages.iter().filter_map(|one| Some((&one.key, one.slowest_ns? - one.middle_ns)));
        let all: f64 = parts().map(|(_, ns)| ns.max(0.0)).sum();
        let mut parts: Vec<_> =
            parts().map(|(key, ns)| (key, ns, if all > 0.0 { ns.max(0.0) / all } else { 0.0 })).collect();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1));
        parts
    }
}

#[cfg(test)]
mod tests;
