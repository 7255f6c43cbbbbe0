//! How much was under way, and how much of it the receiver had room for, from the packets at the sender.

use super::segment::Segment;
use schemars::JsonSchema;
use serde::Serialize;

/// The largest scale of a window (RFC 7323, section 2.3).
pub const LARGEST_SCALE: u64 = 14;

/// Points of a series: more than a picture can show.
const POINTS: usize = 400;

/// One moment of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FlightPoint {
    /// Since the first packet.
    pub at_ns: u64,
    /// Bytes that were sent and not acknowledged: the most of the time to the next point.
    pub in_flight: u64,
    /// The window that was advertised last; none before the first.
    pub advertised: Option<u64>,
}

/// What was under way.
#[derive(Debug, Default)]
pub struct Flight {
    /// The most bytes.
    pub most: u64,
    /// Half of the time that many or fewer.
    pub half: u64,
    /// The least and the most that was advertised.
    pub advertised: Option<[u64; 2]>,
    /// What each acknowledgement covered anew.
    pub acknowledged: Vec<f64>,
    /// The share of the time in which no whole segment more fitted the window.
    pub full_share: Option<f64>,
    /// All of it over time.
    pub series: Vec<FlightPoint>,
}

/// Where a stream is.
#[derive(Default)]
struct State {
    furthest: u64,
    acknowledged: Option<u64>,
    /// How far the receiver has room.
    edge: Option<u64>,
    window: Option<u64>,
}

impl State {
    fn take(&mut self, one: &Segment, scale: u32, flight: &mut Flight) {
        if one.outgoing {
            self.acknowledged = self.acknowledged.or(Some(one.begin));
            self.furthest = self.furthest.max(one.end());
            return;
        }
        let before = self.acknowledged.unwrap_or(one.acknowledges);
        if one.acknowledges > before {
            flight.acknowledged.push((one.acknowledges - before) as f64);
        }
        self.acknowledged = Some(before.max(one.acknowledges));
        let window = u64::from(one.window) << scale;
        let [least, most] = flight.advertised.unwrap_or([window, window]);
        flight.advertised = Some([least.min(window), most.max(window)]);
        self.window = Some(window);
        self.edge = self.edge.max(Some(one.acknowledges + window));
    }

    fn in_flight(&self) -> u64 {
        self.acknowledged.map_or(0, |acknowledged| self.furthest.saturating_sub(acknowledged))
    }

    fn is_full(&self, segment_bytes: u64) -> Option<bool> {
        self.edge.map(|edge| self.furthest + segment_bytes > edge)
    }
}

/// What a sender's own packets say.
pub fn flight(segments: &[Segment], scale: u32, segment_bytes: u64) -> Flight {
    let (mut flight, mut state) = (Flight::default(), State::default());
    let (mut held, mut full_ns, mut open_ns) = (Vec::new(), 0_u128, 0_u128);
    let first = segments.first().map_or(0, |one| one.ns);
    // What comes behind the last data waits for nothing.
    let last_data = segments.iter().rposition(|one| one.outgoing && one.bytes > 0).unwrap_or_default();
    let mut all = Vec::new();
    for (at, one) in segments.iter().enumerate() {
        state.take(one, scale, &mut flight);
        let in_flight = state.in_flight();
        all.push(FlightPoint { at_ns: one.ns.saturating_sub(first), in_flight, advertised: state.window });
        let Some(next) = segments.get(at + 1).filter(|_| at < last_data) else { continue };
        let time = u128::from(next.ns.saturating_sub(one.ns));
        held.push((in_flight, time));
        match state.is_full(segment_bytes) {
            Some(true) => full_ns += time,
            Some(false) => open_ns += time,
            None => {}
        }
    }
    flight.most = all.iter().map(|point| point.in_flight).max().unwrap_or_default();
    flight.half = half(held);
    let told_ns = full_ns + open_ns;
    flight.full_share = (told_ns > 0).then(|| full_ns as f64 / told_ns as f64);
    flight.series = thinned(all);
    flight
}

/// The least of these values that held, or less did, for half of the time.
fn half(mut held: Vec<(u64, u128)>) -> u64 {
    held.sort_unstable();
    let all: u128 = held.iter().map(|(_, time)| time).sum();
    let mut passed = 0;
    let reached = held.iter().find(|(_, time)| {
        passed += time;
        2 * passed >= all
    });
    reached.map_or(0, |(value, _)| *value)
}

/// At most [`POINTS`], of equal parts of the time: of each the most in flight.
fn thinned(all: Vec<FlightPoint>) -> Vec<FlightPoint> {
    let Some(part) = all.last().map(|last| last.at_ns / POINTS as u64 + 1) else { return all };
    let mut kept: Vec<FlightPoint> = Vec::new();
    for point in all {
        match kept.last_mut().filter(|last| last.at_ns / part == point.at_ns / part) {
            Some(last) => {
                last.in_flight = last.in_flight.max(point.in_flight);
                last.advertised = point.advertised;
            }
            None => kept.push(point),
        }
    }
    kept
}
