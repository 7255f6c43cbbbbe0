//! Candidates against the plan as it stands, and what was added to it: the change that each one makes.

use super::{Figure, Mark, Point, Sheet, Unit, bars, style};
use crate::analysis::{Compared, Sensitivity};
use crate::statistic::{Effect, Estimate};
use crate::unit::signed_percent;
use crate::vocabulary::Hindrance;

/// The figures; none of a run without candidates.
pub(super) fn figures(sheets: &[Sheet]) -> Vec<Figure> {
    let compared = sheets.iter().filter_map(|sheet| Some((sheet, sheet.report.arms.as_ref()?)));
    compared
        .flat_map(|(sheet, compared)| [Some(candidates(sheet, compared)), hindrances(sheet, compared)])
        .flatten()
        .collect()
}

fn candidates(sheet: &Sheet, compared: &Compared) -> Figure {
    let candidates = compared.candidates.iter().filter_map(|one| Some((one.name.clone(), one.change?)));
    let controls =
        [("A/A control: nothing changed", &compared.same), ("positive control: slowed", &compared.slowed)];
    let controls =
        controls.into_iter().filter_map(|(name, one)| Some((name.to_owned(), one.as_ref()?.change)));
    let caption = "The change against the plan as it stands, with its interval over the blocks. Between the two \
                   vertical lines a difference is too small to matter.";
    let titled = ("arms", "The candidates", caption);
    figure(sheet, (compared.alpha, compared.margin), titled, candidates.chain(controls).collect())
}

/// What the rate is sensitive to; none where nothing was added.
fn hindrances(sheet: &Sheet, compared: &Compared) -> Option<Figure> {
    let row = |one: &Sensitivity| {
        let of = Hindrance::named(&one.hindrance).map_or(one.hindrance.as_str(), |hindrance| hindrance.of);
        Some((format!("{of}: {}", one.name), one.change?))
    };
    let rows: Vec<(String, Effect)> = compared.sensitivities.iter().filter_map(row).collect();
    let caption = "What the rate loses where something known is added, with its interval over the blocks. What costs most is what \
                   binds; what costs nothing has time or room to spare. Between the two vertical lines a difference is too small \
                   to matter.";
    let titled = ("arms-sensitivity", "What the rate is sensitive to", caption);
    let margin = Sensitivity::margin(compared.margin);
    (!rows.is_empty()).then(|| figure(sheet, (compared.alpha, margin), titled, rows))
}

fn figure(
    sheet: &Sheet,
    (alpha, margin): (f64, f64),
    (id, title, caption): (&str, &str, &str),
    rows: Vec<(String, Effect)>,
) -> Figure {
    let names = rows.iter().map(|(name, _)| sheet.named(name)).collect();
    let id = if sheet.label.is_empty() { id.into() } else { format!("{id}-{}", sheet.label) };
    let mut figure = bars::figure(&id, title, caption, ("change", Unit::Share), names);
    // Where there may be two looks each has half of the level.
    figure.interval = format!("{} % interval", (1000.0 * (1.0 - alpha)).round() / 10.0);
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
    figure.marks = vec![line(-margin), line(margin)];
    figure
}

fn point(row: usize, effect: &Effect) -> Point {
    let change = Estimate { median: effect.estimate, low: effect.low, high: effect.high, n: effect.n };
    Point::bar(row, change).noted(signed_percent(effect.estimate))
}
