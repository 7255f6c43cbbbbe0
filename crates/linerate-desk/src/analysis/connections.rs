//! What TCP tells of the connections that a trial was sent over, by `tcp_info` (linux/uapi/tcp.h).

use super::model::window_bps;
use super::trial::positive;
use crate::record::{Recording, Series, SocketRecord, StepRecord, Trial};
use crate::statistic::median;
use crate::vocabulary::Does;
use crate::vocabulary::metric::sampled::{TCP_MINIMUM_ROUND_TRIP_US, TCP_ROUND_TRIP_US};

/// The sending ends of a trial's connections.
pub(super) struct Connections<'r> {
    trial: &'r Trial,
    senders: Vec<&'r SocketRecord>,
    /// What was sampled of them; empty where nothing was.
    series: Vec<&'r Series>,
}

/// The parts of the time of a sender: they make up the whole.
pub(super) struct Limits {
    pub application: f64,
    pub receive_window: f64,
    pub send_buffer: f64,
    pub network: f64,
}

impl<'r> Connections<'r> {
    /// Those of this trial; none where its step had several sizes, for they count from its begin to its end.
    pub fn from_trial(recording: &'r Recording, trial: &'r Trial) -> Option<Connections<'r>> {
        let steps = &recording.steps;
        let step = &steps[steps.binary_search_by_key(&trial.step, |step| step.step).ok()?];
        let of_step = |one: &&Trial| one.step == trial.step && one.case.beside == trial.case.beside;
        if recording.trials.iter().filter(of_step).count() != 1 {
            return None;
        }
        let senders: Vec<&SocketRecord> = step.sockets.iter().filter(|one| is_sender(step, one)).collect();
        let is_of = |one: &&Series| {
            let is_one = |socket: &&SocketRecord| {
                (one.host, one.worker, one.flow) == (socket.host, Some(socket.worker), Some(socket.flow))
            };
            one.step == step.step && senders.iter().any(is_one)
        };
        let series = recording.series.iter().filter(is_of).collect();
        (!senders.is_empty()).then_some(Connections { trial, senders, series })
    }

    /// One window a round trip, over all connections.
    pub fn window_bps(&self) -> Option<f64> {
        self.rate(|window, _| window)
    }

    /// The same of the whole segments of the receiver's window: of half-filled ones none is sent (Feng et al., SC
    /// 2003, section 5.4).
    pub fn aligned_window_bps(&self) -> Option<f64> {
        self.rate(|window, segment| (window / segment).floor().max(1.0) * segment)
    }

    fn rate(&self, usable: fn(f64, f64) -> f64) -> Option<f64> {
        let of = |socket: &&SocketRecord| {
            let segment = last(socket, "snd_mss")?;
            let window = usable(last(socket, "snd_wnd")?, segment).min(last(socket, "snd_cwnd")? * segment);
            positive(window_bps(window, 1e3 * last(socket, "rtt")?))
        };
        let rates: Option<Vec<f64>> = self.senders.iter().map(of).collect();
        positive(rates?.iter().sum())
    }

    /// Of the bytes that were sent, those that were not sent again (RFC 6349, section 4.2).
    pub fn efficiency(&self) -> Option<f64> {
        let share = self.sum("bytes_retrans").unwrap_or(0.0) / self.sum("bytes_sent")?;
        share.is_finite().then_some(1.0 - share)
    }

    /// How much longer round trips were in the mean than the shortest one (RFC 6349, section 4.3); the median over
    /// the connections.
    pub fn buffer_delay(&self) -> Option<f64> {
        let of = |series: &&Series| {
            let round_trips =
                series.values.get(TCP_ROUND_TRIP_US.name)?.iter().copied().filter(|us| *us > 0.0);
            let shortest = series.values.get(TCP_MINIMUM_ROUND_TRIP_US.name)?.iter().copied();
            let shortest = shortest.filter(|us| *us > 0.0).reduce(f64::min)?;
            let (sum, count) = round_trips.fold((0.0, 0.0), |(sum, count), us| (sum + us, count + 1.0));
            let delay = sum / count / shortest - 1.0;
            delay.is_finite().then_some(delay)
        };
        median(self.series.iter().filter_map(of))
    }

    /// What the senders waited for. The busy time holds what the receiver's window and the send buffer took of it;
    /// the rest of it is the network's: its congestion window, its pace, the path.
    pub fn limits(&self) -> Option<Limits> {
        let flows =
            self.trial.roles.iter().filter(|role| role.does == Does::Sends).flat_map(|role| &role.flows);
        let all: f64 = flows.map(|flow| flow.duration_ns as f64 / 1e3).sum();
        // The kernel leaves out of the structure what it never counted.
        let [busy, window, buffer] =
            ["busy_time", "rwnd_limited", "sndbuf_limited"].map(|name| self.sum(name).unwrap_or(0.0));
        positive(all)?;
        positive(busy)?;
        let share = |part: f64| (part / all.max(busy)).clamp(0.0, 1.0);
        Some(Limits {
            application: share(all - busy),
            receive_window: share(window),
            send_buffer: share(buffer),
            network: share(busy - window - buffer),
        })
    }

    /// What a counter of all senders moved by; none where none has it.
    fn sum(&self, counter: &str) -> Option<f64> {
        let moved = self.senders.iter().filter_map(|socket| socket.moved.get(counter));
        moved.map(|count| *count as f64).reduce(|a, b| a + b)
    }
}

