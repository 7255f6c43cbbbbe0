//! What other tools measured, beside the run: their numbers under their names, and how they came to them.

use crate::report::ImportedReport;
use crate::report::Sheet;
use crate::report::imported::{CANNOT, HEADS, cells, named};
use maud::{Markup, html};

/// Whether there is any.
pub(super) fn are_any(sheets: &[Sheet]) -> bool {
    sheets.iter().any(|sheet| sheet.report.imported.is_some())
}

/// The numbers of all other tools; nothing where there are none.
pub(super) fn section(sheets: &[Sheet]) -> Markup {
    if !are_any(sheets) {
        return html! {};
    }
    html! {
        section id="imported" aria-labelledby="imported-title" {
            h2 id="imported-title" { "What other tools measured" }
            p { (CANNOT.replace('`', "")) }
            @for sheet in sheets {
                @if let Some(imported) = &sheet.report.imported { (table_of(&sheet.named(&named(imported)), imported)) }
            }
        }
    }
}

fn table_of(title: &str, imported: &ImportedReport) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(title) {
            table {
                caption { (title) ": " (imported.how) "." }
                thead { tr { @for head in HEADS { th scope="col" { (if head.is_empty() { "quantity" } else { head }) } } } }
                tbody {
                    @for entry in &imported.rows {
                        @let [test, rest @ ..] = cells(entry);
                        tr { th scope="row" { (test) } @for cell in rest { td { (cell) } } }
                    }
                }
            }
        }
        @if !imported.doubts.is_empty() {
            ul { @for doubt in &imported.doubts { li { "Doubtful: " (doubt) "." } } }
        }
        p { "Read from " code { (imported.file) } ", SHA-256 " code { (imported.sha256) } ". The recording has the whole file." }
    }
}
