//! What one trial tells, by name: every number that a figure can draw, from whichever pattern yields it.
//!
//! A measure is of one trial; medians and intervals over trials are taken of what it gives. What a trial
//! cannot tell is none, as a percentile is beyond which too few samples lie.

use super::connections::Connections;
use super::search;
use super::trial::{half_round_trip_ns, lost_share, positive, throughput_bps};
use crate::record::{Flow, Recording, RoleRecord, Tally, Trial, decode_histogram, merge_histograms};
use crate::statistic::median;
use crate::vocabulary::{Does, Sample};
use hdrhistogram::Histogram;

/// Samples that must lie beyond a percentile for it to be told.
const BEYOND: f64 = 10.0;

/// One number of a trial.
#[derive(Debug)]
pub struct Measure {
    /// Its name: that of a metric, or that with a percentile behind it.
    pub name: &'static str,
    /// Its unit, as the metric's.
    pub unit: &'static str,
    /// Where it comes from.
    of: Of,
}

/// What a number is taken of. None where that cannot tell it.
#[derive(Debug)]
enum Of {
    Trial(fn(&Trial) -> Option<f64>),
    Connections(fn(&Connections) -> Option<f64>),
}

impl Measure {
    /// The number of a trial; none where it cannot be told.
    pub fn of(&self, recording: &Recording, trial: &Trial) -> Option<f64> {
        match self.of {
            Of::Trial(of) => of(trial),
            Of::Connections(of) => of(&Connections::of(recording, trial)?),
        }
    }
}

const fn measure_of(name: &'static str, unit: &'static str, of: fn(&Trial) -> Option<f64>) -> Measure {
    Measure { name, unit, of: Of::Trial(of) }
}

const fn of_connections(
    name: &'static str,
    unit: &'static str,
    of: fn(&Connections) -> Option<f64>,
) -> Measure {
    Measure { name, unit, of: Of::Connections(of) }
}

