//! Runs that were made before, one side against the other: all of one, then all of the other.
//!
//! Whatever changed with time between the two sides is in the difference, and equal runs differ more
//! than their own intervals say. So the unit is the run: its median is one observation, and with fewer
//! than six runs a side nothing can be told. Only like is compared with like: the same rung, direction,
//! number of flows, wait and message size.

mod figures;
mod imported;

pub use figures::FigureCompared;
pub use imported::ImportedCompared;

use super::arms::{ALPHA, Verdict};
use super::{Analysis, Curve, analyse};
use crate::plan::{Case, HostGroup, Metric};
use crate::record::Recording;
use crate::statistic::{Estimate, holm, median, rank_sum};
use crate::unit::Bytes;
use crate::vocabulary::{Pattern, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The fewest runs a side.
pub const LEAST_RUNS: u32 = 6;

/// Two sides compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunsCompared {
    /// Runs of the first side.
    pub a_runs: u32,
    /// Runs of the second side.
    pub b_runs: u32,
    /// The level at which a difference is claimed, over all numbers together.
    pub alpha: f64,
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// Facts in which the sides differ: that may be the very question, or the reason.
    pub facts: Vec<FactsDiffer>,
    /// What was compared.
    pub numbers: Vec<NumberCompared>,
    /// What another tool measured on both sides.
    #[serde(default)]
    pub imported: Vec<ImportedCompared>,
    /// The curves that suites have on both sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureCompared>,
    /// Numbers that only one side has.
    pub left_out: Vec<String>,
    /// Of all numbers, imported ones too: different if any is, the same if all are.
    pub verdict: Verdict,
}

/// A fact in which the sides differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactsDiffer {
    /// Which one.
    pub fact: String,
    /// Its values in the runs of the first side.
    pub a: Vec<String>,
    /// Its values in the runs of the second side.
    pub b: Vec<String>,
}

/// One number on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NumberCompared {
    /// The rung.
    pub rung: String,
    /// Who sends what when.
    pub pattern: Pattern,
    /// How the ends wait.
    pub wait: Wait,
    /// Parallel connections.
    pub flows: u32,
    /// The host that sends, pings or works alone.
    pub from: HostGroup,
    /// The host that receives or echoes.
    pub to: HostGroup,
    /// The message size.
    pub message_bytes: u64,
    /// Throughput in bits a second, or latency as half a round trip in nanoseconds.
    pub metric: Metric,
    /// How they lie to each other.
    #[serde(flatten)]
    pub sides: SidesCompared,
}

/// Both sides of a number, and what is told of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SidesCompared {
    /// The first side.
    pub a: SideEntry,
    /// The second side.
    pub b: SideEntry,
    /// The second side against the first as a share: 0.03 is 3 % more.
    pub change: f64,
    /// The lower end of its interval of 95 %; null where there are too few runs for one.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The p, adjusted for all numbers; null where there are too few runs.
    pub p_adjusted: Option<f64>,
    /// Whether the second side is better.
    pub is_gain: bool,
    /// The verdict.
    pub verdict: Verdict,
}

impl SidesCompared {
    /// As its p stands alone; none without a number on each side.
    fn new([a, b]: [SideEntry; 2], shift: &Shift, more_is_better: Option<bool>) -> SidesCompared {
        SidesCompared {
            a,
            b,
            change: shift.change,
            low: shift.low,
            high: shift.high,
            p_adjusted: shift.p,
            is_gain: Some(shift.change > 0.0) == more_is_better,
            verdict: shift.verdict,
        }
    }

    /// Of what has one value a run, without an interval of its own.
    fn of_values(a: &[f64], b: &[f64], margin: f64, more_is_better: Option<bool>) -> Option<SidesCompared> {
        let side = |values: &[f64]| {
            let median = median(values.iter().copied())?;
            Some(SideEntry { median, runs: values.len() as u32, within_run: None })
        };
        Some(SidesCompared::new([side(a)?, side(b)?], &shift(a, b, margin)?, more_is_better))
    }
}

