//! The figures of suites, with what the paper states beside them.

use super::{Axis, Figure, INTERVAL, Kind, OfPass, Point, Scale, Series, Sheet, Unit, bars, stated, style};
use crate::analysis::{FigureValues, SeriesValues, SuiteValues, ValueAt};
use crate::plan::Factor;
use crate::published::{PAPERS, Shown, Stated};
use crate::report::suite::{lacks, played_by, ranking_text, untold};
use crate::statistic::Estimate;
use crate::vocabulary::{readable_knob, readable_metric};

/// Sizes and connections double; other numbers stand evenly.
const DOUBLING: &[Factor] = &[Factor::Size, Factor::Connections, Factor::Rate, Factor::Settings];

/// Where the largest number is this often the least one, an axis is of decades.
const DECADES: f64 = 5.0;

/// Every figure of every suite.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for sheet in sheets {
        for suite in &sheet.analysis.suites {
            for values in suite.figures.iter().filter(|values| !values.series.is_empty()) {
                let drawn = figure(sheet, suite, values);
                match figures.iter_mut().find(|known| known.id == drawn.id && known.kind == drawn.kind) {
                    Some(known) => join(known, drawn),
                    None => figures.push(drawn),
                }
            }
        }
    }
    figures
}

/// The same figure of a further recording, beside what there is; what a paper states stands there once.
fn join(known: &mut Figure, further: Figure) {
    let rows = known.y.categories.len();
    let own = further.series.into_iter().filter(|one| !one.everywhere);
    if known.kind.is_of_rows() {
        known.y.categories.extend(further.y.categories);
        for mut one in own {
            one.points.iter_mut().for_each(|point| point.y += rows as f64);
            match known.series.iter_mut().find(|series| series.name == one.name) {
                Some(series) => series.points.append(&mut one.points),
                None => known.series.push(one),
            }
        }
        return;
    }
    let at = known.series.iter().position(|one| one.everywhere).unwrap_or(known.series.len());
    known.series.splice(at..at, own);
}

fn figure(sheet: &Sheet, suite: &SuiteValues, values: &FigureValues) -> Figure {
    let here = stated::values_in(suite, values);
    let name = suite.paper.as_ref().and_then(|id| PAPERS.iter().find(|paper| paper.id == *id));
    let name = name.map_or("published", |paper| paper.short);
    let mut figure = match shape(values) {
        Shape::Curves => curves(sheet, values, name, &here),
        Shape::OnePlace => one_place(sheet, values, name, &here),
        Shape::Names => categories(sheet, values, name, &here),
    };
    figure.id = format!("suite-{}", values.figure.id);
    figure.title = format!("{} · {}", values.figure.id, values.figure.title);
    figure.caption = caption(values, figure.series.iter().any(|one| one.everywhere));
    figure
}

/// How the values of a figure are laid out.
enum Shape {
    /// Along an axis of numbers.
    Curves,
    /// All at one number: a row each.
    OnePlace,
    /// At names: a bar each.
    Names,
}

fn shape(values: &FigureValues) -> Shape {
    let mut places = values.series.iter().flat_map(|series| &series.points).map(|point| point.x.number);
    let first = places.clone().next().flatten();
    if !places.clone().all(|number| number.is_some()) {
        return Shape::Names;
    }
    if places.all(|number| number == first) { Shape::OnePlace } else { Shape::Curves }
}

fn caption(values: &FigureValues, is_stated: bool) -> String {
    let said = values.figure.caption.trim();
    let said = if said.is_empty() { String::new() } else { format!("{said} ") };
    let points = values.series.iter().flat_map(|series| &series.points);
    let played = played_by(points.map(|point| (&*point.x.name, &*point.hosts)));
    let played = played.map_or(String::new(), |played| format!("{played} "));
    let lacks = lacks(&values.missing_words, &untold(values)).into_iter().map(|lack| format!(" {lack}."));
    let stated = match (&values.figure.published, is_stated) {
        (Some(place), true) => {
            format!(" Open diamonds are what the paper states (its {place}): not an interval of ours.")
        }
        (None, true) => " Open diamonds are what the paper states.".into(),
        (_, false) => String::new(),
    };
    let ranked =
        values.ranking.as_ref().map_or(String::new(), |ranking| format!("{} ", ranking_text(ranking)));
    format!(
        "{said}{played}{ranked}Medians over the passes with their 95 % intervals; dots are the passes themselves.{stated}{}",
        lacks.collect::<String>()
    )
}

