//! How the times of all trials moved during the run.

use super::{Axis, Figure, INTERVAL, Kind, Mark, Point, Scale, Series, Sheet, Unit, style};
use crate::statistic::Estimate;

/// The figure.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let mut figure = Figure {
        id: "drift".into(),
        title: "Drift during the run".into(),
        caption:
            "The median time of each pass's trials, each over the median of its own case and size: a run \
                  that stands still stays at 1. A mark is where the level changed beyond chance."
                .into(),
        interval: INTERVAL.into(),
        kind: Kind::Points,
        x: Axis::new("since the run began", Unit::Seconds, Scale::Linear),
        y: Axis::new("time over its median", Unit::Ratio, Scale::Linear),
        series: Vec::<Series>::new(),
        panels: Vec::new(),
        marks: Vec::new(),
    };
    for sheet in sheets {
        for drift in &sheet.analysis.drifts {
            let name = sheet.named(&format!("{}, {}", drift.pattern, drift.wait));
            let values = drift.at_s.iter().zip(&drift.ratio);
            let points: Vec<Point> = values.map(|(at, ratio)| Point::new(*at, single(*ratio))).collect();
            figure.marks.extend(drift.change_points_s.iter().map(|at| Mark {
                series: Some(name.clone()),
                x: *at,
                y: None,
                label: "the level changed".into(),
                text: format!("{name}: the level changed here, beyond chance"),
            }));
            let lines = vec![points.iter().map(|point| [point.x, point.y]).collect()];
            figure.series.push(Series { points, lines, ..style::nth(name, figure.series.len()) });
        }
    }
    vec![figure]
}

/// A value that has no interval of its own.
fn single(value: f64) -> Estimate {
    Estimate { median: value, low: None, high: None, n: 1 }
}
