//! What a paper states of the numbers of a figure, beside what was measured: open symbols in one muted colour.

use super::{Figure, Mark, Point, Series, Sheet, style};
use crate::analysis::{FigureValues, SuiteValues};
use crate::plan::{Factor, SuiteFigure};
use crate::published::{Along, Layer, PanelOf, Shown, Stated, stated};
use crate::statistic::Estimate;
use crate::vocabulary::Pattern;
use std::collections::BTreeMap;

/// Which stated layers a rung stands for; of a library in plain calls there is one of its own. What is stated of ends across
/// a network says nothing of ends within a host.
const LAYERS: &[(&str, Layer)] = &[
    ("network.tcp", Layer::Tcp),
    ("network.tcp", Layer::Offload),
    ("network.tcp", Layer::Filter),
    ("network.tcp", Layer::Application),
    ("network.mpi", Layer::Mpi),
    ("network.pvm", Layer::Mpi),
    ("network.tcgmsg", Layer::Mpi),
    ("network.lite", Layer::Mpi),
    ("network.ucx", Layer::Native),
    ("network.libfabric", Layer::Native),
    ("network.rdma", Layer::Native),
    ("network.raw", Layer::Link),
    ("memory.triad", Layer::Memory),
];

/// A library whose calls are made one after the other.
pub(super) const PLAIN: (&str, &str) = ("mpi.receive", "plain");

/// What is along x, where values are stated of it.
const ALONG: &[(Factor, Along)] = &[
    (Factor::Size, Along::Size),
    (Factor::Connections, Along::Connections),
    (Factor::Rung, Along::Size),
    (Factor::Rules, Along::Rules),
];

/// The values that belong in a figure of a suite.
pub(super) fn values_in(suite: &SuiteValues, values: &FigureValues) -> Vec<&'static Stated> {
    let (mut patterns, mut layers): (Vec<Pattern>, Vec<Layer>) = (Vec::new(), Vec::new());
    // What is stated is between two hosts.
    for one in values.series.iter().filter(|one| !one.is_besides && !one.words.has_all_hosts) {
        let is_plain = one.words.tuned.iter().any(|set| (set.knob.as_str(), set.value.as_str()) == PLAIN);
        patterns.push(one.case.pattern);
        layers.extend(layers_of(&one.case.rung, is_plain));
    }
    suite.paper.as_ref().map_or_else(Vec::new, |paper| in_figure(paper, &values.figure, &patterns, &layers))
}

/// The values of a paper that belong in a figure of these patterns and layers.
pub(super) fn in_figure(
    paper: &str,
    figure: &SuiteFigure,
    patterns: &[Pattern],
    layers: &[Layer],
) -> Vec<&'static Stated> {
    let Some((_, along)) = ALONG.iter().find(|(factor, _)| *factor == figure.x) else { return Vec::new() };
    let (measure, testbed) = (figure.y.as_str(), figure.testbed.as_deref());
    let panel = PanelOf { measure, along: *along, patterns, layers, paper, testbed };
    stated().iter().filter(|one| one.belongs(&panel)).collect()
}

/// Every value that the figures of some recordings show.
pub fn drawn_of(sheets: &[Sheet]) -> Vec<&'static Stated> {
    let suites = sheets.iter().flat_map(|sheet| &sheet.analysis.suites);
    let figures = suites.flat_map(|suite| suite.figures.iter().map(move |values| (suite, values)));
    figures
        .flat_map(|(suite, values)| {
            let ends = ends(values);
            values_in(suite, values).into_iter().filter(move |one| is_on_axis(one, ends)).collect::<Vec<_>>()
        })
        .collect()
}

/// The least and the largest number along x; none where it has names.
pub(super) fn ends(values: &FigureValues) -> (f64, f64) {
    let numbers = || values.series.iter().flat_map(|one| &one.points).filter_map(|point| point.x.number);
    (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max))
}

