//! What is known of the path between two hosts before anything is sent, and what a visit must take for it.
//!
//! Of a lab and of a made-up machine it is what they were built with. Of real hosts nothing is known: there
//! the round trips on record tell.

use crate::plan::{Carrier, HostPair, Pairs, Plan, Target};
use crate::vocabulary::{Pattern, Place, Rung};

/// On a path with a longer round trip, time is counted in round trips.
const LONG_NS: f64 = 10e6;

/// There a stream's trial lasts this long at least, and this many round trips.
const LONG_TRIAL_NS: f64 = 1e9;
const TRIAL_ROUND_TRIPS: f64 = 20.0;

/// A ping-pong's trial there: one exchange at least, several where they are short enough.
const EXCHANGES: f64 = 4.0;
const EXCHANGES_NS: f64 = 200e6;

/// A stream's window has grown after this many round trips, or this time where it must become large.
const WARM_UP_ROUND_TRIPS: f64 = 10.0;
const LARGE_WINDOW_BYTES: f64 = 1e6;
const LARGE_WINDOW_NS: f64 = 2.5e9;

/// The first messages that find the rate take so many round trips at this rate, or this time.
const PROBE_ROUND_TRIPS: f64 = 4.0;
const PROBE_NS: f64 = 100e6;
/// What a link without a rate of its own may carry: a guess, which the second round mends.
const GUESSED_BPS: f64 = 1e9;

/// What a connection may send before the first answer: ten segments (RFC 6928).
const FIRST_WINDOW_BYTES: f64 = 14_480.0;

/// The headers of TCP over IPv4 with timestamps, and of Ethernet.
const HEADERS: f64 = 52.0;
const ETHERNET: f64 = 14.0;

/// What is known of the path between the hosts of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct NetworkPath {
    /// There and back, of the smallest message; 0 where nothing is known.
    pub round_trip_ns: f64,
    /// Payload in bits a second on the slowest link, there and back.
    there_bps: Option<f64>,
    back_bps: Option<f64>,
    /// The share of packets that is lost on the way there.
    loss: f64,
    mtu: f64,
}

impl NetworkPath {
    /// The path of a case: between the hosts of its first pair; within a host nothing takes time.
    pub fn for_case(plan: &Plan, rung: &Rung, pairs: &Pairs) -> NetworkPath {
        match rung.place {
            Place::Network => NetworkPath::between(plan, pairs.first()),
            Place::InHost => NetworkPath::default(),
        }
    }

    /// The path between two hosts of a plan.
    pub fn between(plan: &Plan, pair: HostPair) -> NetworkPath {
        let mtu = match &plan.target {
            // A token bucket lets a burst pass at once: nothing takes the time that its rate says.
            Target::Lab(lab) if lab.carrier() == Carrier::TokenBucket => return NetworkPath::default(),
            Target::Lab(lab) => f64::from(lab.mtu),
            Target::Ssh(_) | Target::Launched(_) | Target::Simulated(_) => 1500.0,
        };
        let HostPair { from, to } = pair;
        let (there, back) = (plan.target.path(from, to), plan.target.path(to, from));
        let share = (mtu - HEADERS) / (mtu + ETHERNET);
        NetworkPath {
            round_trip_ns: there.delay_ns + back.delay_ns,
            there_bps: there.slowest().map(|rate| share * rate.0),
            back_bps: back.slowest().map(|rate| share * rate.0),
            loss: there.loss,
            mtu,
        }
    }

    /// Whether anything is known.
    pub fn is_known(&self) -> bool {
        self.round_trip_ns > 0.0 || self.there_bps.is_some() || self.back_bps.is_some()
    }

    /// Whether an exchange costs so much that it is counted.
    pub fn is_long(&self) -> bool {
        is_long(self.round_trip_ns)
    }

    /// What a message takes at least, or a whole exchange of it; 0 where nothing is known.
    pub fn message_ns(&self, pattern: Pattern, bytes: u64) -> f64 {
        let bytes = bytes as f64;
        let on_line = |bps: Option<f64>| bps.map_or(0.0, |bps| 8e9 * bytes / bps);
        if !pattern.is_exchange() {
            return on_line(self.most_bps());
        }
        // A window that is smaller than the message grows by half in each round trip, or doubles.
        let ramp = self.round_trip_ns * (1.0 + bytes / FIRST_WINDOW_BYTES).log2().floor();
        self.round_trip_ns + on_line(self.there_bps) + on_line(self.back_bps) + ramp
    }

    /// The payload that one connection of TCP brings there at most: what the slowest link carries, or what
    /// CUBIC's window makes of the losses (RFC 9438, section 5.1).
    fn most_bps(&self) -> Option<f64> {
        let seconds = 1e-9 * self.round_trip_ns;
        if self.loss == 0.0 || seconds == 0.0 {
            return self.there_bps;
        }
        let (cubic, reno) = (1.054 * (seconds / self.loss).powf(0.75), 1.22 / self.loss.sqrt());
        let lossy = 8.0 * (self.mtu - HEADERS) * f64::max(cubic, reno) / seconds;
        Some(self.there_bps.map_or(lossy, |line| line.min(lossy)))
    }

