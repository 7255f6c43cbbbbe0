//! How each number of the vocabulary is computed of one trial: the table by which figures, claims, comparisons and CSV ask.
//!
//! Medians and intervals over trials are taken of what it gives. What a trial cannot tell is none, as a percentile is
//! beyond which too few samples lie.

use super::application;
use super::connections::Connections;
use super::search;
use super::trial::{cpu_ns_per_byte, half_round_trip_ns, lost_share, positive, throughput_bps};
use crate::record::{Flow, Recording, RoleRecord, Tally, Trial, decode_histogram, merge_histograms};
use crate::statistic::median;
use crate::vocabulary::{Does, METRICS, Metric, Part, Part::Named, Sample, metric};
use hdrhistogram::Histogram;

/// Samples that must lie beyond a percentile for it to be told.
const BEYOND: f64 = 10.0;

/// A number of a trial that is asked for: a metric, and which part of it.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// What is asked for.
    pub metric: &'static Metric,
    part: Part,
    how: How,
}

/// How a number is computed. None where a trial or its connections cannot tell it.
#[derive(Debug, Clone, Copy)]
enum How {
    Trial(fn(&Trial) -> Option<f64>),
    Percentile(fn(&Trial, f64) -> Option<f64>),
    Connections(fn(&Connections) -> Option<f64>),
}

/// A line of the table: one part of a metric, or all of its percentiles.
struct Line {
    metric: &'static Metric,
    part: Option<Part>,
    how: How,
}

const fn whole(metric: &'static Metric, how: fn(&Trial) -> Option<f64>) -> Line {
    Line { metric, part: Some(Part::Whole), how: How::Trial(how) }
}

const fn part(metric: &'static Metric, name: &'static str, how: fn(&Trial) -> Option<f64>) -> Line {
    Line { metric, part: Some(Named(name)), how: How::Trial(how) }
}

const fn percentiles(metric: &'static Metric, how: fn(&Trial, f64) -> Option<f64>) -> Line {
    Line { metric, part: None, how: How::Percentile(how) }
}

const fn connections(metric: &'static Metric, part: Part, how: fn(&Connections) -> Option<f64>) -> Line {
    Line { metric, part: Some(part), how: How::Connections(how) }
}

