//! The points of a figure: one a level of the factor along x, in as many series as the other factors make.

use super::label::{self, Words};
use super::{is_called, level, trials};
use crate::analysis::measures::{Measure, measure};
use crate::plan::{Case, FACTORS, Factor, Level, Plan, Suite, SuiteFigure};
use crate::record::{Recording, Trial};
use crate::statistic::{Estimate, median};
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
}

/// A level along x, and what each pass gave there.
struct AtLevel {
    x: Level,
    said: String,
    passes: BTreeMap<u32, Vec<f64>>,
}

/// A series while it is gathered.
struct Gathered<'r> {
    measure: &'r str,
    name: String,
    first: &'r Trial,
    points: Vec<AtLevel>,
}

/// The values of a figure.
pub(super) fn values(
    recording: &Recording,
    plan: &Plan,
    suite: &Suite,
    figure: &SuiteFigure,
) -> FigureValues {
    let gathered = gathered(recording, plan, suite, figure);
    let firsts: Vec<&Trial> = gathered.iter().map(|one| one.first).collect();
    let words = label::words(recording, plan, suite, figure.x, &firsts);
    let series = gathered.into_iter().zip(words).map(|(one, words)| of_series(figure, one, words));
    let unit = measure(&figure.y).map_or("", |measure| measure.metric.unit);
    FigureValues { figure: figure.clone(), unit, series: series.collect() }
}

/// The series in the order in which the plan has them, which is not that of the passes.
fn gathered<'r>(
    recording: &'r Recording,
    plan: &Plan,
    suite: &Suite,
    figure: &'r SuiteFigure,
) -> Vec<Gathered<'r>> {
    let of_cases = || {
        let all = figure.cases.iter().flat_map(|id| trials(recording, suite.case_name(id)));
        all.filter(|trial| is_shown(plan, figure, trial))
    };
    let telling = telling(plan, figure.x, of_cases());
    let mut series: Vec<Gathered> = Vec::new();
    let measures: Vec<(&str, Measure)> =
        figure.measures().filter_map(|name| Some((name, measure(name)?))).collect();
    for ((measured, measure), trial) in
        measures.iter().flat_map(|one| ordered(of_cases()).into_iter().map(move |t| (one, t)))
    {
        let Some(value) = measure.value(recording, trial) else { continue };
        let (name, x) = (key(plan, &telling, trial), level(plan, figure.x, trial));
        let is_it = |known: &Gathered| known.measure == *measured && known.name == name;
        let new = || Gathered { measure: measured, name: name.clone(), first: trial, points: Vec::new() };
        let one = entry(&mut series, is_it, new);
        let said = || label::word(recording, plan, suite, figure.x, trial);
        let new = || AtLevel { x: x.clone(), said: said(), passes: BTreeMap::new() };
        let here = entry(&mut one.points, |known| known.x == x, new);
        here.passes.entry(trial.pass).or_default().push(value);
    }
    series
}

/// Whether a trial is at the levels that the figure is of.
fn is_shown(plan: &Plan, figure: &SuiteFigure, trial: &Trial) -> bool {
    FACTORS.iter().all(|entry| {
        let level = || level(plan, entry.factor, trial);
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
    let point = |AtLevel { x, said, passes }: AtLevel| {
        let middle = |(pass, values): (u32, Vec<f64>)| Some((pass, median(values)?));
        let passes: BTreeMap<u32, f64> = passes.into_iter().filter_map(middle).collect();
        Some(ValueAt { x, said, value: Estimate::from_values(passes.values().copied())?, passes })
    };
    let mut points: Vec<ValueAt> = one.points.into_iter().filter_map(point).collect();
    let number = |point: &ValueAt| point.x.number.unwrap_or(0.0);
    points.sort_by(|a, b| number(a).total_cmp(&number(b)));
    let (has_one, said) = (figure.also.is_empty(), one.measure.replace(['-', '.'], " "));
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
fn telling<'r>(plan: &Plan, x: Factor, trials: impl Iterator<Item = &'r Trial>) -> Vec<Factor> {
    let trials: Vec<&Trial> = trials.collect();
    let (mut telling, mut kinds) = (Vec::new(), 1);
    let factors = FACTORS.iter().map(|entry| entry.factor).filter(|factor| *factor != x);
    // A pace in bits a second is another one for each size.
    for factor in factors.filter(|factor| (x, *factor) != (Factor::Size, Factor::Rate)) {
        let with: Vec<Factor> = telling.iter().copied().chain([factor]).collect();
        let made: BTreeSet<String> = trials.iter().map(|trial| key(plan, &with, trial)).collect();
        if made.len() > kinds {
            (telling, kinds) = (with, made.len());
        }
    }
    telling
}

fn key(plan: &Plan, factors: &[Factor], trial: &Trial) -> String {
    let names = factors.iter().map(|factor| level(plan, *factor, trial).name);
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