/// Every measure.
pub const MEASURES: &[Measure] = &[
    measure_of("throughput", "b/s", throughput_bps),
    measure_of("message-rate", "1/s", message_rate),
    measure_of("loss", "1", lost_share),
    measure_of("cpu.sender", "ns/B", |trial| cpu_per_byte(trial, Does::Sends)),
    measure_of("cpu.receiver", "ns/B", |trial| cpu_per_byte(trial, Does::Receives)),
    measure_of("half-round-trip", "ns", half_round_trip_ns),
    measure_of("half-round-trip.mean", "ns", mean_half_round_trip),
    measure_of("half-round-trip.p50", "ns", |trial| half_round_trip(trial, 0.5)),
    measure_of("half-round-trip.p90", "ns", |trial| half_round_trip(trial, 0.9)),
    measure_of("half-round-trip.p99", "ns", |trial| half_round_trip(trial, 0.99)),
    measure_of("half-round-trip.p99.9", "ns", |trial| half_round_trip(trial, 0.999)),
    measure_of("exchange-time", "ns", |trial| exchange(trial, 0.5)),
    measure_of("exchange-time.p99", "ns", |trial| exchange(trial, 0.99)),
    measure_of("exchange-throughput", "b/s", |trial| carried(trial, exchange(trial, 0.5)?)),
    measure_of("ping-pong-throughput", "b/s", |trial| carried(trial, half_round_trip_ns(trial)?)),
    measure_of("round-trip-rate", "1/s", |trial| positive(1e9 / (2.0 * half_round_trip_ns(trial)?))),
    measure_of("collective-time", "ns", |trial| {
        collective(trial, |all| Some(all.value_at_quantile(0.5) as f64))
    }),
    measure_of("collective-time.p99", "ns", |trial| collective(trial, |all| percentile(all, 0.99))),
    measure_of("overlap", "1", overlap),
    measure_of("overlap-time.alone", "ns", |trial| middle(trial, Sample::ExchangeAlone)),
    measure_of("overlap-time.work", "ns", |trial| middle(trial, Sample::WorkAlone)),
    measure_of("overlap-time.both", "ns", |trial| middle(trial, Sample::ExchangeAtWork)),
    measure_of("response-time.p50", "ns", |trial| timed(trial, Sample::FromIntended, 0.5)),
    measure_of("response-time.p90", "ns", |trial| timed(trial, Sample::FromIntended, 0.9)),
    measure_of("response-time.p95", "ns", |trial| timed(trial, Sample::FromIntended, 0.95)),
    measure_of("response-time.p99", "ns", |trial| timed(trial, Sample::FromIntended, 0.99)),
    measure_of("response-time.p99.9", "ns", |trial| timed(trial, Sample::FromIntended, 0.999)),
    measure_of("service-time.p50", "ns", |trial| timed(trial, Sample::FromSend, 0.5)),
    measure_of("service-time.p99", "ns", |trial| timed(trial, Sample::FromSend, 0.99)),
    measure_of("service-time.p99.9", "ns", |trial| timed(trial, Sample::FromSend, 0.999)),
    measure_of("connect-time.p50", "ns", |trial| timed(trial, Sample::SetUp, 0.5)),
    measure_of("connect-time.p99", "ns", |trial| timed(trial, Sample::SetUp, 0.99)),
    measure_of("transaction-time.p50", "ns", |trial| timed(trial, Sample::Transaction, 0.5)),
    measure_of("transaction-time.p99", "ns", |trial| timed(trial, Sample::Transaction, 0.99)),
    measure_of("transaction-rate", "1/s", transaction_rate),
    measure_of("sent-late", "1", sent_late),
    measure_of("pacing-error.p50", "ns", |trial| timed(trial, Sample::SentLate, 0.5)),
    measure_of("pacing-error.p99", "ns", |trial| timed(trial, Sample::SentLate, 0.99)),
    measure_of("sender-rate", "b/s", sender_rate),
    measure_of("duplicated", "1", |trial| share(sum(trial, |tally| tally.duplicated)?, came(trial)?)),
    measure_of("reordered", "1", |trial| share(sum(trial, |tally| tally.reordered)?, came(trial)?)),
    measure_of("delay-variation.p50", "ns", |trial| timed(trial, Sample::DelayVariation, 0.5)),
    measure_of("delay-variation.p99", "ns", |trial| timed(trial, Sample::DelayVariation, 0.99)),
    measure_of("delay-variation.p99.9", "ns", |trial| timed(trial, Sample::DelayVariation, 0.999)),
    measure_of("packet-to-packet.p50", "ns", |trial| timed(trial, Sample::PacketToPacket, 0.5)),
    measure_of("packet-to-packet.p99", "ns", |trial| timed(trial, Sample::PacketToPacket, 0.99)),
    measure_of("jitter", "ns", jitter),
    measure_of("round-trips-a-minute", "1/min", round_trips_a_minute),
    measure_of("ip-capacity", "b/s", search::capacity_bps),
    measure_of("capacity-loss", "1", search::capacity_loss),
    measure_of("capacity-delay-variation", "ns", search::capacity_variation_ns),
    measure_of("zero-loss-rate", "1/s", search::zero_loss_rate),
    of_connections("window-rate", "b/s", |all| all.window_bps()),
    of_connections("aligned-window-rate", "b/s", |all| all.aligned_window_bps()),
    of_connections("tcp-efficiency", "1", |all| all.efficiency()),
    of_connections("buffer-delay", "1", |all| all.buffer_delay()),
    of_connections("limited-by.application", "1", |all| Some(all.limits()?.application)),
    of_connections("limited-by.receive-window", "1", |all| Some(all.limits()?.receive_window)),
    of_connections("limited-by.send-buffer", "1", |all| Some(all.limits()?.send_buffer)),
    of_connections("limited-by.network", "1", |all| Some(all.limits()?.network)),
];

/// The measure of this name.
pub fn measure(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|measure| measure.name == name)
}

/// CPU time of one side's threads for each byte that was received.
fn cpu_per_byte(trial: &Trial, does: Does) -> Option<f64> {
    let of =
        |does: Does| trial.roles.iter().filter(move |role| role.does == does).flat_map(|role| &role.flows);
    let bytes: f64 = of(Does::Receives).map(|flow| flow.bytes as f64).sum();
    positive(of(does).map(|flow| flow.cpu_ns as f64).sum::<f64>() / bytes)
}

/// Messages that arrived in a second.
fn message_rate(trial: &Trial) -> Option<f64> {
    positive(throughput_bps(trial)? / (8.0 * trial.block.message_bytes as f64))
}

/// Half of the time over the number of exchanges, over all clients: what waits long is in it. None where a
/// datagram was lost: the time until that was noticed is nobody's round trip.
fn mean_half_round_trip(trial: &Trial) -> Option<f64> {
    if lost_share(trial).is_some_and(|lost| lost > 0.0) {
        return None;
    }
    let pings = trial.roles.iter().filter(|role| role.does == Does::Pings);
    let times: Vec<f64> = pings.flat_map(|role| &role.flows).map(|flow| flow.duration_ns as f64).collect();
    let exchanges = trial.block.messages as f64 * f64::from(trial.block.slices);
    positive(times.iter().sum::<f64>() / times.len() as f64 / exchanges / 2.0)
}