fn curves(sheet: &Sheet, values: &FigureValues, name: &str, here: &[&'static Stated]) -> Figure {
    let factor = values.figure.x;
    let unit = if is_of_bytes(values) { Unit::Bytes } else { Unit::Count };
    let name_of_x = match factor {
        Factor::Settings => knob_along_x(values).unwrap_or("setting".into()),
        _ => factor.entry().axis.into(),
    };
    let scale = if DOUBLING.contains(&factor) { Scale::Log2 } else { Scale::Linear };
    let series = values.series.iter().enumerate().map(|(nth, one)| series(sheet, values, nth, one));
    let mut figure = Figure {
        id: String::new(),
        title: String::new(),
        caption: String::new(),
        interval: INTERVAL.into(),
        kind: Kind::Points,
        x: Axis::new(&name_of_x, unit, scale),
        y: y_axis(values),
        panels: Vec::new(),
        series: series.collect(),
        marks: Vec::new(),
    };
    pair(&mut figure.series, values);
    stated::add(&mut figure, name, here, &values.figure.stated_groups, stated::ends(values));
    figure
}

/// Sizes are, and so are settings that are one size each.
fn is_of_bytes(values: &FigureValues) -> bool {
    let is_size = |point: &ValueAt| point.x.name.rsplit('=').next().is_some_and(|text| text.ends_with('B'));
    values.figure.x == Factor::Size
        || values.figure.x == Factor::Settings
            && values.series.iter().flat_map(|series| &series.points).all(is_size)
}

fn series(sheet: &Sheet, values: &FigureValues, nth: usize, one: &SeriesValues) -> Series {
    let x = |point: &ValueAt| point.x.number.unwrap_or(0.0);
    let points: Vec<Point> = one.points.iter().map(|point| Point::new(x(point), point.value)).collect();
    let breaks = sheet
        .analysis
        .suite_curves
        .iter()
        .filter(|curve| values.figure.x == Factor::Size && !one.is_besides && curve.case == one.case);
    let breaks: Vec<u64> =
        breaks.flat_map(|curve| &curve.breaks).filter(|it| it.is_sure()).map(|it| it.at_bytes).collect();
    let of_point = |point: &'_ ValueAt| {
        let at = x(point);
        point.passes.iter().map(move |(pass, y)| OfPass { x: at, pass: *pass, y: *y }).collect::<Vec<_>>()
    };
    let passes: Vec<OfPass> = one.points.iter().flat_map(of_point).collect();
    let place = sheet.place().unwrap_or(0);
    Series {
        raw: passes.iter().map(|one| [one.x, one.y]).collect(),
        // Models, and parts of a whole, are no curves of one thing.
        passes: if values.figure.also.is_empty() { passes } else { Vec::new() },
        lines: lines(&points, &breaks),
        dashed: one.is_besides,
        group: one.words.group.clone(),
        points,
        ..style::nth(sheet.named(&name(values, one)), nth + place * values.series.len())
    }
}

/// Lines from point to point, and none over a break.
fn lines(points: &[Point], breaks: &[u64]) -> Vec<Vec<[f64; 2]>> {
    let mut lines: Vec<Vec<[f64; 2]>> = Vec::new();
    let mut last: Option<f64> = None;
    for point in points {
        let is_behind = |at: &u64| last.is_some_and(|before| before < *at as f64) && point.x >= *at as f64;
        match lines.last_mut().filter(|_| !breaks.iter().any(is_behind)) {
            Some(line) => line.push([point.x, point.y]),
            None => lines.push(vec![[point.x, point.y]]),
        }
        last = Some(point.x);
    }
    lines
}

fn name(values: &FigureValues, one: &SeriesValues) -> String {
    if one.words.label.is_empty() { readable_metric(&values.figure.y) } else { one.words.label.clone() }
}

/// What is shown as shipped and once tuned has one colour: open symbols as shipped, full ones tuned.
fn pair(series: &mut [Series], values: &FigureValues) {
    let words = || values.series.iter().map(|one| &one.words);
    for (one, own) in series.iter_mut().zip(words()) {
        let alike = |is_tuned: bool| {
            words().filter(|other| other.base == own.base && other.tuned.is_empty() != is_tuned).count()
        };
        if alike(false) == 1 && alike(true) == 1 {
            one.base.clone_from(&own.base);
            one.open = own.tuned.is_empty();
        }
    }
}

