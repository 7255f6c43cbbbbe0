//! The races themselves: every pair of a block in its turn, in an order of chance.

use super::earlier::Earlier;
use super::looks::Looks;
use super::ours::Ours;
use super::peer::{Found, Play};
use super::rows::{Metric, Row};
use super::testbed::Testbed;
use super::work::{Outcome, Work};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Failures of a peer, without a success before, after which it is not tried again.
const GIVEN_UP: usize = 2;

/// One row against one peer.
pub struct Race {
    pub row: Row,
    pub found: Found,
    /// What of the peer does it; the reason where nothing does.
    pub play: Result<&'static Play, String>,
    /// The work as both sides do it: a peer may have a least size.
    pub work: Work,
    /// The blocks of an earlier run.
    pub earlier: Earlier,
    /// A block's pair, ours first.
    pub pairs: Vec<(Outcome, Outcome)>,
    pub failures: Vec<String>,
    /// The engine that ours took.
    pub engine: Option<String>,
}

/// What the pairs of a race say of one figure.
pub struct Figure<'r> {
    pub race: &'r Race,
    pub metric: &'static Metric,
    pub ours: Vec<f64>,
    pub theirs: Vec<f64>,
}

impl Race {
    /// Whether it is still worth trying.
    fn goes_on(&self) -> bool {
        self.play.is_ok() && (self.failures.len() < GIVEN_UP || !self.pairs.is_empty())
    }

    /// What it is called on the screen.
    fn title(&self) -> String {
        format!("{} · {}", self.row.name, self.found.title())
    }

    /// One run of ours, timed as the peer times its own.
    pub fn our_side(&self, ours: &mut Ours) -> Result<Outcome, String> {
        ours.run(&self.work, &self.play.clone()?.clocked)
    }

    /// One run of theirs.
    pub fn their_side(&self, testbed: &Testbed) -> Result<Outcome, String> {
        (self.play.clone()?.run)(&self.found, &self.work, testbed)
    }

    /// What ours does for it: the same for all races of which this is the same.
    fn our_part(&self) -> String {
        let clocked = self.play.as_ref().map(|play| play.clocked);
        format!("{:?} {clocked:?}", self.work)
    }

    /// Takes a block's pair, or says why it is none; gives what is to be told of it.
    fn take(&mut self, our: Result<Outcome, String>, their: Result<Outcome, String>) -> String {
        let pair = our.and_then(|our| Ok((our, their?)));
        let metric = &self.row.metrics[0];
        let said = |outcome| (metric.of)(outcome).map_or("-".into(), |value| format!("{value:.3}"));
        match pair {
            Ok((our, their)) => {
                self.pairs.push((our, their));
                format!("ours {}, theirs {} {}", said(&our), said(&their), metric.unit)
            }
            Err(why) => {
                self.failures.push(why.clone());
                format!("failed: {why}")
            }
        }
    }

    /// How many lines it may have.
    pub fn lines(&self) -> usize {
        if self.play.is_ok() { self.metrics().count() } else { 0 }
    }

    /// The figures that this peer tells.
    fn metrics(&self) -> impl Iterator<Item = &'static Metric> {
        let tells_cpu = self.found.tells_cpu(self.row.work.kind);
        self.row.metrics.iter().filter(move |metric| tells_cpu || !metric.is_cpu)
    }

    /// Each figure that both sides told.
    pub fn figures(&self) -> Vec<Figure<'_>> {
        let of = |metric: &'static Metric| {
            // What is not above nothing is no figure of either side.
            let value = |outcome| (metric.of)(outcome).filter(|value| *value > 0.0);
            let both = self.pairs.iter().filter_map(|(our, their)| value(our).zip(value(their)));
            let earlier = self.earlier.pairs(metric.suffix).iter().copied();
            let (ours, theirs) = earlier.chain(both).unzip();
            Figure { race: self, metric, ours, theirs }
        };
        self.metrics().map(of).collect()
    }
}

