//! The tables of the suites.

use super::stage_graph;
use crate::report::Sheet;
use crate::report::shape::SuiteTableEntry;
use crate::report::suite::{about_row, written_cell};
use maud::{Markup, html};

/// Whether there are any.
pub(super) fn are_any(sheets: &[Sheet]) -> bool {
    sheets.iter().flat_map(|sheet| &sheet.report.suites).any(|suite| !suite.tables.is_empty())
}

/// The tables of all suites; nothing where there is none.
pub(super) fn section(sheets: &[Sheet]) -> Markup {
    if !are_any(sheets) {
        return html! {};
    }
    html! {
        section id="tables" aria-labelledby="tables-title" {
            h2 id="tables-title" { "Beside each other" }
            p {
                "Each number is the median over the passes, with its 95 % interval. Where it is set against another one, it "
                "is so in each pass."
            }
            @for sheet in sheets {
                @for suite in &sheet.report.suites {
                    @for table in &suite.tables { (table_of(&sheet.named(&table.title), table)) }
                }
            }
        }
    }
}

fn table_of(title: &str, table: &SuiteTableEntry) -> Markup {
    html! {
        @if let Some(graph) = &table.graph { (stage_graph::drawn(title, graph)) }
        div.scroll tabindex="0" role="region" aria-label=(title) {
            table {
                caption { (title) ". " (table.caption) @if !table.note.is_empty() { " " strong { (table.note) } } }
                thead { tr {
                    td {}
                    @for column in &table.columns { th.number scope="col" colspan="2" { (column.name) } }
                } }
                tbody {
                    @for row in &table.rows {
                        tr {
                            th scope="row" { (row.name) @if let Some(about) = about_row(row) { small { (about) } } }
                            @for (cell, column) in row.cells.iter().zip(&table.columns) {
                                (numbers(&written_cell(cell.as_ref(), column)))
                            }
                        }
                    }
                }
            }
        }
    }
}

fn numbers(cell: &[String; 2]) -> Markup {
    html! { @for text in cell { td.number { (text) } } }
}
