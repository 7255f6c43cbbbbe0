//! What each arm gave in each block, and what it gave against the plan as it stands.

use crate::analysis::trial::{self, Machines};
use crate::plan::{Comparison, Why};
use crate::record::{Recording, StepRecord, Trial, decode_histogram};
use crate::statistic::{Effect, Estimate, median, midmean, signed_rank};
use crate::vocabulary::{Does, Pattern};
use std::collections::BTreeMap;

/// What one arm gave in one block.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// The stream's throughput.
    pub throughput_bps: Option<f64>,
    /// Half of the median round trip.
    pub half_round_trip_ns: Option<f64>,
    /// The round trip that one in a hundred exceeds.
    pub round_trip_ns_p99: Option<f64>,
    /// CPU time of both ends for each byte of the stream.
    pub cpu_ns_per_byte: Option<f64>,
    /// Segments of the stream that were sent again, as a share.
    pub retransmits: Option<f64>,
}

/// A number of an arm's block.
pub type Number = fn(&Figures) -> Option<f64>;

/// What all arms gave, block by block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blocks(BTreeMap<u32, BTreeMap<u32, Figures>>);

impl Blocks {
    /// The blocks of one purpose, by arm and number; those that were cut short are left out.
    pub fn of(recording: &Recording, comparison: &Comparison, (why, pattern): (Why, Pattern)) -> Blocks {
        let machines = Machines::of(recording);
        let mut visits: BTreeMap<(u32, u32), Visits> = BTreeMap::new();
        for trial in recording.trials.iter().filter(|trial| trial.why == why && trial.pass > 0) {
            visits.entry((trial.case.arm, comparison.block_of(trial.pass))).or_default().trials.push(trial);
        }
        for step in recording.steps.iter().filter(|step| step.why == why && step.pass > 0) {
            visits.entry((step.case.arm, comparison.block_of(step.pass))).or_default().steps.push(step);
        }
        let mut whole: BTreeMap<u32, usize> = BTreeMap::new();
        for ((arm, _), visits) in &visits {
            let most = whole.entry(*arm).or_default();
            *most = visits.count(pattern).max(*most);
        }
        let is_whole = |arm: u32, visits: &Visits| whole.get(&arm) == Some(&visits.count(pattern));
        let mut arms: BTreeMap<u32, BTreeMap<u32, Figures>> = BTreeMap::new();
        for ((arm, block), visits) in visits.iter().filter(|((arm, _), visits)| is_whole(*arm, visits)) {
            arms.entry(*arm).or_default().insert(*block, visits.figures(&machines));
        }
        Blocks(arms)
    }

    /// How many whole blocks the plan as it stands has.
    pub fn count(&self) -> u32 {
        self.0.get(&0).map_or(0, |passes| passes.len() as u32)
    }

    /// An arm's number over its blocks.
    pub fn estimate(&self, arm: u32, number: Number) -> Option<Estimate> {
        Estimate::of(self.0.get(&arm)?.values().filter_map(number))
    }

    /// An arm against the plan as it stands, block by block.
    pub fn paired(&self, arm: u32, number: Number, differ: fn(f64, f64) -> f64) -> Vec<f64> {
        let (Some(base), Some(arm)) = (self.0.get(&0), self.0.get(&arm)) else { return Vec::new() };
        let pair = |(pass, figures): (&u32, &Figures)| {
            Some(differ(number(figures)?, number(base.get(pass)?)?)).filter(|d| d.is_finite())
        };
        arm.iter().filter_map(pair).collect()
    }

    /// The logarithms of an arm's ratios to the plan as it stands.
    pub fn ratios(&self, arm: u32, number: Number) -> Vec<f64> {
        self.paired(arm, number, |arm, base| (arm / base).ln())
    }
}

/// The effect of logarithms of ratios, as a share: 0.03 is 3 % more.
pub fn share(ratios: &[f64], confidence: f64) -> Option<Effect> {
    let effect = signed_rank(ratios, confidence)?;
    let share = f64::exp_m1;
    Some(Effect {
        estimate: share(effect.estimate),
        low: effect.low.map(share),
        high: effect.high.map(share),
        ..effect
    })
}

/// One arm's visits in one block.
#[derive(Default)]
struct Visits<'r> {
    trials: Vec<&'r Trial>,
    steps: Vec<&'r StepRecord>,
}

impl Visits<'_> {
    fn of(&self, pattern: Pattern) -> impl Iterator<Item = &Trial> {
        self.trials.iter().copied().filter(move |trial| trial.case.pattern == pattern)
    }

    fn count(&self, pattern: Pattern) -> usize {
        self.of(pattern).count()
    }

    fn figures(&self, machines: &Machines) -> Figures {
        let streams: Vec<_> = self.of(Pattern::Stream).map(|trial| trial::values(trial, machines)).collect();
        let ping_pongs = self.of(Pattern::PingPong).map(|trial| trial::values(trial, machines));
        let cpu =
            |values: &trial::Values| Some(values.sender?.cpu_ns_per_byte + values.receiver?.cpu_ns_per_byte);
        Figures {
            // By the time of a bit, not by the rate: rates are no quantities that add up.
            throughput_bps: midmean(streams.iter().filter_map(|values| Some(1.0 / values.throughput_bps?)))
                .map(|time| 1.0 / time),
            half_round_trip_ns: midmean(ping_pongs.filter_map(|values| values.half_round_trip_ns)),
            round_trip_ns_p99: self.round_trip_ns_p99(),
            cpu_ns_per_byte: median(streams.iter().filter_map(cpu)),
            retransmits: self.retransmits(),
        }
    }

    /// Over all round trips of a trial; the median of the trials.
    fn round_trip_ns_p99(&self) -> Option<f64> {
        let of_trial = |trial: &Trial| {
            let role = trial.roles.iter().find(|role| role.does == Does::Pings)?;
            let histogram = decode_histogram(role.histogram.as_deref()?)?;
            let p99 = histogram.value_at_quantile(0.99) as f64 / trial.block.messages.max(1) as f64;
            (!histogram.is_empty()).then_some(p99)
        };
        median(self.of(Pattern::PingPong).filter_map(of_trial))
    }

    fn retransmits(&self) -> Option<f64> {
        let streams = self.steps.iter().filter(|step| step.case.pattern == Pattern::Stream);
        let sockets: Vec<_> = streams.flat_map(|step| &step.sockets).collect();
        let sum = |name: &str| sockets.iter().filter_map(|socket| socket.moved.get(name)).sum::<u64>() as f64;
        let sent = sum("data_segs_out");
        (sent > 0.0).then(|| sum("total_retrans") / sent)
    }
}