/// How each number that a trial tells is computed.
const MEASURES: &[Line] = &[
    whole(&metric::THROUGHPUT, throughput_bps),
    whole(&metric::MESSAGE_RATE, message_rate),
    whole(&metric::LOSS, lost_share),
    whole(&metric::CPU_SENDER, |trial| cpu_ns_per_byte(trial, Does::Sends)),
    whole(&metric::CPU_RECEIVER, |trial| cpu_ns_per_byte(trial, Does::Receives)),
    whole(&metric::CPU_BOTH, cpu_of_both),
    part(&metric::CPU_SHARE, "sender", |trial| cpu_share(trial, Does::Sends)),
    part(&metric::CPU_SHARE, "receiver", |trial| cpu_share(trial, Does::Receives)),
    whole(&metric::SERVICE_DEMAND, service_demand_ns),
    whole(&metric::HALF_ROUND_TRIP, half_round_trip_ns),
    part(&metric::HALF_ROUND_TRIP, "mean", mean_half_round_trip),
    percentiles(&metric::HALF_ROUND_TRIP, half_round_trip),
    whole(&metric::EXCHANGE_TIME, |trial| message_time_ns(trial, Does::Exchanges, 0.5)),
    percentiles(&metric::EXCHANGE_TIME, |trial, share| message_time_ns(trial, Does::Exchanges, share)),
    whole(&metric::DELIVERY_TIME, |trial| message_time_ns(trial, Does::Delivers, 0.5)),
    percentiles(&metric::DELIVERY_TIME, |trial, share| message_time_ns(trial, Does::Delivers, share)),
    whole(&metric::EXCHANGE_THROUGHPUT, |trial| {
        throughput_at(trial, message_time_ns(trial, Does::Exchanges, 0.5)?)
    }),
    whole(&metric::PING_PONG_THROUGHPUT, |trial| throughput_at(trial, half_round_trip_ns(trial)?)),
    whole(&metric::ROUND_TRIP, |trial| positive(2.0 * half_round_trip_ns(trial)?)),
    whole(&metric::ROUND_TRIP_RATE, |trial| positive(1e9 / (2.0 * half_round_trip_ns(trial)?))),
    whole(&metric::COLLECTIVE_TIME, |trial| collective(trial, |all| Some(all.value_at_quantile(0.5) as f64))),
    percentiles(&metric::COLLECTIVE_TIME, |trial, share| collective(trial, |all| percentile(all, share))),
    whole(&metric::OVERLAP, overlap),
    part(&metric::OVERLAP_TIME, "alone", |trial| middle(trial, Sample::ExchangeAlone)),
    part(&metric::OVERLAP_TIME, "work", |trial| middle(trial, Sample::WorkAlone)),
    part(&metric::OVERLAP_TIME, "both", |trial| middle(trial, Sample::ExchangeAtWork)),
    percentiles(&metric::RESPONSE_TIME, |trial, share| sample_percentile(trial, Sample::FromIntended, share)),
    percentiles(&metric::SERVICE_TIME, |trial, share| sample_percentile(trial, Sample::FromSend, share)),
    percentiles(&metric::CONNECT_TIME, |trial, share| sample_percentile(trial, Sample::SetUp, share)),
    percentiles(&metric::TRANSACTION_TIME, |trial, share| {
        sample_percentile(trial, Sample::Transaction, share)
    }),
    whole(&metric::TRANSACTION_RATE, transaction_rate),
    whole(&metric::SENT_LATE, sent_late),
    percentiles(&metric::PACING_ERROR, |trial, share| sample_percentile(trial, Sample::SentLate, share)),
    whole(&metric::SENDER_RATE, sender_rate),
    whole(&metric::DUPLICATED, |trial| {
        share(sum_of_tallies(trial, |tally| tally.duplicated)?, datagrams_received(trial)?)
    }),
    whole(&metric::REORDERED, |trial| {
        share(sum_of_tallies(trial, |tally| tally.reordered)?, datagrams_received(trial)?)
    }),
    percentiles(&metric::DELAY_VARIATION, |trial, share| {
        sample_percentile(trial, Sample::DelayVariation, share)
    }),
    percentiles(&metric::PACKET_TO_PACKET, |trial, share| {
        sample_percentile(trial, Sample::PacketToPacket, share)
    }),
    whole(&metric::JITTER, jitter),
    whole(&metric::ROUND_TRIPS_A_MINUTE, round_trips_a_minute),
    whole(&metric::IP_CAPACITY, search::capacity_bps),
    whole(&metric::CAPACITY_LOSS, search::capacity_loss),
    whole(&metric::CAPACITY_DELAY_VARIATION, search::capacity_variation_ns),
    whole(&metric::ZERO_LOSS_RATE, search::zero_loss_rate),
    connections(&metric::WINDOW_RATE, Part::Whole, |all| all.window_bps()),
    connections(&metric::ALIGNED_WINDOW_RATE, Part::Whole, |all| all.aligned_window_bps()),
    connections(&metric::TCP_EFFICIENCY, Part::Whole, |all| all.efficiency()),
    connections(&metric::BUFFER_DELAY, Part::Whole, |all| all.buffer_delay()),
    connections(&metric::LIMITED_BY, Named("application"), |all| Some(all.limits()?.application)),
    connections(&metric::LIMITED_BY, Named("receive-window"), |all| Some(all.limits()?.receive_window)),
    connections(&metric::LIMITED_BY, Named("send-buffer"), |all| Some(all.limits()?.send_buffer)),
    connections(&metric::LIMITED_BY, Named("network"), |all| Some(all.limits()?.network)),
    whole(&metric::ROUND_TIME, |trial| message_time_ns(trial, Does::Collects, 0.5)),
    percentiles(&metric::ROUND_TIME, |trial, share| message_time_ns(trial, Does::Collects, share)),
    whole(&metric::POLLS_MISSED, application::polls_missed),
    whole(&metric::UNIT_TIME, |trial| message_time_ns(trial, Does::Stages, 0.5)),
    percentiles(&metric::UNIT_TIME, |trial, share| message_time_ns(trial, Does::Stages, share)),
    whole(&metric::UNIT_RATE, application::unit_rate),
    whole(&metric::STRIPED_THROUGHPUT, application::striped_bps),
    whole(&metric::CPU_PER_UNIT, application::cpu_per_unit_ns),
    whole(&metric::FILE_THROUGHPUT, application::file_bps),
    part(&metric::DONE_TIME, "first", |trial| application::done_ns(trial, f64::min)),
    part(&metric::DONE_TIME, "last", |trial| application::done_ns(trial, f64::max)),
];

/// What is asked for by this name, that of a metric or of a part of one.
pub fn measure(name: &str) -> Option<Measure> {
    let (metric, part) = Metric::asked(name)?;
    Measure::of_part(metric, part)
}

