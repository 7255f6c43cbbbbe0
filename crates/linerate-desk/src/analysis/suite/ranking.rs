//! How an application ranks transports, beside how a micro-benchmark of the same run does: each pair of them by the median of
//! the ratio in each pass.

use super::trials;
use crate::analysis::measures::{Measure, measure};
use crate::plan::{Case, Plan, Suite, SuiteFigure};
use crate::record::{Recording, Trial};
use crate::statistic::{Estimate, median};
use crate::vocabulary::{TRANSPORT_OF, readable_rung};
use std::collections::{BTreeMap, BTreeSet};

/// Two rankings of the same transports.
#[derive(Debug, Clone, PartialEq)]
pub struct RankingValues {
    /// The case of the micro-benchmark.
    pub case: String,
    /// Every two transports that both have measured.
    pub pairs: Vec<RankedPair>,
    /// Whether hosts of it are one machine.
    pub shares_cpus: bool,
}

/// Two transports.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedPair {
    /// One of them, in words.
    pub one: String,
    /// The other one.
    pub other: String,
    /// How many times as good the first is by the application: above 1 where it is the better one.
    pub application: Option<Estimate>,
    /// The same by the micro-benchmark.
    pub micro: Option<Estimate>,
}

/// What is known of two transports by both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranked {
    /// Both put the same one first.
    Alike,
    /// Each puts another one first.
    Otherwise,
    /// An interval of one of them holds 1, or there is none.
    CannotTell,
}

impl RankedPair {
    /// Whether the two rankings differ.
    pub fn ranked(&self) -> Ranked {
        match (is_first(self.application), is_first(self.micro)) {
            (Some(one), Some(other)) if one == other => Ranked::Alike,
            (Some(_), Some(_)) => Ranked::Otherwise,
            _ => Ranked::CannotTell,
        }
    }
}

/// Whether the first of two is the better one; nothing where the interval does not tell.
fn is_first(ratio: Option<Estimate>) -> Option<bool> {
    let (low, high) = ratio.and_then(|ratio| ratio.low.zip(ratio.high))?;
    if low > 1.0 { Some(true) } else { (high < 1.0).then_some(false) }
}

/// What is the same of two points but for what carries them, and the pass.
type Place = (String, u64, String, u32);

/// By transport: the number at each place.
type Numbers<'r> = BTreeMap<&'r str, BTreeMap<Place, f64>>;

/// The rankings of a figure that names a micro-benchmark; none where less than two transports were measured.
pub(super) fn values(
    recording: &Recording,
    plan: &Plan,
    suite: &Suite,
    figure: &SuiteFigure,
) -> Option<RankingValues> {
    let against = figure.against.as_ref()?;
    let shows = suite.cases.iter().find(|case| case.id == *against)?.pattern.entry().shows;
    let of = |cases: &[String], y: &str| {
        let all = cases.iter().flat_map(|id| trials(recording, suite.case_name(id)));
        numbers(recording, plan, all, y)
    };
    let (application, micro) = (of(&figure.cases, &figure.y), of(std::slice::from_ref(against), shows));
    let both: Vec<&str> = application.keys().filter(|rung| micro.contains_key(*rung)).copied().collect();
    let two =
        both.iter().enumerate().flat_map(|(at, one)| both[at + 1..].iter().map(move |other| (*one, *other)));
    let pairs: Vec<RankedPair> = two
        .map(|two| RankedPair {
            one: readable_rung(two.0),
            other: readable_rung(two.1),
            application: better(&application, two, &figure.y),
            micro: better(&micro, two, shows),
        })
        .collect();
    let machines: BTreeSet<&str> = recording.hosts.iter().map(|host| host.machine.as_str()).collect();
    let shares_cpus = machines.len() < recording.hosts.len();
    (!pairs.is_empty()).then(|| RankingValues { case: against.clone(), pairs, shares_cpus })
}

