//! Values that others published, to stand beside one's own: a series for each paper, shown on request.

use super::{Point, Series, style};
use crate::published::{Axis, Layer, Overlay, Shape, overlays, papers};
use crate::statistic::Estimate;

/// The layers whose values are of two ends that exchange messages.
const LAYERS: &[Layer] = &[Layer::Native, Layer::Tcp, Layer::Offload, Layer::Mpi, Layer::MessageApplication];

/// Where their colours begin: after those of the chain.
const FIRST_STYLE: usize = 6;

/// On the axes of throughput against message size.
pub(super) fn throughput() -> Vec<Series> {
    published_series(Axis::Throughput)
}

/// On the axes of half round trip against message size.
pub(super) fn half_round_trip() -> Vec<Series> {
    published_series(Axis::HalfRoundTrip)
}

fn published_series(axis: Axis) -> Vec<Series> {
    let found = overlays(LAYERS, axis, 1..=8 << 20);
    let series = papers().iter().enumerate().map(|(nth, paper)| {
        let mut series = Series {
            shown: false,
            dashed: true,
            ..style::nth(format!("published: {}", paper.short), FIRST_STYLE + nth)
        };
        for overlay in found.iter().filter(|overlay| overlay.paper.id == paper.id) {
            series.points.push(point(overlay));
            if overlay.shape != Shape::Point {
                series.lines.push(overlay.points.iter().map(|(x, y)| [*x, *y]).collect());
            }
        }
        series
    });
    series.filter(|series| !series.points.is_empty()).collect()
}

/// What is said of a value: at its size, or at the end of its line.
fn point(overlay: &Overlay) -> Point {
    let (x, y) = overlay.points.last().copied().unwrap_or_default();
    // A range that was printed is no interval of ours: it stands in the words.
    let value = Estimate { median: y, low: None, high: None, n: 0 };
    let about = match overlay.shape {
        Shape::Point => "",
        Shape::Span => "; stated for these sizes together",
        Shape::Level => "; stated without a size",
        Shape::Model => "; a model",
    };
    Point::new(x, value).noted(format!("{}: {}{about}", overlay.label, overlay.note))
}
