//! How often an interval holds the truth when its own width decided how many observations it has.

use super::{Noise, noise};
use crate::statistic::{Estimate, LOOKS, effective_n, is_met, lag1, widened};

const TRUTH: f64 = 100.0;
const RUNS: u32 = 2000;

/// A kind of noise around the truth, which is its median.
type Kind = (&'static str, fn(&mut Noise) -> f64);

const KINDS: [Kind; 6] = [
    ("log-normal, 1 %", |noise| TRUTH * (0.01 * noise.normal()).exp()),
    ("log-normal, 3 %", |noise| TRUTH * (0.03 * noise.normal()).exp()),
    ("log-normal, 10 %", |noise| TRUTH * (0.1 * noise.normal()).exp()),
    ("3 % with outliers", |noise| {
        // One in twenty is 20 % high or low, so the median stays where it is.
        let far = if noise.uniform() < 0.05 { if noise.uniform() < 0.5 { 0.2 } else { -0.2 } } else { 0.0 };
        TRUTH * (0.03 * noise.normal() + far).exp()
    }),
    ("two modes", |noise| {
        let mode = if noise.uniform() < 0.5 { 0.05 } else { -0.05 };
        TRUTH * (0.01 * noise.normal() + mode).exp()
    }),
    ("heavy tail", |noise| {
        // Student's t with two degrees of freedom: no variance.
        let tail = noise.normal() / (-(1.0 - noise.uniform()).ln()).sqrt();
        TRUTH * (0.02 * tail).exp()
    }),
];

/// Observes until the interval of the median meets the target at one of the looks.
fn stopped(looks: &[u32], target: f64, observe: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values = Vec::new();
    for value in observe.take(looks[looks.len() - 1] as usize) {
        values.push(value);
        if looks.contains(&(values.len() as u32)) && is_met(&values, target) {
            break;
        }
    }
    values
}

fn holds(estimate: Estimate) -> bool {
    estimate.low.unwrap() <= TRUTH && TRUTH <= estimate.high.unwrap()
}

/// The share of runs in which the interval holds the truth, and the mean number of observations.
fn coverage(looks: &[u32], target: f64, kind: Kind) -> (f64, f64) {
    let mut noise = noise(20);
    let (mut held, mut observed) = (0, 0);
    for _ in 0..RUNS {
        let values = stopped(looks, target, std::iter::repeat_with(|| kind.1(&mut noise)));
        held += u32::from(holds(Estimate::of(values.iter().copied()).unwrap()));
        observed += values.len() as u32;
    }
    (f64::from(held) / f64::from(RUNS), f64::from(observed) / f64::from(RUNS))
}

#[test]
fn the_stopped_interval_holds_the_truth_under_any_noise() {
    for (looks, target) in [(LOOKS, 0.02), (&LOOKS[2..], 0.02), (LOOKS, 0.05), (&LOOKS[..3], 0.05)] {
        for kind in KINDS {
            let (share, observed) = coverage(looks, target, kind);
            println!("{} looks from {}, {target}: {}: {share} {observed}", looks.len(), looks[0], kind.0);
        }
    }
}

#[test]
fn looking_each_time_holds_it_less_often() {
    let each: Vec<u32> = (6..=100).collect();
    for kind in KINDS {
        println!("each: {}: {:?}", kind.0, coverage(&each, 0.02, kind));
    }
}

#[test]
fn observations_that_are_alike_need_a_wider_interval() {
    for rho in [0.5, 0.9] {
        for n in [10, 20, 50, 100] {
            let mut noise = noise(21);
            let mut held = [0; 3];
            for _ in 0..RUNS {
                let values: Vec<f64> =
                    noise.alike(n, rho).into_iter().map(|x| TRUTH * (0.03 * x).exp()).collect();
                let plain = Estimate::of(values.iter().copied()).unwrap();
                let found = lag1(&values).unwrap_or(0.0);
                held[0] += u32::from(holds(plain));
                held[1] += u32::from(holds(widened(plain, if found > 0.2 { found } else { 0.0 })));
                held[2] += u32::from(holds(widened(plain, rho)));
            }
            println!(
                "{rho} {n}: {:?} {}",
                held.map(|h| f64::from(h) / f64::from(RUNS)),
                effective_n(n as u32, rho)
            );
        }
    }
}
