//! The way of an exchange, cut at the points that both hosts stamp.

use super::StageKey;
use crate::plan::HostId;
use crate::record::{TraceBlock, TraceSide};
use crate::vocabulary::{
    APPLICATION, IN, OUT, Point, RETURNED, RUN_QUEUE, RUNNING, SEND, WIRE, Wait, stage_between,
};
use std::collections::BTreeMap;

/// Why an exchange cannot be cut.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// This host's stamp at this point.
    Missing(String),
    /// A stamp lies before one of an earlier point.
    Disordered,
}

/// A whole exchange.
pub struct Cut {
    /// How long each stage took, as the way has them.
    pub stages_ns: Vec<f64>,
    /// Messages that found their receiver awake.
    pub awake: u64,
}

/// The points of one direction at one host.
struct Leg {
    host: HostId,
    points: Vec<&'static Point>,
    /// Whether what another thread took of the CPU is counted apart, without a point.
    delays: bool,
    /// Points at which too few messages are stamped to end a stage there, and the share that is.
    sparse: Vec<(&'static Point, f64)>,
}

/// The way out of the asking host, in and out at the answering one, and back in.
pub struct Way {
    legs: [Leg; 4],
    keys: Vec<StageKey>,
}

/// Of one leg: when it began and ended, and its stages.
struct Walked {
    begun: u64,
    ended: u64,
    stages_ns: Vec<f64>,
    is_awake: bool,
}

impl Way {
    /// The points that every block has at both hosts; none where there is no block, or a host has not even its own stamps.
    pub fn shared_by(blocks: &[&TraceBlock], [asking, answering]: [HostId; 2]) -> Option<Way> {
        blocks.first()?;
        let side = |block: &&TraceBlock, asks: bool| -> TraceSide {
            if asks { block.asking.clone() } else { block.answering.clone() }
        };
        let leg = |host: HostId, asks: bool, all: &[&'static Point]| {
            let sides: Vec<TraceSide> = blocks.iter().map(|block| side(block, asks)).collect();
            let is_there = |point: &&&Point| sides.iter().all(|side| is_stamped(side, point));
            let points: Vec<&Point> = all.iter().filter(is_there).copied().collect();
            // It is taken out of a stage: of one point there is none.
            let delays = points.len() > 1
                && points.last().is_some_and(|last| last.name == RETURNED.name)
                && !points.iter().any(|point| point.name == RUNNING.name)
                && sides.iter().all(|side| !side.run_delay_ns.is_empty());
            let sparse = all.iter().filter(|point| !points.iter().any(|kept| kept.name == point.name));
            let sparse = sparse.filter_map(|point| Some((*point, stamped_share(&sides, point)?))).collect();
            Leg { host, points, delays, sparse }
        };
        let legs = [
            leg(asking, true, OUT),
            leg(answering, false, IN),
            leg(answering, false, OUT),
            leg(asking, true, IN),
        ];
        let is_whole = |leg: &Leg, end: &Point| leg.points.iter().any(|point| point.name == end.name);
        let ends = [&SEND, &RETURNED, &SEND, &RETURNED];
        if !legs.iter().zip(ends).all(|(leg, end)| is_whole(leg, end)) {
            return None;
        }
        let keys = keys(&legs)?;
        Some(Way { legs, keys })
    }

    /// Points at which too few messages are stamped to end a stage there: by host and point, the share that is. Who polls is not
    /// woken.
    pub fn sparse(&self, wait: Wait) -> BTreeMap<String, f64> {
        let of_leg = |leg: &Leg| {
            let host = leg.host;
            leg.sparse.iter().map(move |(point, share)| (host, *point, *share)).collect::<Vec<_>>()
        };
        let all = self.legs.iter().flat_map(of_leg);
        all.filter(|(_, point, _)| wait == Wait::Sleeping || !point.is_optional)
            .map(|(host, point, share)| (format!("{host}: {}", point.name), share))
            .collect()
    }

    /// Its stages, in their order.
    pub fn keys(&self) -> &[StageKey] {
        &self.keys
    }

