//! Whatever is killed, at whatever moment: nothing is left but what was recorded, and who survives says who died.
//!
//! `LINERATE_KILLS=100 cargo test --test integration crash::` kills a hundred times; `LINERATE_KILLS_SEED` repeats the kills of
//! another time, as far as the machine does.

mod kept;
mod kill;
mod marked;
use crate::user::nobody;
mod run;
mod world;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// How many processes are killed.
const KILLS: &str = "LINERATE_KILLS";
const SEED: &str = "LINERATE_KILLS_SEED";

/// Kills of a usual test run: one that lost an agent goes on to its end.
const USUAL: usize = 12;

fn number<N: std::str::FromStr>(variable: &str) -> Option<N> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn a_kill_at_any_moment_leaves_nothing() {
    let seed = number(SEED).unwrap_or_else(rand::random::<u64>);
    let kills = number(KILLS).unwrap_or(USUAL);
    println!("{kills} kills, {SEED}={seed}");
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let mut killed: BTreeMap<String, usize> = BTreeMap::new();
    for number in 0..kills {
        // A run is the usual thing, a lab that is kept the other.
        let scene = if chance.random_ratio(4, 5) { run::scene } else { kept::scene };
        let role = scene(&mut chance, number);
        *killed.entry(role).or_default() += 1;
    }
    println!("killed: {killed:?}");
}

/// Runs the test above again, with half as many kills.
#[test]
fn an_ordinary_user_leaves_nothing_either() {
    let kills = number(KILLS).unwrap_or(USUAL / 2);
    println!(
        "{}",
        nobody::runs_them_too(&["a_kill_at_any_moment", "--show-output"], &[(KILLS, kills.to_string())])
    );
}
