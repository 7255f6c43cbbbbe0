//! Where every packet is and when it arrives: the links, and what is under way on them.
//!
//! It has no clock of its own. What enters has the time at which it came, what is due is asked for with the
//! present time, and between the two everything happens in the order of its own time.

use super::flight::Flight;
use super::interrupt::{Adapters, Taken};
use super::link::Link;
use crate::plan::{Coalescing, Wiring};
use crate::record::LinkAudit;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

/// A packet that is held back waits until so many later ones have passed it: a receiver of TCP then takes it
/// for lost (RFC 5681, section 3.2; n-reordering of RFC 4737).
const OVERTAKERS: usize = 3;

/// Where nothing overtakes it, it goes on after this time, or after so many packets' time.
const HOLD_NS: f64 = 1e6;
const HOLD_PACKETS: f64 = 4.0 * 1514.0;

/// A flight that has arrived, and when it should have.
#[derive(Debug)]
pub struct Due {
    /// The flight.
    pub flight: Flight,
    /// Its time.
    pub at_ns: f64,
}

#[derive(Debug)]
enum What {
    /// Comes to the link at this place of its route.
    Crosses(Flight, usize),
    /// Has arrived.
    Arrives(Flight),
    /// Those that are held on a route have waited long enough.
    Released(usize),
    /// A host's adapter interrupts it, for the time with this number.
    Interrupts { host: usize, number: u64 },
}

#[derive(Debug)]
struct Event {
    at_ns: f64,
    look_ns: u64,
    order: u64,
    what: What,
}

/// A packet that waits for others to overtake it.
#[derive(Debug)]
struct Held {
    flight: Flight,
    overtakers: usize,
    until_ns: f64,
}

/// The links and what is under way.
#[derive(Debug)]
pub struct Course {
    hosts: usize,
    links: Vec<Link>,
    routes: Vec<Vec<usize>>,
    hold_ns: Vec<f64>,
    held: Vec<Vec<Held>>,
    adapters: Adapters,
    events: BinaryHeap<Event>,
    /// When somebody must look, and the event for which: one that only comes to a further link hands nothing on before
    /// that link has passed its first packet.
    looks: BTreeSet<(u64, u64)>,
    order: u64,
    random: ChaCha8Rng,
    /// Packets that at least one later packet overtook.
    reordered: u64,
}

impl Course {
    /// Links that nothing has crossed yet; equal seeds lose equal packets.
    pub fn new(wiring: &Wiring, seed: u64) -> Course {
        let hold_ns = wiring.routes.iter().map(|route| hold_ns(wiring, route)).collect();
        Course {
            hosts: wiring.hosts,
            links: wiring.links.iter().map(Link::new).collect(),
            routes: wiring.routes.clone(),
            hold_ns,
            held: wiring.routes.iter().map(|_| Vec::new()).collect(),
            adapters: Adapters::new(wiring.hosts, wiring.coalescing),
            events: BinaryHeap::new(),
            looks: BTreeSet::new(),
            order: 0,
            random: ChaCha8Rng::seed_from_u64(seed),
            reordered: 0,
        }
    }

    /// Holds what comes to the hosts so from now on.
    pub fn set_coalescing(&mut self, coalescing: Coalescing) {
        self.adapters.set(coalescing);
    }

    /// Takes in what came from a host.
    pub fn enter(&mut self, flight: Flight) {
        self.cross(flight, 0);
    }

    /// Adds what has arrived by now, in the order of its time.
    pub fn due(&mut self, now_ns: f64, due: &mut Vec<Due>) {
        while self.events.peek().is_some_and(|event| event.at_ns <= now_ns) {
            let Some(Event { at_ns, look_ns, order, what }) = self.events.pop() else { return };
            self.looks.remove(&(look_ns, order));
            match what {
                What::Crosses(flight, place) => self.cross(flight, place),
                What::Arrives(flight) => self.arrive(flight, at_ns, due),
                What::Released(route) => self.release(route, at_ns, due),
                What::Interrupts { host, number } => {
                    let flights = self.adapters.interrupt(host, number);
                    due.extend(flights.into_iter().map(|flight| Due { flight, at_ns }));
                }
            }
        }
    }

    /// When something may be due next: not before.
    pub fn next_ns(&self) -> Option<f64> {
        self.looks.first().map(|(at_ns, _)| *at_ns as f64)
    }

