//! What other tools measured, beside one's own: broken lines under the tool's name, with the word what each number is.

use super::{Point, Series, Sheet, style};
use crate::report::imported::named;
use crate::report::{ImportedEntry, ImportedReport};
use crate::statistic::Estimate;
use crate::vocabulary::Quantity;

/// Where their colours begin: after those of the chain.
const FIRST_STYLE: usize = 5;

/// The series of one quantity against message size.
pub(super) fn series(sheets: &[Sheet], quantity: Quantity) -> Vec<Series> {
    let reports = sheets.iter().filter_map(|sheet| Some((sheet, sheet.report.imported.as_ref()?)));
    let found = reports.flat_map(|(sheet, report)| of_report(sheet, report, quantity));
    let placed = found.enumerate().map(|(nth, series)| {
        let Series { colour, symbol, .. } = style::nth(String::new(), FIRST_STYLE + nth);
        Series { colour, symbol, dashed: true, ..series }
    });
    placed.collect()
}

/// A series for each test, statistic and end of which sizes are known.
fn of_report(sheet: &Sheet, report: &ImportedReport, quantity: Quantity) -> Vec<Series> {
    let mut found: Vec<Series> = Vec::new();
    for entry in report.rows.iter().filter(|entry| entry.quantity == quantity && entry.value > 0.0) {
        let Some(bytes) = entry.message_bytes.filter(|bytes| *bytes > 0) else { continue };
        let name = sheet.named(&name(report, entry));
        let place = found.iter().position(|series| series.name == name).unwrap_or_else(|| {
            found.push(style::nth(name, 0));
            found.len() - 1
        });
        // No interval is known of it, and of how many runs it is: one.
        let value = Estimate { median: entry.value, low: None, high: None, n: 1 };
        let point =
            Point::new(bytes as f64, value).noted(format!("{}; no interval is known", entry.statistic));
        found[place].points.push(point);
    }
    for series in &mut found {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        if series.points.len() > 1 {
            series.lines = vec![series.points.iter().map(|point| [point.x, point.y]).collect()];
        }
    }
    found
}

/// `iperf3 3.12 TCP, mean, receives`.
fn name(report: &ImportedReport, entry: &ImportedEntry) -> String {
    let end = entry.end.as_ref().map_or(String::new(), |end| format!(", {end}"));
    format!("{} {}, {}{end}", named(report), entry.test, entry.statistic)
}
