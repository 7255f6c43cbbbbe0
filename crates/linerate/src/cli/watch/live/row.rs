//! One line of the ladder while it grows: medians so far.

use crate::plan::{Case, HostGroup};
use crate::record::Trial;
use crate::statistic::{Estimate, median};
use crate::unit::Bytes;
use crate::vocabulary::{LADDER_BYTES, Pattern, Place, RUNGS, Rung};
use std::collections::{BTreeMap, VecDeque};

/// Recent values that a line shows.
const RECENT: usize = 12;

/// What tells lines apart: as the report does, and the arm.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    height: usize,
    rung: String,
    both_ways: bool,
    flows: u32,
    from: HostGroup,
    to: HostGroup,
    arm: u32,
}

/// A line of the ladder.
#[derive(Debug, Clone)]
pub struct Row {
    /// Which one.
    pub key: Key,
    /// Its name.
    pub name: String,
    /// Throughput at the rung's stated size.
    pub throughput_bps: SoFar,
    /// Half a round trip at the stated size, polling.
    pub polling_ns: SoFar,
    /// The same, sleeping.
    pub sleeping_ns: SoFar,
    /// The last throughputs, the newest last.
    pub recent: VecDeque<f64>,
}

/// A figure whose run is not over: values by pass.
#[derive(Debug, Clone, Default)]
pub struct SoFar(BTreeMap<u32, Vec<f64>>);

impl Key {
    /// The line that a case belongs to.
    pub fn from_case(case: &Case) -> Key {
        Key {
            height: RUNGS.iter().position(|rung| rung.id == case.rung).unwrap_or(usize::MAX),
            rung: case.rung.clone(),
            both_ways: case.pattern == Pattern::Bidirectional,
            flows: case.flows,
            from: case.pairs.senders(),
            to: case.pairs.receivers(),
            arm: case.arm,
        }
    }
}

impl Row {
    /// An empty line; `arm` is the name of a candidate or control.
    pub fn new(case: &Case, arm: Option<&str>) -> Row {
        Row {
            key: Key::from_case(case),
            name: name(case, arm),
            throughput_bps: SoFar::default(),
            polling_ns: SoFar::default(),
            sleeping_ns: SoFar::default(),
            recent: VecDeque::new(),
        }
    }

    /// Adds a throughput at the stated size.
    pub fn add_throughput(&mut self, trial: &Trial, bps: f64) {
        self.throughput_bps.add(trial.pass, bps);
        self.recent.push_back(bps);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    /// The passes that gave this line anything.
    pub fn passes(&self) -> usize {
        [&self.throughput_bps, &self.polling_ns, &self.sleeping_ns]
            .map(|figure| figure.0.len())
            .into_iter()
            .max()
            .unwrap_or(0)
    }
}

impl SoFar {
    /// Adds a trial's value.
    pub fn add(&mut self, pass: u32, value: f64) {
        self.0.entry(pass).or_default().push(value);
    }

    /// The median over the passes, each of which counts with its own median, as in the report.
    pub fn estimate(&self) -> Option<Estimate> {
        Estimate::from_values(self.0.values().filter_map(|trials| median(trials.iter().copied())))
    }
}

/// `network.tcp x 4 a>b`, `in-host.udp, 1 KiB a`, `network.tcp a>b tcp.no-delay=off`.
fn name(case: &Case, arm: Option<&str>) -> String {
    let rung: Option<&Rung> = Rung::named(&case.rung);
    let mut name = rung.map_or(case.rung.as_str(), |rung| rung.title).to_owned();
    if let Some(rung) = rung.filter(|rung| rung.ladder_bytes != LADDER_BYTES) {
        name += &format!(", {}", Bytes(rung.ladder_bytes));
    }
    if case.flows > 1 {
        name += &format!(" x {}", case.flows);
    }
    let sign = if case.pattern == Pattern::Bidirectional { "<>" } else { ">" };
    match rung.map(|rung| rung.place) {
        Some(Place::InHost) => name += &format!(" {}", case.pairs.from_names()),
        Some(Place::Network) | None => {
            name += &format!(" {}{sign}{}", case.pairs.from_names(), case.pairs.to_names())
        }
    }
    arm.map_or(name.clone(), |arm| format!("{name} {arm}"))
}
