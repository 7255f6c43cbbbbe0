//! The points of a figure: one a level of the factor along x, in as many series as the other factors make.

use super::label::{self, Words};
use super::ranking::{self, RankingValues};
use super::{is_called, level, trials};
use crate::analysis::measures::{Measure, measure};
use crate::plan::{Case, Expanded, FACTORS, Factor, Level, Plan, Suite, SuiteFigure};
use crate::record::{Recording, Trial};
use crate::statistic::{Estimate, median};
use crate::vocabulary::{METRICS, Metric, readable_metric};
use std::collections::{BTreeMap, BTreeSet};

/// A figure's values.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureValues {
    /// What was asked for.
    pub figure: SuiteFigure,
    /// The unit along y; empty where nothing is called so.
    pub unit: &'static str,
    /// Its series, in the order of the plan.
    pub series: Vec<SeriesValues>,
    /// What was to be a series and was not measured, by what tells it from the others.
    pub missing: Vec<String>,
    /// The same in words.
    pub missing_words: Vec<String>,
    /// What was measured and gave no number: a series in words, and where along x.
    pub untold: Vec<(String, String)>,
    /// The numbers that what was measured has, where the figure asks for none of them.
    pub others: Vec<&'static str>,
    /// How it ranks transports beside a micro-benchmark, where it names one.
    pub ranking: Option<RankingValues>,
}

/// One series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesValues {
    /// What tells it from the others: levels of factors, as a plan says them; empty where it is alone.
    pub name: String,
    /// The same in words, with the panel that it stands in.
    pub words: Words,
    /// What it is of.
    pub case: Case,
    /// Whether it is of a further number, as a model is.
    pub is_besides: bool,
    /// Its points, ascending where x is a number.
    pub points: Vec<ValueAt>,
}

/// One point.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueAt {
    /// Where it stands along x.
    pub x: Level,
    /// The same in words.
    pub said: String,
    /// The median over the passes.
    pub value: Estimate,
    /// The value of each pass.
    pub passes: BTreeMap<u32, f64>,
    /// Which hosts sent to which: `b+c>a`.
    pub hosts: String,
}

/// A level along x, the hosts that played it, and what each pass gave there.
struct AtLevel {
    x: Level,
    said: String,
    hosts: BTreeSet<String>,
    passes: BTreeMap<u32, Vec<f64>>,
}

/// A series while it is gathered.
struct Gathered<'r> {
    measure: &'r str,
    name: String,
    first: &'r Trial,
    points: Vec<AtLevel>,
}

/// What gave no number: a series, where along x, and one of its trials.
type Untold<'r> = Vec<(String, String, &'r Trial)>;

/// The values of a figure.
pub(super) fn values(
    recording: &Recording,
    plan: &Plan,
    suite: &Suite,
    figure: &SuiteFigure,
) -> FigureValues {
    let of_cases = || {
        let all = figure.cases.iter().flat_map(|id| trials(recording, suite.case_name(id)));
        all.filter(|trial| is_shown(plan, figure, (&trial.case, trial.block.message_bytes)))
    };
    let all: Vec<&Trial> = of_cases().collect();
    let (gathered, untold) = gathered(recording, plan, suite, figure, &all);
    let others = match (gathered.as_slice(), untold.first()) {
        ([], Some((.., trial))) => told_by(recording, trial),
        _ => Vec::new(),
    };
    let words = |points: &[(&Case, u64)]| label::words(recording, plan, suite, figure.x, points);
    let firsts: Vec<(&Case, u64)> = gathered.iter().map(|one| point(one.first)).collect();
    let untold = said_of(&gathered, &untold, words);
    let words = words(&firsts);
    let series = gathered.into_iter().zip(words).map(|(one, words)| of_series(figure, one, words));
    let unit = measure(&figure.y).map_or("", |measure| measure.metric.unit);
    let (missing, missing_words) = missing(recording, plan, suite, figure, &all);
    let ranking = ranking::values(recording, plan, suite, figure);
    let (figure, series) = (figure.clone(), series.collect());
    FigureValues { figure, unit, series, missing, missing_words, untold, others, ranking }
}

/// The numbers that a trial has.
fn told_by(recording: &Recording, trial: &Trial) -> Vec<&'static str> {
    let has = |metric: &&'static Metric| {
        Measure::whole(metric).is_some_and(|measure| measure.value(recording, trial).is_some())
    };
    METRICS.iter().filter(has).map(|metric| metric.name).collect()
}

fn point(trial: &Trial) -> (&Case, u64) {
    (&trial.case, trial.block.message_bytes)
}