/// What a view shows of every trial, by what it calls it; what several metrics are called alike is of the first that a trial
/// tells, as a rate is of a stream or of a ping-pong.
pub fn shown(called: fn(&Metric) -> Option<&'static str>) -> Vec<(&'static str, Vec<Measure>)> {
    let mut found: Vec<(&'static str, Vec<Measure>)> = Vec::new();
    for (name, metric) in METRICS.iter().filter_map(|metric| Some((called(metric)?, metric))) {
        let Some(measure) = Measure::whole(metric) else { continue };
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, measures)) => measures.push(measure),
            None => found.push((name, vec![measure])),
        }
    }
    found
}

impl Line {
    fn is_for(&self, metric: &Metric, part: Part) -> bool {
        let is_part = match self.part {
            Some(own) => own == part,
            None => matches!(part, Part::Percentile(..)),
        };
        self.metric == metric && is_part
    }
}

impl Measure {
    fn of_part(metric: &'static Metric, part: Part) -> Option<Measure> {
        let line = MEASURES.iter().find(|line| line.is_for(metric, part))?;
        Some(Measure { metric, part, how: line.how })
    }

    /// The metric itself; none where a trial tells only parts of it, or nothing.
    pub fn whole(metric: &'static Metric) -> Option<Measure> {
        Measure::of_part(metric, Part::Whole)
    }

    /// The number of a trial; none where it cannot be told.
    pub fn value(&self, recording: &Recording, trial: &Trial) -> Option<f64> {
        match (self.how, self.part) {
            (How::Trial(of), _) => of(trial),
            (How::Percentile(of), Part::Percentile(_, share)) => of(trial, share),
            (How::Percentile(_), _) => None,
            (How::Connections(of), _) => of(&Connections::from_trial(recording, trial)?),
        }
    }
}

/// What a byte costs both ends together.
fn cpu_of_both(trial: &Trial) -> Option<f64> {
    Some(cpu_ns_per_byte(trial, Does::Sends)? + cpu_ns_per_byte(trial, Does::Receives)?)
}

/// CPU time of an end's threads over the time of its longest flow; none of what is no stream.
fn cpu_share(trial: &Trial, does: Does) -> Option<f64> {
    let flows = || trial.roles.iter().filter(move |role| role.does == does).flat_map(|role| &role.flows);
    let longest = flows().map(|flow| flow.duration_ns).max()?;
    positive(flows().map(|flow| flow.cpu_ns as f64).sum::<f64>() / longest as f64)
}

