//! The steps of a search, each upon those before it, from what was there to all that is kept.

use super::{Figure, Point, Sheet, Unit, bars, style};
use crate::analysis::Tuned;
use crate::statistic::Estimate;
use crate::unit::signed_percent;

/// The figure; none of a run without a search.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let tuned = sheets.iter().filter_map(|sheet| Some((sheet, sheet.report.tuning.as_ref()?)));
    tuned.map(|(sheet, tuned)| figure(sheet, tuned)).collect()
}

fn figure(sheet: &Sheet, tuned: &Tuned) -> Figure {
    let number = tuned.metric.number();
    let unit = if number.unit == "ns" { Unit::Nanoseconds } else { Unit::BitsPerSecond };
    let stock = ("as it stands".to_owned(), tuned.stock, String::new());
    let steps = tuned.steps.iter().map(|step| {
        let note = format!("{} upon the step before", signed_percent(step.gain.estimate));
        (format!("+ {}", step.name), step.value, note)
    });
    let rows: Vec<(String, Option<Estimate>, String)> = std::iter::once(stock).chain(steps).collect();
    let caption = "What was there, and each step that was kept with all steps before it, in fresh blocks; the interval is \
                   over the blocks. Beside a step stands what it changes upon the one before, block by block.";
    let names = rows.iter().map(|(name, ..)| sheet.named(name)).collect();
    let id = if sheet.label.is_empty() { "tuning".into() } else { format!("tuning-{}", sheet.label) };
    let mut figure = bars::figure(&id, "Step upon step", caption, (number.title, unit), names);
    let mut series = style::nth(number.title.into(), 0);
    let point = |(row, (_, value, note)): (usize, &(String, Option<Estimate>, String))| {
        let bar = Point::bar(row, (*value)?);
        Some(if note.is_empty() { bar } else { bar.noted(note.clone()) })
    };
    series.points = rows.iter().enumerate().filter_map(point).collect();
    figure.series = vec![series];
    figure
}