/// What gave no number, by the words of its series among all.
fn said_of(
    gathered: &[Gathered],
    untold: &[(String, String, &Trial)],
    words: impl Fn(&[(&Case, u64)]) -> Vec<Words>,
) -> Vec<(String, String)> {
    let alone: Vec<(&Case, u64)> = untold.iter().map(|(.., trial)| point(trial)).collect();
    let firsts: Vec<(&Case, u64)> = gathered.iter().map(|one| point(one.first)).collect();
    let words = words(&[firsts, alone].concat());
    let label = |at: usize, (name, ..): &(String, String, &Trial)| {
        let of_series = gathered.iter().position(|one| one.name == *name);
        let words = words.get(of_series.unwrap_or(gathered.len() + at));
        // Where it is alone nothing has to be told apart.
        if name.is_empty() { String::new() } else { words.map_or(String::new(), |one| one.label.clone()) }
    };
    untold.iter().enumerate().map(|(at, one)| (label(at, one), one.1.clone())).collect()
}

/// The series in the order in which the plan has them, which is not that of the passes.
fn gathered<'r>(
    recording: &'r Recording,
    plan: &Plan,
    suite: &Suite,
    figure: &'r SuiteFigure,
    all: &[&'r Trial],
) -> (Vec<Gathered<'r>>, Untold<'r>) {
    let points: Vec<(&Case, u64)> =
        all.iter().map(|trial| (&trial.case, trial.block.message_bytes)).collect();
    let telling = telling(plan, figure.x, &points);
    let mut untold: Untold = Vec::new();
    let mut series: Vec<Gathered> = Vec::new();
    let measures: Vec<(&str, Measure)> =
        figure.measures().filter_map(|name| Some((name, measure(name)?))).collect();
    for ((measured, measure), trial) in
        measures.iter().flat_map(|one| ordered(all.iter().copied()).into_iter().map(move |t| (one, t)))
    {
        let point = (&trial.case, trial.block.message_bytes);
        let (name, x) = (key(plan, &telling, point), level(plan, figure.x, trial));
        let Some(value) = measure.value(recording, trial) else {
            untold.push((name, x.name, trial));
            continue;
        };
        let is_it = |known: &Gathered| known.measure == *measured && known.name == name;
        let new = || Gathered { measure: measured, name: name.clone(), first: trial, points: Vec::new() };
        let one = entry(&mut series, is_it, new);
        let said = || label::place(recording, plan, suite, figure.x, point);
        let new = || AtLevel { x: x.clone(), said: said(), hosts: BTreeSet::new(), passes: BTreeMap::new() };
        let here = entry(&mut one.points, |known| known.x == x, new);
        here.passes.entry(trial.pass).or_default().push(value);
        here.hosts.insert(trial.case.pairs.to_string());
    }
    // Of some passes no number is no loss.
    let is_told = |at: &(String, String, &Trial)| {
        let of_series = series.iter().filter(|one| one.name == at.0);
        of_series.flat_map(|one| &one.points).any(|point| point.x.name == at.1)
    };
    let mut without: Untold = Vec::new();
    for at in untold {
        let is_known = |known: &(String, String, &Trial)| (&known.0, &known.1) == (&at.0, &at.1);
        if !is_told(&at) && !without.iter().any(is_known) {
            without.push(at);
        }
    }
    (series, without)
}

/// The series that a figure was to show and of which no trial is there: by their levels, and in words.
fn missing(
    recording: &Recording,
    plan: &Plan,
    suite: &Suite,
    figure: &SuiteFigure,
    trials: &[&Trial],
) -> (Vec<String>, Vec<String>) {
    let is_of = |case: &Case| figure.cases.iter().any(|id| suite.case_name(id) == case.id);
    let wanted: Vec<Expanded> =
        suite.expand(plan, &plan.host_ids()).into_iter().filter(|one| is_of(&one.case)).collect();
    let points = wanted.iter().flat_map(|one| one.sizes.iter().map(move |size| (&one.case, *size)));
    let points: Vec<(&Case, u64)> = points.filter(|point| is_shown(plan, figure, *point)).collect();
    let telling = telling(plan, figure.x, &points);
    let is_there = |case: &Case| {
        let parts = case.apart();
        // What ran beside one of several pairs is named or counted, by the version that wrote it.
        let is_it = |one: &Case, part: &Case| one == part || parts.len() > 1 && one.is_of(part);
        parts.iter().any(|part| trials.iter().any(|one| is_it(&one.case, part)))
    };
    // One point a series, those that are there first: a name that is there is not missing.
    let (there, lost): (Vec<_>, Vec<_>) = points.into_iter().partition(|(case, _)| is_there(case));
    let mut series: Vec<(String, (&Case, u64))> = Vec::new();
    let mut of = |points: Vec<_>| {
        for point in points {
            let name = key(plan, &telling, point);
            if !series.iter().any(|(known, _)| *known == name) {
                series.push((name, point));
            }
        }
        series.len()
    };
    let count = of(there);
    of(lost);
    let firsts: Vec<(&Case, u64)> = series.iter().map(|(_, point)| *point).collect();
    let words = label::words(recording, plan, suite, figure.x, &firsts);
    let names = series.into_iter().zip(words).skip(count);
    names.map(|((name, _), words)| (name, words.label)).unzip()
}