/// How many exchanges, one after the other, a minute has room for.
fn round_trips_a_minute(trial: &Trial) -> Option<f64> {
    positive(60e9 / (2.0 * half_round_trip_ns(trial)?))
}

/// A percentile of the half round trips of single exchanges, or of the means of as many as a sample holds.
fn half_round_trip(trial: &Trial, share: f64) -> Option<f64> {
    let pings = trial.roles.iter().filter(|role| role.does == Does::Pings);
    let texts = pings.filter_map(|role| role.histogram.as_deref());
    let sample_ns = percentile(&merge_histograms(texts)?, share)?;
    positive(sample_ns / trial.block.messages.max(1) as f64 / 2.0)
}

/// A percentile of the exchanges of both ends.
fn exchange(trial: &Trial, share: f64) -> Option<f64> {
    let both = trial.roles.iter().filter(|role| role.does == Does::Exchanges);
    let sample_ns = percentile(&merge_histograms(both.filter_map(|role| role.histogram.as_deref()))?, share)?;
    positive(sample_ns / trial.block.messages.max(1) as f64)
}

/// What a message carries that takes so long.
fn carried(trial: &Trial, time_ns: f64) -> Option<f64> {
    positive(trial.block.message_bytes as f64 * 8e9 / time_ns)
}

/// A percentile of the operations of all ranks together, of the end where it is larger.
fn collective(trial: &Trial, told: fn(&Histogram<u32>) -> Option<f64>) -> Option<f64> {
    let all = trial.roles.iter().filter(|role| role.does.is_collective());
    let of_end = |role: &RoleRecord| told(&decode_histogram(role.histogram.as_deref()?)?);
    let ends: Option<Vec<f64>> = all.map(of_end).collect();
    positive(ends?.into_iter().fold(0.0, f64::max) / trial.block.messages.max(1) as f64)
}

/// The share of an exchange that goes on while its ends work. Noise can take it beyond 0 and 1.
fn overlap(trial: &Trial) -> Option<f64> {
    let [alone, work, both] = [Sample::ExchangeAlone, Sample::WorkAlone, Sample::ExchangeAtWork]
        .map(|sample| middle(trial, sample));
    let share = 1.0 - (both? - work?) / alone?;
    share.is_finite().then_some(share)
}

/// The median of what was timed besides, of however few.
fn middle(trial: &Trial, sample: Sample) -> Option<f64> {
    let texts = trial.roles.iter().filter_map(|role| role.samples.get(&sample)).map(String::as_str);
    let all = merge_histograms(texts)?;
    positive(all.value_at_quantile(0.5) as f64)
}

/// A percentile of what was timed besides.
fn timed(trial: &Trial, sample: Sample, share: f64) -> Option<f64> {
    let texts = trial.roles.iter().filter_map(|role| role.samples.get(&sample)).map(String::as_str);
    percentile(&merge_histograms(texts)?, share)
}

fn tallies(trial: &Trial) -> impl Iterator<Item = (&Flow, &Tally)> {
    let flows = trial.roles.iter().flat_map(|role| &role.flows);
    flows.filter_map(|flow| Some((flow, flow.tally.as_deref()?)))
}

/// The sum over all flows that counted it.
fn sum(trial: &Trial, count: fn(&Tally) -> Option<u64>) -> Option<f64> {
    tallies(trial).filter_map(|(_, tally)| count(tally)).map(|count| count as f64).reduce(|a, b| a + b)
}

/// The share of the messages that were due at a set moment and went late.
pub fn sent_late(trial: &Trial) -> Option<f64> {
    share(sum(trial, |tally| tally.late)?, sum(trial, |tally| tally.intended)?)
}

/// Datagrams that came to those who looked for more than their number.
fn came(trial: &Trial) -> Option<f64> {
    let looked = tallies(trial).filter(|(_, tally)| tally.duplicated.is_some());
    looked.filter_map(|(flow, _)| flow.messages).map(|messages| messages as f64).reduce(|a, b| a + b)
}

fn share(part: f64, all: f64) -> Option<f64> {
    let share = part / all;
    share.is_finite().then_some(share)
}

