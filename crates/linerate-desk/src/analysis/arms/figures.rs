//! What each arm gave in each block, and what it gave against the plan as it stands.

use super::neighbours::neighbours_share;
use crate::analysis::measures::Measure;
use crate::plan::{Comparison, Stack, Why};
use crate::record::{Recording, StepRecord, Trial, decode_histogram};
use crate::statistic::{Effect, Estimate, median, midmean, signed_rank};
use crate::vocabulary::{Does, Metric, Pattern, metric};
use std::collections::{BTreeMap, BTreeSet};

/// What one arm gave in one block: numbers by their metrics' names.
type Figures = BTreeMap<&'static str, f64>;

/// A number of a block; what it means to change is the metric's.
pub struct Watched {
    pub metric: &'static Metric,
    of: fn(&Visits) -> Option<f64>,
}

const fn watched(metric: &'static Metric, of: fn(&Visits) -> Option<f64>) -> Watched {
    Watched { metric, of }
}

/// Every number of a block.
pub const WATCHED: &[Watched] = &[
    watched(&metric::THROUGHPUT, |visits| rate(visits.values(&metric::THROUGHPUT, Pattern::Stream))),
    watched(&metric::HALF_ROUND_TRIP, |visits| {
        midmean(visits.values(&metric::HALF_ROUND_TRIP, Pattern::PingPong))
    }),
    watched(&metric::ROUND_TRIP_P99, |visits| visits.round_trip_ns_p99()),
    watched(&metric::CPU_BOTH, |visits| median(visits.values(&metric::CPU_BOTH, Pattern::Stream))),
    watched(&metric::RETRANSMIT_SHARE, |visits| visits.retransmits()),
    watched(&metric::NEIGHBOURS_SHARE, |visits| {
        let streams = visits.steps.iter().filter(|step| step.case.pattern == Pattern::Stream);
        neighbours_share(streams.map(|step| (&step.hosts[..], &step.sockets[..])))
    }),
    watched(&metric::ROUND_TIME, |visits| midmean(visits.values_of(&metric::ROUND_TIME))),
    // Few of them are missed, and these count.
    watched(&metric::POLLS_MISSED, |visits| mean(visits.values_of(&metric::POLLS_MISSED))),
    watched(&metric::UNIT_TIME, |visits| midmean(visits.values_of(&metric::UNIT_TIME))),
    watched(&metric::UNIT_RATE, |visits| rate(visits.values_of(&metric::UNIT_RATE))),
    watched(&metric::STRIPED_THROUGHPUT, |visits| rate(visits.values_of(&metric::STRIPED_THROUGHPUT))),
    watched(&metric::CPU_PER_UNIT, |visits| median(visits.values_of(&metric::CPU_PER_UNIT))),
];

