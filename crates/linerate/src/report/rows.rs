//! The CSV form: one row a case and message size.

use crate::analysis::{Analysis, Curve, Point, Values};
use crate::statistic::Estimate;
use crate::vocabulary::Cache;

/// What names a row.
const KEYS: &[&str] = &["rung", "pattern", "wait", "flows", "from", "to", "message_bytes", "cache", "passes"];

/// A number's name with its unit, and where it is found.
type Number = (&'static str, fn(&Values) -> Option<f64>);

const NUMBERS: &[Number] = &[
    ("throughput_bps", |values| values.throughput_bps),
    ("half_round_trip_ns", |values| values.half_round_trip_ns),
    ("sender_cpu_ns_per_byte", |values| Some(values.sender?.cpu_ns_per_byte)),
    ("receiver_cpu_ns_per_byte", |values| Some(values.receiver?.cpu_ns_per_byte)),
];

const PARTS: &[&str] = &["median", "low", "high", "n"];

/// Writes the header and all rows.
pub(super) fn render(analysis: &Analysis) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = NUMBERS.iter().flat_map(|(name, _)| PARTS.iter().map(move |part| format!("{name}_{part}")));
    let header: Vec<String> = KEYS.iter().map(|key| (*key).to_owned()).chain(names).collect();
    // A row has as many fields as the header and memory does not refuse: neither write can fail.
    let mut written = writer.write_record(&header).is_ok();
    for curve in analysis.curves.iter().filter(|curve| curve.case.arm == 0) {
        for point in &curve.points {
            written &= writer.write_record(row(curve, point)).is_ok();
        }
    }
    debug_assert!(written);
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn row(curve: &Curve, point: &Point) -> Vec<String> {
    let case = &curve.case;
    let mut row = vec![
        case.rung.clone(),
        case.pattern.to_string(),
        case.wait.to_string(),
        case.flows.to_string(),
        case.from.clone(),
        case.to.clone(),
        point.message_bytes.to_string(),
        cache(point.cache).into(),
        point.passes.len().to_string(),
    ];
    for (_, number) in NUMBERS {
        row.extend(parts(point.estimate(number)));
    }
    row
}

fn cache(cache: Cache) -> &'static str {
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