/// CPU time of all threads for each message that arrived, or each exchange that came back. Of other patterns nobody counts
/// in one way what is served.
fn service_demand_ns(trial: &Trial) -> Option<f64> {
    let exchanges = trial.block.messages as f64 * f64::from(trial.block.slices);
    let served = |role: &RoleRecord, flow: &Flow| match role.does {
        Does::Receives => Some(flow.bytes as f64 / trial.block.message_bytes as f64),
        Does::Pings => Some(flow.messages.map_or(exchanges, |came| came as f64)),
        _ => None,
    };
    let flows = || trial.roles.iter().flat_map(|role| role.flows.iter().map(move |flow| (role, flow)));
    let served: f64 = flows().filter_map(|(role, flow)| served(role, flow)).sum();
    positive(flows().map(|(_, flow)| flow.cpu_ns as f64).sum::<f64>() / served)
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

/// A percentile of what each message took, over all ends that do this.
fn message_time_ns(trial: &Trial, does: Does, share: f64) -> Option<f64> {
    let all = trial.roles.iter().filter(|role| role.does == does);
    let sample_ns = percentile(&merge_histograms(all.filter_map(|role| role.histogram.as_deref()))?, share)?;
    positive(sample_ns / trial.block.messages.max(1) as f64)
}

/// What a message carries that takes so long.
fn throughput_at(trial: &Trial, time_ns: f64) -> Option<f64> {
    positive(trial.block.message_bytes as f64 * 8e9 / time_ns)
}

/// A percentile of the operations of all ranks together, of the end where it is larger.
fn collective(trial: &Trial, told: impl Fn(&Histogram<u32>) -> Option<f64>) -> Option<f64> {
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
fn sample_percentile(trial: &Trial, sample: Sample, share: f64) -> Option<f64> {
    let texts = trial.roles.iter().filter_map(|role| role.samples.get(&sample)).map(String::as_str);
    percentile(&merge_histograms(texts)?, share)
}

fn tallies(trial: &Trial) -> impl Iterator<Item = (&Flow, &Tally)> {
    let flows = trial.roles.iter().flat_map(|role| &role.flows);
    flows.filter_map(|flow| Some((flow, flow.tally.as_deref()?)))
}

/// The sum over all flows that counted it.
fn sum_of_tallies(trial: &Trial, count: fn(&Tally) -> Option<u64>) -> Option<f64> {
    tallies(trial).filter_map(|(_, tally)| count(tally)).map(|count| count as f64).reduce(|a, b| a + b)
}

/// The share of the messages that were due at a set moment and went late.
pub fn sent_late(trial: &Trial) -> Option<f64> {
    share(sum_of_tallies(trial, |tally| tally.late)?, sum_of_tallies(trial, |tally| tally.intended)?)
}

/// Datagrams that came to those who looked for more than their number.
fn datagrams_received(trial: &Trial) -> Option<f64> {
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

/// What such a share of the samples does not exceed, where enough of them lie beyond. A middle is told of however few: how
/// sure it is the passes tell.
fn percentile(histogram: &Histogram<u32>, share: f64) -> Option<f64> {
    let beyond = histogram.len() as f64 * (1.0 - share).min(share);
    let is_middle = (share - 0.5).abs() < f64::EPSILON && !histogram.is_empty();
    // A share of samples is not exact in binary: ten of a thousand are ten.
    (is_middle || beyond >= BEYOND - 1e-6).then(|| histogram.value_at_quantile(share) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::encode_histogram;
    use crate::record::synthetic::Synthetic;

    #[test]
    fn every_part_asked_for_is_computed_once() {
        let asked = METRICS.iter().flat_map(|metric| metric.parts.iter().map(move |part| (metric, *part)));
        for (metric, part) in asked {
            let lines = MEASURES.iter().filter(|line| line.is_for(metric, part)).count();
            assert_eq!(lines, 1, "{}", metric.named(part));
        }
        for line in MEASURES {
            let is_asked =
                METRICS.iter().any(|metric| metric.parts.iter().any(|part| line.is_for(metric, *part)));
            assert!(is_asked, "{} {:?}", line.metric.name, line.part);
        }
    }

    #[test]
    fn tallies_and_histograms_come_back() {
        let recording = Synthetic::default().recording();
        let has = |trial: &&Trial| trial.roles.iter().any(|role| role.does == Does::Receives);
        let mut trial = recording.trials.iter().find(has).unwrap().clone();
        let value = |trial: &Trial, name: &str| measure(name).unwrap().value(&recording, trial);
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
    fn service_demand_of_a_message_or_exchange() {
        let recording = Synthetic { sizes: vec![1 << 16], ..Synthetic::default() }.recording();
        let of = |does: Does| {
            let is_one = |role: &RoleRecord| role.does == does && role.flows.len() == 1;
            let has = |trial: &&Trial| {
                trial.pass > 0 && trial.case.rung == "network.tcp" && trial.roles.iter().any(is_one)
            };
            recording.trials.iter().find(has).unwrap().clone()
        };
        let demand = measure("service-demand").unwrap();
        // What the recording is made of: 0.14 ns a byte of the sender, 0.10 ns of the receiver.
        let stream = demand.value(&recording, &of(Does::Sends)).unwrap();
        assert!((stream / (0.24 * 65536.0) - 1.0).abs() < 1e-3, "{stream}");
        let mut ping_pong = of(Does::Pings);
        ping_pong.roles.iter_mut().flat_map(|role| &mut role.flows).for_each(|flow| flow.cpu_ns = 3_000_000);
        let exchanges = ping_pong.block.messages as f64 * f64::from(ping_pong.block.slices);
        assert_eq!(demand.value(&recording, &ping_pong), Some(6e6 / exchanges));
        ping_pong.roles.retain(|role| role.does != Does::Pings);
        assert_eq!(demand.value(&recording, &ping_pong), None, "nobody counts what came back");
    }

    #[test]
    fn a_trial_tells_what_its_pattern_yields() {
        let recording = Synthetic::default().recording();
        let of = |does: Does| {
            let has = |trial: &&Trial| trial.pass > 0 && trial.roles.iter().any(|role| role.does == does);
            recording.trials.iter().find(has).unwrap()
        };
        let value = |name: &str, does: Does| measure(name).unwrap().value(&recording, of(does));
        assert!(value("half-round-trip.p90", Does::Pings) > value("half-round-trip.p50", Does::Pings));
        assert_eq!(value("half-round-trip.p99.9", Does::Pings), None, "500 samples do not tell it");
        assert_eq!(value("half-round-trip.p50", Does::Sends), None);
        let bytes = of(Does::Sends).block.message_bytes as f64;
        let rate = value("throughput", Does::Sends).unwrap();
        assert_eq!(value("message-rate", Does::Sends), Some(rate / 8.0 / bytes));
        assert!(measure("nothing").is_none());
    }
}