fn numbers<'r>(
    recording: &'r Recording,
    plan: &Plan,
    trials: impl Iterator<Item = &'r Trial>,
    y: &str,
) -> Numbers<'r> {
    let Some(measure): Option<Measure> = measure(y) else { return Numbers::new() };
    let mut all: BTreeMap<&str, BTreeMap<Place, Vec<f64>>> = BTreeMap::new();
    for trial in trials {
        let case = &trial.case;
        let place = (case.id.clone(), trial.block.message_bytes, rest(plan, case), trial.pass);
        let value = measure.value(recording, trial).filter(|value| *value > 0.0);
        all.entry(&case.rung).or_default().entry(place).or_default().extend(value);
    }
    let middle = |(place, values): (Place, Vec<f64>)| Some((place, median(values)?));
    all.into_iter().map(|(rung, places)| (rung, places.into_iter().filter_map(middle).collect())).collect()
}

/// What else tells a case: its ends, how they wait, and what is set but for what carries it.
fn rest(plan: &Plan, case: &Case) -> String {
    let arm = (case.arm as usize).checked_sub(1).and_then(|at| plan.arms.get(at));
    let is_other = |knob: &str| !TRANSPORT_OF.iter().any(|(_, carrier)| *carrier == knob);
    let settings = arm.into_iter().flat_map(|arm| &arm.settings).filter(|one| is_other(&one.knob));
    let settings: Vec<String> = settings.map(ToString::to_string).collect();
    format!("{} {} {} {:?} {}", case.pairs, case.flows, case.wait, case.pace, settings.join(","))
}

/// How many times as good one transport is as the other: in each pass the geometric mean over all places that both have.
fn better(numbers: &Numbers, (one, other): (&str, &str), y: &str) -> Option<Estimate> {
    let more_is_better = measure(y)?.metric.more_is_better?;
    let (one, other) = (numbers.get(one)?, numbers.get(other)?);
    let mut passes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (place, value) in one {
        let ratio = other.get(place).map(|other| (value / other).ln());
        passes.entry(place.3).or_default().extend(ratio.map(|ln| if more_is_better { ln } else { -ln }));
    }
    let mean =
        |logs: Vec<f64>| (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp());
    Estimate::from_values(passes.into_values().filter_map(mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, high: f64) -> Option<Estimate> {
        Some(Estimate { median: (low + high) / 2.0, low: Some(low), high: Some(high), n: 8 })
    }

    #[test]
    fn rankings_differ_where_both_intervals_say_so() {
        let two = |application, micro| {
            RankedPair { one: "TCP".into(), other: "TLS".into(), application, micro }.ranked()
        };
        assert_eq!(two(estimate(1.1, 1.3), estimate(1.2, 1.9)), Ranked::Alike);
        assert_eq!(two(estimate(0.7, 0.9), estimate(1.2, 1.9)), Ranked::Otherwise);
        assert_eq!(two(estimate(0.9, 1.1), estimate(1.2, 1.9)), Ranked::CannotTell);
        let one_pass = Some(Estimate { median: 2.0, low: None, high: None, n: 1 });
        assert_eq!(two(one_pass, estimate(1.2, 1.9)), Ranked::CannotTell);
    }

    #[test]
    fn a_time_that_is_shorter_is_the_better_one() {
        let at = |size: u64, pass, value| (("units".to_owned(), size, String::new(), pass), value);
        // In each pass twice as quick by one size and eight times by another: four times as good.
        let tcp = (0..8).flat_map(|pass| [at(1, pass, 10.0), at(2, pass, 10.0)]).collect();
        let tls = (0..8).flat_map(|pass| [at(1, pass, 20.0), at(2, pass, 80.0)]).collect();
        let numbers: Numbers = BTreeMap::from([("network.tcp", tcp), ("network.tls", tls)]);
        let told = |y: &str| better(&numbers, ("network.tcp", "network.tls"), y).unwrap().median;
        assert!((told("unit-time") - 4.0).abs() < 1e-9, "{}", told("unit-time"));
        assert!((told("unit-rate") - 0.25).abs() < 1e-9);
    }
}
