//! Valid bytes, damaged by chance: the same seed damages them in the same way.

use linerate_sys::clock::thread_cpu_ns;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The longest input.
const LONGEST: usize = 1 << 16;

/// What one input may take of a CPU at most: it is a hang, not a busy machine, that this finds.
const HANG_NS: u64 = 60_000_000_000;

/// A number of the environment.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Feeds damaged inputs until the time is over; a panic is told with the seed and the input.
pub fn fuzz(target: &str, valid: &[&[u8]], feed: impl FnMut(&[u8])) {
    let until = Instant::now() + Duration::from_secs(number("FUZZ_SECONDS", 2));
    run(target, valid, |_| Instant::now() < until, feed);
}

/// Feeds so many damaged inputs.
pub fn some(target: &str, valid: &[&[u8]], inputs: u64, feed: impl FnMut(&[u8])) {
    run(target, valid, |fed| fed < inputs, feed);
}

fn run(target: &str, valid: &[&[u8]], goes_on: impl Fn(u64) -> bool, mut feed: impl FnMut(&[u8])) {
    let seed = number("FUZZ_SEED", rand::random::<u32>().into());
    println!("{target}: FUZZ_SEED={seed}");
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let mut inputs = 0;
    while inputs == 0 || goes_on(inputs) {
        let input = damaged(valid, &mut chance);
        let begun = thread_cpu_ns();
        let fed = catch_unwind(AssertUnwindSafe(|| feed(&input)));
        let told = || format!("{target}, FUZZ_SEED={seed}, input {inputs}: {}", input.escape_ascii());
        assert!(fed.is_ok(), "{}", told());
        assert!(thread_cpu_ns() - begun < HANG_NS, "{}", told());
        inputs += 1;
    }
    println!("{target}: {inputs} inputs");
}

/// One of the valid inputs with some damage, or none.
pub fn damaged(valid: &[&[u8]], chance: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = valid[chance.random_range(..valid.len())].to_vec();
    for _ in 0..chance.random_range(0..8) {
        damage(&mut bytes, valid, chance);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn damage(bytes: &mut Vec<u8>, valid: &[&[u8]], chance: &mut ChaCha8Rng) {
    let at = chance.random_range(..=bytes.len());
    let end = chance.random_range(at..=bytes.len());
    match chance.random_range(0..8) {
        // A bit, a byte, a byte more, some less, the rest less.
        0 if at < bytes.len() => bytes[at] ^= 1 << chance.random_range(0..8),
        1 if at < bytes.len() => bytes[at] = chance.random(),
        2 => bytes.insert(at, chance.random()),
        3 => drop(bytes.drain(at..end)),
        4 => bytes.truncate(at),
        // A part twice, a part of another input, many of one byte.
        5 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        6 => {
            let other = valid[chance.random_range(..valid.len())];
            let from = chance.random_range(..=other.len());
            bytes.splice(at..end, other[from..].iter().copied());
        }
        _ => {
            let one = [b'0', b'9', b'[', b'{', b'"', b'\\', 0, 0xff][chance.random_range(..8usize)];
            bytes.splice(at..at, std::iter::repeat_n(one, chance.random_range(1..200)));
        }
    }
}