    /// How many flights are somewhere.
    pub fn under_way(&self) -> usize {
        self.events.len()
    }

    /// How often hosts were interrupted since this was last asked.
    pub fn take_interrupts(&mut self) -> u64 {
        self.adapters.take_count()
    }

    /// What every link did that did anything, since this was last asked, and how many packets were reordered.
    pub fn take_counts(&mut self) -> (Vec<LinkAudit>, u64) {
        let counts = self.links.iter_mut().map(Link::take_counts);
        let busy = counts.filter(|counts| counts.packets > 0).collect();
        (busy, std::mem::take(&mut self.reordered))
    }

    fn add(&mut self, at_ns: f64, what: What) {
        let passing_ns = match &what {
            What::Crosses(flight, place) => {
                let link = self.routes[flight.from * self.hosts + flight.to].get(*place);
                link.map_or(0.0, |link| self.links[*link].first_out_ns(flight))
            }
            _ => 0.0,
        };
        self.order += 1;
        let look_ns = (at_ns + passing_ns) as u64;
        self.looks.insert((look_ns, self.order));
        self.events.push(Event { at_ns, look_ns, order: self.order, what });
    }

    /// Takes a flight over the links from this one on, up to the next at which it may have to wait: others
    /// may come there before it.
    fn cross(&mut self, flight: Flight, place: usize) {
        let route = flight.from * self.hosts + flight.to;
        let mut flights = vec![flight];
        let mut place = place;
        while let Some(link) = self.routes.get(route).and_then(|links| links.get(place)).copied() {
            let mut out = Vec::with_capacity(flights.len());
            for flight in flights {
                self.links[link].cross(flight, &mut self.random, &mut out);
            }
            (flights, place) = (out, place + 1);
            let next = self.routes[route].get(place);
            if next.is_some_and(|link| self.links[*link].has_queue()) {
                flights
                    .into_iter()
                    .for_each(|flight| self.add(flight.first_ns, What::Crosses(flight, place)));
                return;
            }
        }
        flights.into_iter().for_each(|flight| self.add(flight.last_ns, What::Arrives(flight)));
    }

    fn arrive(&mut self, flight: Flight, at_ns: f64, due: &mut Vec<Due>) {
        let route = flight.from * self.hosts + flight.to;
        if flight.is_held {
            let until_ns = at_ns + self.hold_ns[route];
            self.held[route].push(Held { flight, overtakers: 0, until_ns });
            self.add(until_ns, What::Released(route));
            return;
        }
        let passing = flight.segments.len();
        self.come(flight, at_ns, due);
        if !self.held[route].is_empty() {
            self.held[route].iter_mut().for_each(|held| held.overtakers += passing);
            self.release(route, at_ns, due);
        }
    }

    /// Lets those go on that were overtaken by enough others, or have waited long enough.
    fn release(&mut self, route: usize, at_ns: f64, due: &mut Vec<Due>) {
        let is_over = |held: &mut Held| held.overtakers >= OVERTAKERS || held.until_ns <= at_ns;
        let over: Vec<Held> = self.held[route].extract_if(.., is_over).collect();
        for held in over {
            self.reordered += u64::from(held.overtakers > 0);
            self.come(held.flight, at_ns, due);
        }
    }

    /// A flight has come to its host's adapter.
    fn come(&mut self, flight: Flight, at_ns: f64, due: &mut Vec<Due>) {
        let host = flight.to;
        match self.adapters.take(flight, at_ns) {
            Taken::HandedOn(flights) => due.extend(flights.into_iter().map(|flight| Due { flight, at_ns })),
            Taken::First { number, at_ns } => self.add(at_ns, What::Interrupts { host, number }),
            Taken::Held => {}
        }
    }
}

fn hold_ns(wiring: &Wiring, route: &[usize]) -> f64 {
    let rates = route.iter().filter_map(|link| wiring.links[*link].shape.rate);
    let slowest = rates.map(|rate| rate.0).fold(f64::INFINITY, f64::min);
    HOLD_NS.max(8e9 * HOLD_PACKETS / slowest)
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    /// The earliest is the greatest: a heap gives the greatest first. Of two at one time, the older one.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_ns.total_cmp(&self.at_ns).then(other.order.cmp(&self.order))
    }
}
