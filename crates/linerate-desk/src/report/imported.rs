//! What another tool measured: the numbers under that tool's name, and how it came to them.

use super::block::{aligned, borderless};
use super::line::{BOLD, INDENT, LEAST_WIDTH, TEXT_WIDTH, marked, wrapped};
use super::shape::{ImportedEntry, ImportedReport};
use super::{Page, note};
use crate::analysis::{ImportedNumber, imported};
use crate::record::Recording;
use crate::unit::{BitRate, Bytes, Nanoseconds, percent, significant};
use crate::vocabulary::Quantity;

/// What stands over the columns.
pub(super) const HEADS: [&str; 8] =
    ["test", "over", "message", "", "value", "what it is", "of parts", "by the end that"];
/// The place of the number among them.
const VALUE: usize = 4;

/// The JSON form; none of a recording of our own.
pub(super) fn entry(recording: &Recording) -> Option<ImportedReport> {
    let source = recording.source.as_ref()?;
    Some(ImportedReport {
        tool: source.tool.clone(),
        version: source.version.clone(),
        file: source.file.clone(),
        sha256: source.sha256.clone(),
        measured_utc: source.utc.clone(),
        imported_utc: source.imported_utc.clone(),
        how: source.how.clone(),
        facts: source.facts.clone(),
        doubts: source.doubts.clone(),
        rows: imported(recording).iter().map(row).collect(),
        unread: source.unread.len(),
    })
}

fn row(number: &ImportedNumber) -> ImportedEntry {
    let row = number.row;
    ImportedEntry {
        test: row.test.clone(),
        transport: row.transport.clone(),
        pattern: row.pattern,
        message_bytes: row.message_bytes,
        flows: row.flows,
        quantity: row.quantity,
        unit: row.quantity.entry().unit.into(),
        statistic: number.statistic(),
        end: row.end.map(|end| end.word().into()),
        samples: row.samples,
        value: number.value,
        least: number.range.map(|(least, _)| least),
        greatest: number.range.map(|(_, greatest)| greatest),
        at_s: row.at_s.iter().map(|[_, end]| *end).collect(),
        begin_s: row.at_s.iter().map(|[begin, _]| *begin).collect(),
        values: if number.range.is_some() { row.values.clone() } else { Vec::new() },
        field: row.field.clone(),
        line: row.line,
    }
}

/// `iperf3 3.12`.
pub(super) fn named(report: &ImportedReport) -> String {
    let version = report.version.as_ref().map_or(String::new(), |version| format!(" {version}"));
    format!("{}{version}", report.tool)
}

/// The fact that is the date of a run where its file says it without a time zone.
const OWN_DATE: &str = "Date";

/// The answer in one sentence: who measured, and that it was not us.
pub(super) fn sentence(report: &ImportedReport) -> String {
    let when = report
        .measured_utc
        .as_ref()
        .map(|utc| format!("at {utc}"))
        .or_else(|| report.facts.get(OWN_DATE).map(|date| format!("on {date}, by its own clock")))
        .unwrap_or("at a time that its file does not say".into());
    format!("What {} measured {when}. linerate measured none of it.", named(report))
}

/// Where it is from, in place of the heading of a run.
pub(super) fn heading(report: &ImportedReport) -> String {
    let facts = report.facts.iter().map(|(name, value)| format!("{name} {value}"));
    let parts = std::iter::once(format!("imported from {}", report.file)).chain(facts);
    parts.collect::<Vec<_>>().join(" · ")
}

/// The cells of a row.
pub(super) fn cells(entry: &ImportedEntry) -> [String; 8] {
    let flows = entry.flows.filter(|flows| *flows > 1).map_or(String::new(), |flows| format!(" x {flows}"));
    let samples = entry.samples.map_or(String::new(), |samples| format!(" of {samples}"));
    let number = |value| written(entry.quantity, value);
    let range = entry.least.zip(entry.greatest);
    [
        entry.test.clone(),
        format!("{}{flows}", entry.transport.as_deref().unwrap_or("-")),
        entry.message_bytes.map_or("-".into(), |bytes| Bytes(bytes).to_string()),
        entry.quantity.to_string(),
        number(entry.value),
        format!("{}{samples}", entry.statistic),
        range.map_or(String::new(), |(least, greatest)| format!("{} to {}", number(least), number(greatest))),
        entry.end.clone().unwrap_or_default(),
    ]
}

/// A value with its unit. How sure it is is not known, so it has three digits.
pub(super) fn written(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Throughput | Quantity::BusThroughput => BitRate(value).to_string(),
        Quantity::HalfRoundTrip | Quantity::RoundTrip | Quantity::OperationTime | Quantity::Jitter => {
            Nanoseconds(value).to_string()
        }
        Quantity::MessageRate | Quantity::TransactionRate => format!("{} /s", significant(value, 3)),
        Quantity::LostShare | Quantity::CpuShare | Quantity::Overlap | Quantity::IntervalWidth => {
            percent(value)
        }
        Quantity::Lost | Quantity::Retransmits if value.fract() == 0.0 => format!("{value:.0}"),
        Quantity::Lost | Quantity::Retransmits => significant(value, 3),
    }
}

/// The lines of the table, the first its heads.
pub(super) fn table(report: &ImportedReport) -> Vec<String> {
    let mut table = borderless(None);
    table.set_header(HEADS);
    for entry in &report.rows {
        table.add_row(cells(entry));
    }
    aligned(table, |index| index != VALUE)
}

/// How the tool measures, what is not known, and where the rest is.
pub(super) fn notes(report: &ImportedReport, width: usize) -> Vec<String> {
    let mut notes: Vec<(String, String)> =
        vec![(report.tool.clone(), format!("{}.", note::sentence(&report.how)))];
    notes
        .extend(report.doubts.iter().map(|doubt| ("doubtful".into(), format!("{}.", note::sentence(doubt)))));
    if report.unread > 0 {
        let what = format!(
            "{} of the file {} in no row; the recording has the whole file.",
            if report.unread == 1 {
                "1 field or line".into()
            } else {
                format!("{} fields or lines", report.unread)
            },
            if report.unread == 1 { "is" } else { "are" },
        );
        notes.push(("unread".into(), what));
    }
    note::lines(&notes, width)
}

/// What nobody may read into the numbers.
pub(super) const CANNOT: &str = "Another tool's numbers have no interval and are not of linerate's definitions: `linerate \
                                 compare` sets them beside those of the same tool alone, and tells a difference from six \
                                 files a side on.";

/// The text form.
pub(super) fn render(report: &ImportedReport, page: Page) -> String {
    let width = page.width.map_or(TEXT_WIDTH, usize::from).clamp(LEAST_WIDTH, TEXT_WIDTH);
    let mut lines: Vec<String> =
        wrapped(&sentence(report), width).iter().map(|line| marked(line, BOLD, page)).collect();
    lines.push(String::new());
    lines.extend(wrapped(&heading(report), width));
    lines.push(String::new());
    let table = table(report).into_iter().enumerate();
    lines.extend(
        table.map(|(row, line)| {
            format!("{INDENT}{}", if row == 0 { marked(&line, BOLD, page) } else { line })
        }),
    );
    for block in [notes(report, width - INDENT.len()), wrapped(CANNOT, width - INDENT.len())] {
        lines.push(String::new());
        lines.extend(block.iter().map(|line| format!("{INDENT}{line}")));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}
