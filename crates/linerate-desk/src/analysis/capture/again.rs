//! What was sent again, what that says of round trips, and what the other end had of it.

use super::ranges::Ranges;
use super::segment::Segment;
use std::collections::BTreeMap;

/// What the sender's host saw of its own data.
#[derive(Debug, Default)]
pub struct Sent {
    /// When each end of data was sent first.
    first: BTreeMap<u64, u64>,
    /// What was sent more than once.
    twice: Ranges,
    /// Of each packet that was sent again: how long nothing had come back.
    silences_ns: Vec<u64>,
}

impl Sent {
    /// From the sender's own packets.
    pub fn new(segments: &[Segment]) -> Sent {
        let (mut sent, mut furthest, mut heard) = (Sent::default(), 0, None);
        for one in segments {
            if !one.outgoing {
                heard = Some(one.ns);
            } else if one.bytes > 0 {
                if one.begin < furthest {
                    sent.twice.add(one.begin, one.end().min(furthest));
                    sent.silences_ns.push(heard.map_or(u64::MAX, |ns| one.ns.saturating_sub(ns)));
                }
                if one.end() > furthest {
                    sent.first.insert(one.end(), one.ns);
                }
                furthest = furthest.max(one.end());
            }
        }
        sent
    }

    /// How many packets had data that had been sent before.
    pub fn again(&self) -> u64 {
        self.silences_ns.len() as u64
    }

    /// Those before which nothing had come back for a round trip; none where none is known.
    pub fn again_by_timer(&self, round_trip_ns: Option<f64>) -> u64 {
        let Some(trip) = round_trip_ns else { return 0 };
        self.silences_ns.iter().filter(|ns| **ns as f64 > trip).count() as u64
    }
}

/// Of each acknowledgement that moved on: since the last segment that it covers was sent, where nothing that it covers was sent
/// twice (RFC 6298, section 3).
pub fn round_trips(segments: &[Segment], sent: &Sent) -> Vec<f64> {
    let (mut trips, mut acknowledged) = (Vec::new(), 0);
    for one in segments.iter().filter(|one| !one.outgoing && one.acknowledges > 0) {
        if one.acknowledges <= acknowledged {
            continue;
        }
        // The end of a stream is acknowledged like a byte, and is none.
        let covered = sent.first.range(acknowledged + 1..=one.acknowledges).next_back();
        let is_ambiguous = sent.twice.touches(acknowledged, one.acknowledges);
        acknowledged = one.acknowledges;
        if let (Some((_, ns)), false) = (covered, is_ambiguous) {
            trips.extend(one.ns.checked_sub(*ns).map(|ns| ns as f64));
        }
    }
    trips
}

/// How many packets came behind later data though they were sent once, and how many brought nothing that was not there already.
pub fn arrivals(segments: &[Segment], sent: &Sent) -> (u64, u64) {
    let (mut furthest, mut there, mut out_of_order, mut in_vain) = (0, Ranges::default(), 0, 0);
    for one in segments.iter().filter(|one| !one.outgoing && one.bytes > 0) {
        if !there.add(one.begin, one.end()) {
            in_vain += 1;
        } else if one.begin < furthest && !sent.twice.touches(one.begin, one.end()) {
            out_of_order += 1;
        }
        furthest = furthest.max(one.end());
    }
    (out_of_order, in_vain)
}
