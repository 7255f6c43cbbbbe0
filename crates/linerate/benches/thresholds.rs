//! How the thresholds of the curve analysis were chosen: made-up curves with and without a break, the
//! standard error estimated from the interval of so many passes as it is for measured ones.
//!
//!     cargo bench --bench thresholds [CURVES]
//!
//! Prints, for each price of a piece and least length, the share of smooth curves in which a break is
//! seen, and of broken ones in which it is seen within one size. Nothing here decides a test.
#![allow(clippy::print_stdout, missing_docs)]

use linerate::plan::sizes::{full, ladder};
use linerate::statistic::{Estimate, Penalty, Piece, Sample, piecewise, samples};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ALPHA_NS: f64 = 20_000.0;
const BETA_NS: f64 = 0.9;

/// A curve without noise, one of many.
struct Shape {
    name: &'static str,
    time_ns: fn(f64, u32) -> f64,
    /// The first size behind the break; none of a smooth curve.
    breaks_at: fn(u32) -> Option<f64>,
}

fn smooth(size: f64) -> f64 {
    ALPHA_NS + BETA_NS * size
}

fn bent(size: f64, by: f64) -> f64 {
    smooth(size) + by * BETA_NS * size * size.log2() / 23.0
}

fn stepped(size: f64, at: f64, step: f64) -> f64 {
    smooth(size) + if size >= at { step } else { 0.0 }
}

/// Any power of two from 2 B to 8 MiB.
fn anywhere(draw: u32) -> f64 {
    f64::from(2 << (draw % 23))
}

/// A power of two from 2 B to the size at which a step of 2 alpha is a quarter of the time.
fn early(draw: u32) -> f64 {
    f64::from(2 << (draw % 17))
}

const K64: f64 = 65_536.0;
const K512: f64 = 524_288.0;

const SHAPES: &[Shape] = &[
    Shape { name: "smooth", time_ns: |s, _| smooth(s), breaks_at: |_| None },
    // Each byte costs more the larger the message: by a tenth, and by a half, over all sizes.
    Shape { name: "bend 10%", time_ns: |s, _| bent(s, 0.1), breaks_at: |_| None },
    Shape { name: "bend 50%", time_ns: |s, _| bent(s, 0.5), breaks_at: |_| None },
    Shape {
        name: "2 alpha",
        time_ns: |s, draw| stepped(s, early(draw), 2.0 * ALPHA_NS),
        breaks_at: |draw| Some(early(draw)),
    },
    Shape { name: "T/10", time_ns: |s, _| stepped(s, K64, 0.1 * smooth(K64)), breaks_at: |_| Some(K64) },
    Shape { name: "T/5", time_ns: |s, _| stepped(s, K64, 0.2 * smooth(K64)), breaks_at: |_| Some(K64) },
    Shape {
        name: "slope x1.44",
        time_ns: |s, _| smooth(s) + 0.44 * BETA_NS * (s - K512).max(0.0),
        breaks_at: |_| Some(K512),
    },
    Shape {
        name: "3 ms anywhere",
        time_ns: |s, draw| ALPHA_NS + 0.2 * s + if s >= anywhere(draw) { 3e6 } else { 0.0 },
        breaks_at: |draw| Some(anywhere(draw)),
    },
];

/// Standard errors from which on a border is a step, as the analysis has it.
const SURE: f64 = 3.0;

/// Noise of one pass: its standard deviation, and the share of passes that are slower by far.
const NOISES: &[(f64, f64)] = &[(0.01, 0.0), (0.03, 0.0), (0.03, 0.05)];

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn curve(
    sizes: &[u64],
    time_ns: impl Fn(f64) -> f64,
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
        (size, Estimate::from_values(times).unwrap())
    };
    samples(&sizes.iter().map(median).collect::<Vec<_>>()).unwrap()
}

/// What is seen in many curves, as a cell of the table: of smooth ones the share with a break and with a
/// step, of broken ones the share with the break within one size, with a step exactly there, and with
/// another break elsewhere.
fn score(shape: &Shape, curves: &[Vec<Sample>], penalty: Penalty) -> String {
    let [mut any, mut step, mut hits, mut exact, mut others] = [0; 5];
    for (draw, samples) in (0..).zip(curves) {
        let at = (shape.breaks_at)(draw);
        let truth = at.and_then(|at| samples.iter().position(|sample| sample.size >= at));
        let pieces = piecewise(samples, penalty);
        let is_step = |pair: &[Piece]| pair[0].border(&pair[1], samples).sureness >= SURE;
        let near = |pair: &[Piece]| truth.is_some_and(|truth| truth.abs_diff(pair[1].first) <= 1);
        let there = |pair: &[Piece]| truth == Some(pair[1].first) && is_step(pair);
        any += u32::from(pieces.len() > 1);
        step += u32::from(pieces.windows(2).any(is_step));
        hits += u32::from(pieces.windows(2).any(near));
        exact += u32::from(pieces.windows(2).any(there));
        others += u32::from(pieces.windows(2).any(|pair| !near(pair)));
    }
    let share = |count: u32| 100.0 * f64::from(count) / curves.len() as f64;
    match (shape.breaks_at)(0) {
        None => format!("{:.1} {:.1}", share(any), share(step)),
        Some(_) => format!("{:.1} {:.0} {:.0}", share(hits), share(exact), share(others)),
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(1000);
    for sizes in [ladder(), full()] {
        for passes in [6, 10] {
            for noise in NOISES {
                let (spread, slow) = (100.0 * noise.0, 100.0 * noise.1);
                println!("\n{} sizes, {passes} passes, noise {spread} %, slow passes {slow} %", sizes.len());
                table(&sizes, passes, *noise, wanted);
            }
        }
    }
}

fn table(sizes: &[u64], passes: u32, noise: (f64, f64), wanted: u32) {
    let unit = (sizes.len() as f64).ln();
    let set = |shape: &Shape| -> Vec<Vec<Sample>> {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let one = |draw| curve(sizes, |size| (shape.time_ns)(size, draw), noise, passes, &mut random);
        (0..wanted).map(one).collect()
    };
    let sets: Vec<Vec<Vec<Sample>>> = SHAPES.iter().map(set).collect();
    let names: String = SHAPES.iter().map(|shape| format!("{:>14}", shape.name)).collect();
    println!("factor least short{names}");
    let lengths: &[usize] = if sizes.len() > 40 { &[4, 6] } else { &[3, 4] };
    for factor in [2.0, 2.5, 3.0, 4.0] {
        for (least, short) in lengths.iter().flat_map(|least| [4.0].map(|short| (*least, short))) {
            let penalty = Penalty { per_segment: factor * unit, least, short: short * unit };
            let cell =
                |(shape, set): (&Shape, &Vec<Vec<Sample>>)| format!("{:>14}", score(shape, set, penalty));
            let cells: String = SHAPES.iter().zip(&sets).map(cell).collect();
            println!("{factor:>6} {least:>5} {short:>5}{cells}");
        }
    }
}