/// One number on one side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideEntry {
    /// The median of the runs' medians.
    pub median: f64,
    /// The runs that have it.
    pub runs: u32,
    /// How far a run's own interval reaches from its median, as a share: the median over the runs.
    pub within_run: Option<f64>,
}

/// What one run contributes: read one recording after the other, so that they need not all be held.
#[derive(Debug, Clone, PartialEq)]
pub struct RunNumbers {
    numbers: BTreeMap<(Case, u64), Estimate>,
    imported: BTreeMap<imported::Key, f64>,
    figures: BTreeMap<figures::Key, figures::OfCurve>,
    facts: BTreeMap<String, String>,
}

impl RunNumbers {
    /// The numbers of the plan as it stands, at the sizes at which rungs are compared.
    pub fn from_recording(recording: &Recording) -> RunNumbers {
        let analysis = analyse(recording);
        let curves = analysis.curves.iter().filter(|curve| curve.case.is_base());
        RunNumbers {
            numbers: curves.filter_map(|curve| number(&analysis, curve)).collect(),
            imported: imported::numbers(recording),
            figures: figures::numbers(&analysis),
            facts: facts(recording),
        }
    }
}

fn number(analysis: &Analysis, curve: &Curve) -> Option<((Case, u64), Estimate)> {
    let (bytes, estimate) = match metric(&curve.case) {
        Metric::Latency => {
            (analysis.latency_bytes, curve.at(analysis.latency_bytes)?.estimate(|v| v.half_round_trip_ns)?)
        }
        _ => (analysis.ladder_bytes, curve.at(analysis.ladder_bytes)?.estimate(|v| v.throughput_bps)?),
    };
    // Which engine was chosen is told beside it: it is one number all the same.
    (estimate.median > 0.0).then(|| ((Case { arm: 0, ..curve.case.clone() }, bytes), estimate))
}

fn metric(case: &Case) -> Metric {
    if case.pattern == Pattern::PingPong { Metric::Latency } else { Metric::Throughput }
}

/// What may explain a difference. The seed and the addresses are not in it.
fn facts(recording: &Recording) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    if let Some(header) = &recording.header {
        let settings: Vec<String> = header.plan.settings.iter().map(ToString::to_string).collect();
        facts.insert("version".into(), header.version.clone());
        facts.insert("target".into(), header.plan.target.to_string());
        facts.insert("profile".into(), header.plan.profile.name.clone());
        facts.insert("settings".into(), settings.join(" "));
        facts.insert("plan".into(), header.plan_hash.clone());
    }
    if let Some(source) = &recording.source {
        facts.insert("tool".into(), source.tool.clone());
        facts.insert("version of the tool".into(), source.version.clone().unwrap_or_default());
        let told =
            source.facts.iter().map(|(name, value)| (format!("{}: {name}", source.tool), value.clone()));
        facts.extend(told);
    }
    for host in &recording.hosts {
        let fact = |name: &str| host.environment.host.get(name).and_then(Value::as_str).unwrap_or_default();
        let cpus = host.cpus.len();
        facts.insert(format!("machine of {}", host.host), host.machine.clone());
        facts.insert(format!("CPUs of {}", host.host), format!("{cpus} {}", fact("cpu.model")));
        facts.insert(format!("kernel of {}", host.host), fact("kernel.release").into());
    }
    facts
}

/// Compares two sides.
pub fn compare_runs(a: &[RunNumbers], b: &[RunNumbers], margin: f64) -> RunsCompared {
    let keys: BTreeSet<&(Case, u64)> = a.iter().chain(b).flat_map(|run| run.numbers.keys()).collect();
    let (mut numbers, mut left_out) = (Vec::new(), Vec::new());
    for key in keys {
        match compared(key, a, b, margin) {
            Some(number) => numbers.push(number),
            None => left_out.push(format!("{} {}", key.0, Bytes(key.1))),
        }
    }
    numbers.sort_by_key(|number| std::cmp::Reverse(super::height(&number.rung)));
    let (mut imported, strangers) = imported::compared(a, b, margin);
    let (mut figures, alone) = figures::compared(a, b, margin);
    left_out.extend(strangers.into_iter().chain(alone));
    judge(&mut numbers, &mut imported, &mut figures);
    let ours = numbers.iter().map(|number| &number.sides).chain(figures.iter().map(|curve| &curve.sides));
    let all = ours.chain(imported.iter().map(|number| &number.sides));
    let verdict = Verdict::of_all(all.map(|sides| sides.verdict));
    RunsCompared {
        a_runs: a.len() as u32,
        b_runs: b.len() as u32,
        alpha: ALPHA,
        margin,
        facts: facts_differ(a, b),
        verdict,
        numbers,
        imported,
        figures,
        left_out,
    }
}

