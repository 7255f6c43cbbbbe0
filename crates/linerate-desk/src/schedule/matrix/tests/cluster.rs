//! A made-up cluster: what each trial between two of its hosts comes to.

use super::super::course::{Course, Round};
use crate::analysis::matrix::{CellMetric, Ending, Shot, Shots, Stage, Told, verdict_on};
use crate::plan::{HostId, HostPair, HostSet, Screening};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// Which pairs are slow, how much of their rate is left, and whether only while others send.
type Fault = (fn(HostPair) -> bool, f64, bool);

/// Which pairs, and how much of it.
type OfPairs = (fn(HostPair) -> bool, f64);

/// Hosts whose rates are one, but for what is wrong with them; every trial has noise, and some are disturbed.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub hosts: u32,
    pub noise: f64,
    pub disturbed: f64,
    /// How much of its rate is left to a pair, and whether only while others send.
    pub faults: Vec<Fault>,
    /// How much longer round trips are between two hosts, whoever asks.
    pub longer: Vec<OfPairs>,
    /// The part of its segments that a pair loses.
    pub lossy: Vec<OfPairs>,
    pub groups: u32,
    /// Whether both directions are measured at once.
    pub bidirectional: bool,
}

/// The share of trials that something passing disturbs, by 5 to 39 %.
const DISTURBED: f64 = 0.03;

/// Segments of a trial, and the part of them that is sent again where nothing is wrong; of a disturbed trial up to so much more.
const SEGMENTS: f64 = 450.0;
const SENT_AGAIN: f64 = 0.0005;
const BURST: f64 = 0.03;

/// A stream of chance for each metric.
pub type Randoms = [ChaCha8Rng; CellMetric::ALL.len()];

/// Those of a seed.
pub fn randoms(seed: u64) -> Randoms {
    std::array::from_fn(|metric| ChaCha8Rng::seed_from_u64(seed ^ ((metric as u64) << 40)))
}

impl Cluster {
    pub fn of(hosts: u32, noise: f64) -> Cluster {
        Cluster {
            hosts,
            noise,
            disturbed: DISTURBED,
            faults: Vec::new(),
            longer: Vec::new(),
            lossy: Vec::new(),
            groups: 0,
            bidirectional: false,
        }
    }

    pub fn with(mut self, of: fn(HostPair) -> bool, left: f64) -> Cluster {
        self.faults.push((of, left, false));
        self
    }

    pub fn with_longer(mut self, of: fn(HostPair) -> bool, times: f64) -> Cluster {
        self.longer.push((of, times));
        self
    }

    pub fn with_loss(mut self, of: fn(HostPair) -> bool, share: f64) -> Cluster {
        self.lossy.push((of, share));
        self
    }

    pub fn screening(&self, rounds: u32) -> Screening {
        let group = |group: u32| HostSet {
            name: format!("rack{group}"),
            hosts: (0..self.hosts)
                .filter(|host| host % self.groups == group)
                .map(|host| HostId(host as u16))
                .collect(),
        };
        Screening {
            groups: (0..self.groups).map(group).collect(),
            bidirectional: self.bidirectional,
            ..Screening::of_rounds(rounds, self.hosts)
        }
    }

    /// What a round puts on record: in the screening each direction of those that are measured at once.
    pub fn measure(&self, round: &Round, random: &mut Randoms, shots: &mut Shots) {
        for metric in CellMetric::ALL {
            if round.carries.is_some_and(|carries| carries != metric.carried_by()) {
                continue;
            }
            let is_back =
                self.bidirectional && round.stage == Stage::Screen && metric != CellMetric::RoundTrip;
            let back = |pair: &HostPair| HostPair { from: pair.to, to: pair.from };
            let backwards = round.pairs.iter().filter(|_| is_back).map(back);
            let pairs: Vec<HostPair> = round.pairs.iter().copied().chain(backwards).collect();
            let random = &mut random[metric as usize];
            let shot = |pair| Shot { stage: round.stage, pair, log: self.log(metric, round, pair, random) };
            shots.extend(metric, pairs.into_iter().map(shot).collect::<Vec<_>>());
        }
    }

