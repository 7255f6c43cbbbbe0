//! What it takes to wake a sleeping thread: half a round trip of two threads that wake each other.

use super::{Found, ROUNDS};
use crate::pattern::Awake;
use crate::vocabulary::{WAKE_UP_ASLEEP, WAKE_UP_AWAKE, WAKE_UP_SAME};
use crate::{Error, Result};
use linerate_sys::clock::monotonic_ns;
use linerate_sys::thread;
use linerate_sys::wake::EventCounter;

/// Round trips that are timed at once: some of 120 µs each where CPUs sleep deeply.
const TRIPS: u32 = 100;

pub(super) fn calibrate(cpus: &[u32], found: &mut Found) -> Result<()> {
    let Some(first) = cpus.first().copied() else {
        return Ok(());
    };
    found.median(WAKE_UP_SAME, between(first, first)?);
    let Some(second) = cpus.get(1).copied() else {
        for name in [WAKE_UP_AWAKE, WAKE_UP_ASLEEP] {
            found.left_out(name, "there is only one CPU");
        }
        return Ok(());
    };
    found.median(WAKE_UP_ASLEEP, between(first, second)?);
    match Awake::keep(&[first, second]) {
        Some(_awake) => found.median(WAKE_UP_AWAKE, between(first, second)?),
        None => found.left_out(WAKE_UP_AWAKE, "threads may not take the idle priority here"),
    }
    Ok(())
}

/// Half a round trip between two CPUs, in each of some rounds after a first one.
fn between(first: u32, second: u32) -> Result<Vec<f64>> {
    let (there, back) = (EventCounter::new()?, EventCounter::new()?);
    let all = TRIPS * (ROUNDS as u32 + 1);
    let echo = || {
        thread::pin(&[second])?;
        for _ in 0..all {
            there.wait()?;
            back.signal()?;
        }
        Ok(Vec::new())
    };
    let asks = || {
        thread::pin(&[first])?;
        let round = || -> Result<f64> {
            let begun = monotonic_ns();
            for _ in 0..TRIPS {
                there.signal()?;
                back.wait()?;
            }
            Ok((monotonic_ns() - begun) as f64 / f64::from(2 * TRIPS))
        };
        round()?;
        (0..ROUNDS).map(|_| round()).collect()
    };
    let ends: [&(dyn Fn() -> Result<Vec<f64>> + Sync); 2] = [&echo, &asks];
    let rounds = thread::together("wake-up", ends)?;
    let panicked = |_| Err(Error::peer("a calibrating thread", "panicked", "please report it"));
    let rounds = rounds.into_iter().map(|end| end.unwrap_or_else(panicked)).collect::<Result<Vec<_>>>()?;
    Ok(rounds.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_of_wake_ups_takes_time() {
        let cpu = linerate_sys::thread::allowed_cpus().unwrap()[0];
        let rounds = between(cpu, cpu).unwrap();
        assert_eq!(rounds.len(), ROUNDS);
        assert!(rounds.iter().all(|ns| *ns > 0.0), "{rounds:?}");
    }
}
