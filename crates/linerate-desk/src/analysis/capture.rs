//! What the packets of a stream say: how much was under way against what was advertised, round trips by sequence number, what was
//! sent again and whether in vain, and what came out of order. It is held against what TCP says itself.

mod again;
mod flight;
mod ranges;
mod segment;

use crate::record::{Capture, CapturedSide, decode_packets};
use crate::statistic::median;
use again::{Sent, arrivals, round_trips};
use schemars::JsonSchema;
use segment::{Segment, segments};
use serde::Serialize;

pub use flight::FlightPoint;

/// The numbers of a capture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct CaptureAnalysis {
    /// Packets on record at the sender and at the receiver.
    pub packets: [u64; 2],
    /// Data in a segment, as the sender's TCP has it.
    pub segment_bytes: Option<u64>,
    /// The most bytes that were sent and not acknowledged.
    pub in_flight_most: u64,
    /// Half of the time that many or fewer were.
    pub in_flight_half: u64,
    /// The window that the receiver advertised: its least and its most.
    pub advertised: Option<[u64; 2]>,
    /// The same in whole segments: what a sender of whole segments can use of it.
    pub advertised_aligned: Option<[u64; 2]>,
    /// Bytes that an acknowledgement covered anew: the median.
    pub acknowledged: Option<f64>,
    /// The share of the time, from the first window that was told to the last data, in which no whole segment more fitted it.
    pub window_full_share: Option<f64>,
    /// Acknowledgements with a round trip of a segment that was sent once.
    pub round_trips: u64,
    /// Their least.
    pub least_round_trip_ns: Option<f64>,
    /// Their median.
    pub round_trip_ns: Option<f64>,
    /// What TCP says: its least, where the kernel keeps it.
    pub tcp_least_round_trip_ns: Option<u64>,
    /// What TCP says: the smoothed one at the end.
    pub tcp_round_trip_ns: Option<u64>,
    /// What TCP says: its congestion window at the end, in segments.
    pub tcp_congestion_window: Option<u64>,
    /// Packets whose data had been sent before.
    pub again: u64,
    /// Of them those before which nothing had come back for a round trip: sent by a timer.
    pub again_by_timer: u64,
    /// Packets that came with nothing but data that was there already: they were sent again in vain, or twice by the network.
    pub in_vain: u64,
    /// Segments that TCP says that it sent again.
    pub tcp_again: u64,
    /// Packets that came behind later ones, and were not sent again.
    pub out_of_order: u64,
    /// In flight and advertised over time.
    pub series: Vec<FlightPoint>,
}

/// Analyses a capture.
pub fn analyse_capture(capture: &Capture) -> CaptureAnalysis {
    let [Some(sender), Some(receiver)] = [0, 1].map(|at| capture.sides.get(at)) else {
        return CaptureAnalysis::default();
    };
    let [of_sender, of_receiver] = [sender, receiver].map(read);
    let last = |name: &str| sender.tcp_last.get(name).copied();
    let segment_bytes = last("snd_mss").filter(|bytes| *bytes > 0);
    let scale = last("snd_wscale").unwrap_or_default().min(flight::LARGEST_SCALE) as u32;
    let flight = flight::flight(&of_sender, scale, segment_bytes.unwrap_or(1));
    let sent = Sent::new(&of_sender);
    let trips = round_trips(&of_sender, &sent);
    let round_trip_ns = median(trips.iter().copied());
    let (out_of_order, in_vain) = arrivals(&of_receiver, &sent);
    let whole = |bytes: u64| segment_bytes.map(|segment| bytes / segment * segment);
    let aligned = flight.advertised.and_then(|[least, most]| Some([whole(least)?, whole(most)?]));
    let tcp_round_trip_ns = last("rtt").map(|us| us.saturating_mul(1000));
    CaptureAnalysis {
        packets: [of_sender.len() as u64, of_receiver.len() as u64],
        segment_bytes,
        in_flight_most: flight.most,
        in_flight_half: flight.half,
        advertised: flight.advertised,
        advertised_aligned: aligned,
        acknowledged: median(flight.acknowledged),
        window_full_share: flight.full_share,
        round_trips: trips.len() as u64,
        least_round_trip_ns: trips.iter().copied().reduce(f64::min),
        round_trip_ns,
        tcp_least_round_trip_ns: last("min_rtt").map(|us| us.saturating_mul(1000)),
        tcp_round_trip_ns,
        tcp_congestion_window: last("snd_cwnd"),
        again: sent.again(),
        again_by_timer: sent.again_by_timer(round_trip_ns.or(tcp_round_trip_ns.map(|ns| ns as f64))),
        in_vain,
        tcp_again: sender.tcp.get("total_retrans").copied().unwrap_or_default(),
        out_of_order,
        series: flight.series,
    }
}

fn read(side: &CapturedSide) -> Vec<Segment> {
    segments(&decode_packets(&side.packets).unwrap_or_default())
}

#[cfg(test)]
mod tests;