/// Whether a value's sizes are along an axis from one number to another; on one of names each value is.
fn is_on_axis(one: &Stated, (first, last): (f64, f64)) -> bool {
    let Some(sizes) = one.shown.as_ref().ok().and_then(|shown| shown.sizes.as_ref()) else { return true };
    first >= last || (*sizes.start() as f64 <= last && *sizes.end() as f64 >= first)
}

/// The layers that a rung stands for.
pub(super) fn layers_of(rung: &str, is_plain: bool) -> Vec<Layer> {
    let of = LAYERS.iter().filter(|(known, _)| *known == rung);
    of.map(|(_, layer)| if is_plain { Layer::MessageApplication } else { *layer }).collect()
}

/// The values as a series a panel that they belong in, by what of their configuration is named, and what they say of a place
/// along x as marks.
pub(super) fn add(
    figure: &mut Figure,
    name: &str,
    values: &[&'static Stated],
    groups: &BTreeMap<String, String>,
    ends: (f64, f64),
) {
    let mut all: Vec<Series> = Vec::new();
    for one in values {
        let Some(shown) = one.shown.as_ref().ok().filter(|_| is_on_axis(one, ends)) else { continue };
        let Some(value) = shown.value else {
            figure.marks.extend(mark(one, shown, ends));
            continue;
        };
        let group = groups.iter().find(|(part, _)| one.row.config.contains(*part)).map(|(_, group)| group);
        let group = group.cloned().unwrap_or_default();
        let of_group = |known: &Series| known.group == group;
        let at = all.iter().position(of_group).unwrap_or_else(|| {
            let style = style::nth(name.into(), 5);
            all.push(Series { dashed: true, everywhere: true, symbol: "diamond", group, ..style });
            all.len() - 1
        });
        add_value(&mut all[at], one, shown, value, ends);
    }
    figure.series.extend(all.into_iter().filter(|series| !series.points.is_empty()));
}

fn mark(one: &Stated, shown: &Shown, (first, last): (f64, f64)) -> Option<Mark> {
    let x = *shown.sizes.as_ref()?.start() as f64;
    let what = one.row.metric.replace('_', " ");
    let label = format!(
        "{}: {}",
        one.paper.short,
        SAID.iter().find(|(of, _)| *of == one.row.metric).map_or(&*what, |(_, said)| said)
    );
    let text = format!("{}. {}", one.label, about(one, shown));
    (first..=last).contains(&x).then_some(Mark { series: None, x, y: None, label, text })
}

/// What happens at a place along x.
const SAID: &[(&str, &str)] = &[("falloff_start", "fall-off"), ("dip_at", "dip")];

/// A point at its size; of several sizes a line. A time without a size is one of small messages, a rate of large ones.
fn add_value(series: &mut Series, one: &Stated, shown: &Shown, value: f64, (first, last): (f64, f64)) {
    let (from, to) = match &shown.sizes {
        Some(sizes) => ((*sizes.start() as f64).max(first), (*sizes.end() as f64).min(last)),
        None if shown.is_of_small() => (first, first),
        None => (last, last),
    };
    if from > to {
        return;
    }
    if from < to {
        series.lines.push(vec![[from, value], [to, value]]);
    }
    // Of a range its ends are stated, and nothing between them.
    let ends = shown.range.filter(|_| one.row.value.is_none()).map(|(low, high)| [low, high]);
    if let Some((low, high)) = shown.range {
        series.lines.push(vec![[to, low], [to, high]]);
    }
    for value in ends.as_ref().map_or(&[value][..], |ends| ends) {
        let estimate = Estimate { median: *value, low: None, high: None, n: 0 };
        series.points.push(Point::new(to, estimate).noted(format!("{}: {}", one.label, about(one, shown))));
    }
}

/// The number as printed, its place and its doubts.
pub(super) fn about(one: &Stated, shown: &Shown) -> String {
    let size = if shown.sizes.is_none() { "its size is not stated" } else { "" };
    let parts = [&*one.printed, &*one.row.place, &*one.note, shown.made, size];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}
