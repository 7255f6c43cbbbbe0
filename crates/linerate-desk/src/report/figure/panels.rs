//! A figure in panels: no more series in one than are told apart, a second one where curves lie on each other,
//! and no colour twice in any.

use super::{Axis, Figure, Kind, Panel, Point, Scale, Series, Unit, style};
use crate::statistic::{Estimate, median};

/// The most series of a panel that are told apart at a glance.
pub(super) const MOST: usize = 6;

/// Curves whose ratio is within this of one lie on each other on an axis of decades.
const CLOSE: f64 = 1.15;

/// The places of a curve from which on it is compared with others.
const LEAST_PLACES: usize = 3;

/// The colour of what others published.
const STATED: usize = 5;

/// The figure in as many panels as it needs, each series in a colour of its own.
pub(super) fn arranged(mut figure: Figure, is_alone: bool) -> Figure {
    if figure.kind == Kind::Points {
        split(&mut figure);
        compare(&mut figure);
    }
    (0..figure.panels.len().max(1)).for_each(|panel| colour(&mut figure, panel, is_alone));
    figure
}

/// What stands in one panel: its title, and its series.
type Part = (String, Vec<Series>);

/// Where more series are shown than are told apart: a panel for each group of them.
fn split(figure: &mut Figure) {
    let (shown, hidden): (Vec<Series>, Vec<Series>) = figure.series.drain(..).partition(|one| one.shown);
    let (everywhere, own): (Vec<Series>, Vec<Series>) = shown.into_iter().partition(|one| one.everywhere);
    let most = MOST.saturating_sub(everywhere.len()).max(2);
    if own.len() <= most {
        figure.series = own.into_iter().chain(everywhere).chain(hidden).collect();
        return;
    }
    let parts: Vec<Part> = groups(own).into_iter().flat_map(|group| chunks(group, most)).collect();
    let panel = |(title, _): &Part| Panel { title: title.clone(), y: figure.y.clone(), again: false };
    figure.panels = parts.iter().map(panel).collect();
    for (at, (_, series)) in parts.into_iter().enumerate() {
        let group = series.first().map(|one| one.group.clone()).unwrap_or_default();
        let belongs = |one: &&Series| one.group.is_empty() || one.group == group;
        let here = series.into_iter().chain(everywhere.iter().filter(belongs).cloned());
        figure.series.extend(here.map(|one| Series { panel: at, ..one }));
    }
    figure.series.extend(hidden);
}

/// The series by what they have in common, in the order in which they come.
fn groups(series: Vec<Series>) -> Vec<Part> {
    let mut groups: Vec<Part> = Vec::new();
    for one in series {
        match groups.iter_mut().find(|(name, _)| *name == one.group) {
            Some((_, group)) => group.push(one),
            None => groups.push((one.group.clone(), vec![one])),
        }
    }
    groups
}

/// Parts of a group that are small enough, evenly; what it begins with is in each, for the others are read against it.
fn chunks((title, series): Part, most: usize) -> Vec<Part> {
    if series.len() <= most {
        return vec![(title, series)];
    }
    let mut series = series.into_iter();
    let Some(first) = series.next() else { return Vec::new() };
    let rest: Vec<Series> = series.collect();
    let parts = rest.len().div_ceil(most - 1);
    let size = rest.len().div_ceil(parts);
    let name = |at: usize| match title.is_empty() {
        true => format!("{} of {parts}", at + 1),
        false => format!("{title}, {} of {parts}", at + 1),
    };
    let part = |(at, others): (usize, &[Series])| {
        (name(at), std::iter::once(first.clone()).chain(others.iter().cloned()).collect())
    };
    rest.chunks(size).enumerate().map(part).collect()
}

/// Beside each panel in which curves lie on each other one of their ratios to its first series.
fn compare(figure: &mut Figure) {
    let count = figure.panels.len().max(1);
    let here = |at: usize| figure.series.iter().filter(move |one| one.panel == at && one.shown);
    if !(0..count).any(|at| is_crowded(&here(at).collect::<Vec<_>>())) {
        return;
    }
    let own = |at: usize| figure.panels.get(at).map_or(String::new(), |panel| panel.title.clone());
    let mut panels = Vec::new();
    let mut added = Vec::new();
    for at in 0..count {
        let series: Vec<&Series> = here(at).filter(|one| !one.everywhere).collect();
        let (first, rest) = match series.split_first() {
            Some((first, rest)) => (first.name.clone(), rest.iter().filter_map(|one| over(one, series[0]))),
            None => continue,
        };
        panels.push(Panel { title: own(at), y: figure.y.clone(), again: false });
        let title = format!("over {first}");
        panels.push(Panel { title, y: Axis::new("ratio", Unit::Ratio, Scale::Linear), again: true });
        let level =
            Series { points: Vec::new(), raw: Vec::new(), lines: level(series[0]), ..series[0].clone() };
        added.extend(std::iter::once(level).chain(rest).map(|one| Series { panel: 2 * at + 1, ..one }));
    }
    figure.series.iter_mut().for_each(|one| one.panel *= 2);
    figure.series.extend(added);
    figure.panels = panels;
    figure.caption +=
        " Where curves lie on each other, the panel beside has their ratios, each taken within a pass.";
}

