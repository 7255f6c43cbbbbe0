//! A figure in the page: its picture, the place where scripts draw it, its tools and its table.

use crate::report::figure::{Figure, Point, Series, Unit};
use crate::unit::{BitRate, Bytes, Nanoseconds, percent, significant};
use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{Markup, html};

/// Figures under one heading.
pub(super) struct Group {
    pub id: &'static str,
    pub title: &'static str,
    /// What their names begin with.
    figures: &'static [&'static str],
}

/// The groups, in the order of the page.
pub(super) const GROUPS: &[Group] = &[
    Group { id: "suites", title: "The suites", figures: &["suite"] },
    Group {
        id: "sizes",
        title: "Against message size",
        figures: &["throughput", "half-round-trip", "perspective", "efficiency"],
    },
    Group { id: "distributions", title: "Distributions", figures: &["distribution"] },
    Group { id: "time", title: "Against time", figures: &["timeline", "drift"] },
];

/// The most rows of a table beside a figure; the data to download have all.
const MOST_ROWS: usize = 400;

/// Whether a figure stands with the ladder.
pub(super) fn is_first(id: &str) -> bool {
    ["arms", "tuning", "ladder", "waterfall"].iter().any(|first| id.starts_with(first))
}

fn belongs(group: &Group, figure: &Figure) -> bool {
    group.figures.iter().any(|begin| figure.id.starts_with(begin))
}

/// Whether a group has a figure here.
pub(super) fn is_in(group: &Group, figures: &[Figure]) -> bool {
    figures.iter().any(|figure| belongs(group, figure))
}

/// The figures of a group; nothing where there is none.
pub(super) fn group(group: &Group, figures: &[Figure], pictures: &[String]) -> Markup {
    let here = figures.iter().zip(pictures).filter(|(figure, _)| belongs(group, figure));
    let title = format!("{}-title", group.id);
    html! {
        @if is_in(group, figures) {
            section id=(group.id) aria-labelledby=(title) {
                h2 id=(title) { (group.title) }
                @for (one, picture) in here { (figure(one, picture)) }
            }
        }
    }
}

/// One figure.
pub(super) fn figure(figure: &Figure, picture: &str) -> Markup {
    let title = format!("{}-name", figure.id);
    let address = format!("data:image/svg+xml;base64,{}", STANDARD.encode(picture));
    html! {
        figure.chart data-chart=(figure.id) aria-labelledby=(title) {
            figcaption {
                h3 id=(title) { (figure.title) }
                p { (figure.caption) }
            }
            div.tools hidden {
                div.legend role="group" aria-label={ "Series of: " (figure.title) } {}
                div.view role="group" aria-label={ "View of: " (figure.title) } {}
            }
            div.stage {
                img.picture style=(format!("--rows: {}", figure.panels.len().div_ceil(2).max(1))) src=(address) alt={ (figure.title) ". Its numbers are in the table below." };
                div.plot hidden {}
                div.tip role="status" hidden {}
            }
            details.data {
                summary { "The numbers of this figure" }
                div.scroll tabindex="0" role="region" aria-label={ "Numbers: " (figure.title) } { (table(figure)) }
                // Its address is that of the picture: the script copies it, for it is long.
                p.script { a.svg download={ (figure.id) ".svg" } { "This figure as SVG" } }
            }
        }
    }
}

/// The numbers of a figure.
fn table(figure: &Figure) -> Markup {
    let rows = || figure.series.iter().flat_map(|one| one.points.iter().map(move |point| (one, point)));
    let noted = rows().any(|(_, point)| !point.note.is_empty());
    let bars = figure.kind.is_of_rows();
    let (place, value) = if bars { (&figure.y, &figure.x) } else { (&figure.x, &figure.y) };
    let more = rows().count().saturating_sub(MOST_ROWS);
    html! {
        table {
            caption { (figure.title) }
            thead { tr {
                th scope="col" { "series" }
                th scope="col" { @if bars { "for" } @else { (place.name) } }
                th.number scope="col" { (value.name) }
                th.number scope="col" { (figure.interval) }
                th.number scope="col" { "n" }
                @if noted { th scope="col" { "note" } }
            } }
            tbody {
                @for (series, point) in rows().take(MOST_ROWS) { (row(figure, series, point, noted)) }
            }
        }
        @if more > 0 { p { "and " (more) " more, which the data to download have." } }
    }
}

fn row(figure: &Figure, series: &Series, point: &Point, noted: bool) -> Markup {
    let bars = figure.kind.is_of_rows();
    let own = figure.panels.get(series.panel).map_or(figure.y.unit, |panel| panel.y.unit);
    let unit = if bars { figure.x.unit } else { own };
    let place = match bars {
        true => figure.y.categories.get(point.y as usize).cloned().unwrap_or_default(),
        false => written(point.x, figure.x.unit),
    };
    let is_again = figure.panels.get(series.panel).is_some_and(|panel| panel.again);
    let interval = match (point.low, point.high) {
        (Some(low), Some(high)) => format!("{} to {}", written(low, unit), written(high, unit)),
        _ => String::new(),
    };
    html! {
        tr {
            td { (series.name) @if is_again { ", ratio" } }
            td { (place) }
            td.number { (written(if bars { point.x } else { point.y }, unit)) }
            td.number { (interval) }
            td.number { @if point.n > 0 { (point.n) } }
            @if noted { td { (point.note) } }
        }
    }
}

/// A number of an axis.
fn written(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => Bytes(value.round().max(0.0) as u64).to_string(),
        Unit::BitsPerSecond => BitRate(value).to_string(),
        Unit::Nanoseconds => Nanoseconds(value).to_string(),
        Unit::Share => percent(value),
        Unit::Seconds => format!("{} s", significant(value, 3)),
        Unit::Tail => format!("{} %", 100.0 - 100.0 / value),
        Unit::Count if value.abs() >= 1e5 => many(value, ""),
        Unit::Ratio | Unit::Count => significant(value, 3),
        Unit::PerSecond => many(value, "/s"),
        Unit::Category => String::new(),
    }
}

/// `23.6 k/s`, as the figures have it.
fn many(value: f64, unit: &str) -> String {
    let steps = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let step = steps.iter().find(|(step, _)| value.abs() >= step * 0.9995);
    let (step, prefix) = step.unwrap_or(&(1.0, ""));
    format!("{} {prefix}{unit}", significant(value / step, 3))
}
