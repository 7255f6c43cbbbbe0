//! What each thread of an application did over a typical unit of work: a lane each, host by host.

use super::{Axis, Figure, Kind, Point, Scale, Series, Sheet, Unit, bars, style};
use crate::analysis::{LaneValues, SuiteValues, TimeLineValues};
use crate::record::Doing;
use crate::report::time_line::{caption, title};
use crate::statistic::Estimate;
use crate::unit::percent;

/// The colour of what a thread does: what it works at, what holds it up before, what behind.
const COLOURS: &[(Doing, usize)] = &[
    (Doing::Works, 0),
    (Doing::Moves, 0),
    (Doing::WaitsForInput, 5),
    (Doing::WaitsForAnswer, 5),
    (Doing::WaitsForRoom, 1),
    (Doing::Connects, 2),
    (Doing::WaitsForOthers, 1),
];

/// A figure for each time line of each suite.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for sheet in sheets {
        for suite in &sheet.analysis.suites {
            let number = |nth: usize| figures_id(sheet, suite, nth);
            let drawn = suite.time_lines.iter().enumerate();
            figures.extend(drawn.map(|(nth, values)| figure(sheet, values, number(nth))));
        }
    }
    figures
}

/// Each is a file of its own.
fn figures_id(sheet: &Sheet, suite: &SuiteValues, nth: usize) -> String {
    let case = suite.time_lines[nth].case.id.replace('.', "-");
    let before = suite.time_lines[..nth].iter().filter(|one| one.case.id == suite.time_lines[nth].case.id);
    let more = before.count();
    let label =
        if sheet.label.is_empty() { String::new() } else { format!("-{}", sheet.label.to_lowercase()) };
    if more == 0 {
        format!("suite-lanes-{case}{label}")
    } else {
        format!("suite-lanes-{case}-{}{label}", more + 1)
    }
}

fn figure(sheet: &Sheet, values: &TimeLineValues, id: String) -> Figure {
    let names = values.lanes.iter().map(|lane| format!("{}: {}", lane.host, lane.of)).collect();
    let x = ("time", Unit::Nanoseconds);
    let mut figure = bars::figure(&id, &sheet.named(&title(values)), &caption(values), x, names);
    figure.kind = Kind::Lanes;
    figure.x = Axis::new("time", Unit::Nanoseconds, Scale::Linear);
    for (doing, colour) in COLOURS {
        // What is only waited for is pale.
        let open = [Doing::WaitsForInput, Doing::WaitsForAnswer].contains(doing);
        let series = Series { colour: *colour, symbol: "rect", open, ..style::nth(doing.words().into(), 0) };
        let points: Vec<Point> =
            values.lanes.iter().enumerate().filter_map(|one| total(values, *doing, one)).collect();
        let lines: Vec<Vec<[f64; 2]>> =
            values.lanes.iter().enumerate().flat_map(|one| stretches(*doing, one)).collect();
        if !lines.is_empty() {
            figure.series.push(Series { points, lines, ..series });
        }
    }
    figure
}

/// All of a lane's time in which it did that.
fn total(values: &TimeLineValues, doing: Doing, (row, lane): (usize, &LaneValues)) -> Option<Point> {
    let ns = *lane.totals().get(&doing)?;
    let value = Estimate { median: ns, low: None, high: None, n: 0 };
    Some(Point::bar(row, value).noted(format!("{} of the time that is shown", percent(ns / values.span_ns))))
}

/// Where it lies: two corners of each rectangle, with the lane's number before the point and the share behind it.
fn stretches(doing: Doing, (row, lane): (usize, &LaneValues)) -> Vec<Vec<[f64; 2]>> {
    let own = lane.pieces.iter().filter(move |piece| piece.doing == doing);
    let at = |share: f64| row as f64 + share.min(0.999);
    own.map(|piece| vec![[piece.from_ns, at(piece.low)], [piece.to_ns, at(piece.high)]]).collect()
}

/// What is drawn of a suite is what is told of it.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Piece;
    use crate::plan::{Case, HostId};
    use crate::record::Recording;
    use crate::report::draw;
    use crate::report::time_line::entry;

    fn values() -> TimeLineValues {
        let piece = |from_ns, to_ns, doing| Piece { from_ns, to_ns, doing, low: 0.0, high: 1.0 };
        let lane = |host, of: &str, pieces| LaneValues { host: HostId(host), of: of.into(), pieces };
        let read = vec![piece(0.0, 4e6, Doing::Works), piece(4e6, 10e6, Doing::WaitsForRoom)];
        let view = vec![piece(0.0, 6e6, Doing::WaitsForInput), piece(6e6, 10e6, Doing::Works)];
        TimeLineValues {
            case: Case { id: "mine.units".into(), ..Case::default() },
            words: String::new(),
            message_bytes: 64 << 10,
            pass: 2,
            passes: 3,
            unit: 7,
            units: 1,
            span_ns: 10e6,
            clocks: 1,
            lanes: vec![lane(0, "read", read), lane(1, "view", view)],
        }
    }

    #[test]
    fn a_lane_is_drawn_where_its_thread_did_what() {
        let recording = Recording::default();
        let figure = figure(&Sheet::new(&recording, ""), &values(), "suite-lanes-mine-units".into());
        let names: Vec<(&str, Vec<f64>)> = figure
            .series
            .iter()
            .map(|series| (&*series.name, series.points.iter().map(|point| point.x).collect()))
            .collect();
        assert_eq!(names[0], ("works", vec![4e6, 4e6]));
        assert_eq!(names[1..], [("waits for input", vec![6e6]), ("waits for room", vec![6e6])]);
        assert_eq!(figure.series[0].lines[1], [[6e6, 1.0], [10e6, 1.999]], "of the second lane");
        let svg = draw::svg(&[figure]).unwrap().remove(0);
        assert!(["a: read", "b: view", "waits for room"].iter().all(|word| svg.contains(word)), "{svg}");
        // Four rectangles in colours of their own, beside the keys of the legend.
        let blue = svg.matches("fill=\"#0067b0\"").count();
        assert!(blue >= 2, "{svg}");
    }

    #[test]
    fn what_is_told_of_a_lane_adds_up_to_the_time() {
        let told = entry(&values());
        let sums: Vec<f64> = told.lanes.iter().map(|lane| lane.spent_ns.values().sum()).collect();
        assert_eq!((sums, told.span_ns), (vec![10e6, 10e6], 10e6));
    }
}
