//! The long streams against time.

use super::trial::{Stamps, positive};
use crate::plan::{Case, HostId};
use crate::record::{Recording, RoleRecord, Series, Trial};
use crate::statistic::{median, steady_from};
use crate::vocabulary::Does;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How much slower than the rest a beginning must be to be a ramp.
const RAMP: f64 = 0.05;

/// One long stream, at one receiving end.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// What was measured.
    pub case: Case,
    /// The end whose clock and bytes these are.
    pub host: HostId,
    /// The message size.
    pub message_bytes: u64,
    /// Slices at the beginning that would not enter statistics.
    pub lead: u32,
    /// When it had warmed up, in seconds since it began: where the rest is steadiest (MSER-5).
    pub steady_from_s: f64,
    /// The rate from then on: bytes over time.
    pub steady_bps: Option<f64>,
    /// The rate with its ramp, as an application sees it that sends so much.
    pub whole_bps: Option<f64>,
    /// The end of each slice, in seconds since the stream began.
    pub at_s: Vec<f64>,
    /// The rate of each slice; none where a slice took no time.
    pub throughput_bps: Vec<Option<f64>>,
    /// What was sampled meanwhile, on both hosts.
    pub sampled: Vec<Sampled>,
}

/// Samples of one host, or of one connection of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sampled {
    /// The host.
    pub host: HostId,
    /// The worker whose socket was sampled; none for the host's own counters.
    pub worker: Option<u32>,
    /// The flow whose socket was sampled.
    pub flow: Option<u32>,
    /// Seconds since the stream began, by this host's clock.
    pub at_s: Vec<f64>,
    /// Values by metric name.
    pub values: BTreeMap<String, Vec<f64>>,
}

/// Every long stream of the recording.
pub(super) fn timelines(recording: &Recording) -> Vec<Timeline> {
    let long = recording.trials.iter().filter(|trial| trial.case.timeline && trial.pass > 0);
    // Of a suite each pass has one: the first of them is drawn.
    let trials = long.fold(Vec::<&Trial>::new(), |mut known, trial| {
        if !known.iter().any(|other| other.case == trial.case && other.pass != trial.pass) {
            known.push(trial);
        }
        known
    });
    trials.into_iter().flat_map(|trial| trial_timelines(recording, trial)).collect()
}

fn trial_timelines(recording: &Recording, trial: &Trial) -> Vec<Timeline> {
    let series = recording.series.iter().filter(|series| series.step == trial.step);
    let sampled: Vec<Sampled> = series.map(|series| sampled(series, trial)).collect();
    let receivers = trial.roles.iter().filter(|role| role.does == Does::Receives);
    let timeline = |role: &RoleRecord| {
        let (at_s, throughput_bps) = rates(trial, role)?;
        let from = ramp(&throughput_bps).checked_sub(1).map_or(0.0, |last| at_s[last]);
        Some(Timeline {
            steady_from_s: from,
            steady_bps: rate_from(trial, role, from * 1e9),
            whole_bps: rate_from(trial, role, 0.0),
            case: trial.case.clone(),
            host: role.host,
            message_bytes: trial.block.message_bytes,
            lead: trial.block.lead,
            at_s,
            throughput_bps,
            sampled: sampled.clone(),
        })
    };
    receivers.filter_map(timeline).collect()
}

/// The rate of all flows between the stamps of the first one.
fn rates(trial: &Trial, role: &RoleRecord) -> Option<(Vec<f64>, Vec<Option<f64>>)> {
    let origin = start(role)?;
    let flows: Vec<Stamps> =
        role.flows.iter().filter_map(|flow| Stamps::from_flow(flow, &trial.block, 0, origin)).collect();
    let times = flows.first()?.times();
    let rate = |pair: &[f64]| {
        let bytes: f64 = flows.iter().map(|flow| flow.bytes_at(pair[1]) - flow.bytes_at(pair[0])).sum();
        positive(8e9 * bytes / (pair[1] - pair[0]))
    };
    let at_s = times.iter().skip(1).map(|time| time / 1e9).collect();
    Some((at_s, times.windows(2).map(rate).collect()))
}

/// How many slices a connection took to warm up: those that MSER-5 leaves out, where they are slower than
/// the rest. Of a series that is steady from the beginning it leaves out a chance number of slices.
fn ramp(rates: &[Option<f64>]) -> usize {
    let rates: Vec<f64> = rates.iter().map(|rate| rate.unwrap_or(f64::NAN)).collect();
    let from = steady_from(&rates);
    let (ramp, steady) = rates.split_at(from);
    let slower = median(ramp.iter().copied()).zip(median(steady.iter().copied()));
    let is_ramp = slower.is_some_and(|(ramp, steady)| ramp < (1.0 - RAMP) * steady);
    if is_ramp { from } else { 0 }
}

/// Bytes over time from a moment on, to the end of the first flow that ends.
fn rate_from(trial: &Trial, role: &RoleRecord, from_ns: f64) -> Option<f64> {
    let origin = start(role)?;
    let stamps = |flow| Stamps::from_flow(flow, &trial.block, 0, origin);
    let flows: Vec<Stamps> = role.flows.iter().filter_map(stamps).collect();
    let to = flows.iter().map(Stamps::last).reduce(f64::min)?;
    let bytes: f64 = flows.iter().map(|flow| flow.bytes_at(to) - flow.bytes_at(from_ns)).sum();
    positive(8e9 * bytes / (to - from_ns))
}

/// How long a new connection of a rung took to warm up, by its latest long stream.
pub fn settled_ns(recording: &Recording, rung: &str) -> Option<u64> {
    let long = |trial: &&Trial| trial.case.timeline && trial.case.rung == rung;
    let trial = recording.trials.iter().rev().find(long)?;
    let ramps = trial_timelines(recording, trial).into_iter().map(|timeline| timeline.steady_from_s * 1e9);
    ramps.reduce(f64::max).map(|ns| ns as u64)
}

fn start(role: &RoleRecord) -> Option<u64> {
    role.flows.iter().map(|flow| flow.start_ns).min()
}

/// The samples with times that begin where the stream began on that host.
fn sampled(series: &Series, trial: &Trial) -> Sampled {
    let here = trial.roles.iter().filter(|role| role.host == series.host);
    let origin = here.filter_map(start).min().or(series.at_ns.first().copied()).unwrap_or(0);
    // Differences before the conversion: nanoseconds since boot may not fit a float exactly.
    let second = |at: &u64| (i128::from(*at) - i128::from(origin)) as f64 / 1e9;
    Sampled {
        host: series.host,
        worker: series.worker,
        flow: series.flow,
        at_s: series.at_ns.iter().map(second).collect(),
        values: series.values.clone(),
    }
}
