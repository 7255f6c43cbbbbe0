//! What a host's clock, timers, wake-ups, memory and generators can do: measured on the host itself.
//!
//! A rate beyond what the sending loop can make, or a time below what the clock can tell, would be
//! taken for the layer's. So each is measured with the very loops, clock and transports of a run, in a
//! few seconds. What a generator can do at most is asked of two receivers that cost nothing: none at
//! all (the bare loop over a link that does no work), and a socket that throws away what it received.

mod clock;
mod generator;
mod memory;
mod timer;
mod wake_up;

use crate::observer;
use crate::plan::{HostId, Setting};
use crate::record::{Ceiling, Figure, HostCalibration};
use crate::statistic::Estimate;
use crate::{Error, Result};
use linerate_sys::clock::monotonic_ns;
use linerate_sys::thread;
use std::collections::BTreeMap;

/// What is measured first is thrown away: caches and the CPU's frequency settle.
const ROUNDS: usize = 11;

/// What has been measured so far.
#[derive(Debug, Default)]
struct Found {
    figures: BTreeMap<String, Figure>,
    ceilings: Vec<Ceiling>,
    left_out: BTreeMap<String, String>,
}

impl Found {
    fn figure(&mut self, name: &str, figure: Figure) {
        self.figures.insert(name.into(), figure);
    }

    /// The median of some observations, if there are any.
    fn median(&mut self, name: &str, observations: Vec<f64>) {
        if let Some(estimate) = Estimate::from_values(observations) {
            self.figure(name, estimate.into());
        }
    }

    fn left_out(&mut self, name: &str, why: impl Into<String>) {
        self.left_out.insert(name.into(), why.into());
    }
}

/// Calibrates this host on these CPUs; sockets get these settings. The answer does not know the host's name.
pub fn calibrate(cpus: &[u32], settings: &[Setting]) -> Result<HostCalibration> {
    let own = [std::process::id()];
    let (before, begun) = (observer::snapshot(cpus, &own), monotonic_ns());
    let mut found = Found::default();
    let first = cpus.first().copied();
    pinned(first, || {
        clock::calibrate(&mut found);
        timer::calibrate(&mut found)
    })?;
    wake_up::calibrate(cpus, &mut found)?;
    memory::calibrate(first, &mut found)?;
    generator::calibrate(cpus, settings, &mut found)?;
    let delta = before.delta(&observer::snapshot(cpus, &own));
    let all_ns = (delta.wall_ns as f64 * cpus.len() as f64).max(1.0);
    let busy: u64 = cpus.iter().filter_map(|cpu| delta.busy_ns.get(cpu)).sum();
    let used: Vec<u32> = cpus.iter().copied().take(2).collect();
    Ok(HostCalibration {
        host: HostId::default(),
        cpus: used,
        steal_share: delta.steal_ns as f64 / all_ns,
        foreign_share: busy.saturating_sub(delta.own_ns) as f64 / all_ns,
        duration_ns: monotonic_ns() - begun,
        figures: found.figures,
        ceilings: found.ceilings,
        left_out: found.left_out,
    })
}

/// Runs something in a new thread on one CPU; a new thread has its own timer slack.
fn pinned<T: Send>(cpu: Option<u32>, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            cpu.map_or(Ok(()), |cpu| thread::pin(&[cpu]))?;
            work()
        });
        thread
            .join()
            .unwrap_or_else(|_| Err(Error::peer("a calibrating thread", "panicked", "please report it")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_works_on_its_cpu() {
        let last = thread::allowed_cpus().unwrap().last().copied();
        assert_eq!(pinned(last, || Ok(Some(thread::current_cpu()))).unwrap(), last);
    }
}
