//! How often an interval holds the truth when its own width decided how many observations it has.

use super::{Noise, noise};
use crate::statistic::{Estimate, LOOKS, lag1, widened};

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

/// Observes until the interval meets the target at one of the looks; gives the interval and the number
/// of observations.
fn stopped(looks: &[u32], target: f64, interval: Interval, observe: impl Iterator<Item = f64>) -> Estimate {
    let mut values = Vec::new();
    let mut found = None;
    for value in observe.take(looks[looks.len() - 1] as usize) {
        values.push(value);
        if looks.contains(&(values.len() as u32)) {
            let estimate = interval(&values);
            found = Some(estimate);
            if estimate.relative_half_width().unwrap() <= target {
                break;
            }
        }
    }
    found.unwrap()
}

type Interval = fn(&[f64]) -> Estimate;

fn plain(values: &[f64]) -> Estimate {
    Estimate::from_values(values.iter().copied()).unwrap()
}

/// For observations that are alike, as far as they are seen to be.
fn corrected(values: &[f64]) -> Estimate {
    widened(plain(values), lag1(values).filter(|rho| *rho > 0.2).unwrap_or(0.0))
}

fn holds(estimate: Estimate) -> bool {
    estimate.low.unwrap() <= TRUTH && TRUTH <= estimate.high.unwrap()
}

/// The share of runs in which the interval holds the truth, and the mean number of observations.
fn coverage(runs: u32, mut run: impl FnMut() -> Estimate) -> (f64, f64) {
    let (mut held, mut observed) = (0, 0);
    for _ in 0..runs {
        let estimate = run();
        held += u32::from(holds(estimate));
        observed += estimate.n;
    }
    (f64::from(held) / f64::from(runs), f64::from(observed) / f64::from(runs))
}

fn coverage_of(kind: Kind, looks: &[u32], target: f64) -> (f64, f64) {
    let mut noise = noise(20);
    let found =
        coverage(RUNS, || stopped(looks, target, plain, std::iter::repeat_with(|| kind.1(&mut noise))));
    println!("{}, {} looks, {target}: {found:?}", kind.0, looks.len());
    found
}

fn kind(name: &str) -> Kind {
    *KINDS.iter().find(|kind| kind.0 == name).unwrap()
}

#[test]
fn a_stopped_interval_holds_under_one_mode() {
    for kind in KINDS.iter().filter(|kind| kind.0 != "two modes") {
        let (held, _) = coverage_of(*kind, LOOKS, 0.02);
        assert!(held >= 0.94, "{}: {held}", kind.0);
    }
}

#[test]
fn so_it_does_when_there_are_three_looks() {
    for kind in KINDS {
        let (held, _) = coverage_of(kind, &LOOKS[..3], 0.05);
        assert!(held >= 0.94, "{}: {held}", kind.0);
    }
}

/// Of two equal modes the truth lies in the gap. An interval that spans the gap is too wide to stop;
/// one that is narrow lies in one mode and misses. So each look adds its own misses, and nothing that
/// is computed from six values of one mode can know of the other.
#[test]
fn more_looks_miss_two_equal_modes_more_often() {
    let held = [3, 5, 9].map(|looks| coverage_of(kind("two modes"), &LOOKS[..looks], 0.02).0);
    assert!(held[0] >= 0.94 && held[1] >= 0.9 && held[2] >= 0.85 && held[2] < 0.9, "{held:?}");
}

#[test]
fn looking_after_each_observation_stops_by_luck() {
    let each: Vec<u32> = (6..=60).collect();
    let (held, _) = coverage_of(kind("log-normal, 3 %"), &each, 0.02);
    assert!(held < 0.94, "{held}");
}

/// With noise of 3 % of which a half, and nine tenths, comes from the observation before.
#[test]
fn correlated_observations_need_a_wide_interval() {
    for (rho, n, plainly, at_least) in ALIKE {
        let share = |interval: Interval| {
            let mut noise = noise(21);
            let values = |x: Vec<f64>| x.into_iter().map(|x| TRUTH * (0.03 * x).exp()).collect::<Vec<f64>>();
            coverage(RUNS / 2, || interval(&values(noise.alike(n, rho)))).0
        };
        let held = [share(plain), share(corrected)];
        println!("{rho}, {n}: {held:?}");
        assert!(held[0] <= plainly && held[1] >= at_least, "{rho}, {n}: {held:?}");
    }
}

/// The likeness, the number of observations, how often the plain interval holds the truth at most and
/// how often the corrected one does at least. Of a few observations that are nearly the same, the
/// likeness is not seen: there even the corrected interval is too narrow.
const ALIKE: [(f64, usize, f64, f64); 6] = [
    (0.5, 10, 0.90, 0.92),
    (0.5, 20, 0.86, 0.91),
    (0.5, 50, 0.86, 0.93),
    (0.9, 20, 0.50, 0.77),
    (0.9, 50, 0.50, 0.87),
    (0.9, 100, 0.50, 0.92),
];

/// Stopping makes it worse: a stretch that hardly moves looks sure. Without the correction the interval
/// holds the truth in 78 and 38 % of runs, with it in 88 and 70 %: what is alike is to be counted by
/// connection, not by trial.
#[test]
fn correlated_stopping_needs_a_wide_interval() {
    for (rho, plainly, at_least) in [(0.5, 0.85, 0.86), (0.9, 0.5, 0.66)] {
        let share = |interval: Interval| {
            let mut noise = noise(22);
            coverage(RUNS / 4, || {
                let values = noise.alike(100, rho).into_iter().map(|x| TRUTH * (0.03 * x).exp());
                stopped(LOOKS, 0.02, interval, values)
            })
        };
        let (plainly_held, corrected_held) = (share(plain), share(corrected));
        println!("{rho}: {plainly_held:?} {corrected_held:?}");
        assert!(plainly_held.0 <= plainly && corrected_held.0 >= at_least, "{rho}");
    }
}
