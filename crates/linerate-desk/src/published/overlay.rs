//! Published values as lines and points to be drawn beside ours.

use super::curve::Curve;
use super::paper::Paper;
use super::row::Kind;
use super::value::{Axis, Published};
use std::ops::RangeInclusive;

/// Points of a curve in each doubling of the message size.
const POINTS_PER_DOUBLING: f64 = 4.0;

/// How an overlay is to be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One point.
    Point,
    /// A level line over the sizes that it was stated for.
    Span,
    /// A level line over all sizes: a peak, or a value without a size.
    Level,
    /// A dashed curve: a model of two stated values.
    Model,
}

/// A published value or curve, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay {
    /// The paper.
    pub paper: &'static Paper,
    /// What to write beside it: `Hurwitz & Feng 2003: NTTCP, stock, MTU 9000`.
    pub label: String,
    /// What to say of it: the printed value, its place in the paper, what is doubtful.
    pub note: String,
    /// How the paper comes to it; a model is derived.
    pub kind: Kind,
    /// How to draw it.
    pub shape: Shape,
    /// Message bytes, and bits a second or nanoseconds.
    pub points: Vec<(f64, f64)>,
    /// The ends of a stated range, in the unit of the axis.
    pub range: Option<(f64, f64)>,
}

impl Overlay {
    /// A value over the shown sizes; none where it was stated for other sizes.
    pub(super) fn of_value(value: &Published, shown: &RangeInclusive<u64>) -> Option<Overlay> {
        let stated = value.sizes.as_ref().unwrap_or(shown);
        let first = *stated.start().max(shown.start());
        let last = *stated.end().min(shown.end());
        let shape = match (value.message_bytes(), &value.sizes) {
            (Some(_), _) => Shape::Point,
            (None, Some(_)) => Shape::Span,
            (None, None) => Shape::Level,
        };
        let mut points = vec![(first as f64, value.value), (last as f64, value.value)];
        points.dedup();
        let doubt = Some(value.note.as_str()).filter(|note| !note.is_empty());
        let note = [value.printed.as_str(), &value.place].into_iter().chain(doubt);
        (first <= last).then(|| Overlay {
            paper: value.paper,
            label: format!("{}: {}", value.paper.short, value.label),
            note: note.collect::<Vec<_>>().join("; "),
            kind: value.kind,
            shape,
            points,
            range: value.range,
        })
    }

    /// A curve over the shown sizes.
    pub(super) fn of_curve(curve: &Curve, axis: Axis, shown: &RangeInclusive<u64>) -> Overlay {
        let (first, last) = ((*shown.start()).max(1) as f64, (*shown.end()).max(1) as f64);
        let doublings = (last / first).log2().max(0.0);
        let steps = (doublings * POINTS_PER_DOUBLING).ceil().max(1.0) as u32;
        let size = |step: u32| first * (doublings * f64::from(step) / f64::from(steps)).exp2();
        let points = (0..=steps).map(size).map(|bytes| (bytes, curve.at(axis, bytes)));
        let model = "a model of a stated half round trip and a stated rate: its knee was not measured";
        let known = Some(curve.annotation.as_str()).filter(|text| !text.is_empty());
        Overlay {
            paper: curve.paper,
            label: format!("{}: {}", curve.paper.short, curve.label),
            note: [model].into_iter().chain(known).collect::<Vec<_>>().join("; "),
            kind: Kind::Derived,
            shape: Shape::Model,
            points: points.collect(),
            range: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layer, overlays};
    use super::*;

    #[test]
    fn values_are_drawn_where_they_were_stated() {
        let drawn = overlays(&[Layer::Tcp], Axis::HalfRoundTrip, 8..=1 << 20);
        let of = |label: &str| drawn.iter().find(|one| one.label.contains(label));
        assert_eq!(of("NetPIPE 1 byte, back-to-back"), None, "one byte is not shown");
        let small = of("NetPIPE, TCP small").unwrap();
        assert_eq!((small.shape, &small.points), (Shape::Span, &vec![(8.0, 15e3), (1500.0, 15e3)]));
        let quoted = of("Chelsio T110 TOE 1500").unwrap();
        assert_eq!((quoted.shape, quoted.points[1].0), (Shape::Level, f64::from(1 << 20)));
        assert!(small.note.starts_with("~13 to 17 µs; section 4.2, Fig. 2"), "{}", small.note);
    }

    #[test]
    fn a_model_covers_all_sizes_and_says_so() {
        let drawn = overlays(&[Layer::Mpi], Axis::Throughput, 1..=4 << 20);
        let model = drawn.iter().find(|one| one.shape == Shape::Model).unwrap();
        assert_eq!((model.points[0].0, model.points.len()), (1.0, 89));
        assert!((model.points[88].0 / f64::from(4 << 20) - 1.0).abs() < 1e-9);
        assert!(model.note.contains("not measured"), "{}", model.note);
        assert!(model.points.windows(2).all(|pair| pair[0].1 < pair[1].1), "the rate grows with the size");
    }
}