/// Adjusts each p for all numbers, and claims the differences that stand.
fn judge(numbers: &mut [NumberCompared], imported: &mut [ImportedCompared], figures: &mut [FigureCompared]) {
    let ours = numbers.iter_mut().map(|number| &mut number.sides);
    let theirs = imported.iter_mut().map(|number| &mut number.sides);
    let curves = figures.iter_mut().map(|curve| &mut curve.sides);
    let all: Vec<&mut SidesCompared> = ours.chain(theirs).chain(curves).collect();
    let ps: Vec<f64> = all.iter().map(|sides| sides.p_adjusted.unwrap_or(f64::NAN)).collect();
    for (sides, adjusted) in all.into_iter().zip(holm(&ps)) {
        sides.p_adjusted = Some(adjusted).filter(|p| p.is_finite());
        // A difference that is proved to be too small to matter is none that matters.
        if sides.verdict != Verdict::Same && sides.p_adjusted.is_some_and(|p| p < ALPHA) {
            sides.verdict = Verdict::Different;
        }
    }
}

/// How the second side lies to the first, by the runs' medians.
struct Shift {
    change: f64,
    low: Option<f64>,
    high: Option<f64>,
    p: Option<f64>,
    verdict: Verdict,
}

fn shift(a: &[f64], b: &[f64], margin: f64) -> Option<Shift> {
    let logs = |side: &[f64]| side.iter().map(|median| median.ln()).collect::<Vec<f64>>();
    let shift = rank_sum(&logs(a), &logs(b), 1.0 - ALPHA)?;
    // Two one-sided tests at a level are an interval of that level cut off at both ends.
    let inner = rank_sum(&logs(a), &logs(b), 1.0 - 2.0 * ALPHA)?;
    let enough = a.len().min(b.len()) as u32 >= LEAST_RUNS;
    let limit = margin.ln_1p();
    let within = inner.low.is_some_and(|low| low > -limit) && inner.high.is_some_and(|high| high < limit);
    Some(Shift {
        change: shift.estimate.exp_m1(),
        low: shift.low.filter(|_| enough).map(f64::exp_m1),
        high: shift.high.filter(|_| enough).map(f64::exp_m1),
        p: enough.then_some(shift.p),
        verdict: if enough && within { Verdict::Same } else { Verdict::CannotTell },
    })
}

/// One number, with its p as it stands alone.
fn compared(key: &(Case, u64), a: &[RunNumbers], b: &[RunNumbers], margin: f64) -> Option<NumberCompared> {
    let (case, message_bytes) = key;
    let estimates = |runs: &[RunNumbers]| -> Vec<Estimate> {
        runs.iter().filter_map(|run| run.numbers.get(key).copied()).collect()
    };
    let (a, b) = (estimates(a), estimates(b));
    let medians = |side: &[Estimate]| side.iter().map(|estimate| estimate.median).collect::<Vec<f64>>();
    let shift = shift(&medians(&a), &medians(&b), margin)?;
    let metric = metric(case);
    Some(NumberCompared {
        rung: case.rung.clone(),
        pattern: case.pattern,
        wait: case.wait,
        flows: case.flows,
        from: case.pairs.senders(),
        to: case.pairs.receivers(),
        message_bytes: *message_bytes,
        metric,
        sides: SidesCompared::new([side(&a)?, side(&b)?], &shift, metric.number().more_is_better),
    })
}

