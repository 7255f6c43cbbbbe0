//! The matrix of a recording: its cells, and the word on them.

use super::metric::CellMetric;
use super::resent::{Segments, segments, sent_again};
use super::shot::{Shot, Shots, Stage, shots};
use super::suspect::medians;
use super::verdict::{Ending, Told, verdict_on};
use crate::analysis::{Verdict, half_round_trip_ns, received_bps, throughput_bps};
use crate::plan::{HostId, HostPair, Plan, Screening, Target};
use crate::record::{Recording, Trial};
use crate::statistic::median;
use crate::vocabulary::Pattern;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of one direction between two hosts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// From where to where.
    pub pair: HostPair,
    /// The rate of the screening, by the receiver's clock.
    pub throughput_bps: Option<f64>,
    /// The round trip of a small message.
    pub round_trip_ns: Option<f64>,
    /// What its streams of the screening sent, and sent again; none where the transport does not count.
    pub segments: Option<Segments>,
    /// Whether the other direction was measured at the same time.
    pub bidirectional: bool,
}

/// A recording of a screening in numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// How it was made.
    pub screening: Screening,
    /// How many hosts took part.
    pub hosts: usize,
    /// One for each two hosts that met.
    pub cells: Vec<Cell>,
    /// The usual rate.
    pub usual_bps: Option<f64>,
    /// The usual round trip.
    pub usual_round_trip_ns: Option<f64>,
    /// Pairs of hosts that others reach, between which nothing passed, and why.
    pub failed: Vec<(HostPair, String)>,
    /// Who is slow.
    pub told: Told,
}

/// What is asked, with the names that hosts have where a launcher chose them: as they were reached.
fn named(plan: &Plan, recording: &Recording) -> Option<Screening> {
    let mut screening = plan.screening()?.clone();
    if screening.names.is_empty() && matches!(plan.target, Target::Launched(_)) {
        let reached = |host: &HostId| {
            let facts = recording.hosts.iter().find(|facts| facts.host == *host)?;
            Some(facts.reached.split_once("://")?.1.to_owned())
        };
        let names: Vec<String> =
            plan.host_ids().iter().map(|host| reached(host).unwrap_or(host.to_string())).collect();
        // Agents that share a host are told apart by their letters alone.
        if names.iter().collect::<BTreeSet<_>>().len() == names.len() {
            screening.names = names;
        }
    }
    Some(screening)
}

/// The matrix of a recording; none of one that screens nobody.
pub fn matrix(recording: &Recording) -> Option<Matrix> {
    let plan = recording.plan()?;
    let hosts = plan.hosts.len();
    let shots = numbers(recording);
    let whole = recording.end.as_ref().is_some_and(|end| end.reason == "completed");
    let ending = Ending { whole, lost: recording.lost_hosts() };
    let mut told = verdict_on(&named(plan, recording)?, hosts, &shots, &ending);
    let screening = &told.screening_of(CellMetric::Throughput).clone();
    let bidirectional = screening.bidirectional;
    let mut cells: BTreeMap<HostPair, Cell> = BTreeMap::new();
    let segments = segments(recording);
    let mut of = |shots: &[Shot], set: fn(&mut Cell, f64)| {
        for shot in medians(shots, Stage::Screen) {
            let empty = Cell {
                pair: shot.pair,
                throughput_bps: None,
                round_trip_ns: None,
                segments: segments.get(&shot.pair).copied(),
                bidirectional,
            };
            set(cells.entry(shot.pair).or_insert(empty), shot.log.exp());
        }
    };
    of(shots.by(CellMetric::Throughput), |cell, bps| cell.throughput_bps = Some(bps));
    of(shots.by(CellMetric::RoundTrip), |cell, speed| cell.round_trip_ns = Some(1e9 / speed));
    let cells: Vec<Cell> = cells.into_values().collect();
    let failed = failed(recording, &cells);
    // What passed nothing has no rate, and is no healthy link.
    if let Some((HostPair { from, to }, why)) = failed.first().filter(|_| told.verdict == Verdict::Same) {
        let [from, to] = [*from, *to].map(|host| screening.name_of(host));
        told.verdict = Verdict::CannotTell;
        let takes = format!("see what is between {from} and {to}, and run it again");
        told.doubt = Some((format!("{from} to {to} passed nothing: {why}"), takes));
    }
    Some(Matrix {
        screening: screening.clone(),
        hosts,
        usual_bps: median(cells.iter().filter_map(|cell| cell.throughput_bps)),
        usual_round_trip_ns: median(cells.iter().filter_map(|cell| cell.round_trip_ns)),
        failed,
        told,
        cells,
    })
}

/// Streams of one pair that failed and never had a rate, between hosts that have rates with others.
fn failed(recording: &Recording, cells: &[Cell]) -> Vec<(HostPair, String)> {
    let has_rate = |is_it: &dyn Fn(HostPair) -> bool| {
        cells.iter().any(|cell| cell.throughput_bps.is_some() && is_it(cell.pair))
    };
    let is_met = |host: HostId| has_rate(&|pair| pair.from == host || pair.to == host);
    let mut failed: BTreeMap<HostPair, String> = BTreeMap::new();
    for not in &recording.unavailable {
        let Some(case) = not.case.as_deref().filter(|case| case.pattern.has_rate()) else { continue };
        let pair = case.pairs.first();
        let is_own = case.pairs.len() == 1 && is_met(pair.from) && is_met(pair.to);
        let back = HostPair { from: pair.to, to: pair.from };
        let ways = if case.pattern == Pattern::Bidirectional { 2 } else { 1 };
        for pair in [pair, back].into_iter().take(ways).filter(|_| is_own) {
            if !has_rate(&|other| other == pair) {
                failed.entry(pair).or_insert_with(|| not.reason.why.clone());
            }
        }
    }
    failed.into_iter().collect()
}

/// Every number on record.
pub fn numbers(recording: &Recording) -> Shots {
    let mut all = Shots::default();
    all.extend(CellMetric::Throughput, rates(recording));
    all.extend(CellMetric::RoundTrip, round_trips(recording));
    all.extend(CellMetric::RetransmitShare, sent_again(recording));
    all
}

/// Every rate on record. Where both directions of a pair were measured at once the screening has the rates of both; of fresh
/// trials only the direction that was asked for counts, for the two of one trial are no two.
fn rates(recording: &Recording) -> Vec<Shot> {
    let both = |trial: &Trial| received_bps(trial, trial.case.pairs.first().to);
    let back = |trial: &Trial| received_bps(trial, trial.case.pairs.first().from);
    let back = shots(recording, Pattern::Bidirectional, back).into_iter();
    let back = back.filter(|shot| shot.stage == Stage::Screen).map(Shot::reversed);
    let mut all = shots(recording, Pattern::Stream, throughput_bps);
    all.extend(shots(recording, Pattern::Bidirectional, both));
    all.extend(back);
    all
}

/// Every round trip on record, as round trips a second.
pub fn round_trips(recording: &Recording) -> Vec<Shot> {
    shots(recording, Pattern::PingPong, |trial| half_round_trip_ns(trial).map(|half| 1e9 / (2.0 * half)))
}