impl Figure<'_> {
    /// A block's ratio, above 1 where ours is the better one.
    pub fn ratios(&self) -> Vec<f64> {
        let both = self.ours.iter().zip(&self.theirs);
        both.map(|(ours, theirs)| if self.metric.larger_wins { ours / theirs } else { theirs / ours })
            .collect()
    }

    /// Why there is none.
    pub fn why(&self) -> String {
        match (&self.race.play, self.race.failures.last()) {
            (Err(why), _) => why.clone(),
            (_, Some(why)) => format!("failed: {why}"),
            _ if self.race.pairs.is_empty() && self.race.earlier.blocks() == 0 => {
                "failed: no block was run".into()
            }
            _ => "missing: it does not tell this".into(),
        }
    }
}

/// How long the races may take.
pub struct Plan<'p> {
    /// When they are looked at.
    pub looks: &'p Looks,
    /// No block is begun after this.
    pub limit: Option<Duration>,
    /// Of the order.
    pub seed: u64,
}

/// Runs the blocks: each holds every open race once. At each look `keep` is told what there is and says which races are
/// open still; so it is after each block, so that a run that is ended early has not been in vain. Gives the number of looks
/// that the end is judged by: where the time was over before the first one, that is the only one.
pub fn run(
    races: &mut [Race],
    (testbed, ours): (&Testbed, &mut Ours),
    plan: &Plan,
    keep: impl Fn(&[Race]) -> Result<Vec<bool>, String>,
) -> Result<u32, String> {
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
    let begun = Instant::now();
    let (mut since, mut is_open, mut looks) = (begun, vec![true; races.len()], 1);
    for block in 0..plan.looks.last() {
        let groups = groups(races, &is_open, &mut random);
        if groups.is_empty() || plan.limit.is_some_and(|limit| begun.elapsed() >= limit) {
            break;
        }
        let (looked, look) = plan.looks.next(block);
        for (place, group) in groups.iter().enumerate() {
            for told in play(races, group, (testbed, ours), &mut random) {
                let done = f64::from(block - looked) + (place + 1) as f64 / groups.len() as f64;
                let left = since.elapsed().as_secs_f64() * (f64::from(look - looked) / done - 1.0);
                eprintln!("block {} of {look}, {:.0} min to the next look · {told}", block + 1, left / 60.0);
            }
        }
        let open = keep(races)?;
        if block + 1 == look {
            (since, is_open, looks) = (Instant::now(), open, plan.looks.count());
        }
    }
    Ok(looks)
}

/// The open races, those together in which ours does the same, in an order of chance.
fn groups(races: &[Race], is_open: &[bool], random: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, race) in races.iter().enumerate().filter(|(place, race)| is_open[*place] && race.goes_on()) {
        groups.entry(race.our_part()).or_default().push(place);
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.shuffle(random);
    groups
}

/// Runs ours once and each of the peers, in an order of chance: the caches are then another one's. Gives what is to be told.
fn play(
    races: &mut [Race],
    group: &[usize],
    (testbed, ours): (&Testbed, &mut Ours),
    random: &mut ChaCha8Rng,
) -> Vec<String> {
    let mut sides: Vec<Option<usize>> = group.iter().copied().map(Some).chain([None]).collect();
    sides.shuffle(random);
    let (mut our, mut theirs) = (Err("ours was not run".to_owned()), Vec::new());
    for side in sides {
        let begun = Instant::now();
        match side {
            Some(race) => {
                let their = races[race].their_side(testbed);
                theirs.push((race, their, begun.elapsed().as_secs_f64()));
            }
            None => our = races[group[0]].our_side(ours),
        }
    }
    let engine = ours.engine(&races[group[0]].work);
    let tell = |(race, their, took_s): (usize, Result<Outcome, String>, f64)| {
        let race = &mut races[race];
        race.engine = engine.clone();
        let said = race.take(our.clone(), their);
        format!("{} · {said} · {took_s:.1} s", race.title())
    };
    theirs.into_iter().map(tell).collect()
}