/// What was sent, over the time in which it was, by the senders' clocks; the sum over all flows.
fn sender_rate(trial: &Trial) -> Option<f64> {
    let rate =
        |(flow, tally): (&Flow, &Tally)| positive(8e9 * flow.bytes as f64 / tally.sent_within_ns? as f64);
    tallies(trial).filter_map(rate).reduce(|a, b| a + b)
}

/// Requests with a connection each in a second, those of the lead among them; the sum over all flows.
fn transaction_rate(trial: &Trial) -> Option<f64> {
    let rate =
        |(flow, tally): (&Flow, &Tally)| positive(1e9 * tally.transactions? as f64 / flow.duration_ns as f64);
    tallies(trial).filter_map(rate).reduce(|a, b| a + b)
}

/// Of several flows the median.
fn jitter(trial: &Trial) -> Option<f64> {
    median(tallies(trial).filter_map(|(_, tally)| tally.jitter_ns))
}

/// What such a share of the samples does not exceed, where enough of them lie beyond.
fn percentile(histogram: &Histogram<u32>, share: f64) -> Option<f64> {
    let beyond = histogram.len() as f64 * (1.0 - share).min(share);
    // A share of samples is not exact in binary: ten of a thousand are ten.
    (beyond >= BEYOND - 1e-6).then(|| histogram.value_at_quantile(share) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::encode_histogram;
    use crate::record::synthetic::Synthetic;
    use crate::vocabulary::METRICS;

    #[test]
    fn every_measure_is_a_metric_of_that_unit() {
        for measure in MEASURES {
            let is_of = |name: &str| {
                measure.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let metric = METRICS.iter().find(|metric| is_of(metric.name));
            assert_eq!(metric.map(|metric| metric.unit), Some(measure.unit), "{}", measure.name);
        }
    }

    #[test]
    fn tallies_and_histograms_come_back_as_they_were_put_in() {
        let recording = Synthetic::default().recording();
        let has = |trial: &&Trial| trial.roles.iter().any(|role| role.does == Does::Receives);
        let mut trial = recording.trials.iter().find(has).unwrap().clone();
        let value = |trial: &Trial, name: &str| measure(name).unwrap().of(&recording, trial);
        assert_eq!(value(&trial, "duplicated"), None);
        for role in &mut trial.roles {
            role.flows.truncate(1);
            let flow = &mut role.flows[0];
            if role.does == Does::Receives {
                flow.messages = Some(400);
                let (duplicated, reordered, jitter_ns) = (Some(4), Some(8), Some(77.0));
                flow.tally = Some(Box::new(Tally { duplicated, reordered, jitter_ns, ..Tally::default() }));
                let text = encode_histogram((1..=1000).map(|us| 1000 * us)).unwrap();
                role.samples.insert(Sample::DelayVariation, text);
            } else {
                flow.bytes = 1_000_000;
                let (sent_within_ns, intended, late) = (Some(8_000_000), Some(500), Some(5));
                let tally = Tally { sent_within_ns, intended, late, ..Tally::default() };
                flow.tally = Some(Box::new(tally));
            }
        }
        let shares = ["duplicated", "reordered", "sent-late"].map(|name| value(&trial, name));
        assert_eq!(shares, [Some(0.01), Some(0.02), Some(0.01)]);
        assert_eq!(value(&trial, "jitter"), Some(77.0));
        assert_eq!(value(&trial, "sender-rate"), Some(1e9));
        let p99 = value(&trial, "delay-variation.p99").unwrap();
        assert!((p99 / 990e3 - 1.0).abs() < 0.002, "{p99}");
        assert_eq!(value(&trial, "delay-variation.p99.9"), None);
    }

    #[test]
    fn a_trial_tells_what_its_pattern_yields_and_nothing_else() {
        let recording = Synthetic::default().recording();
        let of = |does: Does| {
            let has = |trial: &&Trial| trial.pass > 0 && trial.roles.iter().any(|role| role.does == does);
            recording.trials.iter().find(has).unwrap()
        };
        let value = |name: &str, does: Does| measure(name).unwrap().of(&recording, of(does));
        assert!(value("half-round-trip.p90", Does::Pings) > value("half-round-trip.p50", Does::Pings));
        assert_eq!(value("half-round-trip.p99.9", Does::Pings), None, "500 samples do not tell it");
        assert_eq!(value("half-round-trip.p50", Does::Sends), None);
        let bytes = of(Does::Sends).block.message_bytes as f64;
        let rate = value("throughput", Does::Sends).unwrap();
        assert_eq!(value("message-rate", Does::Sends), Some(rate / 8.0 / bytes));
        assert!(measure("nothing").is_none());
    }
}
