//! How the made-up machine varies: from run to run, connection to connection, trial to trial.

use crate::plan::World;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::HashMap;

/// How much longer a disturbed trial takes, and the share of it for which another process ran.
const BURST: f64 = 3.0;
const DISTURBED: f64 = 0.6;

/// How much slower a connection in the second mode is.
const SECOND_MODE: f64 = 1.2;

const MINUTE_NS: f64 = 60e9;

/// What happened to one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// Times the undisturbed time.
    pub factor: f64,
    /// The share of its time for which another process had the CPU.
    pub disturbed: f64,
}

/// Draws deviations in the order in which trials happen.
#[derive(Debug)]
pub struct Noise {
    world: World,
    random: ChaCha8Rng,
    /// The deviation of the whole run, of each connection, and what the last trial leaves to the next.
    run: f64,
    connections: HashMap<String, f64>,
    kept: f64,
}

impl Noise {
    pub fn new(world: &World, seed: u64) -> Noise {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let run = (world.run * normal(&mut random)).exp();
        Noise { world: world.clone(), random, run, connections: HashMap::new(), kept: 0.0 }
    }

    /// A new connection: its own deviation, and perhaps the second mode.
    pub fn connect(&mut self, name: &str) {
        let deviation = (self.world.between * normal(&mut self.random)).exp();
        let mode = if self.random.random::<f64>() < self.world.modes { SECOND_MODE } else { 1.0 };
        self.connections.insert(name.to_owned(), deviation * mode);
    }

    /// What happens to the trial that begins now.
    pub fn trial(&mut self, connection: &str, now_ns: u64) -> Draw {
        let rho = self.world.autocorrelation;
        self.kept = rho * self.kept + (1.0 - rho * rho).sqrt() * normal(&mut self.random);
        let burst = self.random.random::<f64>() < self.world.bursts;
        let drift = 1.0 + self.world.drift * now_ns as f64 / MINUTE_NS;
        let connection = self.connections.get(connection).copied().unwrap_or(1.0);
        let factor = self.run * connection * drift * (self.world.noise * self.kept).exp();
        match burst {
            true => Draw { factor: BURST * factor, disturbed: DISTURBED },
            false => Draw { factor, disturbed: 0.0 },
        }
    }

    /// Round trips around a middle: a few per cent of spread and a tail, as a histogram would have.
    pub fn samples(&mut self, middle_ns: f64, count: usize) -> Vec<u64> {
        let sample = |index: usize| {
            let rank = (index as f64 + 0.5) / count as f64;
            let tail = if rank > 0.97 { 2.0 } else { 1.0 };
            let spread = standard().inverse_cdf(rank) * 0.02;
            (middle_ns * spread.exp() * tail).round() as u64
        };
        (0..count).map(sample).collect()
    }
}

fn standard() -> Normal {
    Normal::standard()
}

/// A standard normal deviate by inversion of its distribution.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let uniform: f64 = random.random();
    standard().inverse_cdf(uniform.clamp(1e-12, 1.0 - 1e-12))
}
