//! Horizontal bars: what the ladder, the parts of a round trip and the arms share.

use super::{Axis, Figure, INTERVAL, Kind, Scale, Series, Unit};

/// A figure of bars over `categories`, from the top down.
pub(super) fn figure(
    id: &str,
    title: &str,
    caption: &str,
    x: (&str, Unit),
    categories: Vec<String>,
) -> Figure {
    Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        interval: INTERVAL.into(),
        kind: Kind::Bars,
        x: Axis::new(x.0, x.1, Scale::Linear),
        y: Axis::of_names(categories),
        series: Vec::<Series>::new(),
        panels: Vec::new(),
        marks: Vec::new(),
    }
}