/// By the time of a unit, not by the rate: rates are no quantities that add up.
fn rate(rates: impl Iterator<Item = f64>) -> Option<f64> {
    midmean(rates.map(|rate| 1.0 / rate)).map(|time| 1.0 / time)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// What all arms gave, block by block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blocks(BTreeMap<u32, BTreeMap<u32, Figures>>);

impl Blocks {
    /// The blocks of one purpose, by arm and number; those that were cut short are left out.
    pub fn from_recording(
        recording: &Recording,
        comparison: &Comparison,
        (why, pattern): (Why, Pattern),
    ) -> Blocks {
        let mut visits: BTreeMap<(u32, u32), Visits> = BTreeMap::new();
        for trial in recording.trials.iter().filter(|trial| trial.why == why && trial.pass > 0) {
            let visit = visits.entry((trial.case.arm, comparison.block_of(trial.pass)));
            visit.or_insert_with(|| Visits::from_recording(recording)).trials.push(trial);
        }
        for step in recording.steps.iter().filter(|step| step.why == why && step.pass > 0) {
            let visit = visits.entry((step.case.arm, comparison.block_of(step.pass)));
            visit.or_insert_with(|| Visits::from_recording(recording)).steps.push(step);
        }
        let mut whole: BTreeMap<u32, usize> = BTreeMap::new();
        for ((arm, _), visits) in &visits {
            let most = whole.entry(*arm).or_default();
            *most = visits.count(pattern).max(*most);
        }
        let is_whole = |arm: u32, visits: &Visits| whole.get(&arm) == Some(&visits.count(pattern));
        let mut arms: BTreeMap<u32, BTreeMap<u32, Figures>> = BTreeMap::new();
        for ((arm, block), visits) in visits.iter().filter(|((arm, _), visits)| is_whole(*arm, visits)) {
            arms.entry(*arm).or_default().insert(*block, visits.figures());
        }
        Blocks(arms)
    }

    /// How many whole blocks the plan as it stands has.
    pub fn count(&self) -> u32 {
        self.0.get(&0).map_or(0, |passes| passes.len() as u32)
    }

    /// Whether an arm has whole blocks.
    pub fn has(&self, arm: u32) -> bool {
        self.0.get(&arm).is_some_and(|blocks| !blocks.is_empty())
    }

    /// An arm's number over its blocks.
    pub fn estimate(&self, arm: u32, metric: &Metric) -> Option<Estimate> {
        Estimate::from_values(
            self.0.get(&arm)?.values().filter_map(|figures| figures.get(metric.name).copied()),
        )
    }

    /// An arm against the plan as it stands, block by block.
    pub fn paired(&self, arm: u32, metric: &Metric, differ: fn(f64, f64) -> f64) -> Vec<f64> {
        let (Some(base), Some(arm)) = (self.0.get(&0), self.0.get(&arm)) else { return Vec::new() };
        let pair = |(pass, figures): (&u32, &Figures)| {
            let (own, of_base) = (figures.get(metric.name)?, base.get(pass)?.get(metric.name)?);
            Some(differ(*own, *of_base)).filter(|d| d.is_finite())
        };
        arm.iter().filter_map(pair).collect()
    }

    /// Some blocks of the arms upon this one, each by its own number, with what they stand upon as the plan as it stands.
    pub fn upon(&self, base: &Stack, blocks: &BTreeSet<u32>) -> Blocks {
        let number = |arm: u32| {
            let arm = Stack::from_number(arm);
            if arm == *base { Some(0) } else { base.beneath(&arm) }
        };
        let of_blocks = |figures: &BTreeMap<u32, Figures>| -> BTreeMap<u32, Figures> {
            let kept = figures.iter().filter(|(block, _)| blocks.contains(block));
            kept.map(|(block, figures)| (*block, figures.clone())).collect()
        };
        let kept = self.0.iter().filter_map(|(arm, figures)| Some((number(*arm)?, of_blocks(figures))));
        Blocks(kept.filter(|(_, figures)| !figures.is_empty()).collect())
    }

    /// The same, with another arm in place of the plan as it stands.
    pub fn against(&self, arm: u32) -> Blocks {
        let mut all = self.0.clone();
        all.remove(&0);
        all.extend(self.0.get(&arm).map(|figures| (0, figures.clone())));
        Blocks(all)
    }

    /// The logarithms of an arm's ratios to the plan as it stands.
    pub fn ratios(&self, arm: u32, metric: &Metric) -> Vec<f64> {
        self.paired(arm, metric, |arm, base| (arm / base).ln())
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
struct Visits<'r> {
    recording: &'r Recording,
    trials: Vec<&'r Trial>,
    steps: Vec<&'r StepRecord>,
}

impl<'r> Visits<'r> {
    fn from_recording(recording: &'r Recording) -> Visits<'r> {
        Visits { recording, trials: Vec::new(), steps: Vec::new() }
    }

    fn trials(&self, pattern: Pattern) -> impl Iterator<Item = &Trial> {
        self.trials.iter().copied().filter(move |trial| trial.case.pattern == pattern)
    }

    fn count(&self, pattern: Pattern) -> usize {
        self.trials(pattern).count()
    }

    /// What each trial of this pattern tells.
    fn values(&self, metric: &'static Metric, pattern: Pattern) -> impl Iterator<Item = f64> {
        let measure = Measure::whole(metric);
        self.trials(pattern).filter_map(move |trial| measure?.value(self.recording, trial))
    }

    /// What each trial of an application tells.
    fn values_of(&self, metric: &'static Metric) -> impl Iterator<Item = f64> {
        let measure = Measure::whole(metric);
        let of_application = self.trials.iter().filter(|trial| trial.case.pattern.entry().application);
        of_application.filter_map(move |trial| measure?.value(self.recording, trial))
    }

    fn figures(&self) -> Figures {
        let number = |watched: &Watched| Some((watched.metric.name, (watched.of)(self)?));
        WATCHED.iter().filter_map(number).collect()
    }

    /// Over all round trips of a trial; the median of the trials.
    fn round_trip_ns_p99(&self) -> Option<f64> {
        let of_trial = |trial: &Trial| {
            let role = trial.roles.iter().find(|role| role.does == Does::Pings)?;
            let histogram = decode_histogram(role.histogram.as_deref()?)?;
            let p99 = histogram.value_at_quantile(0.99) as f64 / trial.block.messages.max(1) as f64;
            (!histogram.is_empty()).then_some(p99)
        };
        median(self.trials(Pattern::PingPong).filter_map(of_trial))
    }

    fn retransmits(&self) -> Option<f64> {
        // A monitor's own connections are gone before they are read.
        let streams =
            |pattern: Pattern| pattern == Pattern::Stream || pattern.entry().application && !pattern.calls();
        let streams = self.steps.iter().filter(|step| streams(step.case.pattern));
        let sockets: Vec<_> = streams.flat_map(|step| &step.sockets).collect();
        let sum = |name: &str| sockets.iter().filter_map(|socket| socket.moved.get(name)).sum::<u64>() as f64;
        let sent = sum("data_segs_out");
        (sent > 0.0).then(|| sum("total_retrans") / sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::METRICS;

    #[test]
    fn metrics_with_a_margin_are_watched() {
        for metric in METRICS {
            let is_watched = WATCHED.iter().any(|watched| watched.metric == metric);
            assert_eq!(is_watched, metric.margin.is_some(), "{}", metric.name);
        }
    }
}