/// Whether a case at a message size is at the levels that the figure is of.
fn is_shown(plan: &Plan, figure: &SuiteFigure, (case, message_bytes): (&Case, u64)) -> bool {
    FACTORS.iter().all(|entry| {
        let level = || (entry.level)(plan, case, message_bytes);
        figure.only.get(entry.name).is_none_or(|names| names.iter().any(|name| is_called(&level(), name)))
    })
}

/// By case and size, whatever the order of the passes was.
fn ordered<'r>(trials: impl Iterator<Item = &'r Trial>) -> Vec<&'r Trial> {
    let mut all: Vec<&Trial> = trials.collect();
    let order: Vec<&str> = all.iter().map(|trial| trial.case.id.as_str()).fold(Vec::new(), |mut seen, id| {
        if !seen.contains(&id) {
            seen.push(id);
        }
        seen
    });
    let place = |trial: &Trial| order.iter().position(|id| *id == trial.case.id);
    all.sort_by_key(|trial| (place(trial), trial.case.arm, trial.case.clone(), trial.block.message_bytes));
    all
}

fn of_series(figure: &SuiteFigure, one: Gathered, words: Words) -> SeriesValues {
    let point = |AtLevel { x, said, hosts, passes }: AtLevel| {
        let middle = |(pass, values): (u32, Vec<f64>)| Some((pass, median(values)?));
        let passes: BTreeMap<u32, f64> = passes.into_iter().filter_map(middle).collect();
        let hosts = hosts.into_iter().collect::<Vec<_>>().join(", ");
        Some(ValueAt { x, said, value: Estimate::from_values(passes.values().copied())?, passes, hosts })
    };
    let mut points: Vec<ValueAt> = one.points.into_iter().filter_map(point).collect();
    let number = |point: &ValueAt| point.x.number.unwrap_or(0.0);
    points.sort_by(|a, b| number(a).total_cmp(&number(b)));
    let (has_one, said) = (figure.also.is_empty(), readable_metric(one.measure));
    let with = |measure: &str, name: &str| match (has_one, name.is_empty()) {
        (true, _) => name.to_owned(),
        (false, true) => measure.to_owned(),
        (false, false) => format!("{measure}, {name}"),
    };
    // Where one name tells all there is, the number says what it is of.
    let label = if one.name.is_empty() && !has_one { said.clone() } else { with(&said, &words.label) };
    SeriesValues {
        name: with(one.measure, &one.name),
        words: Words { label, ..words },
        case: one.first.case.clone(),
        is_besides: one.measure != figure.y,
        points,
    }
}

/// The factors that tell the series apart: each only where those before it do not.
fn telling(plan: &Plan, x: Factor, points: &[(&Case, u64)]) -> Vec<Factor> {
    let (mut telling, mut kinds) = (Vec::new(), 1);
    let factors = FACTORS.iter().map(|entry| entry.factor).filter(|factor| *factor != x);
    // A pace in bits a second is another one for each size.
    for factor in factors.filter(|factor| (x, *factor) != (Factor::Size, Factor::Rate)) {
        let with: Vec<Factor> = telling.iter().copied().chain([factor]).collect();
        let made: BTreeSet<String> = points.iter().map(|point| key(plan, &with, *point)).collect();
        if made.len() > kinds {
            (telling, kinds) = (with, made.len());
        }
    }
    telling
}

fn key(plan: &Plan, factors: &[Factor], (case, message_bytes): (&Case, u64)) -> String {
    let names = factors.iter().map(|factor| (factor.entry().level)(plan, case, message_bytes).name);
    names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The first that is like it, or a new one behind the others.
fn entry<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let at = all.iter().position(is_it).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    });
    &mut all[at]
}
