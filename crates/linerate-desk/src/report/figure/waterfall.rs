//! Where the time of a message goes: what each layer adds to the one below, as shares of the whole.

use super::{Figure, Point, Series, Sheet, Unit, bars, style};
use crate::report::WaterfallEntry;
use crate::statistic::Estimate;
use crate::unit::{Bytes, Nanoseconds};

/// The figure.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let rows: Vec<(String, &WaterfallEntry)> = sheets
        .iter()
        .flat_map(|sheet| {
            sheet.report.waterfalls.iter().map(move |entry| (sheet.named(&title(entry)), entry))
        })
        .collect();
    let caption = "Half a round trip of the topmost layer in parts, from the bottom up: what each layer adds, paired \
                   within passes; the intervals are in the table. A part below zero is a layer that is quicker than \
                   what it stands on; what reaches below -50 % or above 150 % is cut there.";
    let names = rows.iter().map(|(name, _)| name.clone()).collect();
    let title = "Where the time of a message goes";
    let mut figure =
        bars::figure("waterfall", title, caption, ("share of the half round trip", Unit::Share), names);
    for (row, (_, entry)) in rows.iter().enumerate() {
        if let Some(ideal) = entry.ideal_ns {
            add(&mut figure.series, "the wire itself", "", row, Estimate::exact(ideal), entry);
        }
        for gap in &entry.gaps {
            add(&mut figure.series, &gap.id, &gap.id, row, gap.ns, entry);
        }
    }
    vec![figure]
}

/// `64 B, polling: 4.1 µs`.
fn title(entry: &WaterfallEntry) -> String {
    format!("{}, {}: {}", Bytes(entry.message_bytes), entry.wait, Nanoseconds(entry.total_ns.median))
}

fn add(series: &mut Vec<Series>, name: &str, rung: &str, row: usize, ns: Estimate, entry: &WaterfallEntry) {
    let total = entry.total_ns.median;
    let share = Estimate {
        median: ns.median / total,
        low: ns.low.map(|low| low / total),
        high: ns.high.map(|high| high / total),
        n: ns.n,
    };
    let interval = match (ns.low, ns.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", Nanoseconds(low), Nanoseconds(high)),
        _ => String::new(),
    };
    let point = Point::bar(row, share).noted(format!("{}{interval}", Nanoseconds(ns.median)));
    match series.iter_mut().find(|known| known.name == name) {
        Some(known) => known.points.push(point),
        None => series.push(Series { points: vec![point], ..style::of_rung(name.into(), rung) }),
    }
}
