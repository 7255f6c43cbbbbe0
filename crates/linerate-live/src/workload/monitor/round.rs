//! What the threads of a monitor share: a round begins for all at once, and ends with the last.

use crate::Error;
use crate::plan::{Block, Pace};
use crate::workload::slowness::Slowness;
use linerate_sys::clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};
use std::time::Duration;

/// What they share.
pub struct Rounds {
    barrier: Barrier,
    /// When the last one of the round so far was done.
    ended_ns: AtomicU64,
    /// What failed first.
    failure: OnceLock<Error>,
}

/// Where one thread is in a block.
pub struct Turn {
    /// Whether it keeps the time of rounds.
    leads: bool,
    /// The time between two rounds, where that is set, and when the next one is due.
    gap_ns: Option<u64>,
    due_ns: u64,
    begun_ns: u64,
    messages: u64,
    rounds: u64,
    slice_ns: u64,
    slowness: Slowness,
    /// The time of each slice, by the thread that leads.
    pub slices_ns: Vec<u64>,
}

impl Turn {
    /// At the beginning of a block.
    pub fn new(leads: bool, block: &Block, slowness: Slowness) -> Turn {
        let gap_ns = match block.pace {
            Pace::Closed => None,
            // A monitor's rounds are regular.
            Pace::Every(ns) | Pace::Poisson(ns) => Some(ns),
        };
        let slices = if leads { block.slices as usize } else { 0 };
        Turn {
            leads,
            gap_ns,
            due_ns: clock::monotonic_ns(),
            begun_ns: 0,
            messages: block.messages.max(1),
            rounds: 0,
            slice_ns: 0,
            slowness,
            slices_ns: Vec::with_capacity(slices),
        }
    }
}

impl Rounds {
    /// Of so many threads.
    pub fn new(threads: usize) -> Rounds {
        Rounds {
            barrier: Barrier::new(threads.max(1)),
            ended_ns: AtomicU64::new(0),
            failure: OnceLock::new(),
        }
    }

    /// Waits for the next round; whether there is one.
    pub fn begin(&self, turn: &mut Turn) -> bool {
        if turn.leads {
            self.ended_ns.store(0, Ordering::Relaxed);
            let now = clock::monotonic_ns();
            turn.begun_ns = match turn.gap_ns {
                // From when it was due: what was late because of the round before is in it.
                Some(gap_ns) => {
                    std::thread::sleep(Duration::from_nanos(turn.due_ns.saturating_sub(now)));
                    let due_ns = turn.due_ns;
                    turn.due_ns += gap_ns;
                    due_ns
                }
                None => now,
            };
            turn.slowness.begin();
        }
        self.barrier.wait();
        self.failure.get().is_none()
    }

    /// This thread is done with the round; its answer was there at `at_ns`.
    pub fn end(&self, turn: &mut Turn, at_ns: u64) {
        self.ended_ns.fetch_max(at_ns, Ordering::Relaxed);
        self.barrier.wait();
        if !turn.leads {
            return;
        }
        turn.slowness.end();
        turn.slice_ns += self.ended_ns.load(Ordering::Relaxed).saturating_sub(turn.begun_ns);
        turn.rounds += 1;
        if turn.rounds.is_multiple_of(turn.messages) {
            turn.slices_ns.push(std::mem::take(&mut turn.slice_ns));
        }
    }

    /// The next round is the last: all are told at its beginning.
    pub fn fail(&self, error: Error) {
        // The first is told; others may have failed because of it.
        let _ = self.failure.set(error);
    }

    /// What failed first.
    pub fn failure(self) -> Option<Error> {
        self.failure.into_inner()
    }
}
