//! The ladder as a picture: from the bound down to the topmost rung, with what each one loses.

use super::{Figure, Mark, Point, Sheet, Unit, bars, style};
use crate::plan::HostId;
use crate::report::LadderEntry;
use crate::report::note::{name, whole_numbers};
use crate::statistic::Estimate;
use crate::unit::{BitRate, percent};

/// The figure.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let mut rows: Vec<(String, &LadderEntry, Option<&LadderEntry>)> = Vec::new();
    let longest = sheets.iter().map(|sheet| sheet.report.ladder.len()).max().unwrap_or(0);
    for place in 0..longest {
        for sheet in sheets {
            let chain = chain(sheet);
            if let Some((entry, below)) = chain.get(place) {
                rows.push((sheet.named(&name(entry)), entry, *below));
            }
        }
    }
    let caption = "Throughput of each layer at the message size of the ladder, with its 95 % interval. The outline \
                   is what the layer loses of the layer below it; beside it that loss in per cent with its \
                   interval, paired within passes. The vertical lines are the bounds of the topmost layer.";
    let names = rows.iter().map(|(name, ..)| name.clone()).collect();
    let mut figure = bars::figure(
        "ladder",
        "Throughput from layer to layer",
        caption,
        ("throughput", Unit::BitsPerSecond),
        names,
    );
    let mut reached = style::nth("throughput".into(), 0);
    let mut lost = super::Series { ghost: true, ..style::nth("lost of the layer below".into(), 0) };
    for (row, (_, entry, below)) in rows.iter().enumerate() {
        let Some(throughput) = entry.throughput_bps else { continue };
        reached.points.push(Point::bar(row, throughput));
        lost.points.extend(below.and_then(|below| loss(row, entry, below)));
    }
    figure.series = vec![reached, lost];
    figure.marks = sheets.iter().flat_map(bounds).collect();
    vec![figure]
}

/// The chain from memory to the network in the first direction, from the bottom up, each with what is below.
fn chain<'s>(sheet: &'s Sheet) -> Vec<(&'s LadderEntry, Option<&'s LadderEntry>)> {
    let first = sheet.report.run.hosts.first().map_or(HostId::default(), |host| host.host).to_string();
    let mut chain: Vec<(&LadderEntry, Option<&LadderEntry>)> = Vec::new();
    for entry in &sheet.report.ladder {
        let host = entry.host.map(String::from);
        let from = host.as_deref().or(entry.direction.as_deref()).unwrap_or(&first);
        let is_forward = from.split('>').next() == Some(first.as_str());
        let known = chain.iter().any(|(known, _)| known.id == entry.id);
        if style::is_on_chain(&entry.id) && is_forward && !known && entry.throughput_bps.is_some() {
            let below = chain.iter().find(|(below, _)| Some(&below.id) == entry.below.as_ref());
            chain.push((entry, below.map(|(below, _)| *below)));
        }
    }
    chain
}

/// What a layer loses of the throughput below, drawn from its own throughput on.
fn loss(row: usize, entry: &LadderEntry, below: &LadderEntry) -> Option<Point> {
    let (kept, whole) = (entry.kept_of_below?, below.throughput_bps?.median);
    let lost = |kept: f64| whole * (1.0 - kept);
    let estimate = Estimate {
        median: lost(kept.median).max(0.0),
        low: kept.high.map(lost),
        high: kept.low.map(lost),
        n: kept.n,
    };
    let gains = kept.median > 1.0;
    let share = |kept: f64| percent(if gains { kept - 1.0 } else { 1.0 - kept });
    let interval = match (kept.low, kept.high) {
        (Some(low), Some(high)) if gains => format!(" ({} to {})", share(low), share(high)),
        (Some(low), Some(high)) => format!(" ({} to {})", share(high), share(low)),
        _ => ", no interval".into(),
    };
    let word = if gains { "gains" } else { "loses" };
    let share = share(kept.median);
    Some(Point::bar(row, estimate).noted(whole_numbers(&format!("{word} {share} of {}{interval}", below.id))))
}

/// What bounds the topmost layer of the chain.
fn bounds(sheet: &Sheet) -> Vec<Mark> {
    let chain = chain(sheet);
    let Some((top, _)) = chain.last() else { return Vec::new() };
    let mark = |bound: &crate::report::BoundEntry| Mark {
        series: None,
        x: bound.bps,
        y: None,
        label: sheet.named(&bound.name),
        text: format!("{} cannot pass {} by {}: {}", top.id, BitRate(bound.bps), bound.name, bound.evidence),
    };
    let bounds = [&top.bound, &top.next_bound].into_iter().flatten();
    bounds.map(mark).collect()
}
