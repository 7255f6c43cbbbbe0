//! The races themselves: every pair of a block in its turn, in an order of chance.

use super::earlier::Earlier;
use super::ground::Ground;
use super::ours::Ours;
use super::peer::{Found, Play};
use super::rows::{Metric, Row};
use super::work::{Outcome, Work};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

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
    pub fn their_side(&self, ground: &Ground) -> Result<Outcome, String> {
        (self.play.clone()?.run)(&self.found, &self.work, ground)
    }

    /// The pair of one block, whichever of both goes first: the caches are then the other one's.
    fn pair(&mut self, ours: &mut Ours, ground: &Ground, ours_first: bool) -> Result<String, String> {
        let (our, their) = if ours_first {
            let our = self.our_side(ours)?;
            (our, self.their_side(ground)?)
        } else {
            let their = self.their_side(ground)?;
            (self.our_side(ours)?, their)
        };
        self.engine = ours.engine(&self.work);
        self.pairs.push((our, their));
        let metric = &self.row.metrics[0];
        let said = |outcome| (metric.of)(outcome).map_or("-".into(), |value| format!("{value:.3}"));
        Ok(format!("ours {}, theirs {} {}", said(&our), said(&their), metric.unit))
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
            let earlier = self.earlier.of(metric.suffix).iter().copied();
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

/// Runs the blocks: each holds every race once, in an order of chance, and in each pair chance says who goes first. What
/// there is after a block is given to `keep`, so that a run that is ended early has not been in vain.
pub fn run(
    races: &mut [Race],
    (ground, ours): (&Ground, &mut Ours),
    (blocks, seed): (u32, u64),
    keep: impl Fn(&[Race]) -> Result<(), String>,
) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let begun = Instant::now();
    for block in 0..blocks {
        let mut order: Vec<usize> = (0..races.len()).filter(|race| races[*race].goes_on()).collect();
        order.shuffle(&mut random);
        let count = order.len();
        for (place, number) in order.into_iter().enumerate() {
            let race = &mut races[number];
            let said = race.pair(ours, ground, random.random()).unwrap_or_else(|why| {
                race.failures.push(why.clone());
                format!("failed: {why}")
            });
            let done = f64::from(block) + (place + 1) as f64 / count as f64;
            let left = begun.elapsed().as_secs_f64() * (f64::from(blocks) / done - 1.0);
            let at = format!("block {} of {blocks}, {} of {count}", block + 1, place + 1);
            eprintln!("{at}, {:.0} min left · {} · {said}", left / 60.0, race.title());
        }
        keep(races)?;
    }
    Ok(())
}
