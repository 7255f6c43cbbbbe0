//! The figures of suites, with what the paper states beside them.

use super::{Axis, Figure, INTERVAL, Kind, Point, Scale, Series, Sheet, Unit, bars, style};
use crate::analysis::{FigureValues, SeriesValues, SuiteValues, ValueAt};
use crate::plan::Factor;
use crate::published::{self, Published};
use crate::report::suite::{lacks, played_by, untold};
use crate::statistic::Estimate;

/// Sizes and connections double; other numbers stand evenly.
const DOUBLING: &[Factor] = &[Factor::Size, Factor::Connections, Factor::Rate];

/// Every figure of every suite.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for sheet in sheets {
        for suite in &sheet.analysis.suites {
            for values in suite.figures.iter().filter(|values| !values.series.is_empty()) {
                let drawn = figure(sheet, suite, values);
                match figures.iter_mut().find(|known| known.id == drawn.id) {
                    Some(known) => known.series.extend(drawn.series),
                    None => figures.push(drawn),
                }
            }
        }
    }
    figures
}

fn figure(sheet: &Sheet, suite: &SuiteValues, values: &FigureValues) -> Figure {
    let is_number =
        values.series.iter().flat_map(|series| &series.points).all(|point| point.x.number.is_some());
    let mut figure = if is_number { curves(sheet, values) } else { categories(sheet, values) };
    figure.id = format!("suite-{}", values.figure.id);
    figure.title = format!("{} · {}", values.figure.id, values.figure.title);
    figure.caption = caption(values);
    if is_number {
        figure.series.extend(stated(suite, values));
    }
    figure
}

fn caption(values: &FigureValues) -> String {
    let said = values.figure.caption.trim();
    let said = if said.is_empty() { String::new() } else { format!("{said} ") };
    let points = values.series.iter().flat_map(|series| &series.points);
    let played = played_by(points.map(|point| (&*point.x.name, &*point.hosts)));
    let played = played.map_or(String::new(), |played| format!("{played} "));
    let lacks = lacks(&values.missing, &untold(values)).into_iter().map(|lack| format!(" {lack}."));
    format!(
        "{said}{played}Symbols are medians over the passes with their 95 % intervals, dots the passes themselves.{}",
        lacks.collect::<String>()
    )
}

fn curves(sheet: &Sheet, values: &FigureValues) -> Figure {
    let factor = values.figure.x;
    let (unit, name) = (if factor == Factor::Size { Unit::Bytes } else { Unit::Count }, factor.entry().axis);
    let scale = if DOUBLING.contains(&factor) { Scale::Log2 } else { Scale::Linear };
    let series = values.series.iter().enumerate().map(|(nth, one)| series(sheet, values, nth, one));
    Figure {
        id: String::new(),
        title: String::new(),
        caption: String::new(),
        interval: INTERVAL.into(),
        kind: Kind::Points,
        x: Axis::new(name, unit, scale),
        y: y_axis(values),
        series: series.collect(),
        marks: Vec::new(),
    }
}

fn series(sheet: &Sheet, values: &FigureValues, nth: usize, one: &SeriesValues) -> Series {
    let x = |point: &ValueAt| point.x.number.unwrap_or(0.0);
    let points: Vec<Point> = one.points.iter().map(|point| Point::new(x(point), point.value)).collect();
    let line = points.iter().map(|point| [point.x, point.y]).collect();
    let raw = one.points.iter().flat_map(|point| point.passes.iter().map(move |value| [x(point), *value]));
    let name = if one.name.is_empty() { values.figure.y.clone() } else { one.name.clone() };
    let place = sheet.place().unwrap_or(0);
    Series {
        points,
        raw: raw.collect(),
        lines: vec![line],
        dashed: one.is_besides,
        ..style::nth(sheet.named(&name), nth + place * values.series.len())
    }
}

