//! How often two settings are told apart: where they are the same, and where they are not.

use super::{Noise, noise};
use crate::statistic::{rank_sum, signed_rank};

const SESSIONS: u32 = 2000;

/// What a session observes, in the order of time: the noise is alike from one observation to the next,
/// and the rate falls by a tenth from the first to the last.
fn drifting(noise: &mut Noise, n: usize) -> Vec<f64> {
    let place = |k: usize| k as f64 / (n - 1) as f64;
    let values = noise.alike(n, 0.9).into_iter().enumerate();
    values.map(|(k, x)| (0.02 * x).exp() * (1.0 - 0.1 * place(k))).collect()
}

fn share(mut rejects: impl FnMut() -> bool) -> f64 {
    f64::from((0..SESSIONS).map(|_| u32::from(rejects())).sum::<u32>()) / f64::from(SESSIONS)
}

#[test]
fn equal_settings_in_random_blocks_seldom_differ() {
    for blocks in [6, 12, 30] {
        let mut noise = noise(30);
        let rejected = share(|| {
            let session = drifting(&mut noise, 2 * blocks);
            let differences: Vec<f64> = session
                .chunks(2)
                .map(|block| (block[1] / block[0]).ln() * if noise.uniform() < 0.5 { 1.0 } else { -1.0 })
                .collect();
            signed_rank(&differences, 0.95).unwrap().p < 0.05
        });
        println!("{blocks}: {rejected}");
        assert!(rejected <= 0.06, "{blocks}: {rejected}");
    }
}

/// Why blocks are worth their trouble.
#[test]
fn equal_settings_one_after_the_other_differ() {
    let mut noise = noise(31);
    let rejected = share(|| {
        let session = drifting(&mut noise, 24);
        rank_sum(&session[..12], &session[12..], 0.95).unwrap().p < 0.05
    });
    println!("{rejected}");
    assert!(rejected > 0.5, "{rejected}");
}

/// The noise is that of a block's difference; of each of its two observations it is less by √2.
#[test]
fn a_difference_is_found_as_often_as_is_promised() {
    let table = [(6, 0.35, 0.65), (8, 0.63, 0.91), (10, 0.78, 0.98), (12, 0.85, 0.99)];
    for (blocks, of_two, of_three) in table {
        for (effect, promised) in [(0.02_f64, of_two), (0.03, of_three)] {
            let mut noise = noise(32);
            let found = share(|| {
                let differences: Vec<f64> =
                    (0..blocks).map(|_| effect.ln_1p() + 0.02 * noise.normal()).collect();
                signed_rank(&differences, 0.95).unwrap().p < 0.05
            });
            println!("{blocks} {effect}: {found}");
            assert!((found - promised).abs() <= 0.05, "{blocks} blocks, {effect}: {found}");
        }
    }
}
