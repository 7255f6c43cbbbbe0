//! One direction of a link: what it does to what crosses it, in the order in which a real one does.
//!
//! Police, swallow, queue, serialise, lose, repeat, delay. Times are computed and not waited for: a link that
//! is looked at late still gives each packet the time that it should have had.

use super::flight::Flight;
use crate::plan::{CUT_THROUGH_BYTES, Shape, Switching, WireLink};
use crate::record::LinkAudit;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Super-packets are cut so that no piece takes longer than this on the link. A piece is received once its last
/// bit has come, so a long one would come late and at once; each takes the wire's CPU anew, so that pieces of
/// 50 us left too little of two CPUs to the ends at 5 Gb/s, which then read 0.77 of the rate in half of the runs.
const PIECE_NS: f64 = 200e3;

/// A burst of losses is over once nothing has crossed for this time, or for so many full packets' time.
const MEMORY_NS: f64 = 10e6;
const MEMORY_PACKETS: f64 = 4.0 * 1514.0;

/// A policer's bucket lasts this long.
const POLICER_SECONDS: f64 = 0.010;
/// And it takes one super-packet at least, or it would let none pass.
const LEAST_BUCKET_BYTES: f64 = (64 << 10) as f64;

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passes,
    Lost,
    Twice,
    Held,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Link {
    shape: Shape,
    switching: Switching,
    /// The time of a byte; none for no time at all.
    byte_ns: Option<f64>,
    queue_bytes: f64,
    /// When the last bit so far will have left.
    free_ns: f64,
    /// When the latest packet so far comes out: the next one is not earlier.
    out_ns: f64,
    tokens: f64,
    tokens_at_ns: f64,
    is_losing: bool,
    /// When a packet last met its fate here, and how long that matters.
    looked_ns: f64,
    memory_ns: f64,
    counts: LinkAudit,
    name: String,
}

impl Link {
    /// A link that nothing has crossed yet.
    pub fn new(link: &WireLink) -> Link {
        let shape = link.shape.clone();
        let rate = shape.rate.map(|rate| rate.0);
        let bucket = shape.policer.map_or(0.0, |rate| bucket_bytes(rate.0));
        Link {
            switching: link.switching,
            byte_ns: rate.map(|rate| 8e9 / rate),
            queue_bytes: shape.queue_bytes.or(shape.queue()).map_or(f64::INFINITY, |bytes| bytes as f64),
            shape,
            free_ns: 0.0,
            out_ns: 0.0,
            tokens: bucket,
            tokens_at_ns: 0.0,
            is_losing: false,
            looked_ns: f64::NEG_INFINITY,
            memory_ns: MEMORY_NS.max(rate.map_or(0.0, |rate| 8e9 * MEMORY_PACKETS / rate)),
            counts: LinkAudit::default(),
            name: link.name.clone(),
        }
    }

    /// Whether packets wait for each other here.
    pub fn has_queue(&self) -> bool {
        self.byte_ns.is_some()
    }

    /// How long the shortest packet of a flight takes here, before which none of them is at the next place.
    pub fn first_out_ns(&self, flight: &Flight) -> f64 {
        let last = flight.all_bytes() - flight.wire_bytes(flight.segments.len().saturating_sub(1));
        let shortest = flight.wire_bytes(1).min(last);
        self.byte_ns.map_or(0.0, |byte_ns| self.head_ns(shortest * byte_ns, byte_ns))
    }

    /// When the next place begins with a packet that takes so long here.
    fn head_ns(&self, frame_ns: f64, byte_ns: f64) -> f64 {
        match self.switching {
            Switching::StoreAndForward => frame_ns,
            Switching::CutThrough => frame_ns.min(CUT_THROUGH_BYTES * byte_ns),
        }
    }

    /// What it did since it was last asked.
    pub fn take_counts(&mut self) -> LinkAudit {
        LinkAudit { link: self.name.clone(), ..std::mem::take(&mut self.counts) }
    }

    /// Lets a flight cross; what comes out is added to `out`, in the order of its packets.
    pub fn cross(&mut self, flight: Flight, random: &mut ChaCha8Rng, out: &mut Vec<Flight>) {
        self.counts.packets += flight.segments.len() as u64;
        self.counts.bytes += flight.all_bytes() as u64;
        if let Some(flight) = self.admit(flight) {
            self.carry(flight, random, out);
        }
    }