/// Whether at least two of them are hardly told apart over most of what they share.
fn is_crowded(series: &[&Series]) -> bool {
    let is_close = |(a, b): (&Series, &Series)| {
        let shared = ratios(a, b);
        let far = |ratio: &f64| ratio.ln().abs();
        shared.len() >= LEAST_PLACES
            && median(shared.iter().map(|(_, one)| far(&one.median))).is_some_and(|far| far < CLOSE.ln())
    };
    let pairs = series.iter().enumerate().flat_map(|(at, a)| series[at + 1..].iter().map(move |b| (*a, *b)));
    pairs.filter(|(a, b)| !a.everywhere && !b.everywhere).any(is_close)
}

/// The ratios of two series where both have a place, each within a pass.
fn ratios(of: &Series, over: &Series) -> Vec<(f64, Estimate)> {
    let at = |x: f64| {
        let below = |pass: u32| over.passes.iter().find(|one| one.x == x && one.pass == pass);
        let here = of.passes.iter().filter(|one| one.x == x);
        let ratios = here.filter_map(|one| Some(one.y / below(one.pass)?.y)).filter(|ratio| *ratio > 0.0);
        Some((x, Estimate::from_values(ratios)?))
    };
    of.points.iter().filter_map(|point| at(point.x)).collect()
}

fn over(of: &Series, first: &Series) -> Option<Series> {
    let points: Vec<Point> = ratios(of, first).into_iter().map(|(x, ratio)| Point::new(x, ratio)).collect();
    let line = points.iter().map(|point| [point.x, point.y]).collect();
    let series = Series { raw: Vec::new(), lines: vec![line], points, ..of.clone() };
    (!series.points.is_empty()).then_some(series)
}

/// A line at one, as long as the series.
fn level(series: &Series) -> Vec<Vec<[f64; 2]>> {
    let ends = series.points.first().zip(series.points.last());
    ends.map(|(first, last)| vec![[first.x, 1.0], [last.x, 1.0]]).into_iter().collect()
}

/// How a series of a panel is told from those before it.
struct Taken {
    name: String,
    base: String,
    style: Style,
}

/// A colour and a symbol.
type Style = (usize, &'static str);

/// Each series of a panel keeps its colour where none before it has that, else it takes the first that is free. Two of one
/// base share one. Where recordings stand beside each other a colour is one's, and symbols tell the rest apart.
fn colour(figure: &mut Figure, panel: usize, is_alone: bool) {
    let again = figure.panels.get(panel).is_some_and(|panel| panel.again);
    let before = figure.series.iter().filter(|one| again && one.panel + 1 == panel);
    let mut taken: Vec<Taken> = before.map(Taken::from_series).collect();
    let has_stated = figure.series.iter().any(|one| one.panel == panel && one.everywhere);
    let mut here: Vec<&mut Series> = figure.series.iter_mut().filter(|one| one.panel == panel).collect();
    here.sort_by_key(|one| !one.shown);
    for one in here {
        let known = match again {
            true => taken.iter().find(|known| known.name == one.name),
            false => taken.iter().find(|known| !known.base.is_empty() && known.base == one.base),
        };
        (one.colour, one.symbol) = match known {
            Some(known) => known.style,
            None if one.everywhere => (STATED, one.symbol),
            None => free(one, &taken, has_stated, is_alone),
        };
        taken.push(Taken::from_series(one));
    }
}

/// A style that none has yet, while there is one.
fn free(one: &Series, taken: &[Taken], has_stated: bool, is_alone: bool) -> Style {
    let is_free = |(colour, symbol): &Style| {
        let is_other = |known: &Taken| known.style.0 != *colour || (!is_alone && known.style.1 != *symbol);
        taken.iter().all(is_other) && !(has_stated && *colour == STATED)
    };
    let others = (0..style::COLOURS).map(|colour| (colour, style::symbol(taken.len())));
    let own = (one.colour, one.symbol);
    std::iter::once(own).chain(others).find(is_free).unwrap_or(own)
}

impl Taken {
    fn from_series(one: &Series) -> Taken {
        Taken { name: one.name.clone(), base: one.base.clone(), style: (one.colour, one.symbol) }
    }
}