    /// The stages of one exchange.
    pub fn cut(&self, block: &TraceBlock, exchange: usize) -> Result<Cut, Fault> {
        let sides = [&block.asking, &block.answering, &block.answering, &block.asking];
        let mut walked = Vec::new();
        for (leg, side) in self.legs.iter().zip(sides) {
            walked.push(walk(leg, side, exchange)?);
        }
        let [out, answered_in, answered_out, back] = &walked[..] else { return Err(Fault::Disordered) };
        let between = |from: u64, to: u64| to.checked_sub(from).ok_or(Fault::Disordered);
        let application = between(answered_in.ended, answered_out.begun)?;
        let beyond = between(out.ended, back.begun)?;
        let there = between(answered_in.begun, answered_out.ended)?;
        let wire = between(there, beyond)?;
        let stages_ns = [
            out.stages_ns.clone(),
            vec![wire as f64],
            answered_in.stages_ns.clone(),
            vec![application as f64],
            answered_out.stages_ns.clone(),
            back.stages_ns.clone(),
        ];
        let awake = walked.iter().filter(|leg| leg.is_awake).count() as u64;
        Ok(Cut { stages_ns: stages_ns.concat(), awake })
    }
}

/// A point counts where at least half of a block's messages have it.
fn is_stamped(side: &TraceSide, point: &Point) -> bool {
    side.points.get(point.name).is_some_and(|all| 2 * all.iter().flatten().count() > all.len())
}

/// Of all messages; none where the level of no block stamps there.
fn stamped_share(sides: &[TraceSide], point: &Point) -> Option<f64> {
    let columns: Vec<_> = sides.iter().map(|side| side.points.get(point.name)).collect();
    columns.iter().flatten().next()?;
    let own = |side: &TraceSide| side.points.get(RETURNED.name).map_or(0, Vec::len);
    let messages: usize = sides.iter().map(own).sum();
    let stamped: usize = columns.iter().flatten().map(|column| column.iter().flatten().count()).sum();
    (messages > 0).then(|| stamped as f64 / messages as f64)
}

fn keys(legs: &[Leg; 4]) -> Option<Vec<StageKey>> {
    let of_leg = |leg: &Leg, way: &'static str| -> Option<Vec<StageKey>> {
        let key = |stage: &'static str| StageKey { host: Some(leg.host), way: Some(way), stage };
        let mut keys: Vec<StageKey> = leg
            .points
            .windows(2)
            .map(|pair| Some(key(stage_between(pair[0].name, pair[1].name)?.name)))
            .collect::<Option<_>>()?;
        if leg.delays {
            keys.insert(keys.len().saturating_sub(1), key(RUN_QUEUE.name));
        }
        Some(keys)
    };
    let [out, answered_in, answered_out, back] = legs;
    let wire = StageKey { host: None, way: None, stage: WIRE.name };
    let application = StageKey { host: Some(answered_in.host), way: None, stage: APPLICATION.name };
    Some(
        [
            of_leg(out, "out")?,
            vec![wire],
            of_leg(answered_in, "in")?,
            vec![application],
            of_leg(answered_out, "out")?,
            of_leg(back, "in")?,
        ]
        .concat(),
    )
}

fn walk(leg: &Leg, side: &TraceSide, exchange: usize) -> Result<Walked, Fault> {
    let mut times: Vec<u64> = Vec::new();
    let mut is_awake = false;
    for point in &leg.points {
        let stamp = side.points.get(point.name).and_then(|all| *all.get(exchange)?);
        let time = match (stamp, times.last()) {
            (Some(time), _) => time,
            // A thread that did not sleep is not woken.
            (None, Some(last)) if point.is_optional => {
                is_awake = true;
                *last
            }
            _ => return Err(Fault::Missing(format!("{}: {}", leg.host, point.name))),
        };
        if times.last().is_some_and(|last| time < *last) {
            return Err(Fault::Disordered);
        }
        times.push(time);
    }
    let mut stages_ns: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    if let (true, Some(last)) = (leg.delays, stages_ns.last_mut()) {
        let delay = side.run_delay_ns.get(exchange).copied().unwrap_or_default() as f64;
        let delay = delay.min(*last);
        *last -= delay;
        stages_ns.insert(stages_ns.len() - 1, delay);
    }
    let (begun, ended) = (times.first().copied(), times.last().copied());
    let none = || Fault::Missing(leg.host.to_string());
    Ok(Walked { begun: begun.ok_or_else(none)?, ended: ended.ok_or_else(none)?, stages_ns, is_awake })
}
