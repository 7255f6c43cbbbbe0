//! The messages of a running program as numbers: from one arrival to the next, cut at the points that its host stamps.

use super::{Clocked, StageKey, StageTime, Whole, band, stages, summary};
use crate::record::{RunningRound, RunningTrace};
use crate::statistic::Estimate;
use crate::vocabulary::{APPLICATION, ARRIVED, BEYOND, IN, OUT, Point, RETURNED, SEND, stage_between};
use schemars::JsonSchema;
use serde::Serialize;

/// What the stamps of a running program say.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunningTraceAnalysis {
    /// Messages that came and were followed by one that went out, from arrival to arrival.
    pub cycles: usize,
    /// Those of which every stamp is there, and in order.
    pub whole: usize,
    /// Those of more than one packet: what is told is of the first one.
    pub several: u64,
    /// Stamps that there was no room for.
    pub lost_events: u64,
    /// From one arrival to the next.
    pub between_arrivals: Clocked,
    /// The sum of the stages' means.
    pub sum_ns: f64,
    /// How many more segments came a second while it was not traced: a share, of pairs of rounds.
    pub tax: Option<Estimate>,
    /// The stages, in the order of the way.
    pub stages: Vec<StageTime>,
}

/// Analyses what was seen; none where no message was followed by another.
pub fn analyse_running_trace(trace: &RunningTrace) -> Option<RunningTraceAnalysis> {
    let is_there = |point: &&&'static Point| trace.rounds.iter().any(|round| is_stamped(round, point));
    let ours = |point: &&&'static Point| point.name != SEND.name && point.name != RETURNED.name;
    let leg = |all: &[&'static Point]| all.iter().filter(ours).filter(is_there).copied().collect::<Vec<_>>();
    let (came, went) = (leg(IN), leg(OUT));
    let keys = keys(&came, &went)?;
    let (mut wholes, mut clocked) = (Vec::new(), Vec::new());
    for (block, round) in trace.rounds.iter().enumerate() {
        let count = round.points.get(ARRIVED.name).map_or(0, Vec::len);
        for cycle in 0..count.saturating_sub(1) {
            let Some(round_trip_ns) = between(round, cycle) else { continue };
            clocked.push((block, round_trip_ns));
            if let Some(stages_ns) = cut(round, cycle, &came, &went) {
                wholes.push(Whole { block, round_trip_ns, stages_ns });
            }
        }
    }
    let all: Vec<f64> = clocked.iter().map(|(_, ns)| *ns).collect();
    let band = band(&all)?;
    let stages = stages(&keys, &wholes, &clocked, band, trace.rounds.len());
    Some(RunningTraceAnalysis {
        cycles: all.len(),
        whole: wholes.len(),
        several: trace.rounds.iter().map(|round| round.several).sum(),
        lost_events: trace.rounds.iter().map(|round| round.lost_events).sum(),
        between_arrivals: summary(&all, band),
        sum_ns: stages.iter().map(|stage| stage.middle_ns).sum(),
        tax: Estimate::from_values(trace.rounds.iter().filter_map(tax)),
        stages,
    })
}

/// At least half of a round's messages have it.
fn is_stamped(round: &RunningRound, point: &Point) -> bool {
    round.points.get(point.name).is_some_and(|all| 2 * all.iter().flatten().count() > all.len())
}

fn tax(round: &RunningRound) -> Option<f64> {
    let rate = |segments: u64, ns: u64| (segments > 0 && ns > 0).then(|| segments as f64 / ns as f64);
    let untraced = rate(round.untraced_segments, round.untraced_ns)?;
    Some(untraced / rate(round.traced_segments, round.traced_ns)? - 1.0)
}

fn keys(came: &[&Point], went: &[&Point]) -> Option<Vec<StageKey>> {
    if came.first()?.name != ARRIVED.name || went.is_empty() {
        return None;
    }
    let key = |way, stage| StageKey { host: None, way, stage };
    let of_leg = |points: &[&Point], way: &'static str| -> Option<Vec<StageKey>> {
        let pair = |pair: &[&Point]| Some(key(Some(way), stage_between(pair[0].name, pair[1].name)?.name));
        points.windows(2).map(pair).collect()
    };
    let program = vec![key(None, APPLICATION.name)];
    Some([of_leg(came, "in")?, program, of_leg(went, "out")?, vec![key(None, BEYOND.name)]].concat())
}

fn at(round: &RunningRound, point: &Point, cycle: usize) -> Option<u64> {
    *round.points.get(point.name)?.get(cycle)?
}

fn between(round: &RunningRound, cycle: usize) -> Option<f64> {
    let next = at(round, &ARRIVED, cycle + 1)?;
    Some(next.checked_sub(at(round, &ARRIVED, cycle)?)? as f64)
}

fn cut(round: &RunningRound, cycle: usize, came: &[&Point], went: &[&Point]) -> Option<Vec<f64>> {
    let mut times: Vec<u64> = Vec::new();
    for point in came.iter().chain(went) {
        let time = at(round, point, cycle);
        // A thread that did not sleep is not woken.
        let time = time.or_else(|| times.last().copied().filter(|_| point.is_optional))?;
        times.push(time);
    }
    times.push(at(round, &ARRIVED, cycle + 1)?);
    times.windows(2).map(|pair| Some(pair[1].checked_sub(pair[0])? as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn stages_from_arrival_to_arrival_sum() {
        let column = |first: u64| (0..40).map(|at| Some(first + 1000 * at)).collect::<Vec<_>>();
        let points = [("arrived", 0), ("ready", 100), ("waking", 150), ("running", 400), ("queued", 600)];
        let mut points: BTreeMap<String, Vec<Option<u64>>> =
            points.into_iter().map(|(name, first)| (name.to_owned(), column(first))).collect();
        // One that did not sleep, and one of which nothing is known to have gone out.
        points.get_mut("waking").unwrap()[3] = None;
        points.get_mut("running").unwrap()[3] = None;
        points.get_mut("queued").unwrap()[5] = None;
        let round = RunningRound {
            points,
            untraced_segments: 110,
            untraced_ns: 1000,
            traced_segments: 100,
            traced_ns: 1000,
            ..RunningRound::default()
        };
        let address = "127.0.0.1:1".parse().unwrap();
        let trace = RunningTrace {
            name: "port 1".into(),
            process: None,
            local: address,
            remote: address,
            level: 1,
            refused: Vec::new(),
            missing: Vec::new(),
            rounds: vec![round],
        };
        let found = analyse_running_trace(&trace).unwrap();
        assert_eq!((found.cycles, found.whole, found.sum_ns), (39, 38, 1000.0));
        let told: Vec<_> = found.stages.iter().map(|stage| (stage.key.stage, stage.p50_ns)).collect();
        assert_eq!(told[0], ("protocol-in", 100.0));
        assert_eq!(told[told.len() - 2..], [("application", 200.0), ("beyond", 400.0)]);
        assert!((found.tax.unwrap().median - 0.1).abs() < 1e-9);
        let nothing = RunningTrace { rounds: vec![RunningRound::default()], ..trace };
        assert_eq!(analyse_running_trace(&nothing), None);
    }
}
