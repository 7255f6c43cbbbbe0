//! What each layer keeps of the layer below, against message size.

use super::{Axis, Figure, INTERVAL, Kind, Mark, Point, Scale, Series, Sheet, Unit, style};
use crate::analysis::{Kept, Layer, efficiency};
use crate::plan::HostGroup;

/// The figure.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let mut series = Vec::new();
    for sheet in sheets {
        for layer in sheet.analysis.layers.iter().filter(|layer| !layer.both_ways) {
            let kept = efficiency(&sheet.analysis, layer);
            if kept.len() > 2 {
                series.push(series_of(sheet, layer, &kept));
            }
        }
    }
    let caption = "Throughput as a share of the layer below's at the same size, paired within each pass. What \
                   is missing to 100 % is what the layer takes; above 100 % it is quicker than what it stands on.";
    vec![Figure {
        id: "efficiency".into(),
        title: "Efficiency against message size".into(),
        caption: caption.into(),
        interval: INTERVAL.into(),
        kind: Kind::Points,
        x: Axis::new("message size", Unit::Bytes, Scale::Log2),
        y: Axis::new("kept of the layer below", Unit::Share, Scale::Linear),
        series: style::not_empty(series),
        panels: Vec::new(),
        marks: Vec::<Mark>::new(),
    }]
}

fn series_of(sheet: &Sheet, layer: &Layer, kept: &[Kept]) -> Series {
    let below = layer.below.unwrap_or("nothing");
    let of_passes =
        |one: &Kept| one.passes.iter().map(|share| [one.message_bytes as f64, *share]).collect::<Vec<_>>();
    let raw = kept.iter().flat_map(of_passes);
    let points: Vec<Point> =
        kept.iter().map(|one| Point::new(one.message_bytes as f64, one.kept_of_below)).collect();
    let first = sheet.recording.hosts.first().map(|host| HostGroup::from(host.host));
    Series {
        raw: raw.collect(),
        lines: vec![points.iter().map(|point| [point.x, point.y]).collect()],
        points,
        shown: style::is_drawn(&layer.rung) && layer.flows == 1 && layer.from == first,
        ..style::of_sheet(sheet, &format!("{} over {below}", layer.name()), &layer.rung)
    }
}
