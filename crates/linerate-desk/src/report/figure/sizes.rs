//! Throughput and half round trip against message size, for all layers.

use super::{
    Axis, Figure, INTERVAL, Kind, Mark, Point, Scale, Series, Sheet, Unit, imported, published, style,
};
use crate::analysis::{Curve, Layer, Point as Measured, Segment};
use crate::plan::HostGroup;
use crate::report::curve::break_sentence;
use crate::report::note::sentence;
use crate::report::{BreakEntry, CurveEntry};
use crate::statistic::Estimate;
use crate::vocabulary::{Quantity, Wait};

/// Points that a fitted line is drawn by: on logarithmic axes it is bent.
const STEPS: u32 = 24;

/// A curve of so few sizes has no shape to show.
const LEAST_SIZES: usize = 3;

/// Throughput of the streams.
pub(super) fn throughput(sheets: &[Sheet]) -> Vec<Figure> {
    let y = Axis::new("throughput", Unit::BitsPerSecond, Scale::Log10);
    let caption = "Receiver's bytes over the receiver's clock. Symbols are medians over the passes with their \
                   95 % intervals, dots the passes themselves. A line is the time of a message, a constant \
                   and a part for each byte, over the sizes that it describes; between two lines is a break.";
    let mut figure = figure("throughput", "Throughput against message size", caption, y);
    for sheet in sheets {
        for layer in &sheet.analysis.layers {
            if let Some(curve) = layer.stream(&sheet.analysis.curves) {
                let view = View { convert: |bytes, ns| 8e9 * bytes / ns };
                add(&mut figure, sheet, layer, curve, &view, false);
            }
        }
    }
    figure.series.extend(imported::series(sheets, Quantity::Throughput));
    with_published(figure, published::throughput())
}

/// Half round trips of the ping-pongs.
pub(super) fn half_round_trip(sheets: &[Sheet]) -> Vec<Figure> {
    let y = Axis::new("half round trip", Unit::Nanoseconds, Scale::Log10);
    let caption = "Half of the time in which a message goes and one comes back; not a one-way delay. Whole \
                   lines and filled symbols: both ends poll. Broken lines: both ends sleep in the kernel \
                   until a message comes.";
    let mut figure = figure("half-round-trip", "Half round trip against message size", caption, y);
    for sheet in sheets {
        for layer in &sheet.analysis.layers {
            for wait in [Wait::Polling, Wait::Sleeping] {
                if let Some(curve) = layer.ping_pong(&sheet.analysis.curves, wait) {
                    let view = View { convert: |_, ns| ns };
                    add(&mut figure, sheet, layer, curve, &view, true);
                }
            }
        }
    }
    figure.series.extend(imported::series(sheets, Quantity::HalfRoundTrip));
    with_published(figure, published::half_round_trip())
}

/// Published values stand beside what was measured, never alone.
fn with_published(mut figure: Figure, published: Vec<Series>) -> Vec<Figure> {
    if figure.series.is_empty() {
        return Vec::new();
    }
    figure.series = style::not_empty(figure.series);
    figure.series.extend(published);
    vec![figure]
}

fn figure(id: &str, title: &str, caption: &str, y: Axis) -> Figure {
    Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        interval: INTERVAL.into(),
        kind: Kind::Points,
        x: Axis::new("message size", Unit::Bytes, Scale::Log2),
        y,
        series: Vec::new(),
        panels: Vec::new(),
        marks: Vec::new(),
    }
}

/// What is shown of a curve.
struct View {
    /// A message's bytes and time to what is drawn.
    convert: fn(f64, f64) -> f64,
}

fn add(figure: &mut Figure, sheet: &Sheet, layer: &Layer, curve: &Curve, view: &View, says_wait: bool) {
    let wait = if says_wait { format!(", {}", curve.case.wait) } else { String::new() };
    let name = format!("{}{wait}", layer.name());
    let drawn = |point: &Measured, pass: u32| {
        point.message_ns(pass).map(|ns| (view.convert)(point.message_bytes as f64, ns))
    };
    let points = curve.points.iter().filter(|point| point.message_bytes > 0);
    let medians = points.clone().filter_map(|point| {
        let estimate = Estimate::from_values(point.passes.keys().filter_map(|pass| drawn(point, *pass)))?;
        Some(Point::new(point.message_bytes as f64, estimate))
    });
    let raw = points.flat_map(|point| {
        let at = |pass: &u32| Some([point.message_bytes as f64, drawn(point, *pass)?]);
        point.passes.keys().filter_map(at).collect::<Vec<_>>()
    });
    let series = Series {
        dashed: curve.case.wait == Wait::Sleeping && says_wait,
        shown: is_shown(layer, sheet),
        points: medians.collect(),
        raw: raw.collect(),
        lines: curve.segments.iter().map(|segment| line(segment, view)).collect(),
        ..style::of_sheet(sheet, &name, &layer.rung)
    };
    if series.points.len() < LEAST_SIZES {
        return;
    }
    figure.marks.extend(marks(sheet, curve, &series));
    figure.series.push(series);
}

/// The chain from memory to the network and what was named, one way and over one connection; the rest on request.
fn is_shown(layer: &Layer, sheet: &Sheet) -> bool {
    let first = sheet.recording.hosts.first().map(|host| HostGroup::from(host.host));
    let forward = layer.from.is_none() || layer.from == first;
    style::is_drawn(&layer.rung) && layer.flows == 1 && !layer.both_ways && forward
}

/// A fitted line, in even steps of the logarithm of size.
fn line(segment: &Segment, view: &View) -> Vec<[f64; 2]> {
    let (from, to) = (segment.from_bytes.max(1) as f64, segment.to_bytes.max(1) as f64);
    let at = |step: u32| from * (to / from).powf(f64::from(step) / f64::from(STEPS));
    let point = |bytes: f64| {
        let ns = segment.line.constant + segment.line.slope * bytes;
        (ns > 0.0).then(|| [bytes, (view.convert)(bytes, ns)])
    };
    (0..=STEPS).filter_map(|step| point(at(step))).collect()
}

/// The breaks that are beyond doubt, with what is known of each.
fn marks(sheet: &Sheet, curve: &Curve, series: &Series) -> Vec<Mark> {
    let is_same = |entry: &&CurveEntry| {
        let case = &curve.case;
        entry.id == case.rung
            && entry.pattern == case.pattern
            && entry.wait == case.wait
            && entry.flows == case.flows
            && (&entry.from, &entry.to) == (&case.pairs.senders(), &case.pairs.receivers())
    };
    let entry = sheet.report.curves.iter().find(is_same);
    let sure = entry.into_iter().flat_map(|entry| entry.breaks.iter().map(move |found| (entry, found)));
    let mark = |(entry, found): (&CurveEntry, &BreakEntry)| Mark {
        series: Some(series.name.clone()),
        x: found.at_bytes as f64,
        y: nearest(series, found.at_bytes as f64),
        label: found.class.clone(),
        text: format!(
            "{}. {} {}",
            break_sentence(entry, found),
            sentence(&found.evidence),
            sentence(&found.hint)
        ),
    };
    sure.filter(|(_, found)| found.sure).map(mark).collect()
}

/// The height of the curve at a size.
fn nearest(series: &Series, x: f64) -> Option<f64> {
    let distance = |point: &&Point| (point.x / x).ln().abs();
    series.points.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|point| point.y)
}
