//! What a host's adapter holds before it interrupts its host: frames wait until a time is over since the first of them,
//! or so many are there.

use super::flight::Flight;
use crate::plan::Coalescing;

/// The hosts' adapters.
#[derive(Debug)]
pub struct Adapters {
    coalescing: Coalescing,
    held: Vec<Held>,
    interrupts: u64,
}

/// What one adapter holds.
#[derive(Debug, Default)]
struct Held {
    flights: Vec<Flight>,
    packets: usize,
    /// The number of the interrupt that comes next: one by frames makes the one by time a thing of the past.
    number: u64,
}

/// What becomes of a frame at an adapter.
#[derive(Debug)]
pub enum Taken {
    /// It goes on now, behind what was held before it.
    HandedOn(Vec<Flight>),
    /// It waits for an interrupt that is on its way.
    Held,
    /// It waits for the interrupt of this number at this time: nothing was held before it.
    First { number: u64, at_ns: f64 },
}

impl Adapters {
    /// Adapters of so many hosts that hold nothing yet.
    pub fn new(hosts: usize, coalescing: Coalescing) -> Adapters {
        Adapters { coalescing, held: (0..hosts).map(|_| Held::default()).collect(), interrupts: 0 }
    }

    /// Holds so from now on; what is held keeps the interrupt that it waits for.
    pub fn set(&mut self, coalescing: Coalescing) {
        self.coalescing = coalescing;
    }

    /// Takes what has come to its host.
    pub fn take(&mut self, flight: Flight, at_ns: f64) -> Taken {
        let Coalescing { delay_ns, frames } = self.coalescing;
        let Some(held) = self.held.get_mut(flight.to) else { return Taken::HandedOn(vec![flight]) };
        if delay_ns == 0.0 && held.flights.is_empty() {
            return Taken::HandedOn(vec![flight]);
        }
        let to = flight.to;
        held.packets += flight.segments.len();
        held.flights.push(flight);
        if frames.is_some_and(|most| held.packets >= most as usize) {
            return Taken::HandedOn(self.hand_on(to));
        }
        match held.flights.len() {
            1 => Taken::First { number: held.number, at_ns: at_ns + delay_ns },
            _ => Taken::Held,
        }
    }

    /// What goes on at the interrupt of this number; nothing where frames have brought it about before.
    pub fn interrupt(&mut self, host: usize, number: u64) -> Vec<Flight> {
        match self.held.get(host) {
            Some(held) if held.number == number => self.hand_on(host),
            _ => Vec::new(),
        }
    }

    /// How often hosts were interrupted since this was last asked.
    pub fn take_count(&mut self) -> u64 {
        std::mem::take(&mut self.interrupts)
    }

    fn hand_on(&mut self, host: usize) -> Vec<Flight> {
        self.interrupts += 1;
        let number = self.held[host].number + 1;
        std::mem::replace(&mut self.held[host], Held { number, ..Held::default() }).flights
    }
}
