//! The data: to download, and for the page's own script.

use crate::report::figure::{Figure, Sheet};
use crate::report::{Report, csv_of};
use base64::{Engine, engine::general_purpose::STANDARD};
use maud::{Markup, PreEscaped, html};

/// Links that hold the data themselves.
pub(super) fn section(sheets: &[Sheet]) -> Markup {
    html! {
        section id="data" aria-labelledby="data-title" {
            h2 id="data-title" { "The data" }
            ul.downloads {
                @for sheet in sheets {
                    @let stem = stem(sheet);
                    li { (link(&format!("{stem}.json"), "application/json", &compact(&sheet.report), "all numbers, as JSON")) }
                    li { (link(&format!("{stem}.csv"), "text/csv", &csv_of(sheet.recording, &sheet.analysis), "one row a case and message size, as CSV")) }
                }
            }
            p { "Single trials, counters and samples are in the recording itself, a file of JSON lines." }
        }
    }
}

/// The JSON form on one line: the same value in half of the room.
fn compact(report: &Report) -> String {
    serde_json::to_string(report).unwrap_or_default() + "\n"
}

/// `linerate-A-2026-11-21T14-02-11`.
fn stem(sheet: &Sheet) -> String {
    let label = if sheet.label.is_empty() { String::new() } else { format!("{}-", sheet.label) };
    let utc: String = sheet.report.run.utc.trim_end_matches('Z').replace(':', "-");
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    format!("linerate-{label}{}", utc.chars().filter(is_plain).collect::<String>())
}

fn link(name: &str, kind: &str, text: &str, about: &str) -> Markup {
    let address = format!("data:{kind};charset=utf-8;base64,{}", STANDARD.encode(text));
    html! { a download=(name) href=(address) { (name) } ": " (about) }
}

/// What the script draws. In a script element nothing is escaped but what would end it.
pub(super) fn figures(figures: &[Figure]) -> Markup {
    let text = serde_json::to_string(figures).unwrap_or_else(|_| "[]".into()).replace('<', "\\u003c");
    html! { script #figures type="application/json" { (PreEscaped(text)) } }
}