/// Where x has names: a bar each.
fn categories(sheet: &Sheet, values: &FigureValues) -> Figure {
    let all = values.series.iter().flat_map(|series| series.points.iter().map(move |point| (series, point)));
    let named = |(series, point): (&SeriesValues, &ValueAt)| match series.name.is_empty() {
        true => point.x.name.clone(),
        false => format!("{}, {}", point.x.name, series.name),
    };
    let names = all.clone().map(named).collect();
    let y = y_axis(values);
    let mut figure = bars::figure("", "", "", (&y.name, y.unit), names);
    let points = all.enumerate().map(|(at, (_, point))| Point::bar(at, point.value)).collect();
    figure.series = vec![Series { points, ..style::nth(sheet.named(&values.figure.y), 0) }];
    figure
}

fn y_axis(values: &FigureValues) -> Axis {
    let units = [
        ("b/s", Unit::BitsPerSecond, Scale::Log10),
        ("ns", Unit::Nanoseconds, Scale::Log10),
        ("1", Unit::Share, Scale::Linear),
    ];
    let known = units.iter().find(|(unit, ..)| *unit == values.unit);
    let (_, unit, scale) = *known.unwrap_or(&("", Unit::Count, Scale::Linear));
    let spans = || values.series.iter().flat_map(|series| &series.points).map(|point| point.value.median);
    let (least, most) = (spans().fold(f64::INFINITY, f64::min), spans().fold(0.0, f64::max));
    // What hardly differs is told apart on an even axis.
    let scale = if scale == Scale::Log10 && most < 5.0 * least { Scale::Linear } else { scale };
    Axis::new(&values.figure.y.replace('-', " "), unit, scale)
}

/// What the paper states at this figure: a point where it states a size of this axis, else a level line.
fn stated(suite: &SuiteValues, values: &FigureValues) -> Vec<Series> {
    let (Some(paper), Some(place)) = (&suite.paper, &values.figure.published) else { return Vec::new() };
    let axis = match values.figure.y.as_str() {
        "throughput" => published::Axis::Throughput,
        "half-round-trip" => published::Axis::HalfRoundTrip,
        _ => return Vec::new(),
    };
    let here = |one: &&Published| one.paper.id == paper && one.axis == axis && is_at(&one.place, place);
    let numbers =
        || values.series.iter().flat_map(|series| &series.points).filter_map(|point| point.x.number);
    let ends = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(0.0, f64::max));
    let by_size = values.figure.x == Factor::Size;
    let series = |(nth, one): (usize, &Published)| {
        let bytes = one.message_bytes().filter(|_| by_size);
        let style = style::nth(format!("{} {}", one.paper.short, one.label), values.series.len() + nth);
        Series { dashed: true, ..stated_at(one, bytes, ends, style) }
    };
    published::values().iter().filter(here).enumerate().map(series).collect()
}

fn stated_at(one: &Published, bytes: Option<u64>, (first, last): (f64, f64), style: Series) -> Series {
    let value = Estimate { median: one.value, low: None, high: None, n: 0 };
    let point = |x: f64| Point::new(x, value).noted(format!("{}; {}", one.printed, one.place));
    match bytes {
        Some(bytes) => Series { points: vec![point(bytes as f64)], ..style },
        None => {
            let lines = vec![vec![[first, one.value], [last, one.value]]];
            Series { points: vec![point(last)], lines, ..style }
        }
    }
}

/// `Fig. 3` stands in `section 5.1, Fig. 3a/b` and not in `Fig. 31`.
fn is_at(place: &str, wanted: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_digit());
    place.match_indices(wanted).any(|(at, _)| ends(&place[at + wanted.len()..]))
}

#[cfg(test)]
mod tests {
    use super::is_at;

    #[test]
    fn a_place_is_the_figure_and_its_parts() {
        assert!(is_at("section 5.1, Fig. 3a/b", "Fig. 3") && is_at("section 5.1, Fig. 3", "Fig. 3"));
        assert!(!is_at("section 5.1, Fig. 31", "Fig. 3") && !is_at("section 3", "Fig. 3"));
    }
}