    fn log(&self, metric: CellMetric, round: &Round, pair: HostPair, random: &mut ChaCha8Rng) -> f64 {
        let normal = normal(random);
        let is_disturbed = random.random::<f64>() < self.disturbed;
        let passing: f64 = if is_disturbed { 0.05 + 0.34 * random.random::<f64>() } else { 0.0 };
        match metric {
            // The least of what sender, receiver and link allow.
            CellMetric::Throughput => {
                let is_alone = round.pairs.len() == 1;
                let shown = self.faults.iter().filter(|(of, _, loaded)| of(pair) && !(*loaded && is_alone));
                let left = shown.map(|(_, left, _)| *left).fold(1.0, f64::min);
                (left * (1.0 - passing)).ln() + self.noise * normal
            }
            // What each of them adds.
            CellMetric::RoundTrip => {
                let longer = self.longer.iter().filter(|(of, _)| of(pair)).map(|(_, times)| times.ln());
                -longer.sum::<f64>() - (1.0 + passing).ln() + self.noise * normal
            }
            CellMetric::RetransmitShare => {
                let lost: f64 = self.lossy.iter().filter(|(of, _)| of(pair)).map(|(_, share)| share).sum();
                let burst = if is_disturbed { BURST * random.random::<f64>() } else { 0.0 };
                let again = poisson((SENT_AGAIN + lost + burst) * SEGMENTS, random);
                -2.0 * (again / SEGMENTS).min(1.0).sqrt().asin()
            }
        }
    }

    /// The word on a whole run.
    pub fn run(&self, rounds: u32, seed: u64) -> Told {
        let ending = Ending { whole: true, ..Ending::default() };
        verdict_on(&self.screening(rounds), self.hosts as usize, &self.shots(rounds, seed), &ending)
    }

    /// The numbers of one.
    pub fn shots(&self, rounds: u32, seed: u64) -> Shots {
        let mut course = Course::new(&self.screening(rounds), self.hosts, seed);
        let (mut random, mut shots) = (randoms(!seed), Shots::default());
        loop {
            let further = course.further(&shots, &BTreeSet::new());
            if further.is_empty() {
                return shots;
            }
            for round in &further {
                self.measure(round, &mut random, &mut shots);
            }
        }
    }
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (random.random::<f64>().max(1e-12), random.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// How often something came that comes so often on average (Knuth, *The Art of Computer Programming* 2, section 3.4.1).
fn poisson(mean: f64, random: &mut ChaCha8Rng) -> f64 {
    let (end, mut product, mut count) = ((-mean).exp(), random.random::<f64>(), 0.0);
    while product > end {
        product *= random.random::<f64>();
        count += 1.0;
    }
    count
}

/// What is named in each of so many runs: `sender d`; by what it is said, where that is no rate: `host d by round-trip`.
fn named(cluster: &Cluster, rounds: u32, runs: u64) -> Vec<Vec<String>> {
    let of_run = |seed: u64| {
        let told = cluster.run(rounds, seed);
        let name = |hosts: &[HostId]| hosts.iter().map(HostId::to_string).collect::<Vec<_>>().join(">");
        let by = |metric: CellMetric| match metric {
            CellMetric::Throughput => String::new(),
            _ => format!(" by {}", metric.name()),
        };
        let said = |one: &crate::analysis::matrix::Named| {
            format!("{} {}{}", one.kind.name(), name(&one.hosts), by(one.metric))
        };
        told.named.iter().map(said).collect()
    };
    (0..runs).map(of_run).collect()
}

/// The shares of runs in which this is named, and in which something else is.
pub fn shares(cluster: &Cluster, rounds: u32, runs: u64, wanted: &str) -> (f64, f64) {
    let all = named(cluster, rounds, runs);
    let share = |count: usize| count as f64 / runs as f64;
    let found = all.iter().filter(|names| names.iter().any(|name| name == wanted)).count();
    let wrong = all.iter().filter(|names| names.iter().any(|name| name != wanted)).count();
    (share(found), share(wrong))
}
