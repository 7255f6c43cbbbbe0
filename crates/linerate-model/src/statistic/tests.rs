//! The procedures as they are used, on simulated noise: how often they are right.

mod blocks;
mod stopping;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Noise that is the same in every run of a test.
pub(super) struct Noise(ChaCha8Rng);

pub(super) fn noise(seed: u64) -> Noise {
    Noise(ChaCha8Rng::seed_from_u64(seed))
}

impl Noise {
    /// From 0 to 1.
    pub(super) fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// A normal of mean 0 and deviation 1, by Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

impl Noise {
    /// A series of mean 0 and deviation 1 in which each value resembles the one before.
    pub(super) fn alike(&mut self, n: usize, rho: f64) -> Vec<f64> {
        let mut value = self.normal();
        (0..n)
            .map(|_| {
                let next = rho * value + (1.0 - rho * rho).sqrt() * self.normal();
                std::mem::replace(&mut value, next)
            })
            .collect()
    }
}
