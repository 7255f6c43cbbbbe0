//! The CSV form: one row a case and message size, or one an arm.

use crate::analysis::matrix::{Matrix, Segments};
use crate::analysis::{Analysis, Compared, Curve, Measure, Point, SuiteValues, Table, Tuned, shown};
use crate::plan::HostPair;
use crate::record::Recording;
use crate::statistic::{Effect, Estimate};
use crate::vocabulary::Cache;

/// What names a row.
const KEYS: &[&str] = &["rung", "pattern", "wait", "flows", "from", "to", "message_bytes", "cache", "passes"];

const PARTS: &[&str] = &["median", "low", "high", "n"];

/// A column's name, and what stands in it.
type Column = (&'static str, Vec<Measure>);

/// Writes the header and all rows.
pub(super) fn render(recording: &Recording, analysis: &Analysis) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns = shown(|metric| metric.is_column.then_some(metric.key));
    let table = Table::from_recording(recording);
    let names = columns.iter().flat_map(|(name, _)| PARTS.iter().map(move |part| format!("{name}_{part}")));
    let header: Vec<String> = KEYS.iter().map(|key| (*key).to_owned()).chain(names).collect();
    // A row has as many fields as the header and memory does not refuse: neither write can fail.
    let mut written = writer.write_record(&header).is_ok();
    for curve in &analysis.curves {
        for point in &curve.points {
            written &= writer.write_record(row(&table, &columns, curve, point)).is_ok();
        }
    }
    debug_assert!(written);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What a row of a suite holds.
const SUITE_KEYS: &[&str] =
    &["suite", "figure", "series", "label", "x", "at", "number", "y", "unit", "median", "low", "high", "n"];

/// Writes the header and a row for each point of each figure of the suites.
pub(super) fn render_suites(suites: &[SuiteValues]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A row has as many fields as the header and memory does not refuse: neither write can fail.
    let mut written = writer.write_record(SUITE_KEYS).is_ok();
    for suite in suites {
        for figure in &suite.figures {
            for series in &figure.series {
                for point in &series.points {
                    let number = point.x.number.map_or(String::new(), |number| number.to_string());
                    let (x, unit) = (figure.figure.x.entry().name, figure.unit);
                    let names = [
                        &*suite.name,
                        &figure.figure.id,
                        &series.name,
                        &series.words.label,
                        x,
                        &point.x.name,
                    ];
                    let mut row: Vec<String> = names.map(String::from).to_vec();
                    row.extend([number, figure.figure.y.clone(), unit.into()]);
                    row.extend(parts(Some(point.value)));
                    written &= writer.write_record(&row).is_ok();
                }
            }
        }
    }
    debug_assert!(written);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What a row of a matrix holds.
const MATRIX_KEYS: &[&str] = &[
    "from",
    "to",
    "from_name",
    "to_name",
    "throughput_bps",
    "of_usual",
    "round_trip_ns",
    "directions",
    "sent_again",
];

/// Writes the header and a row for each two hosts that met.
pub(super) fn render_matrix(matrix: &Matrix) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A row has as many fields as the header and memory does not refuse: neither write can fail.
    let mut written = writer.write_record(MATRIX_KEYS).is_ok();
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for cell in &matrix.cells {
        let HostPair { from, to } = cell.pair;
        let of_usual = cell.throughput_bps.zip(matrix.usual_bps).map(|(bps, usual)| bps / usual);
        let names = [from, to].map(|host| matrix.screening.name_of(host));
        let numbers = [cell.throughput_bps, of_usual, cell.round_trip_ns].map(number);
        let directions = if cell.bidirectional { "both" } else { "one" };
        let row = [from.to_string(), to.to_string()].into_iter().chain(names).chain(numbers);
        let row = row.chain([directions.to_owned(), number(cell.segments.and_then(Segments::share))]);
        written &= writer.write_record(row).is_ok();
    }
    debug_assert!(written);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What a row of another tool holds.
const IMPORTED_KEYS: &[&str] = &[
    "tool",
    "version",
    "test",
    "transport",
    "message_bytes",
    "flows",
    "quantity",
    "unit",
    "statistic",
    "end",
    "samples",
    "part",
    "begin_s",
    "end_s",
    "value",
    "field",
    "line",
];

/// Writes the header and a row for each value of another tool.
pub(super) fn render_imported(recording: &Recording) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A row has as many fields as the header and memory does not refuse: neither write can fail.
    let mut written = writer.write_record(IMPORTED_KEYS).is_ok();
    let source = recording.source.as_ref();
    let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    for row in &recording.imported {
        for (part, value) in row.values.iter().enumerate() {
            let [begin, end] =
                row.at_s.get(part).map_or([String::new(), String::new()], |at| at.map(|s| s.to_string()));
            let fields = [
                source.map_or(String::new(), |source| source.tool.clone()),
                source.and_then(|source| source.version.clone()).unwrap_or_default(),
                row.test.clone(),
                row.transport.clone().unwrap_or_default(),
                number(row.message_bytes),
                number(row.flows.map(u64::from)),
                row.quantity.to_string(),
                row.unit.clone(),
                row.statistic.to_string(),
                row.end.map_or("", |end| end.word()).into(),
                number(row.samples),
                if row.values.len() > 1 { part.to_string() } else { String::new() },
                begin,
                end,
                value.to_string(),
                row.field.clone(),
                number(row.line),
            ];
            written &= writer.write_record(&fields).is_ok();
        }
    }
    debug_assert!(written);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// What a row of an arm holds.
const ARM_KEYS: &[&str] = &[
    "arm",
    "name",
    "metric",
    "median",
    "low",
    "high",
    "n",
    "change",
    "change_low",
    "change_high",
    "p",
    "verdict",
];

/// Writes the header and a row for each arm of a comparison.
pub(super) fn render_arms(compared: &Compared) -> String {
    let metric = compared.metric.to_string();
    let mut rows = vec![arm_row((0, "base", &metric), compared.base, None, None, "")];
    for it in &compared.candidates {
        let named = (it.arm, &*it.name, &*metric);
        rows.push(arm_row(named, it.value, it.change, it.p_adjusted, it.verdict.name()));
    }
    for (name, control) in [("A/A control", &compared.same), ("positive control", &compared.slowed)] {
        if let Some(it) = control {
            let said = if it.holds { "holds" } else { "fails" };
            rows.push(arm_row((it.arm, name, &metric), it.value, Some(it.change), Some(it.change.p), said));
        }
    }
    for it in compared.sensitivities.iter().filter(|it| it.change.is_some()) {
        let named = (it.arm, &*it.name, &*metric);
        rows.push(arm_row(named, it.value, it.change, it.p_adjusted, it.verdict.name()));
    }
    arm_rows(&rows)
}

/// Writes the header, what was there, and a row for each step of a search, with what it changes upon the one before.
pub(super) fn render_tuning(tuned: &Tuned) -> String {
    let metric = tuned.metric.to_string();
    let mut rows = vec![arm_row((0, "as it stands", &metric), tuned.stock, None, None, "")];
    for step in &tuned.steps {
        let said = if step.needed { "kept" } else { "not-needed" };
        rows.push(arm_row(
            (step.arm, &step.name, &metric),
            step.value,
            Some(step.gain),
            Some(step.gain.p),
            said,
        ));
    }
    arm_rows(&rows)
}

/// The columns of an arm: its number, name and metric, then its value, its change, its p and what is said of it.
fn arm_row(
    (arm, name, metric): (u32, &str, &str),
    value: Option<Estimate>,
    change: Option<Effect>,
    p: Option<f64>,
    said: &str,
) -> Vec<String> {
    let number = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    let mut row = vec![arm.to_string(), name.to_owned(), metric.to_owned()];
    row.extend(parts(value));
    let ends = [change.map(|it| it.estimate), change.and_then(|it| it.low), change.and_then(|it| it.high), p];
    row.extend(ends.map(number));
    row.push(said.to_owned());
    row
}

fn arm_rows(rows: &[Vec<String>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // A row has as many fields as the header and memory does not refuse: neither write can fail.
    let mut written = writer.write_record(ARM_KEYS).is_ok();
    for row in rows {
        written &= writer.write_record(row).is_ok();
    }
    debug_assert!(written);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn row(table: &Table, columns: &[Column], curve: &Curve, point: &Point) -> Vec<String> {
    let case = &curve.case;
    let mut row = vec![
        case.rung.clone(),
        case.pattern.to_string(),
        case.wait.to_string(),
        case.flows.to_string(),
        case.pairs.from_names(),
        case.pairs.to_names(),
        point.message_bytes.to_string(),
        cache(point.cache).into(),
        point.passes.len().to_string(),
    ];
    for (_, measures) in columns {
        row.extend(parts(table.estimate(case, point.message_bytes, measures)));
    }
    row
}

/// As the CSV form and OpenMetrics call it.
pub(super) fn cache(cache: Cache) -> &'static str {
    match cache {
        Cache::Hot => "hot",
        Cache::Cold => "cold",
    }
}

/// The four columns of a number; empty where there is none.
fn parts(estimate: Option<Estimate>) -> [String; 4] {
    let text = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
    [
        text(estimate.map(|estimate| estimate.median)),
        text(estimate.and_then(|estimate| estimate.low)),
        text(estimate.and_then(|estimate| estimate.high)),
        estimate.map_or(String::new(), |estimate| estimate.n.to_string()),
    ]
}