    /// What the policer, the black hole and the queue let in: nearly always all of it.
    fn admit(&mut self, flight: Flight) -> Option<Flight> {
        let flight = self.police(flight)?;
        let flight = self.swallow(flight)?;
        self.queue(flight)
    }

    fn police(&mut self, flight: Flight) -> Option<Flight> {
        let Some(rate) = self.shape.policer else { return Some(flight) };
        let elapsed = (flight.first_ns - self.tokens_at_ns).max(0.0);
        self.tokens = (self.tokens + elapsed * rate.0 / 8e9).min(bucket_bytes(rate.0));
        self.tokens_at_ns = flight.first_ns.max(self.tokens_at_ns);
        let fitting = fitting(&flight, self.tokens);
        self.counts.policed += (flight.segments.len() - fitting) as u64;
        self.tokens -= flight.wire_bytes(fitting);
        first(flight, fitting)
    }

    fn swallow(&mut self, flight: Flight) -> Option<Flight> {
        let Some(most) = self.shape.black_hole_bytes else { return Some(flight) };
        let fits =
            |segment: &usize| flight.layout.packet_bytes(flight.segments.start + segment) <= most as usize;
        let count = flight.segments.len();
        // All segments are of one size but the last, which may be smaller and pass alone.
        let passing = (0..count).find(fits).unwrap_or(count)..count;
        self.counts.swallowed += passing.start as u64;
        (!passing.is_empty()).then(|| flight.part(passing))
    }

    fn queue(&mut self, flight: Flight) -> Option<Flight> {
        let Some(byte_ns) = self.byte_ns else { return Some(flight) };
        let waiting = (self.free_ns - flight.first_ns).max(0.0) / byte_ns;
        let fitting = fitting(&flight, self.queue_bytes - waiting);
        self.counts.queue_drops += (flight.segments.len() - fitting) as u64;
        let now = waiting + flight.wire_bytes(fitting);
        self.counts.queue_bytes_max = self.counts.queue_bytes_max.max(now as u64);
        first(flight, fitting)
    }

    /// Serialises what was let in, piece by piece, and sends the pieces on.
    fn carry(&mut self, flight: Flight, random: &mut ChaCha8Rng, out: &mut Vec<Flight>) {
        let Some(byte_ns) = self.byte_ns else {
            return self.send_on(flight, random, out);
        };
        let most = segments_a_piece(&flight, byte_ns);
        let count = flight.segments.len();
        let (came_first, came_last) = (flight.first_ns, flight.last_ns);
        let begin = came_first.max(self.free_ns);
        for start in (0..count).step_by(most) {
            let mut piece = flight.part(start..(start + most).min(count));
            let before = begin + flight.wire_bytes(start) * byte_ns;
            let frame_ns = piece.wire_bytes(1) * byte_ns;
            piece.first_ns = before + self.head_ns(frame_ns, byte_ns);
            piece.last_ns = before + piece.all_bytes() * byte_ns;
            // No bit leaves before it came: the last frame can only follow when it is here, whole where a
            // switch waits for that. A flight that came at one time came whole.
            if came_last > came_first && start + most >= count {
                let rest = if self.switching == Switching::CutThrough { 0.0 } else { frame_ns };
                piece.last_ns = piece.last_ns.max(came_last + rest);
            }
            self.free_ns = piece.last_ns.max(self.free_ns);
            self.send_on(piece, random, out);
        }
    }

    /// Loses, repeats and delays.
    fn send_on(&mut self, flight: Flight, random: &mut ChaCha8Rng, out: &mut Vec<Flight>) {
        let shape = &self.shape;
        if shape.loss == 0.0 && shape.duplicate == 0.0 && shape.reorder == 0.0 {
            out.extend(std::iter::once(flight).map(|flight| self.delay(flight, random)));
            return;
        }
        let count = flight.segments.len();
        let mut start = 0;
        while start < count {
            let (end, fate) = self.run(flight.first_ns, start, count, random);
            if end > start {
                self.pass(&flight, start..end, Fate::Passes, random, out);
            }
            if fate != Fate::Passes {
                self.pass(&flight, end..end + 1, fate, random, out);
            }
            start = end + usize::from(fate != Fate::Passes);
        }
    }

