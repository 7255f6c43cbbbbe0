//! A known share of slowness, of an application: the fault that a comparison must find before it may be believed.
//!
//! Where each unit of work is waited for nothing can hide, and each pays a share of what the one before took. Where units
//! overlap, an end that only wastes time hides it in what is on its way: so the first units show how long one takes by itself,
//! whatever binds, and the others are paced, so that all of them together take so much longer.

use super::application::Order;
use linerate_sys::clock::monotonic_ns;
use std::time::Duration;

/// The knob that asks for it.
const KNOB: &str = "shim.slowdown";

/// The most of it, as the knob has it: a recording may say anything.
const MOST_PERCENT: f64 = 1000.0;

/// The units that go by themselves where others are paced.
const FREE: f64 = 0.25;

/// A sleep ends late by so much at most, as a rule: the rest of a wait is spun.
const SLEEP_SLACK_NS: u64 = 200_000;

/// What the end that keeps the time does to its units.
#[derive(Debug, Clone, Default)]
pub struct Slowness {
    share: f64,
    /// Where units overlap.
    paced: Option<Paced>,
    /// When the unit that is under way began, its wait left out, and how long the one before took.
    begun_ns: u64,
    last_ns: Option<u64>,
}

/// The pace of units that overlap.
#[derive(Debug, Clone)]
struct Paced {
    /// How many go by themselves, after the first one.
    free: u64,
    units: u64,
    done: u64,
    /// When the first one was over.
    since_ns: u64,
    each_ns: f64,
    next_ns: f64,
}

impl Slowness {
    /// For units that are waited for, one after the other.
    pub fn from_order(order: &Order) -> Slowness {
        let percent = order.value::<f64>(KNOB).unwrap_or(0.0).clamp(0.0, MOST_PERCENT);
        Slowness { share: percent / 100.0, paced: None, begun_ns: 0, last_ns: None }
    }

    /// Whether there is any.
    pub fn is_some(&self) -> bool {
        self.share > 0.0
    }

    /// The same for so many units that overlap.
    pub fn pacing(self, units: u64) -> Slowness {
        let free = ((units as f64 * FREE) as u64).max(1);
        let paced = Paced { free, units, done: 0, since_ns: 0, each_ns: 0.0, next_ns: 0.0 };
        Slowness { paced: (self.share > 0.0).then_some(paced), ..self }
    }

    /// Waits, in the time that is measured, until the next unit may begin.
    pub fn begin(&mut self) {
        if self.share <= 0.0 {
            return;
        }
        if self.paced.is_none() {
            wait_until(monotonic_ns() + (self.share * self.last_ns.unwrap_or(0) as f64) as u64);
        }
        self.begun_ns = monotonic_ns();
    }

    /// The unit is there; one of those that overlap is not over before its time, and that is before it is stamped.
    pub fn end(&mut self) {
        let begun_ns = std::mem::take(&mut self.begun_ns);
        if begun_ns == 0 {
            return;
        }
        if let Some(paced) = &mut self.paced {
            paced.ended(monotonic_ns(), self.share);
        }
        self.last_ns = Some(monotonic_ns() - begun_ns);
    }
}

impl Paced {
    fn ended(&mut self, now: u64, share: f64) {
        self.done += 1;
        // The first one fills what is between the ends.
        match self.done {
            1 => self.since_ns = now,
            done if done == self.free + 1 => {
                let free_ns = (now - self.since_ns) as f64 / self.free as f64;
                let held = self.units.saturating_sub(done).max(1) as f64;
                self.each_ns = free_ns * (1.0 + share * self.units as f64 / held);
                self.next_ns = now as f64;
            }
            done if done > self.free => {
                self.next_ns += self.each_ns;
                wait_until(self.next_ns as u64);
            }
            _ => {}
        }
    }
}

fn wait_until(at_ns: u64) {
    let left = at_ns.saturating_sub(monotonic_ns());
    if left > SLEEP_SLACK_NS {
        std::thread::sleep(Duration::from_nanos(left - SLEEP_SLACK_NS));
    }
    while monotonic_ns() < at_ns {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT_NS: u64 = 1_000_000;

    fn slowness(percent: &str) -> Slowness {
        let settings = vec![format!("{KNOB}={percent}").parse().unwrap()];
        Slowness::from_order(&Order { settings, ..Order::default() })
    }

    /// How long so many units take, each of which takes [`UNIT_NS`] by itself.
    fn time_of(slowness: &mut Slowness, units: u64) -> u64 {
        let begun = monotonic_ns();
        for _ in 0..units {
            slowness.begin();
            wait_until(monotonic_ns() + UNIT_NS);
            slowness.end();
        }
        monotonic_ns() - begun
    }

    /// A wait never ends early, so lower bounds hold however busy the machine is.
    #[test]
    fn each_unit_pays_a_share_of_the_last() {
        assert!(time_of(&mut slowness("50"), 21) >= 21 * UNIT_NS + 20 * UNIT_NS / 2);
    }

    #[test]
    fn units_that_overlap_are_paced_after_the_first_ones() {
        let took_ns = time_of(&mut slowness("50").pacing(40), 40);
        // The first of all and the last one are not waited behind.
        assert!(took_ns >= (40 * UNIT_NS * 3 / 2) * 95 / 100, "{took_ns}");
    }

    /// What waits for a unit that is on its way already loses nothing by that: each is there in its time, whoever waits.
    #[test]
    fn what_is_on_its_way_hides_no_wait() {
        let (mut slowness, begun) = (slowness("10").pacing(8), monotonic_ns());
        for unit in 1..=8 {
            slowness.begin();
            wait_until(begun + unit * UNIT_NS);
            slowness.end();
        }
        let took_ns = monotonic_ns() - begun;
        assert!(took_ns >= 87 * UNIT_NS / 10, "{took_ns}");
    }

    #[test]
    fn without_a_share_nobody_waits() {
        let mut none = slowness("0").pacing(10);
        none.begin();
        none.end();
        assert!(none.paced.is_none() && none.last_ns.is_none());
    }
}
