//! The distribution of single round trips, by its percentiles.

use super::{Axis, Figure, INTERVAL, Kind, Mark, Point, Scale, Series, Sheet, Unit, style};
use crate::analysis::Percentile;
use crate::report::DistributionEntry;
use crate::unit::Bytes;
use crate::vocabulary::Wait;

/// The figure.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let mut series = Vec::new();
    let mut size = 0;
    for sheet in sheets {
        for entry in &sheet.report.distributions {
            size = entry.message_bytes;
            series.push(series_of(sheet, entry));
        }
    }
    let caption = format!(
        "Half round trips of {} that a share of the exchanges does not exceed: percentiles of each \
         connection, and of those the median over the passes with its 95 % interval. A percentile is told \
         where at least ten exchanges lie beyond it.",
        Bytes(size)
    );
    vec![Figure {
        id: "distribution".into(),
        title: "Distribution of the half round trip".into(),
        caption,
        interval: INTERVAL.into(),
        kind: Kind::Points,
        x: Axis::new("percentile", Unit::Tail, Scale::Log10),
        y: Axis::new("half round trip", Unit::Nanoseconds, Scale::Log10),
        series: style::not_empty(series),
        panels: Vec::new(),
        marks: Vec::<Mark>::new(),
    }]
}

fn series_of(sheet: &Sheet, entry: &DistributionEntry) -> Series {
    let place = entry.direction.clone().or(entry.host.map(String::from)).unwrap_or_default();
    // A mean of several exchanges has no tail of its own.
    let batch = if entry.exchanges > 1 { format!(", means of {}", entry.exchanges) } else { String::new() };
    let name = format!("{} {place}, {}{batch}", entry.id, entry.wait);
    let point = |one: &Percentile| Point::new(1.0 / (1.0 - one.share), one.half_round_trip_ns);
    let points: Vec<Point> = entry.percentiles.iter().map(point).collect();
    Series {
        dashed: entry.wait == Wait::Sleeping,
        shown: style::is_drawn(&entry.id),
        lines: vec![points.iter().map(|point| [point.x, point.y]).collect()],
        points,
        ..style::of_sheet(sheet, &name, &entry.id)
    }
}