    /// How far nothing happens from `start` on, and what happens there.
    fn run(&mut self, at_ns: f64, start: usize, count: usize, random: &mut ChaCha8Rng) -> (usize, Fate) {
        for segment in start..count {
            match self.fate(at_ns, random) {
                Fate::Passes => {}
                fate => return (segment, fate),
            }
        }
        (count, Fate::Passes)
    }

    fn fate(&mut self, at_ns: f64, random: &mut ChaCha8Rng) -> Fate {
        if self.is_lost(at_ns, random) {
            return Fate::Lost;
        }
        let draw = random.random::<f64>();
        match draw {
            _ if draw < self.shape.duplicate => Fate::Twice,
            _ if draw < self.shape.duplicate + self.shape.reorder => Fate::Held,
            _ => Fate::Passes,
        }
    }

    /// Gilbert's model where losses come in bursts (Bell System Technical Journal 39, 1960): in the bad state
    /// every packet is lost, and the states change so that share and mean length are those asked for. The model
    /// has a channel that is always in use; ours forgets its state while nothing crosses it, or a flow that
    /// sends again what was lost, one packet a second, would find the same burst for minutes.
    fn is_lost(&mut self, at_ns: f64, random: &mut ChaCha8Rng) -> bool {
        let loss = self.shape.loss;
        if loss == 0.0 {
            return false;
        }
        let draw = random.random::<f64>();
        let is_forgotten = at_ns - self.looked_ns > self.memory_ns;
        self.looked_ns = at_ns;
        if self.shape.burst <= 1.0 || is_forgotten {
            self.is_losing = draw < loss;
            return self.is_losing;
        }
        let leaves = 1.0 / self.shape.burst;
        let enters = leaves * loss / (1.0 - loss);
        self.is_losing = if self.is_losing { draw >= leaves } else { draw < enters };
        self.is_losing
    }

    fn pass(
        &mut self,
        flight: &Flight,
        range: Range<usize>,
        fate: Fate,
        random: &mut ChaCha8Rng,
        out: &mut Vec<Flight>,
    ) {
        let count = range.len() as u64;
        let is_all = range == (0..flight.segments.len());
        let mut part = flight.part(range.clone());
        if !is_all {
            // Where in the flight it is tells when its own last bit came.
            let share = flight.wire_bytes(range.end) / flight.all_bytes();
            part.last_ns = flight
                .first_ns
                .max(flight.last_ns - (1.0 - share) * flight.all_bytes() * self.byte_ns.unwrap_or(0.0));
        }
        match fate {
            Fate::Lost => {
                self.counts.lost += count;
                return;
            }
            Fate::Twice => {
                self.counts.duplicated += count;
                out.push(self.delay(part.clone(), random));
            }
            Fate::Held => {
                self.counts.held += count;
                part.is_held = true;
            }
            Fate::Passes => {}
        }
        let part = self.delay(part, random);
        out.push(part);
    }

    /// Moves a flight's times on. Jitter never lets a packet overtake another: that is what reordering is for.
    fn delay(&mut self, mut flight: Flight, random: &mut ChaCha8Rng) -> Flight {
        let jitter = match self.shape.jitter_ns {
            0.0 => 0.0,
            most => most * (2.0 * random.random::<f64>() - 1.0),
        };
        let delay = (self.shape.delay_ns + jitter).max(0.0);
        flight.first_ns += delay;
        flight.last_ns = (flight.last_ns + delay).max(self.out_ns);
        self.out_ns = flight.last_ns;
        flight
    }
}

fn segments_a_piece(flight: &Flight, byte_ns: f64) -> usize {
    let frame_ns = flight.wire_bytes(1) * byte_ns;
    ((PIECE_NS / frame_ns.max(1.0)) as usize).max(1)
}

fn bucket_bytes(rate: f64) -> f64 {
    (rate / 8.0 * POLICER_SECONDS).max(LEAST_BUCKET_BYTES)
}

/// How many of a flight's packets fit into so many bytes.
fn fitting(flight: &Flight, room: f64) -> usize {
    let count = flight.segments.len();
    if flight.all_bytes() <= room {
        return count;
    }
    (0..count).rev().find(|fitting| flight.wire_bytes(*fitting) <= room).unwrap_or(0)
}

/// The first so many of its packets; none for none.
fn first(flight: Flight, count: usize) -> Option<Flight> {
    match count {
        0 => None,
        _ if count == flight.segments.len() => Some(flight),
        _ => Some(flight.part(0..count)),
    }
}