/// Where all values stand at one number: a row each.
fn one_place(sheet: &Sheet, values: &FigureValues, paper: &str, here: &[&'static Stated]) -> Figure {
    let rows =
        values.series.iter().flat_map(|one| one.points.iter().map(move |point| (name(values, one), point)));
    rows_of(Kind::Intervals, sheet, values, rows.collect(), (paper, here))
}

/// Where x has names: a bar each.
fn categories(sheet: &Sheet, values: &FigureValues, paper: &str, here: &[&'static Stated]) -> Figure {
    let is_alone = values.series.len() == 1;
    let rows = values.series.iter().flat_map(|one| one.points.iter().map(move |point| (one, point)));
    let named = rows.map(|(one, point)| {
        let at = &point.said;
        let label = if is_alone && !at.is_empty() { "" } else { one.words.label.as_str() };
        // Where nothing is set and nothing tells it from others there is no name.
        let parts = [at.as_str(), label].into_iter().filter(|part| !part.is_empty());
        (parts.collect::<Vec<_>>().join(", "), point)
    });
    rows_of(Kind::Bars, sheet, values, named.collect(), (paper, here))
}

/// A row for each value, and below one for each that the paper states.
fn rows_of(
    kind: Kind,
    sheet: &Sheet,
    values: &FigureValues,
    rows: Vec<(String, &ValueAt)>,
    (paper, here): (&str, &[&'static Stated]),
) -> Figure {
    let y = y_axis(values);
    let known = here.iter().filter_map(|one| Some((*one, one.shown.as_ref().ok()?)));
    let known: Vec<_> = known.filter_map(|(one, shown)| Some((one, shown, shown.value?))).collect();
    let of_paper = known.iter().map(|(one, ..)| format!("{paper}: {}", one.row.network));
    let names = rows.iter().map(|(name, _)| sheet.named(name)).chain(of_paper).collect();
    let mut figure = bars::figure("", "", "", (&y.name, y.unit), names);
    figure.kind = kind;
    figure.x.scale = if kind == Kind::Bars { Scale::Linear } else { y.scale };
    let points = rows.iter().enumerate().map(|(at, (_, point))| Point::bar(at, point.value)).collect();
    figure.series = vec![Series { points, ..style::nth("measured here".into(), 0) }];
    let point = |(at, (one, shown, value)): (usize, &(&Stated, &Shown, f64))| {
        let value = Estimate { median: *value, low: None, high: None, n: 0 };
        Point::bar(rows.len() + at, value).noted(stated::about(one, shown))
    };
    if !known.is_empty() {
        let points = known.iter().enumerate().map(point).collect();
        let style = style::nth(paper.into(), 5);
        figure.series.push(Series { points, open: true, everywhere: true, symbol: "diamond", ..style });
    }
    figure
}

/// The knob whose values stand along x, where it is one: `receive buffer`.
fn knob_along_x(values: &FigureValues) -> Option<String> {
    let mut settings = values.series.iter().flat_map(|series| &series.points).map(|point| &*point.x.name);
    let knob_of =
        |text: &str| Some(text.split_once('=').filter(|(_, value)| !value.contains('='))?.0.to_owned());
    let first = knob_of(settings.next()?)?;
    settings.all(|text| knob_of(text).as_ref() == Some(&first)).then(|| readable_knob(&first))
}

fn y_axis(values: &FigureValues) -> Axis {
    let units = [
        ("b/s", Unit::BitsPerSecond, Scale::Log10, "rate"),
        ("ns", Unit::Nanoseconds, Scale::Log10, "time"),
        ("1", Unit::Share, Scale::Linear, "share"),
        ("1/s", Unit::PerSecond, Scale::Log10, "rate"),
    ];
    let known = units.iter().find(|(unit, ..)| *unit == values.unit);
    let (_, unit, scale, common) = *known.unwrap_or(&("", Unit::Count, Scale::Linear, ""));
    let spans = || values.series.iter().flat_map(|series| &series.points).map(|point| point.value.median);
    let (least, most) = (spans().fold(f64::INFINITY, f64::min), spans().fold(0.0, f64::max));
    // What hardly differs is told apart on an even axis.
    let scale = if scale == Scale::Log10 && most < DECADES * least { Scale::Linear } else { scale };
    // What several numbers of one figure have in common is what they are measured in.
    let are_several = !values.figure.also.is_empty() && !common.is_empty();
    let name = if are_several { common.into() } else { readable_metric(&values.figure.y) };
    let has_unit = unit != Unit::Count || values.unit.is_empty();
    let name = if has_unit { name } else { format!("{name}, {}", values.unit) };
    Axis::new(&name, unit, scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_drawn_over_a_break() {
        let at = |x: f64| Point::new(x, Estimate { median: x, low: None, high: None, n: 1 });
        let points = [1.0, 2.0, 4.0, 8.0].map(at);
        let ends = |breaks: &[u64]| -> Vec<(f64, f64)> {
            let lines = lines(&points, breaks);
            lines.iter().map(|line| (line[0][0], line[line.len() - 1][0])).collect()
        };
        assert_eq!(ends(&[]), [(1.0, 8.0)]);
        assert_eq!(ends(&[3]), [(1.0, 2.0), (4.0, 8.0)]);
        assert_eq!(ends(&[4]), [(1.0, 2.0), (4.0, 8.0)]);
        assert_eq!(ends(&[1, 16]), [(1.0, 8.0)], "nothing is before the first, and nothing behind the last");
    }
}
