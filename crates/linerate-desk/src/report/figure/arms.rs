//! Candidates against the plan as it stands: the change that each one makes.

use super::{Figure, Mark, Point, Sheet, Unit, bars, style};
use crate::analysis::Compared;
use crate::statistic::{Effect, Estimate};
use crate::unit::signed_percent;

/// The figure; none of a run without candidates.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let compared = sheets.iter().filter_map(|sheet| Some((sheet, sheet.report.arms.as_ref()?)));
    compared.map(|(sheet, compared)| figure(sheet, compared)).collect()
}

fn figure(sheet: &Sheet, compared: &Compared) -> Figure {
    let candidates = compared.candidates.iter().filter_map(|one| Some((one.name.clone(), one.change?)));
    let controls =
        [("A/A control: nothing changed", &compared.same), ("positive control: slowed", &compared.slowed)];
    let controls =
        controls.into_iter().filter_map(|(name, one)| Some((name.to_owned(), one.as_ref()?.change)));
    let rows: Vec<(String, Effect)> = candidates.chain(controls).collect();
    let caption = "The change against the plan as it stands, with its interval over the blocks. Between the two \
                   vertical lines a difference is too small to matter.";
    let names = rows.iter().map(|(name, _)| sheet.named(name)).collect();
    let id = if sheet.label.is_empty() { "arms".into() } else { format!("arms-{}", sheet.label) };
    let mut figure = bars::figure(&id, "The candidates", caption, ("change", Unit::Share), names);
    // Where there may be two looks each has half of the level.
    figure.interval = format!("{} % interval", (1000.0 * (1.0 - compared.alpha)).round() / 10.0);
    let mut series = style::nth("change".into(), 0);
    series.points = rows.iter().enumerate().map(|(row, (_, effect))| point(row, effect)).collect();
    figure.series = vec![series];
    let line = |x: f64| Mark {
        series: None,
        x,
        y: None,
        label: format!("margin {}", signed_percent(x)),
        text: format!("a difference below {} does not matter here", signed_percent(x)),
    };
    figure.marks = vec![line(-compared.margin), line(compared.margin)];
    figure
}

fn point(row: usize, effect: &Effect) -> Point {
    let change = Estimate { median: effect.estimate, low: effect.low, high: effect.high, n: effect.n };
    Point::bar(row, change).noted(signed_percent(effect.estimate))
}