fn side(runs: &[Estimate]) -> Option<SideEntry> {
    Some(SideEntry {
        median: median(runs.iter().map(|run| run.median))?,
        runs: runs.len() as u32,
        within_run: median(runs.iter().filter_map(Estimate::relative_half_width)),
    })
}

/// The facts whose values are not the same on both sides; the plan's hash only where nothing else says it.
fn facts_differ(a: &[RunNumbers], b: &[RunNumbers]) -> Vec<FactsDiffer> {
    let values = |runs: &[RunNumbers], fact: &str| -> BTreeSet<String> {
        runs.iter().map(|run| run.facts.get(fact).cloned().unwrap_or_default()).collect()
    };
    let names: BTreeSet<&String> = a.iter().chain(b).flat_map(|run| run.facts.keys()).collect();
    let differ = names.into_iter().filter_map(|fact| {
        let (a, b) = (values(a, fact), values(b, fact));
        (a != b).then(|| FactsDiffer {
            fact: fact.clone(),
            a: a.into_iter().collect(),
            b: b.into_iter().collect(),
        })
    });
    let found: Vec<FactsDiffer> = differ.collect();
    let plan_is_told = found.iter().any(|it| ["target", "profile", "settings"].contains(&it.fact.as_str()));
    found.into_iter().filter(|it| it.fact != "plan" || !plan_is_told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::synthetic::Synthetic;

    /// So many runs of a machine that is this much slower, as if made one after the other.
    fn side(runs: u64, slower: f64, edit: impl Fn(&mut Recording)) -> Vec<RunNumbers> {
        let run = |seed| {
            let mut made = Synthetic { seed, passes: 6, sizes: vec![64, 1 << 20], ..Synthetic::default() };
            for truth in &mut made.truths {
                truth.stream_ns = truth.stream_ns.map(|ns| ns * slower);
            }
            let mut recording = made.recording();
            edit(&mut recording);
            RunNumbers::from_recording(&recording)
        };
        let seeds = (slower * 1000.0) as u64;
        (seeds..seeds + runs).map(run).collect()
    }

    #[test]
    fn only_what_differs_is_told() {
        let compared = compare_runs(&side(6, 1.0, |_| ()), &side(6, 1.1, |_| ()), 0.02);
        assert_eq!((compared.a_runs, compared.b_runs, compared.verdict), (6, 6, Verdict::Different));
        for number in &compared.numbers {
            let wanted = if number.metric == Metric::Latency { Verdict::Same } else { Verdict::Different };
            assert_eq!(number.sides.verdict, wanted, "{number:?}");
            assert!(
                number.metric == Metric::Latency
                    || (number.sides.change + 0.09).abs() < 0.01 && !number.sides.is_gain
            );
        }
        assert!(compared.facts.is_empty() && compared.left_out.is_empty());
    }

    #[test]
    fn five_runs_a_side_show_both_but_decide_none() {
        let compared = compare_runs(&side(6, 1.0, |_| ()), &side(5, 1.1, |_| ()), 0.02);
        assert_eq!(compared.verdict, Verdict::CannotTell);
        let number = compared.numbers.iter().find(|number| number.metric == Metric::Throughput).unwrap();
        assert_eq!((number.sides.low, number.sides.p_adjusted, number.sides.b.runs), (None, None, 5));
        assert!(number.sides.change < -0.08 && number.sides.a.within_run.is_some());
    }

    #[test]
    fn what_differs_beside_the_numbers_is_listed() {
        let other = |recording: &mut Recording| {
            recording.header.as_mut().unwrap().plan.settings.push("tcp.mss=536".parse().unwrap());
            recording.trials.retain(|trial| trial.case.rung != "network.tcp");
        };
        let compared = compare_runs(&side(1, 1.0, |_| ()), &side(1, 1.0, other), 0.01);
        let [settings] = compared.facts.as_slice() else { panic!("{:?}", compared.facts) };
        assert_eq!((settings.fact.as_str(), &settings.b[..]), ("settings", &["tcp.mss=536".to_owned()][..]));
        assert!(compared.left_out.iter().any(|what| what.starts_with("network.tcp ping-pong")));
        assert!(compared.numbers.iter().all(|number| number.rung != "network.tcp"));
    }
}