    /// How long a stream's trial lasts here that would last so long elsewhere.
    pub fn stream_trial_ns(&self, trial_ns: u64) -> u64 {
        trial_ns.max(least_trial_ns(self.round_trip_ns) as u64)
    }

    /// The same of a ping-pong's.
    pub fn exchange_trial_ns(&self, trial_ns: u64) -> u64 {
        let several = (EXCHANGES * self.round_trip_ns).min(EXCHANGES_NS);
        trial_ns.max(several.max(self.round_trip_ns) as u64)
    }

    /// How long a stream with a window warms up here that would warm up so long elsewhere.
    pub fn warm_up_ns(&self, warm_up_ns: u64) -> u64 {
        if !self.is_long() {
            return warm_up_ns;
        }
        let window = self.there_bps.map_or(f64::INFINITY, |bps| bps / 8e9 * self.round_trip_ns);
        let large = if window > LARGE_WINDOW_BYTES { LARGE_WINDOW_NS } else { 0.0 };
        warm_up_ns.max((WARM_UP_ROUND_TRIPS * self.round_trip_ns).max(large) as u64)
    }

    /// Messages of a stream that find its rate.
    pub fn probing_messages(&self, bytes: u64) -> u64 {
        let bps = self.most_bps().unwrap_or(GUESSED_BPS);
        let probe_ns = PROBE_NS.max(PROBE_ROUND_TRIPS * self.round_trip_ns);
        ((bps / 8e9 * probe_ns / bytes.max(1) as f64) as u64).max(1)
    }
}

/// Whether a round trip is so long that time is counted in them.
pub(super) fn is_long(round_trip_ns: f64) -> bool {
    round_trip_ns > LONG_NS
}

/// What a stream's trial lasts at least on a long path (method B1).
pub(super) fn least_trial_ns(round_trip_ns: f64) -> f64 {
    if is_long(round_trip_ns) { LONG_TRIAL_NS.max(TRIAL_ROUND_TRIPS * round_trip_ns) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::HostId;
    use crate::record::synthetic::Synthetic;

    fn path(target: &str) -> NetworkPath {
        let plan = Synthetic::default().recording().header.unwrap().plan;
        NetworkPath::between(
            &Plan { target: target.parse().unwrap(), ..plan },
            HostPair { from: HostId(0), to: HostId(1) },
        )
    }

    #[test]
    fn real_hosts_and_token_buckets_are_unknown() {
        for target in ["lab", "ssh://h", "lab:rate=1Gb/s,wire=tbf"] {
            assert!(!path(target).is_known(), "{target}");
            assert_eq!(path(target).stream_trial_ns(7), 7);
            assert_eq!(path(target).exchange_trial_ns(7), 7);
            assert_eq!(path(target).message_ns(Pattern::PingPong, 1 << 20), 0.0);
        }
        assert!(path("lab:metro").is_known() && !path("lab:metro").is_long());
    }

    #[test]
    fn a_long_way_takes_seconds_and_round_trips() {
        let second = 1_000_000_000;
        let near = path("lab:delay=10ms");
        assert_eq!((near.stream_trial_ns(1), near.exchange_trial_ns(1)), (second, 80_000_000));
        // What a window may become is not known: large.
        assert_eq!(near.warm_up_ns(second / 2), 5 * second / 2);
        let far = path("lab:satellite");
        assert_eq!((far.stream_trial_ns(1), far.exchange_trial_ns(1)), (10_800_000_000, 540_000_000));
        assert_eq!(far.warm_up_ns(second / 2), 5_400_000_000);
        assert_eq!(path("lab:rate=1Mb/s,delay=10ms").warm_up_ns(second / 2), second / 2);
    }

    #[test]
    fn a_message_takes_line_time_and_losses() {
        let slow = path("lab:rate=1Mb/s");
        let payload = 1448.0 / 1514.0 * 1e6;
        assert!((slow.message_ns(Pattern::Stream, 1 << 20) / (8e9 * 1048576.0 / payload) - 1.0).abs() < 1e-9);
        assert!(
            slow.message_ns(Pattern::PingPong, 1 << 20) > 1.9 * slow.message_ns(Pattern::Stream, 1 << 20)
        );
        // CUBIC makes about 2.5 Mb/s of the satellite's 25 Mb/s.
        let mbps = 8e9 * 1e6 / path("lab:satellite").message_ns(Pattern::Stream, 1_000_000) / 1e6;
        assert!((2.0..3.0).contains(&mbps), "{mbps}");
    }
}
