//! How the thresholds of the curve analysis were chosen: made-up curves with and without a break, the
//! standard error estimated from the interval of so many passes as it is for measured ones.
//!
//!     cargo bench --bench thresholds [CURVES]
//!
//! Prints, for each price of a piece and least length, the share of smooth curves in which a break is
//! seen, and of broken ones in which it is seen within one size. Nothing here decides a test.
#![allow(clippy::print_stdout, missing_docs)]

use linerate::plan::sizes::{full, ladder};
use linerate::statistic::{Estimate, Penalty, Sample, piecewise, samples};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ALPHA_NS: f64 = 20_000.0;
const BETA_NS: f64 = 0.9;

/// A curve without noise.
struct Shape {
    name: &'static str,
    time_ns: fn(f64) -> f64,
    /// The first size behind the break; none of a smooth curve.
    breaks_at: Option<f64>,
}

fn smooth(size: f64) -> f64 {
    ALPHA_NS + BETA_NS * size
}

fn stepped(size: f64, at: f64, step: f64) -> f64 {
    smooth(size) + if size >= at { step } else { 0.0 }
}

const K64: f64 = 65_536.0;
const K512: f64 = 524_288.0;
const M8: f64 = 8_388_608.0;

const SHAPES: &[Shape] = &[
    Shape { name: "smooth", time_ns: smooth, breaks_at: None },
    // Each byte costs more the larger the message: by a tenth, and by a half, over all sizes.
    Shape {
        name: "bend 10 %",
        time_ns: |s| smooth(s) + 0.1 * BETA_NS * s * s.log2() / 23.0,
        breaks_at: None,
    },
    Shape {
        name: "bend 50 %",
        time_ns: |s| smooth(s) + 0.5 * BETA_NS * s * s.log2() / 23.0,
        breaks_at: None,
    },
    Shape { name: "step 2a 64K", time_ns: |s| stepped(s, K64, 2.0 * ALPHA_NS), breaks_at: Some(K64) },
    Shape { name: "step T/10", time_ns: |s| stepped(s, K64, 0.1 * smooth(K64)), breaks_at: Some(K64) },
    Shape { name: "step T/5", time_ns: |s| stepped(s, K64, 0.2 * smooth(K64)), breaks_at: Some(K64) },
    Shape {
        name: "slope x1.44",
        time_ns: |s| smooth(s) + if s > K512 { 0.44 * BETA_NS * (s - K512) } else { 0.0 },
        breaks_at: Some(K512),
    },
    Shape { name: "3 ms at 2 B", time_ns: |s| stepped(s, 2.0, 3e6), breaks_at: Some(2.0) },
    Shape { name: "3 ms at 8 M", time_ns: |s| stepped(s, M8, 3e6), breaks_at: Some(M8) },
];

/// Noise of one pass: its standard deviation, and the share of passes that are slower by far.
const NOISES: &[(f64, f64)] = &[(0.01, 0.0), (0.03, 0.0), (0.03, 0.05)];

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn curve(
    sizes: &[u64],
    time_ns: fn(f64) -> f64,
    (spread, slow): (f64, f64),
    passes: u32,
    random: &mut ChaCha8Rng,
) -> Vec<Sample> {
    let median = |size: &u64| {
        let size = *size as f64;
        let times = (0..passes).map(|_| {
            let late = if random.random::<f64>() < slow { random.random::<f64>() * 0.5 } else { 0.0 };
            time_ns(size) * (1.0 + late + spread * normal(random)).max(0.5)
        });
        (size, Estimate::of(times).unwrap())
    };
    samples(&sizes.iter().map(median).collect::<Vec<_>>()).unwrap()
}

/// The shares of curves with any break, with one within one size of the true one, and with any other.
fn score(curves: &[Vec<Sample>], penalty: Penalty, breaks_at: Option<f64>) -> (f64, f64, f64) {
    let (mut any, mut hits, mut others) = (0, 0, 0);
    for samples in curves {
        let truth = breaks_at.and_then(|at| samples.iter().position(|sample| sample.size >= at));
        let firsts: Vec<usize> = piecewise(samples, penalty).iter().skip(1).map(|p| p.first).collect();
        let near = |first: &usize| truth.is_some_and(|truth| truth.abs_diff(*first) <= 1);
        any += usize::from(!firsts.is_empty());
        hits += usize::from(firsts.iter().any(near));
        others += usize::from(firsts.iter().any(|first| !near(first)));
    }
    let share = |count| 100.0 * count as f64 / curves.len() as f64;
    (share(any), share(hits), share(others))
}

fn main() {
    let wanted = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1000);
    for sizes in [ladder(), full()] {
        for passes in [6, 10] {
            for noise in NOISES {
                println!(
                    "\n{} sizes, {passes} passes, noise {} %, slow passes {} %: % broken; hits (others)",
                    sizes.len(),
                    100.0 * noise.0,
                    100.0 * noise.1
                );
                table(&sizes, passes, *noise, wanted);
            }
        }
    }
}

fn table(sizes: &[u64], passes: u32, noise: (f64, f64), wanted: usize) {
    let unit = (sizes.len() as f64).ln();
    let sets: Vec<Vec<Vec<Sample>>> = SHAPES
        .iter()
        .map(|shape| {
            let mut random = ChaCha8Rng::seed_from_u64(4);
            (0..wanted).map(|_| curve(sizes, shape.time_ns, noise, passes, &mut random)).collect()
        })
        .collect();
    let names: Vec<String> = SHAPES.iter().map(|shape| format!("{:>13}", shape.name)).collect();
    println!("factor least short {}", names.join(""));
    let lengths: &[usize] = if sizes.len() > 40 { &[4, 6, 8] } else { &[3, 4] };
    for factor in [2.0, 3.0, 4.0, 5.0] {
        for (least, short) in lengths.iter().flat_map(|least| [4.0, 8.0].map(|short| (*least, short))) {
            let penalty = Penalty { per_segment: factor * unit, least, short: short * unit };
            let cells = SHAPES.iter().zip(&sets).map(|(shape, set)| {
                let (any, hits, others) = score(set, penalty, shape.breaks_at);
                let text = if shape.breaks_at.is_none() {
                    format!("{any:.1}")
                } else {
                    format!("{hits:.1} ({others:.0})")
                };
                format!("{text:>13}")
            });
            println!("{factor:>6} {least:>5} {short:>5} {}", cells.collect::<String>());
        }
    }
}