fn is_sender(step: &StepRecord, socket: &SocketRecord) -> bool {
    let sends = step.roles.iter().filter(|role| role.does == Does::Sends);
    let is_of = |role: &crate::plan::Role| role.host == socket.host && role.worker == socket.worker;
    !socket.beside && sends.into_iter().any(is_of)
}

fn last(socket: &SocketRecord, name: &str) -> Option<f64> {
    socket.last.get(name).map(|value| *value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::measures::measure;
    use crate::record::synthetic::Synthetic;
    use std::collections::BTreeMap;

    /// A recording whose first trial of a stream has one connection with these counters.
    fn with(moved: &[(&str, u64)], last: &[(&str, u64)], round_trips_us: &[f64]) -> (Recording, Trial) {
        let mut recording = Synthetic { sizes: vec![1 << 16], ..Synthetic::default() }.recording();
        let is_one =
            |trial: &&Trial| trial.pass > 0 && trial.roles.iter().any(|role| role.does == Does::Sends);
        let trial = recording.trials.iter().find(is_one).unwrap().clone();
        recording.trials.retain(|one| one.step != trial.step);
        recording.trials.push(trial.clone());
        let step = recording.steps.iter_mut().find(|step| step.step == trial.step).unwrap();
        let role = step.roles.iter().find(|role| role.does == Does::Sends).unwrap();
        let named =
            |list: &[(&str, u64)]| list.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let (host, worker) = (role.host, role.worker);
        let (moved, last) = (named(moved), named(last));
        step.sockets = vec![SocketRecord { host, worker, moved, last, ..SocketRecord::default() }];
        let values = BTreeMap::from([
            ("tcp.round-trip-us".to_owned(), round_trips_us.to_vec()),
            ("tcp.minimum-round-trip-us".to_owned(), vec![100.0; round_trips_us.len()]),
        ]);
        let at_ns = (0..round_trips_us.len() as u64).collect();
        let (step, worker, flow) = (trial.step, Some(worker), Some(0));
        recording.series = vec![Series { step, host, worker, flow, at_ns, values }];
        (recording, trial)
    }

    fn value((recording, trial): &(Recording, Trial), name: &str) -> Option<f64> {
        measure(name).unwrap().value(recording, trial)
    }

    #[test]
    fn each_round_trip_sends_a_window_of_segments() {
        let last = [("snd_mss", 8948), ("snd_wnd", 52_500), ("snd_cwnd", 100), ("rtt", 42)];
        let seen = with(&[], &last, &[]);
        let whole = 8e9 * 52_500.0 / 42e3;
        assert!((value(&seen, "window-rate").unwrap() / whole - 1.0).abs() < 1e-9);
        let aligned = 8e9 * 5.0 * 8948.0 / 42e3;
        assert!((value(&seen, "aligned-window-rate").unwrap() / aligned - 1.0).abs() < 1e-9);
        let narrow =
            with(&[], &[("snd_mss", 1448), ("snd_wnd", 1 << 20), ("snd_cwnd", 10), ("rtt", 100)], &[]);
        let of_cwnd = 8e9 * 14_480.0 / 100e3;
        assert!((value(&narrow, "aligned-window-rate").unwrap() / of_cwnd - 1.0).abs() < 1e-9);
    }

    #[test]
    fn efficiency_and_buffer_delay_of_rfc_6349() {
        let seen = with(&[("bytes_sent", 1000), ("bytes_retrans", 20)], &[], &[150.0, 250.0]);
        assert!((value(&seen, "tcp-efficiency").unwrap() - 0.98).abs() < 1e-12);
        assert!((value(&seen, "buffer-delay").unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(value(&with(&[], &[], &[]), "tcp-efficiency"), None);
        assert_eq!(value(&with(&[], &[], &[]), "buffer-delay"), None);
    }

    #[test]
    fn what_limits_a_sender_makes_up_its_whole_time() {
        let mut seen = with(&[("busy_time", 600), ("rwnd_limited", 150), ("sndbuf_limited", 50)], &[], &[]);
        for flow in seen.1.roles.iter_mut().flat_map(|role| &mut role.flows) {
            flow.duration_ns = 1_000_000;
        }
        for role in &mut seen.1.roles {
            role.flows.truncate(1);
        }
        let shares = ["application", "receive-window", "send-buffer", "network"]
            .map(|name| value(&seen, &format!("limited-by.{name}")).unwrap());
        for (share, wanted) in shares.iter().zip([0.4, 0.15, 0.05, 0.4]) {
            assert!((share - wanted).abs() < 1e-12, "{shares:?}");
        }
    }

    #[test]
    fn connections_of_mixed_sizes_are_left_out() {
        let (mut recording, trial) = with(&[("bytes_sent", 1000)], &[], &[]);
        recording.trials.push(trial.clone());
        assert_eq!(value(&(recording, trial), "tcp-efficiency"), None);
    }
}
